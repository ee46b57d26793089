-- The functions that keep what is derived from OFBiz's tables.

--- function orderql.items_have_groups if order_item.ship_group_seq_id
-- Whether order_item has the group of an item, as HotWax's has; stock OFBiz's groups are in order_item_ship_group_assoc.
CREATE OR REPLACE FUNCTION orderql.items_have_groups() RETURNS boolean
LANGUAGE sql IMMUTABLE AS 'SELECT true';

--- function orderql.items_have_groups unless order_item.ship_group_seq_id
CREATE OR REPLACE FUNCTION orderql.items_have_groups() RETURNS boolean
LANGUAGE sql IMMUTABLE AS 'SELECT false';

--- function orderql.backfill_ship_groups
-- What `orderql load` fills in where the tables are HotWax's, and OFBiz's files have it elsewhere. Each function returns the number of rows that
-- it changed.
CREATE OR REPLACE FUNCTION orderql.backfill_ship_groups() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    changed bigint := 0;
BEGIN
    IF orderql.items_have_groups() THEN
        UPDATE public.order_item AS item
        SET ship_group_seq_id = lowest.ship_group_seq_id
        FROM (
            SELECT order_id, order_item_seq_id, min(ship_group_seq_id) AS ship_group_seq_id
            FROM public.order_item_ship_group_assoc
            GROUP BY order_id, order_item_seq_id
        ) AS lowest
        WHERE item.order_id = lowest.order_id
          AND item.order_item_seq_id = lowest.order_item_seq_id
          AND item.ship_group_seq_id IS NULL;
        GET DIAGNOSTICS changed = ROW_COUNT;
    END IF;
    RETURN changed;
END;
$$;

--- function orderql.backfill_current_inventory
CREATE OR REPLACE FUNCTION orderql.backfill_current_inventory() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    changed bigint := 0;
BEGIN
    IF EXISTS (
        SELECT FROM pg_attribute
        WHERE attrelid = 'public.product_facility'::regclass AND attname = 'inventory_item_id' AND NOT attisdropped
    ) THEN
        UPDATE public.product_facility AS pair
        SET inventory_item_id = single.inventory_item_id
        FROM (
            SELECT product_id, facility_id, min(inventory_item_id) AS inventory_item_id
            FROM public.inventory_item
            GROUP BY product_id, facility_id
            HAVING count(*) = 1
        ) AS single
        WHERE pair.product_id = single.product_id
          AND pair.facility_id = single.facility_id
          AND pair.inventory_item_id IS NULL;
        GET DIAGNOSTICS changed = ROW_COUNT;
    END IF;
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
-- The stores of returns.
CREATE OR REPLACE FUNCTION orderql.backfill_search_columns() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    returns bigint := 0;
BEGIN
    IF EXISTS (SELECT FROM orderql.stale_return) THEN
        LOCK TABLE public.order_header, public.return_header, public.return_item IN SHARE ROW EXCLUSIVE MODE;
        UPDATE public.return_header AS header SET orderql_product_store_id = stale.product_store_id
        FROM orderql.stale_return AS stale
        WHERE header.return_id = stale.return_id;
        GET DIAGNOSTICS returns = ROW_COUNT;
    END IF;
    RETURN returns;
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

--- function orderql.open_rank
-- Which items precede others among those of a group that are still to be sent: null if the item is not.
CREATE OR REPLACE FUNCTION orderql.open_rank(status_id text, has_group boolean, is_order_open boolean) RETURNS smallint
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN is_order_open AND has_group THEN CASE status_id
        WHEN 'ITEM_APPROVED' THEN 1::smallint
        WHEN 'ITEM_CREATED' THEN 2::smallint
        WHEN 'ITEM_HOLD' THEN 3::smallint
        WHEN 'ITEM_REQ_CANCELATN' THEN 4::smallint
    END END
$$;

