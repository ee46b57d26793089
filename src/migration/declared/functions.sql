-- The functions that keep what is derived from OFBiz's tables. One that gets other arguments or another kind of trigger gets another name:
-- a database that is migrated beside its writers has both until the triggers are replaced.

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

--- function orderql.refresh_parties
-- Brings the rows of these parties up to date, and returns the number of those that were not. The lock lets writers that are at it finish
-- first and has others wait, so that nothing is put back to an older state.
CREATE OR REPLACE FUNCTION orderql.refresh_parties(changed text[]) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    removed bigint;
    refreshed bigint;
BEGIN
    LOCK TABLE orderql.party IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM orderql.party AS kept
    WHERE party_id = ANY (changed) AND NOT EXISTS (SELECT FROM public.party WHERE party.party_id = kept.party_id);
    GET DIAGNOSTICS removed = ROW_COUNT;
    INSERT INTO orderql.party AS kept (
        party_id, party_type_id, external_id, status_id, created_date, first_name, last_name, group_name
    )
    SELECT party_id, party_type_id, external_id, status_id, created_date, first_name, last_name, group_name
    FROM orderql.party_source
    WHERE party_id = ANY (changed)
    ON CONFLICT (party_id) DO UPDATE
    SET party_type_id = EXCLUDED.party_type_id,
        external_id = EXCLUDED.external_id,
        status_id = EXCLUDED.status_id,
        created_date = EXCLUDED.created_date,
        first_name = EXCLUDED.first_name,
        last_name = EXCLUDED.last_name,
        group_name = EXCLUDED.group_name
    WHERE kept.* IS DISTINCT FROM EXCLUDED.*;
    GET DIAGNOSTICS refreshed = ROW_COUNT;
    RETURN removed + refreshed;
END;
$$;
REVOKE EXECUTE ON FUNCTION orderql.refresh_parties FROM PUBLIC;

--- function orderql.backfill_parties
-- The same of all parties. After an import with their triggers off it finds some.
CREATE OR REPLACE FUNCTION orderql.backfill_parties() RETURNS bigint
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT orderql.refresh_parties(ARRAY(SELECT party_id FROM orderql.stale_party))
$$;
REVOKE EXECUTE ON FUNCTION orderql.backfill_parties FROM PUBLIC;

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

--- function orderql.backfill_returns
-- Brings the stores of all returns up to date, and returns the number of those that were not.
CREATE OR REPLACE FUNCTION orderql.backfill_returns() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    stale text[] := ARRAY(SELECT return_id FROM orderql.stale_return);
BEGIN
    PERFORM orderql.refresh_returns(stale);
    RETURN cardinality(stale);
END;
$$;
REVOKE EXECUTE ON FUNCTION orderql.backfill_returns FROM PUBLIC;

--- function orderql.refresh_shipments
-- Brings the stores of these shipments up to date, and returns the number of those that were not.
CREATE OR REPLACE FUNCTION orderql.refresh_shipments(changed text[]) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    refreshed bigint;
BEGIN
    PERFORM FROM public.shipment WHERE shipment_id = ANY (changed) ORDER BY shipment_id FOR NO KEY UPDATE;
    UPDATE public.shipment SET orderql_product_store_id = stale.product_store_id
    FROM orderql.stale_shipment AS stale
    WHERE stale.shipment_id = ANY (changed) AND shipment.shipment_id = stale.shipment_id;
    GET DIAGNOSTICS refreshed = ROW_COUNT;
    RETURN refreshed;
END;
$$;
REVOKE EXECUTE ON FUNCTION orderql.refresh_shipments FROM PUBLIC;

--- function orderql.backfill_shipments
-- The same of all shipments.
CREATE OR REPLACE FUNCTION orderql.backfill_shipments() RETURNS bigint
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT orderql.refresh_shipments(ARRAY(SELECT shipment_id FROM orderql.stale_shipment))
$$;
REVOKE EXECUTE ON FUNCTION orderql.backfill_shipments FROM PUBLIC;

