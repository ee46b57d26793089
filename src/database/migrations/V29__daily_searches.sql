-- The searches of daily work: by a facility and a status, a store and a status, a store and a time. With these indexes a page is
-- read in its order, and a row that is examined is nearly always one that matches.

-- Two columns that other tables' rows give: the facility of an item, which is its ship group's, and the store of a return, which
-- is that of the order of its first item. An index needs them in the rows themselves. Triggers keep them, with the rights of their
-- owner, so that OFBiz's role needs none here. OFBiz's own statements name their columns, and go on as before.
DO $$
DECLARE
    added record;
BEGIN
    FOR added IN
        SELECT kept.relation, kept.name, format_type(atttypid, atttypmod) AS type
        FROM (VALUES
            ('order_item',    'orderql_facility_id',      'order_item_ship_group', 'facility_id'),
            ('return_header', 'orderql_product_store_id', 'order_header',          'product_store_id')
        ) AS kept (relation, name, source, source_column)
        JOIN pg_attribute ON attrelid = kept.source::regclass AND attname = kept.source_column
    LOOP
        EXECUTE format('ALTER TABLE %I ADD COLUMN IF NOT EXISTS %I %s', added.relation, added.name, added.type);
    END LOOP;
END;
$$;

-- The lock has a change of the group's facility wait for the item, and the other way round, so that neither misses the other.
CREATE OR REPLACE FUNCTION orderql.keep_facility_of_item() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT facility_id INTO NEW.orderql_facility_id
    FROM public.order_item_ship_group AS own
    WHERE own.order_id = NEW.order_id AND own.ship_group_seq_id = NEW.ship_group_seq_id
    FOR SHARE;
    RETURN NEW;
END;
$$;

CREATE OR REPLACE FUNCTION orderql.keep_facility_of_group() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        UPDATE public.order_item SET orderql_facility_id = NULL WHERE orderql_facility_id IS NOT NULL;
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE'
        OR TG_OP = 'UPDATE' AND (OLD.order_id, OLD.ship_group_seq_id) <> (NEW.order_id, NEW.ship_group_seq_id)
    THEN
        UPDATE public.order_item SET orderql_facility_id = NULL
        WHERE order_id = OLD.order_id AND ship_group_seq_id = OLD.ship_group_seq_id AND orderql_facility_id IS NOT NULL;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        UPDATE public.order_item SET orderql_facility_id = NEW.facility_id
        WHERE order_id = NEW.order_id AND ship_group_seq_id = NEW.ship_group_seq_id
          AND orderql_facility_id IS DISTINCT FROM NEW.facility_id;
    END IF;
    RETURN NULL;
END;
$$;