--- function orderql.is_order_open
-- Whether an order still has something to do: not a purchase order, and neither sent nor given up.
CREATE OR REPLACE FUNCTION orderql.is_order_open(order_type_id text, status_id text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT order_type_id IS DISTINCT FROM 'PURCHASE_ORDER'
        AND COALESCE(status_id, '') NOT IN
            ('ORDER_SENT', 'ORDER_COMPLETED', 'ORDER_CANCELLED', 'ORDER_REJECTED', 'ORDER_EXPIRED')
$$;

--- function orderql.refresh_item_places
-- Makes the rows of these orders anew, where they differ. What they come from is locked first, in the order of its keys, so that the rows are
-- read when those who write it have finished. Each row is found by a primary key, so that one plan suits any number of orders.
CREATE OR REPLACE FUNCTION orderql.refresh_item_places(changed text[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET jit = off SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    PERFORM FROM public.order_header
    WHERE order_id = ANY (changed) AND xmin <> pg_current_xact_id()::xid
    ORDER BY order_id FOR NO KEY UPDATE;
    PERFORM FROM public.order_item_ship_group
    WHERE order_id = ANY (changed) AND xmin <> pg_current_xact_id()::xid
    ORDER BY order_id, ship_group_seq_id FOR SHARE;
    PERFORM FROM public.order_item
    WHERE order_id = ANY (changed) AND xmin <> pg_current_xact_id()::xid
    ORDER BY order_id, order_item_seq_id FOR SHARE;
    PERFORM FROM orderql.item_place
    WHERE order_id = ANY (changed)
    ORDER BY order_id, order_item_seq_id, ship_group_seq_id FOR UPDATE;
    DELETE FROM orderql.item_place AS kept
    WHERE kept.order_id = ANY (changed)
      AND NOT EXISTS (
        SELECT FROM orderql.item_in_group AS item
        WHERE item.order_id = kept.order_id AND item.order_item_seq_id = kept.order_item_seq_id
          AND item.ship_group_seq_id = kept.ship_group_seq_id
    );
    INSERT INTO orderql.item_place AS kept (
        order_id, order_item_seq_id, ship_group_seq_id, external_id, order_item_type_id, product_id, status_id, quantity,
        cancel_quantity, unit_price, facility_id, shipment_method_type_id, product_store_id, order_status_id, order_date,
        promised_date, has_group, is_order_open
    )
    SELECT *
    FROM orderql.item_place_source
    WHERE order_id = ANY (changed)
    ORDER BY order_id, order_item_seq_id, ship_group_seq_id
    ON CONFLICT (order_id, order_item_seq_id, ship_group_seq_id) DO UPDATE
    SET external_id = EXCLUDED.external_id,
        order_item_type_id = EXCLUDED.order_item_type_id,
        product_id = EXCLUDED.product_id,
        status_id = EXCLUDED.status_id,
        quantity = EXCLUDED.quantity,
        cancel_quantity = EXCLUDED.cancel_quantity,
        unit_price = EXCLUDED.unit_price,
        facility_id = EXCLUDED.facility_id,
        shipment_method_type_id = EXCLUDED.shipment_method_type_id,
        product_store_id = EXCLUDED.product_store_id,
        order_status_id = EXCLUDED.order_status_id,
        order_date = EXCLUDED.order_date,
        promised_date = EXCLUDED.promised_date,
        has_group = EXCLUDED.has_group,
        is_order_open = EXCLUDED.is_order_open
    WHERE (
        kept.external_id, kept.order_item_type_id, kept.product_id, kept.status_id, kept.quantity, kept.cancel_quantity,
        kept.unit_price, kept.facility_id, kept.shipment_method_type_id, kept.product_store_id, kept.order_status_id,
        kept.order_date, kept.promised_date, kept.has_group, kept.is_order_open
    ) IS DISTINCT FROM (
        EXCLUDED.external_id, EXCLUDED.order_item_type_id, EXCLUDED.product_id, EXCLUDED.status_id, EXCLUDED.quantity,
        EXCLUDED.cancel_quantity, EXCLUDED.unit_price, EXCLUDED.facility_id, EXCLUDED.shipment_method_type_id,
        EXCLUDED.product_store_id, EXCLUDED.order_status_id, EXCLUDED.order_date, EXCLUDED.promised_date, EXCLUDED.has_group,
        EXCLUDED.is_order_open
    );
END;
$$;
REVOKE EXECUTE ON FUNCTION orderql.refresh_item_places FROM PUBLIC;

--- function orderql.fill_item_places
-- Makes the rows of the next orders, and returns the last of these; null if there are none. Called again and again, with a transaction
-- for each call, it keeps writers waiting for those orders alone.
CREATE OR REPLACE FUNCTION orderql.fill_item_places(after text, most integer) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    following text[] := ARRAY(
        SELECT DISTINCT order_id::text
        FROM public.order_item
        WHERE order_id > after
        ORDER BY 1
        LIMIT most
    );
BEGIN
    PERFORM orderql.refresh_item_places(following);
    RETURN following[cardinality(following)];
END;
$$;
REVOKE EXECUTE ON FUNCTION orderql.fill_item_places FROM PUBLIC;

--- function orderql.backfill_item_places
-- Brings every row up to date, and returns the number of rows that were not. It needs no lock of a table: rows and their sources are read
-- in one snapshot, and orders that differ are made anew.
CREATE OR REPLACE FUNCTION orderql.backfill_item_places() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    differing text[] := ARRAY(SELECT order_id FROM orderql.stale_item_place);
BEGIN
    IF cardinality(differing) > 0 THEN
        PERFORM orderql.refresh_item_places(ARRAY(SELECT DISTINCT unnest(differing)));
    END IF;
    RETURN cardinality(differing);
END;
$$;
REVOKE EXECUTE ON FUNCTION orderql.backfill_item_places FROM PUBLIC;

--- trigger_function orderql.keep_items
-- Items. One that is inserted finds its order and its group. If another transaction has written one of these, it may be changing it: then the
-- row is read anew when both are locked. A transaction that has written them itself, as one that enters an order, holds their locks already:
-- their versions are its own (xmin). Of an item that is updated, its own columns are taken over.
CREATE OR REPLACE FUNCTION orderql.keep_items() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET jit = off SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    shared text[];
BEGIN
    IF TG_OP = 'DELETE' THEN
        DELETE FROM orderql.item_place AS kept
        USING old_rows AS former
        WHERE kept.order_id = former.order_id AND kept.order_item_seq_id = former.order_item_seq_id;
        RETURN NULL;
    ELSIF TG_OP = 'INSERT' THEN
        IF orderql.items_have_groups() THEN
            WITH source AS MATERIALIZED (
                SELECT
                    changed.order_id, changed.order_item_seq_id, COALESCE(changed.ship_group_seq_id, '') AS ship_group_seq_id,
                    changed.external_id, changed.order_item_type_id, changed.product_id, changed.status_id, changed.quantity,
                    changed.cancel_quantity, changed.unit_price, own.facility_id, own.shipment_method_type_id,
                    header.product_store_id, header.status_id AS order_status_id, header.order_date,
                    (
                        SELECT min(reserved.promised_datetime)
                        FROM public.order_item_ship_grp_inv_res AS reserved
                        WHERE reserved.order_id = changed.order_id AND reserved.ship_group_seq_id = changed.ship_group_seq_id
                          AND reserved.order_item_seq_id = changed.order_item_seq_id
                    ) AS promised_date,
                    own.order_id IS NOT NULL AS has_group,
                    header.order_id IS NOT NULL
                        AND orderql.is_order_open(header.order_type_id, header.status_id) AS is_order_open,
                    header.xmin <> pg_current_xact_id()::xid OR own.xmin <> pg_current_xact_id()::xid AS is_shared
                FROM new_rows AS changed
                LEFT JOIN public.order_header AS header ON header.order_id = changed.order_id
                LEFT JOIN public.order_item_ship_group AS own
                  ON own.order_id = changed.order_id AND own.ship_group_seq_id = changed.ship_group_seq_id
            ), added AS (
                INSERT INTO orderql.item_place (
                    order_id, order_item_seq_id, ship_group_seq_id, external_id, order_item_type_id, product_id, status_id,
                    quantity, cancel_quantity, unit_price, facility_id, shipment_method_type_id, product_store_id,
                    order_status_id, order_date, promised_date, has_group, is_order_open
                )
                SELECT
                    order_id, order_item_seq_id, ship_group_seq_id, external_id, order_item_type_id, product_id, status_id,
                    quantity, cancel_quantity, unit_price, facility_id, shipment_method_type_id, product_store_id,
                    order_status_id, order_date, promised_date, has_group, is_order_open
                FROM source
                ON CONFLICT DO NOTHING
            )
            SELECT array_agg(DISTINCT order_id) INTO shared FROM source WHERE is_shared;
        ELSE
            WITH source AS MATERIALIZED (
                SELECT
                    changed.order_id, changed.order_item_seq_id, changed.external_id, changed.order_item_type_id,
                    changed.product_id, changed.status_id, changed.quantity, changed.cancel_quantity, changed.unit_price,
                    header.product_store_id, header.status_id AS order_status_id, header.order_date,
                    header.order_id IS NOT NULL
                        AND orderql.is_order_open(header.order_type_id, header.status_id) AS is_order_open,
                    header.xmin <> pg_current_xact_id()::xid OR EXISTS (
                        -- Only where nothing makes them refer to items are an item's groups there before it.
                        SELECT FROM public.order_item_ship_group_assoc AS assoc
                        WHERE assoc.order_id = changed.order_id AND assoc.order_item_seq_id = changed.order_item_seq_id
                    ) AS is_shared
                FROM new_rows AS changed
                LEFT JOIN public.order_header AS header ON header.order_id = changed.order_id
            ), added AS (
                INSERT INTO orderql.item_place (
                    order_id, order_item_seq_id, ship_group_seq_id, external_id, order_item_type_id, product_id, status_id,
                    quantity, cancel_quantity, unit_price, product_store_id, order_status_id, order_date, is_order_open
                )
                SELECT
                    order_id, order_item_seq_id, '', external_id, order_item_type_id, product_id, status_id, quantity,
                    cancel_quantity, unit_price, product_store_id, order_status_id, order_date, is_order_open
                FROM source
                ON CONFLICT DO NOTHING
            )
            SELECT array_agg(DISTINCT order_id) INTO shared FROM source WHERE is_shared;
        END IF;
        IF shared IS NULL THEN
            RETURN NULL;
        END IF;
        PERFORM FROM public.order_header
        WHERE order_id = ANY (shared) AND xmin <> pg_current_xact_id()::xid
        ORDER BY order_id FOR NO KEY UPDATE;
        IF orderql.items_have_groups() THEN
            PERFORM FROM public.order_item_ship_group
            WHERE (order_id, ship_group_seq_id) IN (SELECT order_id, ship_group_seq_id FROM new_rows)
              AND xmin <> pg_current_xact_id()::xid
            ORDER BY order_id, ship_group_seq_id FOR SHARE;
            UPDATE orderql.item_place AS kept
            SET facility_id = own.facility_id,
                shipment_method_type_id = own.shipment_method_type_id,
                has_group = own.order_id IS NOT NULL,
                product_store_id = header.product_store_id,
                order_status_id = header.status_id,
                order_date = header.order_date,
                is_order_open = header.order_id IS NOT NULL AND orderql.is_order_open(header.order_type_id, header.status_id)
            FROM new_rows AS changed
            LEFT JOIN public.order_header AS header ON header.order_id = changed.order_id
            LEFT JOIN public.order_item_ship_group AS own
              ON own.order_id = changed.order_id AND own.ship_group_seq_id = changed.ship_group_seq_id
            WHERE kept.order_id = changed.order_id AND kept.order_item_seq_id = changed.order_item_seq_id
              AND changed.order_id = ANY (shared)
              AND (
                kept.facility_id, kept.shipment_method_type_id, kept.has_group, kept.product_store_id, kept.order_status_id,
                kept.order_date, kept.is_order_open
              ) IS DISTINCT FROM (
                own.facility_id::text, own.shipment_method_type_id::text, own.order_id IS NOT NULL, header.product_store_id::text,
                header.status_id::text, header.order_date::timestamptz,
                header.order_id IS NOT NULL AND orderql.is_order_open(header.order_type_id, header.status_id)
              );
        ELSIF EXISTS (
            SELECT FROM new_rows AS changed
            JOIN public.order_item_ship_group_assoc AS assoc
              ON assoc.order_id = changed.order_id AND assoc.order_item_seq_id = changed.order_item_seq_id
        ) THEN
            PERFORM orderql.refresh_item_places(shared);
        ELSE
            UPDATE orderql.item_place AS kept
            SET product_store_id = header.product_store_id,
                order_status_id = header.status_id,
                order_date = header.order_date,
                is_order_open = header.order_id IS NOT NULL AND orderql.is_order_open(header.order_type_id, header.status_id)
            FROM new_rows AS changed
            LEFT JOIN public.order_header AS header ON header.order_id = changed.order_id
            WHERE kept.order_id = changed.order_id AND kept.order_item_seq_id = changed.order_item_seq_id
              AND changed.order_id = ANY (shared)
              AND (kept.product_store_id, kept.order_status_id, kept.order_date, kept.is_order_open) IS DISTINCT FROM (
                header.product_store_id::text, header.status_id::text, header.order_date::timestamptz,
                header.order_id IS NOT NULL AND orderql.is_order_open(header.order_type_id, header.status_id)
              );
        END IF;
        RETURN NULL;
    END IF;
    IF orderql.items_have_groups() THEN
        -- An item that moves has the order of its row, and the facility of its new group.
        IF EXISTS (
            SELECT FROM new_rows AS changed
            JOIN orderql.item_place AS kept
              ON kept.order_id = changed.order_id AND kept.order_item_seq_id = changed.order_item_seq_id
             AND kept.ship_group_seq_id <> COALESCE(changed.ship_group_seq_id, '')
        ) THEN
            PERFORM FROM public.order_item_ship_group
            WHERE (order_id, ship_group_seq_id) IN (SELECT order_id, ship_group_seq_id FROM new_rows)
              AND xmin <> pg_current_xact_id()::xid
            ORDER BY order_id, ship_group_seq_id FOR SHARE;
            UPDATE orderql.item_place AS kept
            SET ship_group_seq_id = COALESCE(changed.ship_group_seq_id, ''),
                facility_id = own.facility_id,
                shipment_method_type_id = own.shipment_method_type_id,
                has_group = own.order_id IS NOT NULL,
                promised_date = (
                    SELECT min(reserved.promised_datetime)
                    FROM public.order_item_ship_grp_inv_res AS reserved
                    WHERE reserved.order_id = changed.order_id AND reserved.ship_group_seq_id = changed.ship_group_seq_id
                      AND reserved.order_item_seq_id = changed.order_item_seq_id
                )
            FROM new_rows AS changed
            LEFT JOIN public.order_item_ship_group AS own
              ON own.order_id = changed.order_id AND own.ship_group_seq_id = changed.ship_group_seq_id
            WHERE kept.order_id = changed.order_id AND kept.order_item_seq_id = changed.order_item_seq_id
              AND kept.ship_group_seq_id <> COALESCE(changed.ship_group_seq_id, '');
        END IF;
        UPDATE orderql.item_place AS kept
        SET external_id = changed.external_id,
            order_item_type_id = changed.order_item_type_id,
            product_id = changed.product_id,
            status_id = changed.status_id,
            quantity = changed.quantity,
            cancel_quantity = changed.cancel_quantity,
            unit_price = changed.unit_price
        FROM new_rows AS changed
        WHERE kept.order_id = changed.order_id AND kept.order_item_seq_id = changed.order_item_seq_id
          AND (
            kept.external_id, kept.order_item_type_id, kept.product_id, kept.status_id, kept.quantity, kept.cancel_quantity,
            kept.unit_price
          ) IS DISTINCT FROM (
            changed.external_id::text, changed.order_item_type_id::text, changed.product_id::text, changed.status_id::text, changed.quantity,
            changed.cancel_quantity, changed.unit_price
          );
    ELSE
        -- Another transaction may be adding a row of the item: it has locked one.
        PERFORM FROM orderql.item_place
        WHERE (order_id, order_item_seq_id) IN (SELECT order_id, order_item_seq_id FROM new_rows)
        ORDER BY order_id, order_item_seq_id, ship_group_seq_id FOR NO KEY UPDATE;
        UPDATE orderql.item_place AS kept
        SET external_id = changed.external_id,
            order_item_type_id = changed.order_item_type_id,
            product_id = changed.product_id,
            status_id = changed.status_id,
            quantity = CASE WHEN kept.ship_group_seq_id = '' THEN changed.quantity ELSE kept.quantity END,
            cancel_quantity = CASE WHEN kept.ship_group_seq_id = '' THEN changed.cancel_quantity ELSE kept.cancel_quantity END,
            unit_price = changed.unit_price
        FROM new_rows AS changed
        WHERE kept.order_id = changed.order_id AND kept.order_item_seq_id = changed.order_item_seq_id
          AND (
            (kept.external_id, kept.order_item_type_id, kept.product_id, kept.status_id, kept.unit_price)
                IS DISTINCT FROM (
                    changed.external_id::text, changed.order_item_type_id::text, changed.product_id::text, changed.status_id::text,
                    changed.unit_price
                )
            OR kept.ship_group_seq_id = ''
               AND (kept.quantity, kept.cancel_quantity) IS DISTINCT FROM (changed.quantity, changed.cancel_quantity)
          );
    END IF;
    RETURN NULL;
END;
$$;

--- trigger_function orderql.keep_item_groups
-- Items of stock OFBiz come to their groups. The rows of an item are locked before they are read: of two transactions that change the groups
-- of one item, the second one sees what the first did.
CREATE OR REPLACE FUNCTION orderql.keep_item_groups() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET jit = off SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        UPDATE orderql.item_place AS kept
        SET quantity = changed.quantity, cancel_quantity = changed.cancel_quantity
        FROM new_rows AS changed
        WHERE kept.order_id = changed.order_id AND kept.order_item_seq_id = changed.order_item_seq_id
          AND kept.ship_group_seq_id = changed.ship_group_seq_id
          AND (kept.quantity, kept.cancel_quantity) IS DISTINCT FROM (changed.quantity, changed.cancel_quantity);
        RETURN NULL;
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM FROM orderql.item_place
        WHERE (order_id, order_item_seq_id) IN (SELECT order_id, order_item_seq_id FROM old_rows)
        ORDER BY order_id, order_item_seq_id, ship_group_seq_id FOR NO KEY UPDATE;
        -- An item that leaves its last group keeps a row.
        UPDATE orderql.item_place AS kept
        SET ship_group_seq_id = '', quantity = item.quantity, cancel_quantity = item.cancel_quantity, facility_id = NULL,
            shipment_method_type_id = NULL, promised_date = NULL, has_group = false
        FROM (
            SELECT order_id, order_item_seq_id, min(ship_group_seq_id) AS ship_group_seq_id
            FROM old_rows
            GROUP BY order_id, order_item_seq_id
        ) AS former
        JOIN public.order_item AS item
          ON item.order_id = former.order_id AND item.order_item_seq_id = former.order_item_seq_id
        WHERE kept.order_id = former.order_id AND kept.order_item_seq_id = former.order_item_seq_id
          AND kept.ship_group_seq_id = former.ship_group_seq_id
          AND NOT EXISTS (
            SELECT FROM public.order_item_ship_group_assoc AS other
            WHERE other.order_id = former.order_id AND other.order_item_seq_id = former.order_item_seq_id
          );
        DELETE FROM orderql.item_place AS kept
        USING old_rows AS former
        WHERE kept.order_id = former.order_id AND kept.order_item_seq_id = former.order_item_seq_id
          AND kept.ship_group_seq_id = former.ship_group_seq_id;
        RETURN NULL;
    END IF;
    PERFORM FROM public.order_item_ship_group
    WHERE (order_id, ship_group_seq_id) IN (SELECT order_id, ship_group_seq_id FROM new_rows)
      AND xmin <> pg_current_xact_id()::xid
    ORDER BY order_id, ship_group_seq_id FOR SHARE;
    PERFORM FROM orderql.item_place
    WHERE (order_id, order_item_seq_id) IN (SELECT order_id, order_item_seq_id FROM new_rows)
    ORDER BY order_id, order_item_seq_id, ship_group_seq_id FOR NO KEY UPDATE;
    UPDATE orderql.item_place AS kept
    SET ship_group_seq_id = changed.ship_group_seq_id,
        quantity = changed.quantity,
        cancel_quantity = changed.cancel_quantity,
        facility_id = own.facility_id,
        shipment_method_type_id = own.shipment_method_type_id,
        has_group = own.order_id IS NOT NULL,
        promised_date = (
            SELECT min(reserved.promised_datetime)
            FROM public.order_item_ship_grp_inv_res AS reserved
            WHERE reserved.order_id = changed.order_id AND reserved.ship_group_seq_id = changed.ship_group_seq_id
              AND reserved.order_item_seq_id = changed.order_item_seq_id
        )
    FROM (
        SELECT DISTINCT ON (order_id, order_item_seq_id)
            order_id, order_item_seq_id, ship_group_seq_id, quantity, cancel_quantity
        FROM new_rows
        ORDER BY order_id, order_item_seq_id, ship_group_seq_id
    ) AS changed
    LEFT JOIN public.order_item_ship_group AS own
      ON own.order_id = changed.order_id AND own.ship_group_seq_id = changed.ship_group_seq_id
    WHERE kept.order_id = changed.order_id AND kept.order_item_seq_id = changed.order_item_seq_id AND kept.ship_group_seq_id = '';
    INSERT INTO orderql.item_place (
        order_id, order_item_seq_id, ship_group_seq_id, external_id, order_item_type_id, product_id, status_id, quantity,
        cancel_quantity, unit_price, facility_id, shipment_method_type_id, product_store_id, order_status_id, order_date,
        promised_date, has_group, is_order_open
    )
    SELECT
        changed.order_id, changed.order_item_seq_id, changed.ship_group_seq_id, sibling.external_id, sibling.order_item_type_id,
        sibling.product_id, sibling.status_id, changed.quantity, changed.cancel_quantity, sibling.unit_price, own.facility_id,
        own.shipment_method_type_id, sibling.product_store_id, sibling.order_status_id, sibling.order_date,
        (
            SELECT min(reserved.promised_datetime)
            FROM public.order_item_ship_grp_inv_res AS reserved
            WHERE reserved.order_id = changed.order_id AND reserved.ship_group_seq_id = changed.ship_group_seq_id
              AND reserved.order_item_seq_id = changed.order_item_seq_id
        ),
        own.order_id IS NOT NULL, sibling.is_order_open
    FROM new_rows AS changed
    CROSS JOIN LATERAL (
        SELECT *
        FROM orderql.item_place AS other
        WHERE other.order_id = changed.order_id AND other.order_item_seq_id = changed.order_item_seq_id
        ORDER BY other.ship_group_seq_id
        LIMIT 1
    ) AS sibling
    LEFT JOIN public.order_item_ship_group AS own
      ON own.order_id = changed.order_id AND own.ship_group_seq_id = changed.ship_group_seq_id
    WHERE NOT EXISTS (
        SELECT FROM orderql.item_place AS kept
        WHERE kept.order_id = changed.order_id AND kept.order_item_seq_id = changed.order_item_seq_id
          AND kept.ship_group_seq_id = changed.ship_group_seq_id
    )
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END;
$$;

--- trigger_function orderql.keep_groups
-- Ship groups. Their items are there before them only where nothing makes them refer to groups. A group is added under the lock of the order's
-- header, as items are.
CREATE OR REPLACE FUNCTION orderql.keep_groups() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET jit = off SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        UPDATE orderql.item_place AS kept
        SET facility_id = NULL, shipment_method_type_id = NULL, has_group = false
        FROM old_rows AS former
        WHERE kept.order_id = former.order_id AND kept.ship_group_seq_id = former.ship_group_seq_id;
    ELSE
        IF TG_OP = 'INSERT' THEN
            PERFORM FROM public.order_header
            WHERE order_id IN (SELECT order_id FROM new_rows) AND xmin <> pg_current_xact_id()::xid
            ORDER BY order_id FOR NO KEY UPDATE;
        END IF;
        UPDATE orderql.item_place AS kept
        SET facility_id = changed.facility_id, shipment_method_type_id = changed.shipment_method_type_id, has_group = true
        FROM new_rows AS changed
        WHERE kept.order_id = changed.order_id AND kept.ship_group_seq_id = changed.ship_group_seq_id
          AND (kept.facility_id, kept.shipment_method_type_id, kept.has_group)
              IS DISTINCT FROM (changed.facility_id::text, changed.shipment_method_type_id::text, true);
    END IF;
    RETURN NULL;
END;
$$;

--- trigger_function orderql.keep_headers
-- Headers, of which returns have the store as well. The rows of the order are locked before they are changed, because another transaction may be adding one with what another row has.
CREATE OR REPLACE FUNCTION orderql.keep_headers() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET jit = off SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    returned text[];
BEGIN
    IF TG_OP = 'DELETE' THEN
        UPDATE orderql.item_place AS kept
        SET product_store_id = NULL, order_status_id = NULL, order_date = NULL, is_order_open = false
        FROM old_rows AS former
        WHERE kept.order_id = former.order_id;
        PERFORM orderql.refresh_returns_of_orders(ARRAY(SELECT order_id FROM old_rows));
        RETURN NULL;
    END IF;
    IF TG_OP = 'INSERT' AND NOT EXISTS (
        -- Only where nothing makes items and returns refer to orders does an order find its own there already.
        SELECT FROM new_rows AS changed
        WHERE EXISTS (SELECT FROM orderql.item_place AS kept WHERE kept.order_id = changed.order_id)
           OR EXISTS (SELECT FROM public.return_item AS item WHERE item.order_id = changed.order_id)
    ) THEN
        RETURN NULL;
    END IF;
    PERFORM
    FROM new_rows AS changed
    JOIN orderql.item_place AS kept ON kept.order_id = changed.order_id
    WHERE (kept.product_store_id, kept.order_status_id, kept.order_date, kept.is_order_open) IS DISTINCT FROM (
        changed.product_store_id::text, changed.status_id::text, changed.order_date::timestamptz,
        orderql.is_order_open(changed.order_type_id, changed.status_id)
    )
    ORDER BY kept.order_id, kept.order_item_seq_id, kept.ship_group_seq_id
    FOR NO KEY UPDATE OF kept;
    IF FOUND THEN
        UPDATE orderql.item_place AS kept
        SET product_store_id = changed.product_store_id,
            order_status_id = changed.status_id,
            order_date = changed.order_date,
            is_order_open = orderql.is_order_open(changed.order_type_id, changed.status_id)
        FROM new_rows AS changed
        WHERE kept.order_id = changed.order_id
          AND (kept.product_store_id, kept.order_status_id, kept.order_date, kept.is_order_open) IS DISTINCT FROM (
            changed.product_store_id::text, changed.status_id::text, changed.order_date::timestamptz,
            orderql.is_order_open(changed.order_type_id, changed.status_id)
          );
    END IF;
    returned := ARRAY(
        SELECT changed.order_id
        FROM new_rows AS changed
        JOIN public.return_item AS item ON item.order_id = changed.order_id
        JOIN public.return_header AS header ON header.return_id = item.return_id
        WHERE header.orderql_product_store_id IS DISTINCT FROM changed.product_store_id
    );
    IF cardinality(returned) > 0 THEN
        PERFORM orderql.refresh_returns_of_orders(returned);
    END IF;
    RETURN NULL;
END;
$$;

--- trigger_function orderql.keep_promises
-- Reservations. An earlier promise is taken over; otherwise the row is locked, and the promise is looked for among those that are left.
CREATE OR REPLACE FUNCTION orderql.keep_promises() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET jit = off SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    IF TG_OP <> 'DELETE' THEN
        UPDATE orderql.item_place AS kept
        SET promised_date = changed.promised_datetime
        FROM (
            SELECT order_id, order_item_seq_id, ship_group_seq_id, min(promised_datetime) AS promised_datetime
            FROM new_rows
            WHERE promised_datetime IS NOT NULL
            GROUP BY order_id, order_item_seq_id, ship_group_seq_id
        ) AS changed
        WHERE kept.order_id = changed.order_id AND kept.order_item_seq_id = changed.order_item_seq_id
          AND kept.ship_group_seq_id = changed.ship_group_seq_id
          AND (kept.promised_date > changed.promised_datetime OR kept.promised_date IS NULL);
    END IF;
    IF TG_OP <> 'INSERT' THEN
        PERFORM
        FROM (SELECT DISTINCT order_id, order_item_seq_id, ship_group_seq_id FROM old_rows) AS former
        JOIN orderql.item_place AS kept USING (order_id, order_item_seq_id, ship_group_seq_id)
        WHERE kept.promised_date IS DISTINCT FROM (
            SELECT min(reserved.promised_datetime)
            FROM public.order_item_ship_grp_inv_res AS reserved
            WHERE reserved.order_id = kept.order_id AND reserved.ship_group_seq_id = kept.ship_group_seq_id
              AND reserved.order_item_seq_id = kept.order_item_seq_id
        )
        ORDER BY kept.order_id, kept.order_item_seq_id, kept.ship_group_seq_id
        FOR NO KEY UPDATE OF kept;
        IF FOUND THEN
            UPDATE orderql.item_place AS kept
            SET promised_date = (
                SELECT min(reserved.promised_datetime)
                FROM public.order_item_ship_grp_inv_res AS reserved
                WHERE reserved.order_id = kept.order_id AND reserved.ship_group_seq_id = kept.ship_group_seq_id
                  AND reserved.order_item_seq_id = kept.order_item_seq_id
            )
            FROM (SELECT DISTINCT order_id, order_item_seq_id, ship_group_seq_id FROM old_rows) AS former
            WHERE kept.order_id = former.order_id AND kept.order_item_seq_id = former.order_item_seq_id
              AND kept.ship_group_seq_id = former.ship_group_seq_id;
        END IF;
    END IF;
    RETURN NULL;
END;
$$;

--- trigger_function orderql.keep_item_places_of_row
-- Rows whose key changes, and those that logical replication or a session with session_replication_role = replica writes.
CREATE OR REPLACE FUNCTION orderql.keep_item_places_of_row() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM orderql.refresh_item_places(ARRAY[OLD.order_id, NEW.order_id]::text[]);
    IF TG_RELID = 'public.order_header'::regclass THEN
        PERFORM orderql.refresh_returns_of_orders(ARRAY[OLD.order_id, NEW.order_id]::text[]);
    END IF;
    RETURN NULL;
END;
$$;

--- trigger_function orderql.keep_item_places_of_none
-- A table of its sources has been emptied.
CREATE OR REPLACE FUNCTION orderql.keep_item_places_of_none() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_RELID = 'public.order_item'::regclass THEN
        DELETE FROM orderql.item_place;
    ELSE
        PERFORM orderql.backfill_item_places();
    END IF;
    IF TG_RELID = 'public.order_header'::regclass THEN
        UPDATE public.return_header SET orderql_product_store_id = NULL WHERE orderql_product_store_id IS NOT NULL;
    END IF;
    RETURN NULL;
END;
$$;
