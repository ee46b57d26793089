-- One row for each item in a ship group, in a table of orderql's own: where stock OFBiz keeps an item's groups in
-- order_item_ship_group_assoc, one item has a row for each, with the group's quantity; where HotWax keeps one group in order_item, each item
-- has one row. An item without a group has a row whose ship group is ''. The rows have what items are searched, sorted and added up by, so
-- that order_item needs no column and no index of orderql's, and the fulfilment queue is a partial index of the rows that are open.
--
-- Triggers keep the rows with the statements that change what they come from. A row belongs to one item: a writer of an item writes the rows
-- of this item and no others, so that two writers wait for one another only where they write the same items, or one of them writes what
-- many items share, the order's header or the ship group. Rows are changed column by column from what changed, and not read anew.
-- Where a row is added, its header is locked as a change of the header would, and its ship group against changes.

DROP TRIGGER IF EXISTS orderql_keep ON order_item;
DROP TRIGGER IF EXISTS orderql_open_inserted ON order_item;
DROP TRIGGER IF EXISTS orderql_open_updated ON order_item;
DROP TRIGGER IF EXISTS orderql_open_deleted ON order_item;
DROP TRIGGER IF EXISTS orderql_open_truncated ON order_item;
DROP TRIGGER IF EXISTS orderql_open_replicated ON order_item;
DROP TRIGGER IF EXISTS orderql_open_inserted ON order_item_ship_group;
DROP TRIGGER IF EXISTS orderql_open_updated ON order_item_ship_group;
DROP TRIGGER IF EXISTS orderql_open_deleted ON order_item_ship_group;
DROP TRIGGER IF EXISTS orderql_open_truncated ON order_item_ship_group;
DROP TRIGGER IF EXISTS orderql_open_replicated ON order_item_ship_group;
DROP TRIGGER IF EXISTS orderql_open_inserted ON order_item_ship_grp_inv_res;
DROP TRIGGER IF EXISTS orderql_open_updated ON order_item_ship_grp_inv_res;
DROP TRIGGER IF EXISTS orderql_open_deleted ON order_item_ship_grp_inv_res;
DROP TRIGGER IF EXISTS orderql_open_truncated ON order_item_ship_grp_inv_res;
DROP TRIGGER IF EXISTS orderql_open_replicated ON order_item_ship_grp_inv_res;
DROP TRIGGER IF EXISTS orderql_open_inserted ON order_header;
DROP TRIGGER IF EXISTS orderql_open_updated ON order_header;
DROP TRIGGER IF EXISTS orderql_open_deleted ON order_header;
DROP TRIGGER IF EXISTS orderql_open_truncated ON order_header;
DROP TRIGGER IF EXISTS orderql_open_replicated ON order_header;
DROP FUNCTION IF EXISTS orderql.keep_facility_of_item(), orderql.keep_order_headers(), orderql.keep_ship_groups(),
    orderql.keep_order_items(), orderql.keep_reservations(), orderql.refresh_orders(text[]),
    orderql.refresh_open_ship_groups(text[]), orderql.add_open_ship_groups(text[]), orderql.backfill_open_ship_groups();
DROP VIEW IF EXISTS orderql.open_ship_group_source, orderql.stale_item;
DROP TABLE IF EXISTS orderql.open_ship_group;
DROP FUNCTION IF EXISTS orderql.rank_of_item_status(text);
DROP VIEW IF EXISTS orderql.ship_group;
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT relname
        FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('i', 'I') AND NOT relispartition
          AND relname IN (
            'oql_order_item_in_order_id_order', 'oql_order_item_in_product_order', 'oql_order_item_of_ship_group',
            'oql_order_item_of_status_by_order', 'oql_order_item_with_external_id'
          )
    LOOP
        EXECUTE format('DROP INDEX public.%I', name);
    END LOOP;
END;
$$;
ALTER TABLE order_item DROP COLUMN IF EXISTS orderql_facility_id;

-- HotWax's order_item has its ship group and columns of HotWax's beside it. Where it has the ship group alone, orderql has added it, and
-- filled it once.
DO $$
DECLARE
    columns text[] := ARRAY(
        SELECT attname FROM pg_attribute WHERE attrelid = 'order_item'::regclass AND attnum > 0 AND NOT attisdropped
    );
