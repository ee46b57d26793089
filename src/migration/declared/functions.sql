-- The functions that keep what is derived from OFBiz's tables.

--- function orderql.backfill_ship_groups
-- Puts an item without a ship group into the one that it is assigned to: the lowest, where it is spread over several.
CREATE OR REPLACE FUNCTION orderql.backfill_ship_groups() RETURNS bigint
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE order_item AS item
    SET ship_group_seq_id = lowest.ship_group_seq_id
    FROM (
        SELECT order_id, order_item_seq_id, min(ship_group_seq_id) AS ship_group_seq_id
        FROM order_item_ship_group_assoc
        GROUP BY order_id, order_item_seq_id
    ) AS lowest
    WHERE item.order_id = lowest.order_id
      AND item.order_item_seq_id = lowest.order_item_seq_id
      AND item.ship_group_seq_id IS NULL;
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN changed;
END;
$$;

--- function orderql.backfill_current_inventory
-- Points a product's stock at a facility to its inventory item, where the pair has one. Where it has several the
-- pointer stays empty: stock OFBiz adds an item with each receipt, the stock is all of them together, and a pointer to any
-- single one would hide the others (see orderql.inventory_level).
CREATE OR REPLACE FUNCTION orderql.backfill_current_inventory() RETURNS bigint
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE product_facility AS pair
    SET inventory_item_id = single.inventory_item_id
    FROM (
        SELECT product_id, facility_id, min(inventory_item_id) AS inventory_item_id
        FROM inventory_item
        GROUP BY product_id, facility_id
        HAVING count(*) = 1
    ) AS single
    WHERE pair.product_id = single.product_id
      AND pair.facility_id = single.facility_id
      AND pair.inventory_item_id IS NULL;
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN changed;
END;
$$;

--- function orderql.sum_inventory_details
-- Sets an inventory item's totals to the sums of its details, where it has details. OFBiz does so itself with each detail;
-- its data files leave the totals out.
CREATE OR REPLACE FUNCTION orderql.sum_inventory_details() RETURNS bigint
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE inventory_item AS item
    SET available_to_promise_total = total.available_to_promise,
        quantity_on_hand_total = total.quantity_on_hand,
        accounting_quantity_total = total.accounting_quantity
    FROM (
        SELECT
            inventory_item_id,
            COALESCE(sum(available_to_promise_diff), 0) AS available_to_promise,
            COALESCE(sum(quantity_on_hand_diff), 0) AS quantity_on_hand,
            COALESCE(sum(accounting_quantity_diff), 0) AS accounting_quantity
        FROM inventory_item_detail
        GROUP BY inventory_item_id
    ) AS total
    WHERE item.inventory_item_id = total.inventory_item_id
      AND (item.available_to_promise_total, item.quantity_on_hand_total, item.accounting_quantity_total)
          IS DISTINCT FROM (total.available_to_promise, total.quantity_on_hand, total.accounting_quantity);
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN changed;
END;
$$;

--- trigger_function orderql.keep_party
-- Where nothing makes persons refer to parties, a new party may find its person there already.
CREATE OR REPLACE FUNCTION orderql.keep_party() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        DELETE FROM orderql.party;
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND OLD.party_id <> NEW.party_id THEN
        DELETE FROM orderql.party WHERE party_id = OLD.party_id;
    END IF;
    IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' THEN
        INSERT INTO orderql.party (
            party_id, party_type_id, external_id, status_id, created_date, first_name, last_name, group_name
        )
        SELECT
            NEW.party_id, NEW.party_type_id, NEW.external_id, NEW.status_id, NEW.created_date,
            person.first_name, person.last_name, party_group.group_name
        FROM (VALUES (NEW.party_id)) AS added (party_id)
        LEFT JOIN public.person ON person.party_id = added.party_id
        LEFT JOIN public.party_group ON party_group.party_id = added.party_id
        ON CONFLICT (party_id) DO UPDATE
        SET party_type_id = EXCLUDED.party_type_id,
            external_id = EXCLUDED.external_id,
            status_id = EXCLUDED.status_id,
            created_date = EXCLUDED.created_date;
    END IF;
    RETURN NULL;
