-- Less work for those who write orders. What triggers keep of the rows of a statement they now keep once for the statement; of its
-- rows, only the facility of an item is found row by row, before the item is written, so that it is written once. New rows of an
-- order are added to the fulfilment queue without reading the order anew.
--
-- Of two transactions that change one order, the second waits for the first and sees what it did: each locks the order's header
-- before it reads the order. One that has inserted or updated the header holds that lock already: the header's version is its own
-- (xmin). As nobody else changes the order meanwhile, it needs no more than its own rows. An inserted item locks no ship group.

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

-- The rank of a status among those of a group's items: the item with the lowest comes next.
CREATE OR REPLACE FUNCTION orderql.rank_of_item_status(status_id text) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE status_id
        WHEN 'ITEM_APPROVED' THEN 1 WHEN 'ITEM_CREATED' THEN 2 WHEN 'ITEM_HOLD' THEN 3 WHEN 'ITEM_REQ_CANCELATN' THEN 4
    END
$$;

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

CREATE OR REPLACE VIEW orderql.stale_return AS
SELECT header.return_id, order_header.product_store_id
FROM return_header AS header
LEFT JOIN LATERAL (
    SELECT item.order_id
    FROM return_item AS item
    WHERE item.return_id = header.return_id
    ORDER BY item.return_item_seq_id
    LIMIT 1
) AS item ON true
LEFT JOIN order_header ON order_header.order_id = item.order_id
WHERE header.orderql_product_store_id IS DISTINCT FROM order_header.product_store_id;

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

-- The functions of the triggers run with the rights of their owner, so that OFBiz's role needs none here. Of an update, they take the
-- rows whose columns that are read here differ.

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

-- A statement has one trigger, whatever number of rows it changes. Logical replication, and a session with
-- session_replication_role = replica, run triggers of rows alone, so these have one for each row.
DROP TRIGGER IF EXISTS orderql_keep ON order_item_ship_group;
DROP TRIGGER IF EXISTS orderql_keep_none ON order_item_ship_group;
DROP TRIGGER IF EXISTS orderql_keep ON order_header;
DROP TRIGGER IF EXISTS orderql_keep_none ON order_header;
DROP TRIGGER IF EXISTS orderql_keep ON return_item;
DROP TRIGGER IF EXISTS orderql_keep_none ON return_item;

CREATE OR REPLACE TRIGGER orderql_open_inserted AFTER INSERT ON order_header REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_order_headers();
CREATE OR REPLACE TRIGGER orderql_open_updated AFTER UPDATE ON order_header REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_order_headers();
CREATE OR REPLACE TRIGGER orderql_open_deleted AFTER DELETE ON order_header REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_order_headers();
CREATE OR REPLACE TRIGGER orderql_open_truncated AFTER TRUNCATE ON order_header
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_order_headers();
CREATE OR REPLACE TRIGGER orderql_open_replicated
    AFTER INSERT OR UPDATE OF order_id, order_type_id, status_id, product_store_id, order_date OR DELETE ON order_header
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_order_headers();
ALTER TABLE order_header ENABLE ALWAYS TRIGGER orderql_open_truncated, ENABLE REPLICA TRIGGER orderql_open_replicated;

CREATE OR REPLACE TRIGGER orderql_open_inserted AFTER INSERT ON order_item_ship_group REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_ship_groups();
CREATE OR REPLACE TRIGGER orderql_open_updated AFTER UPDATE ON order_item_ship_group REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_ship_groups();
CREATE OR REPLACE TRIGGER orderql_open_deleted AFTER DELETE ON order_item_ship_group REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_ship_groups();
CREATE OR REPLACE TRIGGER orderql_open_truncated AFTER TRUNCATE ON order_item_ship_group
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_ship_groups();
CREATE OR REPLACE TRIGGER orderql_open_replicated
    AFTER INSERT OR UPDATE OF order_id, ship_group_seq_id, facility_id, shipment_method_type_id OR DELETE ON order_item_ship_group
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_ship_groups();
ALTER TABLE order_item_ship_group ENABLE ALWAYS TRIGGER orderql_open_truncated, ENABLE REPLICA TRIGGER orderql_open_replicated;

