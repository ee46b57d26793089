-- What earlier versions made and this one does not need; run once, where the database has no record of what was applied. Functions and views of
-- the schema orderql that are not declared go as well.
DROP TABLE IF EXISTS orderql.schema_history, orderql.service_history;

-- With the default of a column that took ids from it.
DROP SEQUENCE IF EXISTS orderql.shipment_status_id CASCADE;

-- Views that reserved the names of indexes, where a run was interrupted.
DO $$
DECLARE
    reserved text;
BEGIN
    FOR reserved IN
        SELECT viewname FROM pg_views
        WHERE schemaname = 'public' AND viewname LIKE 'oql\_%' AND definition ~ '^\s*SELECT 1 AS placeholder;$'
    LOOP
        EXECUTE format('DROP VIEW public.%I', reserved);
    END LOOP;
END;
$$;

-- The fulfilment queue as a table, and the facility of an item as a column of OFBiz's.
DO $$
DECLARE
    former record;
BEGIN
    FOR former IN
        SELECT tgname, tgrelid::regclass AS relation
        FROM pg_trigger
        JOIN pg_class ON pg_class.oid = tgrelid
        WHERE NOT tgisinternal AND tgparentid = 0 AND relnamespace = 'public'::regnamespace
          AND (tgname LIKE 'orderql\_open\_%' OR tgname = 'orderql_keep' AND relname = 'order_item')
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', former.tgname, former.relation);
    END LOOP;
END;
$$;
DROP VIEW IF EXISTS orderql.open_ship_group_source, orderql.stale_item;
DROP TABLE IF EXISTS orderql.open_ship_group;
ALTER TABLE IF EXISTS public.order_item DROP COLUMN IF EXISTS orderql_facility_id;
DO $$
DECLARE
    former regclass;
BEGIN
    FOR former IN
        SELECT pg_class.oid
        FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('i', 'I') AND NOT relispartition
          AND relname IN (
            'oql_order_item_in_order_id_order',
            'oql_order_item_in_product_order',
            'oql_order_item_of_ship_group',
            'oql_order_item_of_status_by_order',
            'oql_order_item_with_external_id'
          )
    LOOP
        EXECUTE format('DROP INDEX %s', former);
    END LOOP;
END;
$$;

-- HotWax's order_item has its ship group and columns of HotWax's beside it. Where it has the ship group alone, orderql has added it, and
-- filled it once.
DO $$
DECLARE
    columns text[] := ARRAY(
        SELECT attname FROM pg_attribute WHERE attrelid = to_regclass('public.order_item') AND attnum > 0 AND NOT attisdropped
    );
BEGIN
    IF 'ship_group_seq_id' = ANY (columns)
        AND NOT columns && '{promised_datetime, tax_code, return_till_date, requested_ship_meth_type_id}'
    THEN
        DROP VIEW IF EXISTS orderql.ship_group;
        ALTER TABLE order_item DROP COLUMN ship_group_seq_id;
    END IF;
END;
$$;

-- In the same way, HotWax's product_facility has the current inventory item of a pair, with columns of HotWax's beside it. Stock OFBiz adds an
-- item with each receipt: what is there is the sum of them all.
DO $$
DECLARE
    columns text[] := ARRAY(
        SELECT attname FROM pg_attribute WHERE attrelid = to_regclass('public.product_facility') AND attnum > 0 AND NOT attisdropped
    );
BEGIN
    IF 'inventory_item_id' = ANY (columns) AND NOT columns && '{allow_pickup, sales_velocity, allow_brokering}' THEN
        DROP VIEW IF EXISTS orderql.inventory_level;
        ALTER TABLE product_facility DROP COLUMN inventory_item_id;
    END IF;
END;
$$;

-- The outcomes of rejected updates, which are no longer kept under their keys.
DO $$
BEGIN
    IF EXISTS (
        SELECT FROM pg_attribute
        WHERE attrelid = to_regclass('orderql.idempotent_answer') AND attname = 'outcome' AND NOT attisdropped
    ) THEN
        DELETE FROM orderql.idempotent_answer WHERE outcome <> 'APPLIED';
        ALTER TABLE orderql.idempotent_answer DROP COLUMN outcome;
        ALTER TABLE orderql.idempotent_answer RENAME COLUMN errors TO notes;
    END IF;
END;
$$;