END;
$$;

--- trigger_function orderql.keep_person
CREATE OR REPLACE FUNCTION orderql.keep_person() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        UPDATE orderql.party SET first_name = NULL, last_name = NULL;
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND OLD.party_id <> NEW.party_id THEN
        UPDATE orderql.party SET first_name = NULL, last_name = NULL WHERE party_id = OLD.party_id;
    END IF;
    IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' THEN
        UPDATE orderql.party SET first_name = NEW.first_name, last_name = NEW.last_name WHERE party_id = NEW.party_id;
    END IF;
    RETURN NULL;
END;
$$;

--- trigger_function orderql.keep_party_group
CREATE OR REPLACE FUNCTION orderql.keep_party_group() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        UPDATE orderql.party SET group_name = NULL;
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND OLD.party_id <> NEW.party_id THEN
        UPDATE orderql.party SET group_name = NULL WHERE party_id = OLD.party_id;
    END IF;
    IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' THEN
        UPDATE orderql.party SET group_name = NEW.group_name WHERE party_id = NEW.party_id;
    END IF;
    RETURN NULL;
END;
$$;

--- function orderql.backfill_parties
-- Brings every row up to date; returns the number of rows that were not. After an import with its triggers off it finds
-- some. The lock lets writers that are at it finish first and has others wait, so that nothing is put back to an older state.
CREATE OR REPLACE FUNCTION orderql.backfill_parties() RETURNS bigint
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    removed bigint;
    changed bigint;
BEGIN
    LOCK TABLE orderql.party IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM orderql.party AS kept
    WHERE NOT EXISTS (SELECT FROM party WHERE party.party_id = kept.party_id);
    GET DIAGNOSTICS removed = ROW_COUNT;
    INSERT INTO orderql.party AS kept (
        party_id, party_type_id, external_id, status_id, created_date, first_name, last_name, group_name
    )
    SELECT
        party.party_id, party.party_type_id, party.external_id, party.status_id, party.created_date,
        person.first_name, person.last_name, party_group.group_name
    FROM party
    LEFT JOIN person ON person.party_id = party.party_id
    LEFT JOIN party_group ON party_group.party_id = party.party_id
    ON CONFLICT (party_id) DO UPDATE
    SET party_type_id = EXCLUDED.party_type_id,
        external_id = EXCLUDED.external_id,
        status_id = EXCLUDED.status_id,
        created_date = EXCLUDED.created_date,
        first_name = EXCLUDED.first_name,
        last_name = EXCLUDED.last_name,
        group_name = EXCLUDED.group_name
    WHERE kept.* IS DISTINCT FROM EXCLUDED.*;
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN removed + changed;
END;
$$;

--- function orderql.backfill_search_columns
-- Brings both columns up to date; returns the number of rows that were not. After an import with its triggers off it finds some.
-- The locks let writers that are at it finish first and have others wait, so that nothing is put back to an older state.
CREATE OR REPLACE FUNCTION orderql.backfill_search_columns() RETURNS bigint
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    items bigint := 0;
    returns bigint := 0;
BEGIN
    IF EXISTS (SELECT FROM orderql.stale_item) THEN
        LOCK TABLE order_item_ship_group, order_item IN SHARE ROW EXCLUSIVE MODE;
        UPDATE order_item AS item SET orderql_facility_id = stale.facility_id
        FROM orderql.stale_item AS stale
        WHERE item.order_id = stale.order_id AND item.order_item_seq_id = stale.order_item_seq_id;
        GET DIAGNOSTICS items = ROW_COUNT;
    END IF;
    IF EXISTS (SELECT FROM orderql.stale_return) THEN
        LOCK TABLE order_header, return_header, return_item IN SHARE ROW EXCLUSIVE MODE;
        UPDATE return_header AS header SET orderql_product_store_id = stale.product_store_id
        FROM orderql.stale_return AS stale
        WHERE header.return_id = stale.return_id;
        GET DIAGNOSTICS returns = ROW_COUNT;
    END IF;
    RETURN items + returns;
