-- Orders and shipments of a status in the order of their updates, as integrations poll them, and orders of a status by amount. The index
-- by date has the column of the updates, too, so that the orders of a month that are in a status are sorted without reading the table.

SELECT orderql.drop_index(
    'oql_order_header_of_status_by_date', 'order_header',
    'status_id, order_date, order_id) INCLUDE (product_store_id, order_type_id, order_name, grand_total'
);
SELECT orderql.add_search_index(name, relation, columns, included)
FROM (VALUES
    ('oql_order_header_with_status_by_date',     'order_header', 'status_id, order_date, order_id',            'product_store_id, order_type_id, order_name, grand_total, last_updated_stamp'),
    ('oql_order_header_of_status_by_update',     'order_header', 'status_id, last_updated_stamp, order_id',    'order_date, product_store_id, order_type_id'),
    ('oql_order_header_of_status_by_grand_total', 'order_header', 'status_id, grand_total, order_id',          'order_date, product_store_id, order_type_id'),
    ('oql_shipment_of_status_by_update',         'shipment',     'status_id, last_updated_stamp, shipment_id', 'origin_facility_id, shipment_method_type_id, estimated_ship_date')
) AS listed (name, relation, columns, included);
