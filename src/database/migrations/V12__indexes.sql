-- The indexes of orderql's own reading, added to tables that stood as well. A walk in key order needs its sort columns
-- followed by the primary key, so that rows alike in the sort key have one order, and nulls last, which is PostgreSQL's
-- default; read backwards, the same index serves the walk in reverse.
--
-- Where an index on the same columns stands, under whatever name, none is added.

-- What a connection under a parent is read by: the parent's key, then the child's primary key. A child whose own primary
-- key begins so needs nothing more.
SELECT orderql.add_index(name, relation, columns)
FROM (VALUES
    ('oql_order_identification_of_order',           'order_identification',        'order_id, order_identification_type_id, from_date'),
    ('oql_order_status_of_order',                   'order_status',                'order_id, order_status_id'),
    ('oql_order_adjustment_of_order',               'order_adjustment',            'order_id, order_adjustment_id'),
    ('oql_order_adjustment_of_item',                'order_adjustment',            'order_id, order_item_seq_id, order_adjustment_id'),
    ('oql_order_payment_preference_of_order',       'order_payment_preference',    'order_id, order_payment_preference_id'),
    ('oql_order_item_of_ship_group',                'order_item',                  'order_id, ship_group_seq_id, order_item_seq_id'),
    ('oql_order_facility_change_of_ship_group',     'order_facility_change',       'order_id, ship_group_seq_id, order_facility_change_id'),
    ('oql_inventory_reservation_of_order_item',     'order_item_ship_grp_inv_res', 'order_id, order_item_seq_id, ship_group_seq_id, inventory_item_id'),
    ('oql_item_issuance_of_order_item',             'item_issuance',               'order_id, order_item_seq_id, item_issuance_id'),
    ('oql_shipment_of_order',                       'shipment',                    'primary_order_id, shipment_id'),
    ('oql_shipment_status_of_shipment',             'shipment_status',             'shipment_id, status_id'),
    ('oql_shipment_package_of_route_segment',       'shipment_package_route_seg',  'shipment_id, shipment_route_segment_id, shipment_package_seq_id'),
    ('oql_return_item_of_order',                    'return_item',                 'order_id, return_id, return_item_seq_id'),
    ('oql_return_identification_of_return',         'return_identification',       'return_id, return_identification_type_id, from_date'),
    ('oql_return_adjustment_of_return',             'return_adjustment',           'return_id, return_adjustment_id'),
    ('oql_return_status_of_return',                 'return_status',               'return_id, return_status_id'),
    ('oql_product_facility_of_facility',            'product_facility',            'facility_id, product_id'),
    ('oql_good_identification_of_product',          'good_identification',         'product_id, good_identification_type_id'),
    ('oql_order_role_of_party',                     'order_role',                  'party_id, role_type_id, order_id'),
    ('oql_inventory_reservation_of_inventory_item', 'order_item_ship_grp_inv_res', 'inventory_item_id, order_id, ship_group_seq_id, order_item_seq_id')
) AS listed (name, relation, columns);

-- The sort keys of the collection roots.
SELECT orderql.add_index(name, relation, columns)
FROM (VALUES
    ('oql_order_header_by_order_date',       'order_header',        'order_date, order_id'),
    ('oql_order_header_by_order_name',       'order_header',        'order_name, order_id'),
    ('oql_order_header_by_grand_total',      'order_header',        'grand_total, order_id'),
    ('oql_order_item_by_product',            'order_item',          'product_id, order_id, order_item_seq_id'),
    ('oql_shipment_by_estimated_ship_date',  'shipment',            'estimated_ship_date, shipment_id'),
    ('oql_shipment_by_status',               'shipment',            'status_id, shipment_id'),
    ('oql_return_header_by_return_date',     'return_header',       'return_date, return_id'),
    ('oql_return_header_by_entry_date',      'return_header',       'entry_date, return_id'),
    ('oql_return_header_by_status',          'return_header',       'status_id, return_id'),
    ('oql_facility_by_facility_name',        'facility',            'facility_name, facility_id'),
    ('oql_product_by_product_name',          'product',             'product_name, product_id'),
    ('oql_good_identification_by_from_date', 'good_identification', 'from_date, good_identification_type_id, product_id'),
    ('oql_product_store_by_store_name',      'product_store',       'store_name, product_store_id')
) AS listed (name, relation, columns);