END;
$$;

--- function orderql.backfill_open_ship_groups
-- As orderql.backfill_parties(): brings every row up to date, and returns the number of rows that were not. It needs no lock of
-- the table: rows and their sources are read in one snapshot, and orders that differ are brought up to date as a writer does.
CREATE OR REPLACE FUNCTION orderql.backfill_open_ship_groups() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    differing text[] := ARRAY(
        SELECT order_id
        FROM orderql.open_ship_group_source AS source
        FULL JOIN orderql.open_ship_group AS kept USING (order_id, ship_group_seq_id)
        WHERE source.* IS DISTINCT FROM kept.*
    );
BEGIN
    IF cardinality(differing) > 0 THEN
        PERFORM orderql.refresh_open_ship_groups(differing);
    END IF;
    RETURN cardinality(differing);
END;
$$;

--- trigger_function orderql.keep_facility_of_item
CREATE OR REPLACE FUNCTION orderql.keep_facility_of_item() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    NEW.orderql_facility_id := (
        SELECT facility_id
        FROM public.order_item_ship_group AS own
        WHERE own.order_id = NEW.order_id AND own.ship_group_seq_id = NEW.ship_group_seq_id
    );
    RETURN NEW;
END;
$$;

--- function orderql.rank_of_item_status
-- The rank of a status among those of a group's items: the item with the lowest comes next.
CREATE OR REPLACE FUNCTION orderql.rank_of_item_status(status_id text) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE status_id
        WHEN 'ITEM_APPROVED' THEN 1 WHEN 'ITEM_CREATED' THEN 2 WHEN 'ITEM_HOLD' THEN 3 WHEN 'ITEM_REQ_CANCELATN' THEN 4
    END
$$;

