-- A window over the orders of one name compares the other search keys in the index, too, instead of fetching every row.

SELECT orderql.drop_index(name, 'order_header', columns)
FROM (VALUES
    ('oql_order_header_of_name_by_date',        'order_name, order_date, order_id'),
    ('oql_order_header_of_name_by_grand_total', 'order_name, grand_total, order_id')
) AS listed (name, columns);

SELECT orderql.add_search_index(name, 'order_header', columns, included)
FROM (VALUES
    ('oql_order_header_of_name_by_date',        'order_name, order_date, order_id',  'status_id, product_store_id, order_type_id, grand_total'),
    ('oql_order_header_of_name_by_grand_total', 'order_name, grand_total, order_id', 'status_id, order_date, product_store_id, order_type_id')
) AS listed (name, columns, included);
