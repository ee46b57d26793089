-- Completes the demo's rows: adds rows to empty tables, and replaces half of the nulls by values. The other half stays,
-- because nulls are tested too. Foreign keys are not checked.
SET session_replication_role = replica;

INSERT INTO shipment_receipt (receipt_id, shipment_id, order_id, return_id, inventory_item_id, product_id)
SELECT 'RECEIPT' || n, 'SHIP' || n % 3, 'ORDER' || n % 4, 'RETURN' || n % 5, 'ITEM' || n % 6, 'PROD' || n % 7
FROM generate_series(1, 40) AS n;

INSERT INTO product_store (product_store_id, store_name) VALUES ('CORNER', 'Corner'), ('HARBOUR', 'Harbour'), ('BARE', NULL);

-- E-mails, exchanges and kits, which the demo has not.
INSERT INTO communication_event
    (communication_event_id, communication_event_type_id, status_id, party_id_from, party_id_to, entry_date, datetime_started, datetime_ended, subject)
SELECT 'MAIL' || n, 'AUTO_EMAIL_COMM', 'COM_COMPLETE', 'Company', 'CUST_ADA', timestamptz '2026-03-01' + n * interval '1 hour', now(), now(), 'Mail ' || n
FROM generate_series(1, 40) AS n;
INSERT INTO communication_event_order (order_id, communication_event_id)
SELECT order_id, 'MAIL' || n FROM order_header, generate_series(1, 3) AS n;
INSERT INTO order_item_assoc
    (order_id, order_item_seq_id, ship_group_seq_id, to_order_id, to_order_item_seq_id, to_ship_group_seq_id, order_item_assoc_type_id, quantity)
SELECT order_id, order_item_seq_id, '_NA_', 'ORDER_SPLIT', '00001', '_NA_', 'EXCHANGE', 1 FROM order_item;
INSERT INTO order_item_group (order_id, order_item_group_seq_id, parent_group_seq_id, group_name)
SELECT order_id, seq_id, parent, 'Kit' FROM order_header, (VALUES ('00002', NULL), ('00001', '00002')) AS of_order (seq_id, parent);
UPDATE order_item SET order_item_group_seq_id = '00001' WHERE order_item_seq_id = '00001';

-- Ids of lists that the demo leaves out, so that they have names.
UPDATE order_status SET change_reason_enum_id = 'NOT_IN_STOCK' WHERE order_id = 'ORDER_SPLIT';
UPDATE inventory_item_detail SET reason_enum_id = 'VAR_LOST' WHERE inventory_item_id = 'INV_SHIRT_S';
UPDATE inventory_item SET status_id = 'INV_NS_ON_HOLD' WHERE inventory_item_id = 'INV_SHIRT_M';
UPDATE inventory_item SET available_to_promise_total = -1 WHERE inventory_item_id = 'INV_SHIRT_M';
UPDATE return_item SET return_item_type_id = 'RET_FPROD_ITEM' WHERE return_id = 'RTN_1';
UPDATE order_item_ship_grp_inv_res SET quantity_not_available = 1 WHERE order_id = 'ORDER_IN_PROGRESS';
UPDATE shipment_box_type SET weight_uom_id = 'WT_lb' WHERE shipment_box_type_id = 'YOURPACKNG';

DO $$
DECLARE
    known record;
BEGIN
    FOR known IN
        SELECT relation.oid::regclass AS relation, quote_ident(attribute.attname) AS name, CASE attribute.atttypid
                WHEN 'varchar'::regtype THEN 'left(md5(%s), 10)'
                WHEN 'text'::regtype THEN 'left(md5(%s), 10)'
                WHEN 'bpchar'::regtype THEN 'CASE WHEN hashtext(%s) %% 3 = 0 THEN ''Y'' ELSE ''N'' END'
                WHEN 'numeric'::regtype THEN 'abs(hashtext(%s) %% 40) / CASE WHEN %L IN (''days_to_ship'', ''sequence_number'', ''sequence_num'', ''bin_location_number'') THEN 1 ELSE 4.0 END'
                WHEN 'timestamptz'::regtype THEN 'timestamptz ''2020-01-01'' + abs(hashtext(%s)) %% 9000 * interval ''5.000001 hours'''
            END AS value, attribute.attname AS bare
        FROM pg_class AS relation
        JOIN pg_attribute AS attribute ON attribute.attrelid = relation.oid
        WHERE relation.relnamespace = 'public'::regnamespace AND relation.relkind = 'r'
          AND attribute.attnum > 0 AND NOT attribute.attisdropped AND NOT attribute.attnotnull
          -- An end in the past would leave no facility with an address, and no product with a price.
          AND relation.relname NOT LIKE 'facility_contact_mech%'
          AND relation.relname NOT IN ('product_feature_appl', 'product_price', 'product_content')
          AND attribute.atttypid IN ('varchar'::regtype, 'text'::regtype, 'bpchar'::regtype, 'numeric'::regtype,
            'timestamptz'::regtype)
    LOOP
        EXECUTE format(
            'UPDATE %1$s SET %2$s = %3$s WHERE %2$s IS NULL AND hashtext(ctid::text || %4$L) %% 2 = 0',
            known.relation, known.name, format(known.value, format('ctid::text || %L', known.bare), known.bare), known.bare
        );
    END LOOP;
END;
$$;

RESET session_replication_role;
SELECT orderql.backfill_parties();
ANALYZE;