BEGIN
    IF 'ship_group_seq_id' = ANY (columns)
        AND NOT columns && '{promised_datetime, tax_code, return_till_date, requested_ship_meth_type_id}'
    THEN
        ALTER TABLE order_item DROP COLUMN ship_group_seq_id;
    END IF;
END;
$$;

-- In the same way, HotWax's product_facility has the current inventory item of a pair, with columns of HotWax's beside it. Stock OFBiz adds an
-- item with each receipt: what is there is the sum of them all.
DROP VIEW IF EXISTS orderql.inventory_level;
DO $$
DECLARE
    columns text[] := ARRAY(
        SELECT attname FROM pg_attribute WHERE attrelid = 'product_facility'::regclass AND attnum > 0 AND NOT attisdropped
    );
BEGIN
    IF 'inventory_item_id' = ANY (columns) AND NOT columns && '{allow_pickup, sales_velocity, allow_brokering}' THEN
        ALTER TABLE product_facility DROP COLUMN inventory_item_id;
    END IF;
END;
$$;

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

-- Whether an order still has something to do: not a purchase order, and neither sent nor given up.
CREATE OR REPLACE FUNCTION orderql.is_order_open(order_type_id text, status_id text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT order_type_id IS DISTINCT FROM 'PURCHASE_ORDER'
        AND COALESCE(status_id, '') NOT IN
            ('ORDER_SENT', 'ORDER_COMPLETED', 'ORDER_CANCELLED', 'ORDER_REJECTED', 'ORDER_EXPIRED')
$$;

CREATE TABLE IF NOT EXISTS orderql.item_place (
    order_id                TEXT NOT NULL,
    order_item_seq_id       TEXT NOT NULL,
    ship_group_seq_id       TEXT NOT NULL,
    external_id             TEXT,
    order_item_type_id      TEXT,
    product_id              TEXT,
    status_id               TEXT,
    quantity                NUMERIC,
    cancel_quantity         NUMERIC,
    unit_price              NUMERIC,
    facility_id             TEXT,
    shipment_method_type_id TEXT,
    product_store_id        TEXT,
    order_status_id         TEXT,
    order_date              TIMESTAMPTZ,
    promised_date           TIMESTAMPTZ,
    has_group               BOOLEAN NOT NULL DEFAULT false,
    is_order_open           BOOLEAN NOT NULL,
    open_rank               SMALLINT GENERATED ALWAYS AS (orderql.open_rank(status_id, has_group, is_order_open)) STORED,
    CONSTRAINT pk_item_place PRIMARY KEY (order_id, order_item_seq_id, ship_group_seq_id)
) WITH (fillfactor = 85);
COMMENT ON COLUMN orderql.item_place.ship_group_seq_id IS 'empty if the item is in no ship group';
COMMENT ON COLUMN orderql.item_place.has_group IS 'whether there is such a ship group';
COMMENT ON COLUMN orderql.item_place.open_rank IS 'null if the item has nothing to do any more';

-- The items in their groups as the database has them, and whether order_item itself has the group.
DO $$
BEGIN
    IF EXISTS (
        SELECT FROM pg_attribute
        WHERE attrelid = 'order_item'::regclass AND attname = 'ship_group_seq_id' AND NOT attisdropped
    ) THEN
        CREATE OR REPLACE FUNCTION orderql.items_have_groups() RETURNS boolean
        LANGUAGE sql IMMUTABLE AS 'SELECT true';
        CREATE OR REPLACE VIEW orderql.item_in_group AS
        SELECT
            item.order_id::text,
            item.order_item_seq_id::text,
            COALESCE(item.ship_group_seq_id, '')::text AS ship_group_seq_id,
            item.external_id::text,
            item.order_item_type_id::text,
            item.product_id::text,
            item.status_id::text,
            item.quantity::numeric,
            item.cancel_quantity::numeric,
            item.unit_price::numeric
        FROM public.order_item AS item;
    ELSE
        CREATE OR REPLACE FUNCTION orderql.items_have_groups() RETURNS boolean
        LANGUAGE sql IMMUTABLE AS 'SELECT false';
        CREATE OR REPLACE VIEW orderql.item_in_group AS
        SELECT
            item.order_id::text,
            item.order_item_seq_id::text,
            COALESCE(assoc.ship_group_seq_id, '')::text AS ship_group_seq_id,
            item.external_id::text,
            item.order_item_type_id::text,
            item.product_id::text,
            item.status_id::text,
            CASE WHEN assoc.order_id IS NULL THEN item.quantity ELSE assoc.quantity END::numeric AS quantity,
            CASE WHEN assoc.order_id IS NULL THEN item.cancel_quantity ELSE assoc.cancel_quantity END::numeric AS cancel_quantity,
            item.unit_price::numeric
        FROM public.order_item AS item
        LEFT JOIN public.order_item_ship_group_assoc AS assoc
          ON assoc.order_id = item.order_id AND assoc.order_item_seq_id = item.order_item_seq_id;
    END IF;
END;
$$;

-- What there is of a product at a facility. The items of a pair are found by the index on both of its columns: their order says so, whatever
-- PostgreSQL's statistics are. The order keeps neither a column that equals a value, nor an array of values in the second column.
DO $$
BEGIN
    IF EXISTS (
        SELECT FROM pg_attribute
        WHERE attrelid = 'product_facility'::regclass AND attname = 'inventory_item_id' AND NOT attisdropped
    ) THEN
        CREATE OR REPLACE VIEW orderql.inventory_level AS
        SELECT
            pair.product_id,
            pair.facility_id,
            COALESCE(
                CASE
                    WHEN pair.inventory_item_id IS NOT NULL THEN item.quantity_on_hand_total
                    ELSE (
                        SELECT sum(every.quantity_on_hand_total)
                        FROM (
                            SELECT of_pair.quantity_on_hand_total
                            FROM inventory_item AS of_pair
                            WHERE of_pair.product_id = ANY(ARRAY[pair.product_id])
                              AND of_pair.facility_id >= pair.facility_id AND of_pair.facility_id <= pair.facility_id
                            ORDER BY of_pair.product_id, of_pair.facility_id
                            OFFSET 0
                        ) AS every
                    )
                END,
                0::numeric(18,6)
            ) AS quantity_on_hand,
            COALESCE(
                CASE
                    WHEN pair.inventory_item_id IS NOT NULL THEN item.available_to_promise_total
                    ELSE (
                        SELECT sum(every.available_to_promise_total)
                        FROM (
                            SELECT of_pair.available_to_promise_total
                            FROM inventory_item AS of_pair
                            WHERE of_pair.product_id = ANY(ARRAY[pair.product_id])
                              AND of_pair.facility_id >= pair.facility_id AND of_pair.facility_id <= pair.facility_id
                            ORDER BY of_pair.product_id, of_pair.facility_id
                            OFFSET 0
                        ) AS every
                    )
                END,
                0::numeric(18,6)
            ) AS available_to_promise,
            pair.minimum_stock,
            pair.reorder_quantity,
            pair.days_to_ship,
            pair.inventory_item_id
        FROM product_facility AS pair
        LEFT JOIN inventory_item AS item ON item.inventory_item_id = pair.inventory_item_id;
    ELSE
        CREATE OR REPLACE VIEW orderql.inventory_level AS
        SELECT
            pair.product_id,
            pair.facility_id,
            COALESCE(
                (
                    SELECT sum(every.quantity_on_hand_total)
                    FROM (
                        SELECT of_pair.quantity_on_hand_total
                        FROM inventory_item AS of_pair
                        WHERE of_pair.product_id = ANY(ARRAY[pair.product_id])
                          AND of_pair.facility_id >= pair.facility_id AND of_pair.facility_id <= pair.facility_id
                        ORDER BY of_pair.product_id, of_pair.facility_id
                        OFFSET 0
                    ) AS every
                ),
                0::numeric(18,6)
            ) AS quantity_on_hand,
            COALESCE(
                (
                    SELECT sum(every.available_to_promise_total)
                    FROM (
                        SELECT of_pair.available_to_promise_total
                        FROM inventory_item AS of_pair
                        WHERE of_pair.product_id = ANY(ARRAY[pair.product_id])
                          AND of_pair.facility_id >= pair.facility_id AND of_pair.facility_id <= pair.facility_id
                        ORDER BY of_pair.product_id, of_pair.facility_id
                        OFFSET 0
                    ) AS every
                ),
                0::numeric(18,6)
            ) AS available_to_promise,
            pair.minimum_stock,
            pair.reorder_quantity,
            pair.days_to_ship,
            NULL::text AS inventory_item_id
        FROM product_facility AS pair;
    END IF;
END;
$$;

-- The rows that the table must have. For one order it reads rows by the primary keys of their tables, whatever PostgreSQL's statistics say.
CREATE OR REPLACE VIEW orderql.item_place_source AS
SELECT
    item.order_id,
    item.order_item_seq_id,
    item.ship_group_seq_id,
    item.external_id,
    item.order_item_type_id,
    item.product_id,
    item.status_id,
    item.quantity,
    item.cancel_quantity,
    item.unit_price,
    own.facility_id::text,
    own.shipment_method_type_id::text,
    header.product_store_id::text,
    header.status_id::text AS order_status_id,
    header.order_date::timestamptz,
    (
        SELECT min(reserved.promised_datetime)
        FROM public.order_item_ship_grp_inv_res AS reserved
        WHERE reserved.order_id = item.order_id AND reserved.ship_group_seq_id = item.ship_group_seq_id
          AND reserved.order_item_seq_id = item.order_item_seq_id
    )::timestamptz AS promised_date,
    own.order_id IS NOT NULL AS has_group,
    header.order_id IS NOT NULL AND orderql.is_order_open(header.order_type_id, header.status_id) AS is_order_open
FROM orderql.item_in_group AS item
LEFT JOIN public.order_header AS header ON header.order_id = item.order_id
LEFT JOIN public.order_item_ship_group AS own
  ON own.order_id = item.order_id AND own.ship_group_seq_id = item.ship_group_seq_id;

-- The rows that differ from what they come from.
CREATE OR REPLACE VIEW orderql.stale_item_place AS
SELECT order_id, order_item_seq_id, ship_group_seq_id
FROM orderql.item_place_source AS source
FULL JOIN (
    SELECT
        order_id, order_item_seq_id, ship_group_seq_id, external_id, order_item_type_id, product_id, status_id, quantity,
        cancel_quantity, unit_price, facility_id, shipment_method_type_id, product_store_id, order_status_id, order_date,
        promised_date, has_group, is_order_open
    FROM orderql.item_place
) AS kept USING (order_id, order_item_seq_id, ship_group_seq_id)
WHERE source.* IS DISTINCT FROM kept.*;

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

-- Items as they are read. What is searched and what is selected most often is in one table; the rest is joined by its key, and only where it
-- is selected.
CREATE OR REPLACE VIEW orderql.order_item AS
SELECT
    place.order_id,
    place.order_item_seq_id,
    place.ship_group_seq_id AS place,
    NULLIF(place.ship_group_seq_id, '') AS ship_group_seq_id,
    place.order_item_seq_id || ' ' || place.ship_group_seq_id AS part,
    place.external_id,
    place.order_item_type_id,
    place.product_id,
    place.status_id,
    place.quantity,
    place.cancel_quantity,
    place.unit_price,
    place.facility_id,
    place.product_store_id,
    place.order_date,
    item.item_description,
    item.unit_list_price,
    item.estimated_ship_date,
    item.estimated_delivery_date,
    item.auto_cancel_date,
    item.ship_before_date,
    item.ship_after_date
FROM orderql.item_place AS place
LEFT JOIN order_item AS item ON item.order_id = place.order_id AND item.order_item_seq_id = place.order_item_seq_id;

-- A ship group that has items; the others are never shown.
CREATE OR REPLACE VIEW orderql.ship_group AS
SELECT
    own.order_id,
    own.ship_group_seq_id,
    own.facility_id,
    own.carrier_party_id,
    own.contact_mech_id,
    own.shipment_method_type_id,
    own.tracking_number,
    own.may_split,
    own.is_gift,
    own.gift_message,
    own.ship_after_date,
    own.ship_by_date,
    own.estimated_ship_date,
    own.estimated_delivery_date
FROM order_item_ship_group AS own
WHERE EXISTS (
    SELECT
    FROM orderql.item_place AS item
    WHERE item.order_id = own.order_id AND item.ship_group_seq_id = own.ship_group_seq_id
);

-- The fulfilment queue: of each group, the item that comes next. An index has the items of a group in this order.
CREATE OR REPLACE VIEW orderql.fulfillment_queue AS
SELECT
    item.order_id,
    item.ship_group_seq_id,
    item.facility_id,
    item.shipment_method_type_id,
    item.status_id AS item_status_id,
    item.order_status_id,
    item.product_store_id,
    item.order_date,
    item.promised_date
FROM orderql.item_place AS item
WHERE item.open_rank IS NOT NULL
  AND item.order_item_seq_id = (
    SELECT next.order_item_seq_id
    FROM orderql.item_place AS next
    WHERE next.order_id = item.order_id AND next.ship_group_seq_id = item.ship_group_seq_id AND next.open_rank IS NOT NULL
    ORDER BY next.open_rank, next.promised_date, next.order_item_seq_id
    LIMIT 1
  );

-- The functions of the triggers run with the rights of their owner, so that OFBiz's role needs none here.

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

REVOKE EXECUTE ON FUNCTION
    orderql.refresh_item_places(text[]), orderql.fill_item_places(text, integer), orderql.backfill_item_places(),
    orderql.keep_items(), orderql.keep_item_groups(), orderql.keep_groups(), orderql.keep_headers(), orderql.keep_promises(),
    orderql.keep_item_places_of_row(), orderql.keep_item_places_of_none()
FROM PUBLIC;

-- A statement has one trigger, whatever number of rows it changes. Logical replication, and a session with session_replication_role = replica,
-- run triggers of rows alone, so these have one for each row.
CREATE OR REPLACE TRIGGER orderql_item_inserted AFTER INSERT ON order_item REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_items();
CREATE OR REPLACE TRIGGER orderql_item_updated AFTER UPDATE ON order_item REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_items();
CREATE OR REPLACE TRIGGER orderql_item_deleted AFTER DELETE ON order_item REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_items();
CREATE OR REPLACE TRIGGER orderql_item_renamed AFTER UPDATE OF order_id, order_item_seq_id ON order_item
    FOR EACH ROW WHEN ((OLD.order_id, OLD.order_item_seq_id) IS DISTINCT FROM (NEW.order_id, NEW.order_item_seq_id))
    EXECUTE FUNCTION orderql.keep_item_places_of_row();
CREATE OR REPLACE TRIGGER orderql_item_truncated AFTER TRUNCATE ON order_item
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_item_places_of_none();
CREATE OR REPLACE TRIGGER orderql_item_replicated AFTER INSERT OR UPDATE OR DELETE ON order_item
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_item_places_of_row();
ALTER TABLE order_item ENABLE ALWAYS TRIGGER orderql_item_truncated, ENABLE REPLICA TRIGGER orderql_item_replicated;

CREATE OR REPLACE TRIGGER orderql_item_inserted AFTER INSERT ON order_item_ship_group REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_groups();
CREATE OR REPLACE TRIGGER orderql_item_updated AFTER UPDATE ON order_item_ship_group REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_groups();
CREATE OR REPLACE TRIGGER orderql_item_deleted AFTER DELETE ON order_item_ship_group REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_groups();
CREATE OR REPLACE TRIGGER orderql_item_renamed AFTER UPDATE OF order_id, ship_group_seq_id ON order_item_ship_group
    FOR EACH ROW WHEN ((OLD.order_id, OLD.ship_group_seq_id) IS DISTINCT FROM (NEW.order_id, NEW.ship_group_seq_id))
    EXECUTE FUNCTION orderql.keep_item_places_of_row();
CREATE OR REPLACE TRIGGER orderql_item_truncated AFTER TRUNCATE ON order_item_ship_group
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_item_places_of_none();
CREATE OR REPLACE TRIGGER orderql_item_replicated
    AFTER INSERT OR UPDATE OF order_id, ship_group_seq_id, facility_id, shipment_method_type_id OR DELETE ON order_item_ship_group
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_item_places_of_row();
ALTER TABLE order_item_ship_group
    ENABLE ALWAYS TRIGGER orderql_item_truncated, ENABLE REPLICA TRIGGER orderql_item_replicated;

CREATE OR REPLACE TRIGGER orderql_item_inserted AFTER INSERT ON order_header REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_headers();
CREATE OR REPLACE TRIGGER orderql_item_updated AFTER UPDATE ON order_header REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_headers();
CREATE OR REPLACE TRIGGER orderql_item_deleted AFTER DELETE ON order_header REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_headers();
CREATE OR REPLACE TRIGGER orderql_item_renamed AFTER UPDATE OF order_id ON order_header
    FOR EACH ROW WHEN (OLD.order_id IS DISTINCT FROM NEW.order_id)
    EXECUTE FUNCTION orderql.keep_item_places_of_row();
CREATE OR REPLACE TRIGGER orderql_item_truncated AFTER TRUNCATE ON order_header
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_item_places_of_none();
CREATE OR REPLACE TRIGGER orderql_item_replicated
    AFTER INSERT OR UPDATE OF order_id, order_type_id, status_id, product_store_id, order_date OR DELETE ON order_header
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_item_places_of_row();
ALTER TABLE order_header ENABLE ALWAYS TRIGGER orderql_item_truncated, ENABLE REPLICA TRIGGER orderql_item_replicated;

CREATE OR REPLACE TRIGGER orderql_item_inserted AFTER INSERT ON order_item_ship_grp_inv_res
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_promises();
CREATE OR REPLACE TRIGGER orderql_item_updated AFTER UPDATE ON order_item_ship_grp_inv_res
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_promises();
CREATE OR REPLACE TRIGGER orderql_item_deleted AFTER DELETE ON order_item_ship_grp_inv_res
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_promises();
CREATE OR REPLACE TRIGGER orderql_item_truncated AFTER TRUNCATE ON order_item_ship_grp_inv_res
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_item_places_of_none();
CREATE OR REPLACE TRIGGER orderql_item_replicated
    AFTER INSERT OR UPDATE OF order_id, ship_group_seq_id, order_item_seq_id, promised_datetime OR DELETE
    ON order_item_ship_grp_inv_res
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_item_places_of_row();
ALTER TABLE order_item_ship_grp_inv_res
    ENABLE ALWAYS TRIGGER orderql_item_truncated, ENABLE REPLICA TRIGGER orderql_item_replicated;

-- Only where items have their groups in this table.
DO $$
BEGIN
    IF NOT orderql.items_have_groups() THEN
        CREATE OR REPLACE TRIGGER orderql_item_inserted AFTER INSERT ON order_item_ship_group_assoc
            REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_item_groups();
        CREATE OR REPLACE TRIGGER orderql_item_updated AFTER UPDATE ON order_item_ship_group_assoc
            REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_item_groups();
        CREATE OR REPLACE TRIGGER orderql_item_deleted AFTER DELETE ON order_item_ship_group_assoc
            REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_item_groups();
        CREATE OR REPLACE TRIGGER orderql_item_renamed
            AFTER UPDATE OF order_id, order_item_seq_id, ship_group_seq_id ON order_item_ship_group_assoc
            FOR EACH ROW WHEN (
                (OLD.order_id, OLD.order_item_seq_id, OLD.ship_group_seq_id)
                IS DISTINCT FROM (NEW.order_id, NEW.order_item_seq_id, NEW.ship_group_seq_id)
            )
            EXECUTE FUNCTION orderql.keep_item_places_of_row();
        CREATE OR REPLACE TRIGGER orderql_item_truncated AFTER TRUNCATE ON order_item_ship_group_assoc
            FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_item_places_of_none();
        CREATE OR REPLACE TRIGGER orderql_item_replicated AFTER INSERT OR UPDATE OR DELETE ON order_item_ship_group_assoc
            FOR EACH ROW EXECUTE FUNCTION orderql.keep_item_places_of_row();
        ALTER TABLE order_item_ship_group_assoc
            ENABLE ALWAYS TRIGGER orderql_item_truncated, ENABLE REPLICA TRIGGER orderql_item_replicated;
    END IF;
END;
$$;
