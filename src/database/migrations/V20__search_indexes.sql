-- Indexes that bound the work of a search. With those below, every search reads either the rows of one range of an index in
-- the order of its page, or a bounded number of rows beside.
--
-- They include the columns that the other search keys of the root compare, so that rows that do not match are passed over in
-- the index, without being fetched from their table. An index that one of these replaces is dropped if it is orderql's own.

-- Adds an index with included columns, unless one on the same columns of the table stands that includes the same.
CREATE OR REPLACE FUNCTION orderql.add_search_index(name text, relation text, columns text, included text)
RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    definition text := format('btree (%s)', columns) || CASE WHEN included = '' THEN '' ELSE format(' INCLUDE (%s)', included) END;
BEGIN
    IF EXISTS (
        SELECT
        FROM pg_index
        WHERE indrelid = relation::regclass
          AND indisvalid
          AND substring(pg_get_indexdef(indexrelid) FROM ' USING (.*)$') = definition
    ) THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %s USING %s', name, relation::regclass, definition);
END;
$$;

-- The orders of the collection roots.
SELECT orderql.add_search_index(name, relation, columns, included)
FROM (VALUES
    ('oql_order_header_in_order_date_order',  'order_header',  'order_date, order_id',                     'status_id, product_store_id, order_type_id, order_name, grand_total'),
    ('oql_order_header_in_order_id_order',    'order_header',  'order_id',                                 'status_id, order_date, product_store_id, order_type_id, order_name'),
    ('oql_order_header_in_order_name_order',  'order_header',  'order_name, order_id',                     'status_id, order_date, product_store_id, order_type_id, grand_total'),
    ('oql_order_header_in_grand_total_order', 'order_header',  'grand_total, order_id',                    'status_id, order_date, product_store_id, order_type_id, order_name'),
    ('oql_order_item_in_order_id_order',      'order_item',    'order_id, order_item_seq_id',              'status_id, order_item_type_id, product_id'),
    ('oql_order_item_in_product_order',       'order_item',    'product_id, order_id, order_item_seq_id',  'status_id, order_item_type_id'),
    ('oql_shipment_in_date_order',            'shipment',      'estimated_ship_date, shipment_id',         'status_id, origin_facility_id, shipment_method_type_id'),
    ('oql_shipment_in_id_order',              'shipment',      'shipment_id',                              'status_id, origin_facility_id, shipment_method_type_id, estimated_ship_date'),
    ('oql_shipment_in_status_order',          'shipment',      'status_id, shipment_id',                   'origin_facility_id, shipment_method_type_id, estimated_ship_date'),
    ('oql_return_header_in_date_order',       'return_header', 'return_date, return_id',                   'status_id, from_party_id, entry_date'),
    ('oql_return_header_in_id_order',         'return_header', 'return_id',                                'status_id, from_party_id, entry_date, return_date'),
    ('oql_return_header_in_status_order',     'return_header', 'status_id, return_id',                     'from_party_id, entry_date, return_date'),
    ('oql_return_item_in_return_order',       'return_item',   'return_id, return_item_seq_id',            'order_id, product_id, status_id, return_reason_id, return_type_id'),
    ('oql_return_item_in_order_order',        'return_item',   'order_id, return_id, return_item_seq_id',  'product_id, status_id, return_reason_id, return_type_id'),
    ('oql_party_in_id_order',                 'orderql.party', 'party_id',                                 'first_name, last_name'),
    ('oql_party_in_last_name_order',          'orderql.party', 'last_name, party_id',                      'first_name'),
    ('oql_product_in_name_order',             'product',       'product_name, product_id',                 'product_type_id, brand_name, primary_product_category_id'),
    ('oql_product_in_id_order',               'product',       'product_id',                               'product_type_id, brand_name, primary_product_category_id'),
    ('oql_inventory_item_in_id_order',        'inventory_item', 'inventory_item_id',                       'product_id, facility_id, status_id')
) AS listed (name, relation, columns, included);