CREATE OR REPLACE FUNCTION orderql.store_of_return(id text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT order_header.product_store_id
    FROM (
        SELECT item.order_id
        FROM public.return_item AS item
        WHERE item.return_id = id
        ORDER BY item.return_item_seq_id
        LIMIT 1
    ) AS item
    JOIN public.order_header ON order_header.order_id = item.order_id
$$;

-- The row is locked before its items are read, so that of two who write items of one return the later one sees both.
CREATE OR REPLACE FUNCTION orderql.set_store_of_return(id text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM public.return_header WHERE return_id = id FOR NO KEY UPDATE;
    UPDATE public.return_header SET orderql_product_store_id = orderql.store_of_return(id)
    WHERE return_id = id AND orderql_product_store_id IS DISTINCT FROM orderql.store_of_return(id);
END;
$$;

CREATE OR REPLACE FUNCTION orderql.keep_store_of_return() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.orderql_product_store_id := orderql.store_of_return(NEW.return_id);
    RETURN NEW;
END;
$$;

CREATE OR REPLACE FUNCTION orderql.keep_store_of_items() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        UPDATE public.return_header SET orderql_product_store_id = NULL WHERE orderql_product_store_id IS NOT NULL;
        RETURN NULL;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        PERFORM orderql.set_store_of_return(OLD.return_id);
    END IF;
    IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND NEW.return_id <> OLD.return_id THEN
        PERFORM orderql.set_store_of_return(NEW.return_id);
    END IF;
    RETURN NULL;
END;
$$;

CREATE OR REPLACE FUNCTION orderql.keep_store_of_order() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        UPDATE public.return_header SET orderql_product_store_id = NULL WHERE orderql_product_store_id IS NOT NULL;
        RETURN NULL;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        PERFORM orderql.set_store_of_return(return_id)
        FROM (SELECT DISTINCT return_id FROM public.return_item WHERE order_id = OLD.order_id) AS item;
    END IF;
    IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND NEW.order_id <> OLD.order_id THEN
        PERFORM orderql.set_store_of_return(return_id)
        FROM (SELECT DISTINCT return_id FROM public.return_item WHERE order_id = NEW.order_id) AS item;
    END IF;
    RETURN NULL;
END;
$$;

CREATE OR REPLACE TRIGGER orderql_keep
    BEFORE INSERT OR UPDATE OF order_id, ship_group_seq_id ON order_item
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_facility_of_item();
CREATE OR REPLACE TRIGGER orderql_keep
    AFTER INSERT OR UPDATE OF order_id, ship_group_seq_id, facility_id OR DELETE ON order_item_ship_group
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_facility_of_group();
CREATE OR REPLACE TRIGGER orderql_keep
    BEFORE INSERT OR UPDATE OF return_id ON return_header
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_store_of_return();
CREATE OR REPLACE TRIGGER orderql_keep
    AFTER INSERT OR UPDATE OF return_id, return_item_seq_id, order_id OR DELETE ON return_item
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_store_of_items();
CREATE OR REPLACE TRIGGER orderql_keep
    AFTER INSERT OR UPDATE OF order_id, product_store_id OR DELETE ON order_header
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_store_of_order();

CREATE OR REPLACE TRIGGER orderql_keep_none AFTER TRUNCATE ON order_item_ship_group
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_facility_of_group();
CREATE OR REPLACE TRIGGER orderql_keep_none AFTER TRUNCATE ON return_item
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_store_of_items();
CREATE OR REPLACE TRIGGER orderql_keep_none AFTER TRUNCATE ON order_header
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_store_of_order();

-- Rows that logical replication writes, too.
ALTER TABLE order_item ENABLE ALWAYS TRIGGER orderql_keep;
ALTER TABLE order_item_ship_group ENABLE ALWAYS TRIGGER orderql_keep, ENABLE ALWAYS TRIGGER orderql_keep_none;
ALTER TABLE return_header ENABLE ALWAYS TRIGGER orderql_keep;
ALTER TABLE return_item ENABLE ALWAYS TRIGGER orderql_keep, ENABLE ALWAYS TRIGGER orderql_keep_none;
ALTER TABLE order_header ENABLE ALWAYS TRIGGER orderql_keep, ENABLE ALWAYS TRIGGER orderql_keep_none;

-- The order items and returns whose column differs from the tables that it comes from.
CREATE OR REPLACE VIEW orderql.stale_item AS
SELECT item.order_id, item.order_item_seq_id, own.facility_id
FROM order_item AS item
LEFT JOIN order_item_ship_group AS own
  ON own.order_id = item.order_id AND own.ship_group_seq_id = item.ship_group_seq_id
WHERE item.orderql_facility_id IS DISTINCT FROM own.facility_id;

CREATE OR REPLACE VIEW orderql.stale_return AS
SELECT header.return_id, order_header.product_store_id
FROM return_header AS header
LEFT JOIN (
    SELECT DISTINCT ON (return_id) return_id, order_id FROM return_item ORDER BY return_id, return_item_seq_id
) AS item ON item.return_id = header.return_id
LEFT JOIN order_header ON order_header.order_id = item.order_id
WHERE header.orderql_product_store_id IS DISTINCT FROM order_header.product_store_id;

-- Brings both columns up to date; returns the number of rows that were not. After an import with its triggers off it finds some.
-- The locks let writers that are at it finish first and have others wait, so that nothing is put back to an older state.
CREATE OR REPLACE FUNCTION orderql.backfill_search_columns() RETURNS bigint
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
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

SELECT orderql.backfill_search_columns();

CREATE OR REPLACE VIEW orderql.return_header AS
SELECT
    header.return_id,
    header.return_header_type_id,
    header.status_id,
    header.from_party_id,
    header.to_party_id,
    header.entry_date,
    header.return_date,
    header.currency_uom_id,
    header.external_id,
    header.destination_facility_id,
    header.needs_inventory_receive,
    header.orderql_product_store_id AS product_store_id,
    header.last_updated_stamp
FROM return_header AS header;

-- The rows with one value of a search key, in the orders that `inOrderOf` lists.
SELECT orderql.add_search_index(name, relation, columns, included)
FROM (VALUES
    ('oql_order_header_of_status_by_id',        'order_header',  'status_id, order_id',                                         'product_store_id, order_date, order_type_id'),
    ('oql_order_header_of_store_by_update',     'order_header',  'product_store_id, last_updated_stamp, order_id',              'status_id, order_date, order_type_id'),
    ('oql_order_item_of_facility_by_order',     'order_item',    'orderql_facility_id, order_id, order_item_seq_id',            'status_id, product_id, order_item_type_id'),
    ('oql_order_item_of_facility_by_product',   'order_item',    'orderql_facility_id, product_id, order_id, order_item_seq_id', 'status_id, order_item_type_id'),
    ('oql_shipment_of_facility_by_update',      'shipment',      'origin_facility_id, last_updated_stamp, shipment_id',         'status_id, shipment_method_type_id, estimated_ship_date'),
    ('oql_return_header_of_store_by_date',      'return_header', 'orderql_product_store_id, entry_date, return_id',             'status_id, from_party_id, return_date'),
    ('oql_return_header_of_store_by_id',        'return_header', 'orderql_product_store_id, return_id',                         'status_id, from_party_id, entry_date, return_date')
) AS listed (name, relation, columns, included);

-- The rows with a value of each of two search keys. The first column is descending, so that no other index has this order.
SELECT orderql.add_search_index(name, relation, columns, included)
FROM (VALUES
    ('oql_order_header_of_store_and_status_by_date',    'order_header',  'product_store_id DESC, status_id, order_date, order_id',                       'order_type_id, order_name, grand_total'),
    ('oql_order_header_of_store_and_status_by_id',      'order_header',  'product_store_id DESC, status_id, order_id',                                   'order_date, order_type_id'),
    ('oql_order_item_of_facility_and_status_by_order',  'order_item',    'orderql_facility_id DESC, status_id, order_id, order_item_seq_id',             'product_id, order_item_type_id'),
    ('oql_order_item_of_facility_and_status_by_product', 'order_item',   'orderql_facility_id DESC, status_id, product_id, order_id, order_item_seq_id', 'order_item_type_id'),
    ('oql_order_item_of_facility_and_product_by_order', 'order_item',    'orderql_facility_id DESC, product_id, order_id, order_item_seq_id',            'status_id, order_item_type_id'),
    ('oql_shipment_of_facility_and_status_by_date',     'shipment',      'origin_facility_id DESC, status_id, estimated_ship_date, shipment_id',         'shipment_method_type_id'),
    ('oql_shipment_of_facility_and_status_by_id',       'shipment',      'origin_facility_id DESC, status_id, shipment_id',                              'shipment_method_type_id, estimated_ship_date'),
    ('oql_return_header_of_store_and_status_by_date',   'return_header', 'orderql_product_store_id DESC, status_id, entry_date, return_id',              'from_party_id, return_date'),
    ('oql_return_header_of_store_and_status_by_id',     'return_header', 'orderql_product_store_id DESC, status_id, return_id',                          'from_party_id, entry_date, return_date')
) AS listed (name, relation, columns, included);