CREATE OR REPLACE TRIGGER orderql_open_inserted AFTER INSERT ON order_item REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_order_items();
CREATE OR REPLACE TRIGGER orderql_open_updated AFTER UPDATE ON order_item REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_order_items();
CREATE OR REPLACE TRIGGER orderql_open_deleted AFTER DELETE ON order_item REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_order_items();
CREATE OR REPLACE TRIGGER orderql_open_truncated AFTER TRUNCATE ON order_item
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_order_items();
CREATE OR REPLACE TRIGGER orderql_open_replicated
    AFTER INSERT OR UPDATE OF order_id, ship_group_seq_id, status_id OR DELETE ON order_item
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_order_items();
ALTER TABLE order_item ENABLE ALWAYS TRIGGER orderql_open_truncated, ENABLE REPLICA TRIGGER orderql_open_replicated;

CREATE OR REPLACE TRIGGER orderql_open_inserted AFTER INSERT ON order_item_ship_grp_inv_res REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_reservations();
CREATE OR REPLACE TRIGGER orderql_open_updated AFTER UPDATE ON order_item_ship_grp_inv_res REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_reservations();
CREATE OR REPLACE TRIGGER orderql_open_deleted AFTER DELETE ON order_item_ship_grp_inv_res REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_reservations();
CREATE OR REPLACE TRIGGER orderql_open_truncated AFTER TRUNCATE ON order_item_ship_grp_inv_res
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_reservations();
CREATE OR REPLACE TRIGGER orderql_open_replicated
    AFTER INSERT OR UPDATE OF order_id, ship_group_seq_id, promised_datetime OR DELETE ON order_item_ship_grp_inv_res
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_reservations();
ALTER TABLE order_item_ship_grp_inv_res ENABLE ALWAYS TRIGGER orderql_open_truncated, ENABLE REPLICA TRIGGER orderql_open_replicated;

CREATE OR REPLACE TRIGGER orderql_return_inserted AFTER INSERT ON return_item REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_return_items();
CREATE OR REPLACE TRIGGER orderql_return_updated AFTER UPDATE ON return_item REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_return_items();
CREATE OR REPLACE TRIGGER orderql_return_deleted AFTER DELETE ON return_item REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_return_items();
CREATE OR REPLACE TRIGGER orderql_return_truncated AFTER TRUNCATE ON return_item
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_return_items();
CREATE OR REPLACE TRIGGER orderql_return_replicated
    AFTER INSERT OR UPDATE OF return_id, return_item_seq_id, order_id OR DELETE ON return_item
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_return_items();
ALTER TABLE return_item ENABLE ALWAYS TRIGGER orderql_return_truncated, ENABLE REPLICA TRIGGER orderql_return_replicated;

DROP FUNCTION IF EXISTS orderql.keep_open_ship_groups(), orderql.keep_facility_of_group(), orderql.keep_store_of_items(),
    orderql.keep_store_of_order(), orderql.set_store_of_return(text), orderql.store_of_return(text);

-- The fulfilment queue by two keys, for the pairs of which one alone leaves many rows. The first column is descending, so that no other
-- index has this order. Every one is paid for when a group is opened, promised or closed, so there are few.
SELECT orderql.add_search_index(name, 'orderql.open_ship_group', columns, '')
FROM (VALUES
    ('oql_open_ship_group_of_facility_and_item_status_by_date',    'facility_id DESC, item_status_id, order_date, order_id, ship_group_seq_id'),
    ('oql_open_ship_group_of_facility_and_item_status_by_promise', 'facility_id DESC, item_status_id, promised_date, order_id, ship_group_seq_id'),
    ('oql_open_ship_group_of_facility_and_method_by_date',         'facility_id DESC, shipment_method_type_id, order_date, order_id, ship_group_seq_id'),
    ('oql_open_ship_group_of_facility_and_order_status_by_date',   'facility_id DESC, order_status_id, order_date, order_id, ship_group_seq_id'),
    ('oql_open_ship_group_of_store_and_order_status_by_date',      'product_store_id DESC, order_status_id, order_date, order_id, ship_group_seq_id')
) AS listed (name, columns);