-- The rows with one value of a search key, in the orders that `inOrderOf` lists.
SELECT orderql.add_search_index(name, relation, columns, included)
FROM (VALUES
    ('oql_order_header_of_status_by_date',       'order_header',   'status_id, order_date, order_id',                       'product_store_id, order_type_id, order_name, grand_total'),
    ('oql_order_header_of_store_by_date',        'order_header',   'product_store_id, order_date, order_id',                'status_id, order_type_id, order_name, grand_total'),
    ('oql_order_header_of_store_by_id',          'order_header',   'product_store_id, order_id',                            'status_id, order_date, order_type_id'),
    ('oql_order_header_of_store_by_name',        'order_header',   'product_store_id, order_name, order_id',                'status_id, order_date, order_type_id'),
    ('oql_order_header_of_store_by_grand_total', 'order_header',   'product_store_id, grand_total, order_id',               'status_id, order_date, order_type_id'),
    ('oql_order_header_of_name_by_date',         'order_header',   'order_name, order_date, order_id',                      ''),
    ('oql_order_header_of_name_by_grand_total',  'order_header',   'order_name, grand_total, order_id',                     ''),
    ('oql_order_item_of_status_by_order',        'order_item',     'status_id, order_id, order_item_seq_id',                'product_id, order_item_type_id'),
    ('oql_shipment_of_status_by_date',           'shipment',       'status_id, estimated_ship_date, shipment_id',           'origin_facility_id, shipment_method_type_id'),
    ('oql_shipment_of_facility_by_date',         'shipment',       'origin_facility_id, estimated_ship_date, shipment_id',  'status_id, shipment_method_type_id'),
    ('oql_shipment_of_facility_by_id',           'shipment',       'origin_facility_id, shipment_id',                       'status_id, shipment_method_type_id, estimated_ship_date'),
    ('oql_shipment_of_facility_by_status',       'shipment',       'origin_facility_id, status_id, shipment_id',            'shipment_method_type_id, estimated_ship_date'),
    ('oql_return_header_of_party_by_id',         'return_header',  'from_party_id, return_id',                              'status_id, entry_date, return_date'),
    ('oql_return_item_of_product_by_return',     'return_item',    'product_id, return_id, return_item_seq_id',             'order_id, status_id, return_reason_id, return_type_id'),
    ('oql_return_item_of_product_by_order',      'return_item',    'product_id, order_id, return_id, return_item_seq_id',   'status_id, return_reason_id, return_type_id'),
    ('oql_party_of_first_name_by_id',            'orderql.party',  'first_name, party_id',                                  'last_name'),
    ('oql_party_of_first_name_by_last_name',     'orderql.party',  'first_name, last_name, party_id',                       ''),
    ('oql_product_of_category_by_id',            'product',        'primary_product_category_id, product_id',               'product_type_id, brand_name'),
    ('oql_product_of_category_by_name',          'product',        'primary_product_category_id, product_name, product_id', 'product_type_id, brand_name'),
    ('oql_inventory_item_of_product_by_id',      'inventory_item', 'product_id, inventory_item_id',                         'facility_id, status_id'),
    ('oql_inventory_item_of_facility_by_id',     'inventory_item', 'facility_id, inventory_item_id',                        'product_id, status_id'),
    ('oql_inventory_item_of_status_by_id',       'inventory_item', 'status_id, inventory_item_id',                          'product_id, facility_id')
) AS listed (name, relation, columns, included);

-- The few rows with one value of a search key.
SELECT orderql.add_search_index(name, relation, columns, included)
FROM (VALUES
    ('oql_return_header_of_entry_date', 'return_header', 'entry_date, return_id',    'status_id, from_party_id, return_date'),
    ('oql_product_of_brand',            'product',       'brand_name, product_id',   'product_type_id, primary_product_category_id, product_name'),
    ('oql_party_role_of_role',          'party_role',    'role_type_id, party_id',   '')
) AS listed (name, relation, columns, included);

-- Drops an index that one of those above replaces, if it has that name and these columns.
CREATE OR REPLACE FUNCTION orderql.drop_index(name text, relation text, columns text)
RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    found regclass := (
        SELECT indexrelid
        FROM pg_index
        JOIN pg_class ON pg_class.oid = indexrelid
        WHERE indrelid = relation::regclass
          AND relname = name
          AND substring(pg_get_indexdef(indexrelid) FROM ' USING (.*)$') = format('btree (%s)', columns)
    );
BEGIN
    IF found IS NOT NULL THEN
        EXECUTE format('DROP INDEX %s', found);
    END IF;
END;
$$;

SELECT orderql.drop_index(name, relation, columns)
FROM (VALUES
    ('oql_order_header_by_order_date',      'order_header',   'order_date, order_id'),
    ('oql_order_header_by_order_name',      'order_header',   'order_name, order_id'),
    ('oql_order_header_by_grand_total',     'order_header',   'grand_total, order_id'),
    ('oql_order_header_with_product_store', 'order_header',   'product_store_id, order_id'),
    ('oql_order_item_by_product',           'order_item',     'product_id, order_id, order_item_seq_id'),
    ('oql_shipment_by_estimated_ship_date', 'shipment',       'estimated_ship_date, shipment_id'),
    ('oql_shipment_by_status',              'shipment',       'status_id, shipment_id'),
    ('oql_shipment_with_origin_facility',   'shipment',       'origin_facility_id, shipment_id'),
    ('oql_return_header_by_return_date',    'return_header',  'return_date, return_id'),
    ('oql_return_header_by_entry_date',     'return_header',  'entry_date, return_id'),
    ('oql_return_header_by_status',         'return_header',  'status_id, return_id'),
    ('oql_return_header_with_from_party',   'return_header',  'from_party_id, return_id'),
    ('oql_return_item_of_order',            'return_item',    'order_id, return_id, return_item_seq_id'),
    ('oql_return_item_with_product',        'return_item',    'product_id, return_id, return_item_seq_id'),
    ('oql_product_by_product_name',         'product',        'product_name, product_id'),
    ('oql_product_with_primary_category',   'product',        'primary_product_category_id, product_id'),
    ('oql_inventory_item_with_product',     'inventory_item', 'product_id, inventory_item_id'),
    ('oql_inventory_item_with_facility',    'inventory_item', 'facility_id, inventory_item_id'),
    ('party_by_last_name',                  'orderql.party',  'last_name, party_id'),
    ('party_with_first_name',               'orderql.party',  'first_name, party_id')
) AS listed (name, relation, columns);

-- The store of a return is that of its first item's order. The item is found before it is joined, so that a return whose items
-- are of no order is read no further.
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
    (
        SELECT order_header.product_store_id
        FROM (
            SELECT item.order_id
            FROM return_item AS item
            WHERE item.return_id = header.return_id
            ORDER BY item.return_item_seq_id
            LIMIT 1
        ) AS item
        JOIN order_header ON order_header.order_id = item.order_id
    ) AS product_store_id
FROM return_header AS header;