-- The search keys that a selective index serves, in the order of the root's primary key where several rows match.
SELECT orderql.add_index(name, relation, columns)
FROM (VALUES
    ('oql_order_header_with_external_id',         'order_header',                'external_id, order_id'),
    ('oql_order_header_with_product_store',       'order_header',                'product_store_id, order_id'),
    ('oql_order_item_with_external_id',           'order_item',                  'external_id, order_id, order_item_seq_id'),
    ('oql_shipment_with_external_id',             'shipment',                    'external_id, shipment_id'),
    ('oql_shipment_with_origin_facility',         'shipment',                    'origin_facility_id, shipment_id'),
    ('oql_return_header_with_external_id',        'return_header',               'external_id, return_id'),
    ('oql_return_header_with_from_party',         'return_header',               'from_party_id, return_id'),
    ('oql_return_item_with_product',              'return_item',                 'product_id, return_id, return_item_seq_id'),
    ('oql_facility_with_external_id',             'facility',                    'external_id, facility_id'),
    ('oql_facility_with_parent',                  'facility',                    'parent_facility_id, facility_id'),
    ('oql_product_with_primary_category',         'product',                     'primary_product_category_id, product_id'),
    ('oql_product_with_internal_name',            'product',                     'internal_name, product_id'),
    ('oql_good_identification_with_value',        'good_identification',         'id_value, good_identification_type_id, product_id'),
    ('oql_product_store_with_inventory_facility', 'product_store',               'inventory_facility_id, product_store_id'),
    ('oql_inventory_item_with_product',           'inventory_item',              'product_id, inventory_item_id'),
    ('oql_inventory_item_with_facility',          'inventory_item',              'facility_id, inventory_item_id'),
    ('oql_inventory_item_with_serial_number',     'inventory_item',              'serial_number, inventory_item_id'),
    ('oql_item_issuance_with_order',              'item_issuance',               'order_id, item_issuance_id'),
    ('oql_item_issuance_with_shipment',           'item_issuance',               'shipment_id, item_issuance_id'),
    ('oql_item_issuance_with_inventory_item',     'item_issuance',               'inventory_item_id, item_issuance_id'),
    ('oql_shipment_receipt_with_order',           'shipment_receipt',            'order_id, receipt_id'),
    ('oql_shipment_receipt_with_return',          'shipment_receipt',            'return_id, receipt_id'),
    ('oql_shipment_receipt_with_shipment',        'shipment_receipt',            'shipment_id, receipt_id'),
    ('oql_shipment_receipt_with_inventory_item',  'shipment_receipt',            'inventory_item_id, receipt_id'),
    ('oql_shipment_receipt_with_product',         'shipment_receipt',            'product_id, receipt_id')
) AS listed (name, relation, columns);

-- The look-ups by an identification of some type, the sum of a pair's inventory, the order items that a shipment's item is
-- of, and those that are sent with a shipment.
SELECT orderql.add_index(name, relation, columns)
FROM (VALUES
    ('oql_order_identification_with_value',    'order_identification',  'order_identification_type_id, id_value, order_id'),
    ('oql_return_identification_with_value',   'return_identification', 'return_identification_type_id, id_value, return_id'),
    ('oql_inventory_item_of_product_facility', 'inventory_item',        'product_id, facility_id, inventory_item_id'),
    ('oql_order_shipment_of_shipment_item',    'order_shipment',        'shipment_id, shipment_item_seq_id'),
    ('oql_order_shipment_with_shipment',       'order_shipment',        'shipment_id, order_id, order_item_seq_id, ship_group_seq_id')
) AS listed (name, relation, columns);
