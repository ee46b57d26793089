-- What an app needs to build the form of an order update: the order item of a shipment's item, and the rejection reasons.

SELECT orderql.add_index(name, relation, columns)
FROM (VALUES
    ('oql_order_shipment_of_item_by_order', 'order_shipment', 'shipment_id, shipment_item_seq_id, order_id, order_item_seq_id')
) AS listed (name, relation, columns);

-- It begins with the same columns.
SELECT orderql.drop_index('oql_order_shipment_of_shipment_item', 'order_shipment', 'shipment_id, shipment_item_seq_id');

-- A shipment's item with its order item, the first by id of several. It is found by the index above, and only where it is
-- selected.
CREATE OR REPLACE VIEW orderql.shipment_item AS
SELECT
    item.shipment_id,
    item.shipment_item_seq_id,
    item.product_id,
    item.quantity,
    (
        SELECT link.order_id
        FROM order_shipment AS link
        WHERE link.shipment_id = item.shipment_id AND link.shipment_item_seq_id = item.shipment_item_seq_id
        ORDER BY link.order_id, link.order_item_seq_id
        LIMIT 1
    ) AS order_id,
    (
        SELECT link.order_item_seq_id
        FROM order_shipment AS link
        WHERE link.shipment_id = item.shipment_id AND link.shipment_item_seq_id = item.shipment_item_seq_id
        ORDER BY link.order_id, link.order_item_seq_id
        LIMIT 1
    ) AS order_item_seq_id
FROM shipment_item AS item;

-- The reasons that a rejection may have. OFBiz's table of enumerations has many others.
CREATE OR REPLACE VIEW orderql.rejection_reason AS
SELECT enum_id, enum_type_id, enum_code, sequence_id, description
FROM enumeration
WHERE enum_type_id IN ('REPORT_NO_VAR', 'REPORT_VAR', 'REPORT_ALL_VAR');

CREATE INDEX IF NOT EXISTS oql_enumeration_of_rejections ON enumeration (sequence_id, enum_id)
INCLUDE (enum_type_id, enum_code, description)
WHERE enum_type_id IN ('REPORT_NO_VAR', 'REPORT_VAR', 'REPORT_ALL_VAR');