--- function orderql.add_open_ship_groups
-- Adds the groups of these orders that are open, and brings those that are there up to date. Each row is found by a primary key, so
-- that one plan suits any number of orders.
CREATE OR REPLACE FUNCTION orderql.add_open_ship_groups(changed text[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    INSERT INTO orderql.open_ship_group AS kept
    SELECT * FROM orderql.open_ship_group_source AS source WHERE source.order_id = ANY (changed)
    ON CONFLICT (order_id, ship_group_seq_id) DO UPDATE
    SET facility_id = EXCLUDED.facility_id,
        shipment_method_type_id = EXCLUDED.shipment_method_type_id,
        item_status_id = EXCLUDED.item_status_id,
        order_status_id = EXCLUDED.order_status_id,
        product_store_id = EXCLUDED.product_store_id,
        order_date = EXCLUDED.order_date,
        promised_date = EXCLUDED.promised_date
    WHERE kept.* IS DISTINCT FROM EXCLUDED.*;
END;
$$;

--- function orderql.refresh_open_ship_groups
-- Locks the headers of these orders, and brings their groups in the fulfilment queue up to date.
CREATE OR REPLACE FUNCTION orderql.refresh_open_ship_groups(changed text[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    PERFORM FROM public.order_header
    WHERE order_id = ANY (changed) AND xmin <> pg_current_xact_id()::xid
    ORDER BY order_id FOR NO KEY UPDATE;
    DELETE FROM orderql.open_ship_group AS kept
    WHERE kept.order_id = ANY (changed)
      AND NOT EXISTS (
        SELECT
        FROM orderql.open_ship_group_source AS source
        WHERE source.order_id = kept.order_id AND source.ship_group_seq_id = kept.ship_group_seq_id
    );
    PERFORM orderql.add_open_ship_groups(changed);
END;
$$;

--- function orderql.refresh_orders
-- The same, and the facilities of their items.
CREATE OR REPLACE FUNCTION orderql.refresh_orders(changed text[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    PERFORM orderql.refresh_open_ship_groups(changed);
    IF EXISTS (SELECT FROM orderql.stale_item WHERE order_id = ANY (changed)) THEN
        UPDATE public.order_item AS item SET orderql_facility_id = stale.facility_id
        FROM orderql.stale_item AS stale
        WHERE stale.order_id = ANY (changed)
          AND item.order_id = stale.order_id AND item.order_item_seq_id = stale.order_item_seq_id;
    END IF;
END;
$$;

--- function orderql.refresh_returns
-- Brings the stores of these returns up to date. A change of an order's store locks the order first and then its returns, so this
-- does, too.
CREATE OR REPLACE FUNCTION orderql.refresh_returns(changed text[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    PERFORM FROM public.order_header
    WHERE order_id = ANY (ARRAY(SELECT order_id FROM public.return_item WHERE return_id = ANY (changed)))
      AND xmin <> pg_current_xact_id()::xid
    ORDER BY order_id FOR NO KEY UPDATE;
    PERFORM FROM public.return_header
    WHERE return_id = ANY (changed) AND xmin <> pg_current_xact_id()::xid
    ORDER BY return_id FOR NO KEY UPDATE;
    UPDATE public.return_header AS header SET orderql_product_store_id = stale.product_store_id
    FROM orderql.stale_return AS stale
    WHERE stale.return_id = ANY (changed) AND header.return_id = stale.return_id;
END;
$$;

--- function orderql.refresh_returns_of_orders
-- The returns of these orders whose store is not their order's.
CREATE OR REPLACE FUNCTION orderql.refresh_returns_of_orders(changed text[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    stale text[] := ARRAY(
        SELECT return_id
        FROM orderql.stale_return
        WHERE return_id = ANY (ARRAY(SELECT return_id FROM public.return_item WHERE order_id = ANY (changed)))
    );
BEGIN
    IF cardinality(stale) > 0 THEN
        PERFORM orderql.refresh_returns(stale);
    END IF;
END;
$$;

--- trigger_function orderql.keep_order_headers
CREATE OR REPLACE FUNCTION orderql.keep_order_headers() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    changed text[];
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        DELETE FROM orderql.open_ship_group;
        UPDATE public.return_header SET orderql_product_store_id = NULL WHERE orderql_product_store_id IS NOT NULL;
        RETURN NULL;
    ELSIF TG_LEVEL = 'ROW' THEN
        changed := ARRAY[OLD.order_id, NEW.order_id];
    ELSIF TG_OP = 'INSERT' THEN
        -- Only where nothing makes ship groups and returns refer to orders does an order find its own there already.
        changed := ARRAY(
            SELECT order_id FROM new_rows
            WHERE EXISTS (SELECT FROM public.order_item_ship_group AS found WHERE found.order_id = new_rows.order_id)
               OR EXISTS (SELECT FROM public.return_item AS found WHERE found.order_id = new_rows.order_id)
        );
    ELSIF TG_OP = 'DELETE' THEN
        changed := ARRAY(SELECT order_id FROM old_rows);
    ELSE
        changed := ARRAY(
            SELECT order_id
            FROM (SELECT order_id, order_type_id, status_id, product_store_id, order_date FROM old_rows
                  UNION ALL
                  SELECT order_id, order_type_id, status_id, product_store_id, order_date FROM new_rows) AS version
            GROUP BY order_id, order_type_id, status_id, product_store_id, order_date
            HAVING count(*) = 1
        );
    END IF;
    IF cardinality(changed) > 0 THEN
        PERFORM orderql.refresh_open_ship_groups(changed);
        PERFORM orderql.refresh_returns_of_orders(changed);
    END IF;
    RETURN NULL;
END;
$$;

--- trigger_function orderql.keep_ship_groups
CREATE OR REPLACE FUNCTION orderql.keep_ship_groups() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    changed text[];
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        DELETE FROM orderql.open_ship_group;
        UPDATE public.order_item SET orderql_facility_id = NULL WHERE orderql_facility_id IS NOT NULL;
        RETURN NULL;
    ELSIF TG_LEVEL = 'ROW' THEN
        changed := ARRAY[OLD.order_id, NEW.order_id];
    ELSIF TG_OP = 'INSERT' THEN
        -- Items find their group when they are inserted. Those that were there before it, or that another transaction inserts, do not.
        changed := ARRAY(
            SELECT DISTINCT order_id FROM new_rows AS added
            WHERE NOT EXISTS (
                SELECT FROM public.order_header AS own
                WHERE own.order_id = added.order_id AND own.xmin = pg_current_xact_id()::xid
            )
               OR EXISTS (
                SELECT FROM public.order_item AS item
                WHERE item.order_id = added.order_id AND item.ship_group_seq_id = added.ship_group_seq_id
            )
        );
    ELSIF TG_OP = 'DELETE' THEN
        changed := ARRAY(SELECT DISTINCT order_id FROM old_rows);
    ELSE
        changed := ARRAY(
            SELECT order_id
            FROM (SELECT order_id, ship_group_seq_id, facility_id, shipment_method_type_id FROM old_rows
                  UNION ALL
                  SELECT order_id, ship_group_seq_id, facility_id, shipment_method_type_id FROM new_rows) AS version
            GROUP BY order_id, ship_group_seq_id, facility_id, shipment_method_type_id
            HAVING count(*) = 1
        );
    END IF;
    IF cardinality(changed) > 0 THEN
        PERFORM orderql.refresh_orders(changed);
    END IF;
    RETURN NULL;
END;
$$;

--- trigger_function orderql.keep_order_items
CREATE OR REPLACE FUNCTION orderql.keep_order_items() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    changed text[];
    opened text[];
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        DELETE FROM orderql.open_ship_group;
        RETURN NULL;
    ELSIF TG_LEVEL = 'ROW' THEN
        changed := ARRAY[OLD.order_id, NEW.order_id];
    ELSIF TG_OP = 'INSERT' THEN
        -- Of orders whose header is this transaction's, it adds the groups that an item opens, or whose status an item changes to one
        -- that comes earlier. An item closes no group.
        SELECT array_agg(DISTINCT order_id) FILTER (WHERE NOT is_own),
               array_agg(DISTINCT order_id) FILTER (WHERE is_own AND is_next)
        INTO changed, opened
        FROM (
            SELECT
                order_id,
                EXISTS (
                    SELECT FROM public.order_header AS own
                    WHERE own.order_id = added.order_id AND own.xmin = pg_current_xact_id()::xid
                ) AS is_own,
                rank IS NOT NULL AND NOT EXISTS (
                    SELECT FROM orderql.open_ship_group AS kept
                    WHERE kept.order_id = added.order_id AND kept.ship_group_seq_id = added.ship_group_seq_id
                      AND orderql.rank_of_item_status(kept.item_status_id) <= added.rank
                ) AS is_next
            FROM (
                SELECT order_id, ship_group_seq_id, min(orderql.rank_of_item_status(status_id)) AS rank
                FROM new_rows
                GROUP BY order_id, ship_group_seq_id
            ) AS added
        ) AS added;
        IF cardinality(opened) > 0 THEN
            PERFORM orderql.add_open_ship_groups(opened);
        END IF;
    ELSIF TG_OP = 'DELETE' THEN
        changed := ARRAY(SELECT DISTINCT order_id FROM old_rows);
    ELSE
        changed := ARRAY(
            SELECT order_id
            FROM (SELECT order_id, order_item_seq_id, ship_group_seq_id, status_id FROM old_rows
                  UNION ALL
                  SELECT order_id, order_item_seq_id, ship_group_seq_id, status_id FROM new_rows) AS version
            GROUP BY order_id, order_item_seq_id, ship_group_seq_id, status_id
            HAVING count(*) = 1
        );
    END IF;
    IF cardinality(changed) > 0 THEN
        PERFORM orderql.refresh_orders(changed);
    END IF;
    RETURN NULL;
END;
$$;

--- trigger_function orderql.keep_reservations
CREATE OR REPLACE FUNCTION orderql.keep_reservations() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    changed text[];
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        UPDATE orderql.open_ship_group SET promised_date = NULL;
        RETURN NULL;
    ELSIF TG_LEVEL = 'ROW' THEN
        changed := ARRAY[OLD.order_id, NEW.order_id];
    ELSIF TG_OP = 'INSERT' THEN
        changed := ARRAY(
            SELECT DISTINCT order_id
            FROM new_rows AS added
            WHERE promised_datetime IS NOT NULL
              AND (
                NOT EXISTS (
                    SELECT FROM public.order_header AS own
                    WHERE own.order_id = added.order_id AND own.xmin = pg_current_xact_id()::xid
                )
                OR EXISTS (
                    SELECT FROM orderql.open_ship_group AS kept
                    WHERE kept.order_id = added.order_id AND kept.ship_group_seq_id = added.ship_group_seq_id
                      AND (kept.promised_date > added.promised_datetime OR kept.promised_date IS NULL)
                )
              )
        );
    ELSIF TG_OP = 'DELETE' THEN
        changed := ARRAY(SELECT DISTINCT order_id FROM old_rows);
    ELSE
        changed := ARRAY(
            SELECT order_id
            FROM (SELECT order_id, ship_group_seq_id, order_item_seq_id, inventory_item_id, promised_datetime FROM old_rows
                  UNION ALL
                  SELECT order_id, ship_group_seq_id, order_item_seq_id, inventory_item_id, promised_datetime FROM new_rows)
                AS version
            GROUP BY order_id, ship_group_seq_id, order_item_seq_id, inventory_item_id, promised_datetime
            HAVING count(*) = 1
        );
    END IF;
    IF cardinality(changed) > 0 THEN
        PERFORM orderql.refresh_open_ship_groups(changed);
    END IF;
    RETURN NULL;
END;
$$;

--- trigger_function orderql.keep_store_of_return
CREATE OR REPLACE FUNCTION orderql.keep_store_of_return() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    NEW.orderql_product_store_id := (
        SELECT order_header.product_store_id
        FROM (
            SELECT item.order_id
            FROM public.return_item AS item
            WHERE item.return_id = NEW.return_id
            ORDER BY item.return_item_seq_id
            LIMIT 1
        ) AS item
        JOIN public.order_header ON order_header.order_id = item.order_id
    );
    RETURN NEW;
END;
$$;

--- trigger_function orderql.keep_return_items
CREATE OR REPLACE FUNCTION orderql.keep_return_items() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    changed text[];
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        UPDATE public.return_header SET orderql_product_store_id = NULL WHERE orderql_product_store_id IS NOT NULL;
        RETURN NULL;
    ELSIF TG_LEVEL = 'ROW' THEN
        changed := ARRAY[OLD.return_id, NEW.return_id];
    ELSIF TG_OP = 'INSERT' THEN
        changed := ARRAY(SELECT DISTINCT return_id FROM new_rows);
    ELSIF TG_OP = 'DELETE' THEN
        changed := ARRAY(SELECT DISTINCT return_id FROM old_rows);
    ELSE
        changed := ARRAY(
            SELECT return_id
            FROM (SELECT return_id, return_item_seq_id, order_id FROM old_rows
                  UNION ALL
                  SELECT return_id, return_item_seq_id, order_id FROM new_rows) AS version
            GROUP BY return_id, return_item_seq_id, order_id
            HAVING count(*) = 1
        );
    END IF;
    IF cardinality(changed) > 0 THEN
        PERFORM orderql.refresh_returns(changed);
    END IF;
    RETURN NULL;
END;
$$;

--- function orderql.prune_order_updates
-- Removes the oldest of the audited order updates that are older than `keep`, `batch` of them at most, and returns their number. What servers
-- that do it at the same time have locked is left to them. A role that may call it can remove nothing else, and nothing of the last day.
CREATE OR REPLACE FUNCTION orderql.prune_order_updates(keep interval, batch bigint) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH removed AS (
        DELETE FROM orderql.order_update
        WHERE order_update_id = ANY (ARRAY(
            SELECT order_update_id FROM orderql.order_update
            WHERE updated_at < now() - GREATEST(keep, interval '1 day')
            ORDER BY updated_at LIMIT batch FOR UPDATE SKIP LOCKED
        ))
        RETURNING 1
    )
    SELECT count(*) FROM removed
$$;
REVOKE EXECUTE ON FUNCTION orderql.prune_order_updates FROM PUBLIC;
