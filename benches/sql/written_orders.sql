-- The rows that a measurement writes: copies of 20,000 orders of the sample and of what hangs on them, with ids of their own, in the
-- schema "written".

DROP SCHEMA IF EXISTS written CASCADE;
CREATE SCHEMA written;
CREATE TABLE written.orders AS
SELECT order_id, row_number() OVER (ORDER BY hashtext(order_id), order_id) AS number
FROM order_header
WHERE order_id LIKE 'SO%'
ORDER BY number
LIMIT 20000;
ALTER TABLE written.orders ADD PRIMARY KEY (order_id);

DO $$
DECLARE
    source record;
    expressions text;
BEGIN
    FOR source IN
        SELECT relation, copied, left_out, parent
        FROM (VALUES
            ('order_header',                '{order_id, external_id}'::text[],                           '{}'::text[],          'order_id'),
            ('order_item_ship_group',       '{order_id}',                                                '{}',                  'order_id'),
            ('order_item',                  '{order_id, external_id}',                                   '{shipment_id}',       'order_id'),
            ('order_item_ship_group_assoc', '{order_id}',                                                '{}',                  'order_id'),
            ('order_item_ship_grp_inv_res', '{order_id}',                                                '{shipment_id}',       'order_id'),
            ('order_role',                  '{order_id}',                                                '{}',                  'order_id'),
            ('order_payment_preference',    '{order_payment_preference_id, order_id}',                   '{}',                  'order_id'),
            ('order_status',                '{order_status_id, order_id, order_payment_preference_id}',  '{}',                  'order_id'),
            ('order_adjustment',            '{order_adjustment_id, order_id}',                           '{}',                  'order_id'),
            ('order_contact_mech',          '{order_id}',                                                '{}',                  'order_id'),
            ('shipment',                    '{shipment_id, external_id, primary_order_id}',              '{primary_return_id}', 'primary_order_id'),
            ('shipment_item',               '{shipment_id}',                                             '{}',                  'shipment_id'),
            ('order_shipment',              '{order_id, shipment_id}',                                   '{}',                  'shipment_id'),
            ('shipment_status',             '{shipment_id}',                                             '{}',                  'shipment_id'),
            ('return_header',               '{return_id, external_id}',                                  '{}',                  'return_id'),
            ('return_item',                 '{return_id, order_id}',                                     '{}',                  'return_id')
        ) AS listed (relation, copied, left_out, parent)
    LOOP
        SELECT string_agg(
            format(
                CASE
                    WHEN attname = ANY (source.copied) THEN '''X'' || %1$I AS %1$I'
                    WHEN attname = ANY (source.left_out) OR attname LIKE 'orderql\_%%' THEN 'NULLIF(%1$I, %1$I) AS %1$I'
                    ELSE '%1$I'
                END,
                attname
            ),
            ', ' ORDER BY attnum
        )
        INTO expressions
        FROM pg_attribute
        WHERE attrelid = source.relation::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '';
        EXECUTE format(
            'CREATE TABLE written.%1$I AS
             SELECT %2$s FROM %1$I WHERE %3$I IN (%4$s)',
            source.relation, expressions, source.parent,
            CASE source.parent
                WHEN 'shipment_id' THEN 'SELECT substr(shipment_id, 2) FROM written.shipment'
                -- All items of a return that has one of these orders' items first.
                WHEN 'return_id' THEN 'SELECT return_id FROM return_item GROUP BY return_id
                                       HAVING bool_and(order_id IN (SELECT order_id FROM written.orders))'
                ELSE 'SELECT order_id FROM written.orders'
            END
        );
    END LOOP;
END;
$$;

-- New orders, which are written row by row: all of their items are to be sent, and promised.
CREATE TABLE written.new_order AS SELECT 'X' || order_id AS order_id, number FROM written.orders WHERE number <= 2000;
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'order_header', 'order_item_ship_group', 'order_item', 'order_item_ship_group_assoc', 'order_role', 'order_payment_preference',
        'order_status', 'order_adjustment', 'order_contact_mech'
    ] LOOP
        EXECUTE format(
            'CREATE TABLE written.new_%1$s AS SELECT written.%1$s.* FROM written.%1$s JOIN written.new_order USING (order_id)', name
        );
    END LOOP;
END;
$$;
UPDATE written.new_order_header SET status_id = 'ORDER_APPROVED', order_type_id = 'SALES_ORDER';
UPDATE written.new_order_item SET status_id = 'ITEM_APPROVED';
CREATE TABLE written.new_order_item_ship_grp_inv_res AS SELECT * FROM order_item_ship_grp_inv_res LIMIT 0;
INSERT INTO written.new_order_item_ship_grp_inv_res (
    order_id, ship_group_seq_id, order_item_seq_id, inventory_item_id, promised_datetime
)
SELECT DISTINCT ON (item.order_id, item.order_item_seq_id)
    item.order_id, item.ship_group_seq_id, item.order_item_seq_id, stock.inventory_item_id, header.order_date + interval '3 days'
FROM written.new_order_item AS item
JOIN written.new_order_header AS header ON header.order_id = item.order_id
JOIN inventory_item AS stock ON stock.product_id = item.product_id
WHERE item.ship_group_seq_id IS NOT NULL
ORDER BY item.order_id, item.order_item_seq_id, stock.inventory_item_id;
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'written'::regnamespace AND relname LIKE 'new\_%' AND relkind = 'r' LOOP
        EXECUTE format('CREATE INDEX ON written.%I (order_id)', name);
    END LOOP;
END;
$$;

VACUUM (ANALYZE);