--- function orderql.refresh_stores_of_orders
-- The stores of these orders' returns and shipments.
CREATE OR REPLACE FUNCTION orderql.refresh_stores_of_orders(changed text[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    returns text[] := ARRAY(
        SELECT return_id
        FROM orderql.stale_return
        WHERE return_id = ANY (ARRAY(SELECT return_id FROM public.return_item WHERE order_id = ANY (changed)))
    );
    shipments text[] := ARRAY(
        SELECT shipment_id
        FROM orderql.stale_shipment
        WHERE shipment_id = ANY (ARRAY(SELECT shipment_id FROM public.shipment WHERE primary_order_id = ANY (changed)))
    );
BEGIN
    IF cardinality(returns) > 0 THEN
        PERFORM orderql.refresh_returns(returns);
    END IF;
    IF cardinality(shipments) > 0 THEN
        PERFORM orderql.refresh_shipments(shipments);
    END IF;
END;
$$;

--- trigger_function orderql.keep_stores_of_order
-- An order that gets another store, which is rare. A shipment that another transaction is inserting has the former one: it is waited for. The
-- lock excludes itself, so that two such changes wait in a line.
CREATE OR REPLACE FUNCTION orderql.keep_stores_of_order() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        LOCK TABLE public.shipment IN SHARE ROW EXCLUSIVE MODE;
    END IF;
    PERFORM orderql.refresh_stores_of_orders(array_remove(ARRAY[OLD.order_id, NEW.order_id], NULL));
    RETURN NULL;
END;
$$;

--- trigger_function orderql.keep_store_of_shipment
CREATE OR REPLACE FUNCTION orderql.keep_store_of_shipment() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.orderql_product_store_id := (
        SELECT product_store_id FROM public.order_header WHERE order_id = NEW.primary_order_id
    );
    RETURN NEW;
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

--- function orderql.refresh_items
-- Makes the rows of these items anew, where they differ: of each order the item beside it, or all of its items where that is null. Each row is
-- found by a primary key, so that one plan suits any number of orders. Rows that stand are locked before their sources are read: of two
-- transactions that change what a row comes from, the second one reads what the first did.
CREATE OR REPLACE FUNCTION orderql.refresh_items(orders text[], items text[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET jit = off SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_sort = on AS $$
DECLARE
    whole text[] := ARRAY(
        SELECT DISTINCT changed.order_id
        FROM unnest(orders, items) AS changed (order_id, order_item_seq_id)
        WHERE changed.order_item_seq_id IS NULL
    );
BEGIN
    SELECT array_agg(changed.order_id), array_agg(changed.order_item_seq_id)
    INTO orders, items
    FROM (
        SELECT listed.order_id, listed.order_item_seq_id
        FROM unnest(orders, items) AS listed (order_id, order_item_seq_id)
        WHERE listed.order_item_seq_id IS NOT NULL
        UNION
        SELECT item.order_id, item.order_item_seq_id FROM public.order_item AS item WHERE item.order_id = ANY (whole)
        UNION
        SELECT kept.order_id, kept.order_item_seq_id FROM orderql.item_place AS kept WHERE kept.order_id = ANY (whole)
        ORDER BY order_id, order_item_seq_id
    ) AS changed;
    PERFORM
    FROM unnest(orders, items) AS changed (order_id, order_item_seq_id)
    JOIN orderql.item_place AS kept USING (order_id, order_item_seq_id)
    ORDER BY kept.order_id, kept.order_item_seq_id, kept.ship_group_seq_id
    FOR NO KEY UPDATE OF kept;
    IF FOUND THEN
        DELETE FROM orderql.item_place AS kept
        USING unnest(orders, items) AS changed (order_id, order_item_seq_id)
        WHERE kept.order_id = changed.order_id AND kept.order_item_seq_id = changed.order_item_seq_id
          AND NOT EXISTS (
            SELECT FROM orderql.item_in_group AS item
            WHERE item.order_id = kept.order_id AND item.order_item_seq_id = kept.order_item_seq_id
              AND item.ship_group_seq_id = kept.ship_group_seq_id
        );
    END IF;
    INSERT INTO orderql.item_place AS kept (
        order_id, order_item_seq_id, ship_group_seq_id, external_id, order_item_type_id, product_id, status_id, quantity,
        cancel_quantity, unit_price, facility_id, shipment_method_type_id, product_store_id, order_status_id, order_date,
        promised_date, has_group, is_order_open
    )
    SELECT source.*
    FROM unnest(orders, items) AS changed (order_id, order_item_seq_id)
    JOIN orderql.item_place_source AS source
      ON source.order_id = changed.order_id AND source.order_item_seq_id = changed.order_item_seq_id
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
REVOKE EXECUTE ON FUNCTION orderql.refresh_items FROM PUBLIC;

--- function orderql.refresh_items_of_orders
-- Makes the rows of all items of these orders anew. What they come from is locked first, in the order of its keys: rows that are missing
-- cannot be locked themselves.
CREATE OR REPLACE FUNCTION orderql.refresh_items_of_orders(changed text[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    PERFORM orderql.lock_orders(changed);
    PERFORM FROM public.order_item
    WHERE order_id = ANY (changed) AND xmin <> pg_current_xact_id()::xid
    ORDER BY order_id, order_item_seq_id FOR SHARE;
    PERFORM orderql.refresh_items(changed, NULL);
END;
$$;
REVOKE EXECUTE ON FUNCTION orderql.refresh_items_of_orders FROM PUBLIC;

--- function orderql.lock_orders
-- Waits for the transactions that are changing these orders or their groups, and has others wait until this one ends. A transaction that has
-- written the rows itself, as one that enters an order, holds their locks already: their versions are its own (xmin).
CREATE OR REPLACE FUNCTION orderql.lock_orders(changed text[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    PERFORM FROM public.order_header
    WHERE order_id = ANY (changed) AND xmin <> pg_current_xact_id()::xid
    ORDER BY order_id FOR NO KEY UPDATE;
    PERFORM FROM public.order_item_ship_group
    WHERE order_id = ANY (changed) AND xmin <> pg_current_xact_id()::xid
    ORDER BY order_id, ship_group_seq_id FOR SHARE;
END;
$$;
REVOKE EXECUTE ON FUNCTION orderql.lock_orders FROM PUBLIC;

--- function orderql.backfill_item_places
-- Brings every row up to date, and returns the number of rows that were not. It needs no lock of a table: rows and their sources are read
-- in one snapshot, and orders that differ are made anew.
CREATE OR REPLACE FUNCTION orderql.backfill_item_places() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    differing text[] := ARRAY(SELECT order_id FROM orderql.stale_item_place);
BEGIN
    IF cardinality(differing) > 0 THEN
        PERFORM orderql.refresh_items_of_orders(ARRAY(SELECT DISTINCT unnest(differing)));
    END IF;
    RETURN cardinality(differing);
END;
$$;
REVOKE EXECUTE ON FUNCTION orderql.backfill_item_places FROM PUBLIC;

--- trigger_function orderql.note_items
-- Notes which items a statement has changed.
CREATE OR REPLACE FUNCTION orderql.note_items() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO orderql.changed_item (order_ids, item_ids, is_added)
        SELECT array_agg(order_id), array_agg(order_item_seq_id), TG_RELID = 'public.order_item'::regclass
        FROM new_rows
        HAVING count(*) > 0;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO orderql.changed_item (order_ids, item_ids)
        SELECT array_agg(order_id), array_agg(order_item_seq_id) FROM old_rows HAVING count(*) > 0;
    ELSE
        INSERT INTO orderql.changed_item (order_ids, item_ids)
        SELECT array_agg(order_id), array_agg(order_item_seq_id)
        FROM (
            SELECT order_id, order_item_seq_id FROM old_rows
            UNION
            SELECT order_id, order_item_seq_id FROM new_rows
        ) AS changed
        HAVING count(*) > 0;
    END IF;
    RETURN NULL;
END;
$$;

--- trigger_function orderql.note_added
-- Notes orders and groups that a statement has added. They find items there only where nothing makes items refer to them, or in other groups
-- of the order.
CREATE OR REPLACE FUNCTION orderql.note_added() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    INSERT INTO orderql.changed_item (order_ids, is_added)
    SELECT array_agg(order_id), true
    FROM new_rows AS added
    WHERE EXISTS (SELECT FROM orderql.item_place AS kept WHERE kept.order_id = added.order_id)
    HAVING count(*) > 0;
    IF TG_RELID = 'public.order_header'::regclass THEN
        PERFORM orderql.refresh_stores_of_orders(ARRAY(SELECT order_id FROM new_rows));
    END IF;
    RETURN NULL;
END;
$$;

--- trigger_function orderql.note_row
-- Notes the order of a changed row.
CREATE OR REPLACE FUNCTION orderql.note_row() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO orderql.changed_item (order_ids) VALUES (array_remove(ARRAY[OLD.order_id, NEW.order_id], NULL));
    RETURN NULL;
END;
$$;

--- trigger_function orderql.keep_noted_items
-- Makes the rows of all items anew that the transaction has noted, when it commits, so that each is written once however often its sources
-- were. Then rows are locked in one order, by transactions that wait for nothing else any more.
CREATE OR REPLACE FUNCTION orderql.keep_noted_items() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
    orders text[];
    items text[];
    added text[];
BEGIN
    IF NOT EXISTS (SELECT FROM orderql.changed_item WHERE writer = NEW.writer AND note = NEW.note) THEN
        -- The first note has taken it along.
        RETURN NULL;
    END IF;
    WITH noted AS (
        DELETE FROM orderql.changed_item WHERE writer = NEW.writer RETURNING order_ids, item_ids, is_added
    )
    SELECT array_agg(order_id), array_agg(order_item_seq_id), array_agg(DISTINCT order_id) FILTER (WHERE is_added)
    INTO orders, items, added
    FROM noted
    CROSS JOIN unnest(order_ids, item_ids) AS changed (order_id, order_item_seq_id);
    IF added IS NOT NULL THEN
        PERFORM orderql.lock_orders(added);
    END IF;
    PERFORM orderql.refresh_items(orders, items);
    RETURN NULL;
END;
$$;

--- trigger_function orderql.keep_items_of_none
-- A table of their sources has been emptied.
CREATE OR REPLACE FUNCTION orderql.keep_items_of_none() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_RELID = 'public.order_item'::regclass THEN
        DELETE FROM orderql.item_place;
    ELSE
        PERFORM orderql.backfill_item_places();
    END IF;
    IF TG_RELID = 'public.order_header'::regclass THEN
        UPDATE public.return_header SET orderql_product_store_id = NULL WHERE orderql_product_store_id IS NOT NULL;
        UPDATE public.shipment SET orderql_product_store_id = NULL WHERE orderql_product_store_id IS NOT NULL;
    END IF;
    RETURN NULL;
END;
$$;
