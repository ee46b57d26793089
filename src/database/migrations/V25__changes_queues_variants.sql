-- What was changed since a moment, what a facility still has to send, when shipments left, and the newest entries of
-- histories; contacts of facilities, methods of stores, variants of products.

-- Rows in the order of their last change.
SELECT orderql.add_search_index(name, relation, columns, included)
FROM (VALUES
    ('oql_order_header_in_update_order',  'order_header',  'last_updated_stamp, order_id',  'status_id, order_date, product_store_id, order_type_id, order_name, grand_total'),
    ('oql_shipment_in_update_order',      'shipment',      'last_updated_stamp, shipment_id', 'status_id, origin_facility_id, shipment_method_type_id, estimated_ship_date'),
    ('oql_return_header_in_update_order', 'return_header', 'last_updated_stamp, return_id', 'status_id, from_party_id, entry_date, return_date')
) AS listed (name, relation, columns, included);

-- Histories by time, below their parents; the ship groups of a facility; the variants of a product, and the virtual products
-- of a variant.
SELECT orderql.add_index(name, relation, columns)
FROM (VALUES
    ('oql_order_status_of_order_by_time',               'order_status',          'order_id, status_datetime, order_status_id'),
    ('oql_order_facility_change_of_order',              'order_facility_change', 'order_id, order_facility_change_id'),
    ('oql_order_facility_change_of_order_by_time',      'order_facility_change', 'order_id, change_datetime, order_facility_change_id'),
    ('oql_order_facility_change_of_ship_group_by_time', 'order_facility_change', 'order_id, ship_group_seq_id, change_datetime, order_facility_change_id'),
    ('oql_shipment_status_of_shipment_by_time',         'shipment_status',       'shipment_id, status_date, status_id, shipment_status_id'),
    ('oql_return_status_of_return_by_time',             'return_status',         'return_id, status_datetime, return_status_id'),
    ('oql_inventory_item_detail_of_item_by_time',       'inventory_item_detail', 'inventory_item_id, effective_date, inventory_item_detail_seq_id'),
    ('oql_order_contact_mech_with_contact',             'order_contact_mech',    'contact_mech_id, order_id'),
    ('oql_ship_group_of_facility',                      'order_item_ship_group', 'facility_id, order_id, ship_group_seq_id'),
    ('oql_product_assoc_from_product',                  'product_assoc',         'product_id, product_assoc_type_id, product_id_to, from_date'),
    ('oql_product_assoc_to_product',                    'product_assoc',         'product_id_to, product_assoc_type_id, product_id, from_date')
) AS listed (name, relation, columns);

-- The customers of orders, by the name of a search key.
CREATE OR REPLACE VIEW orderql.order_customer AS
SELECT role.order_id, role.party_id AS customer_party_id
FROM order_role AS role
WHERE role.role_type_id = 'BILL_TO_CUSTOMER'
  AND (role.from_date IS NULL OR role.from_date <= CURRENT_TIMESTAMP)
  AND (role.thru_date IS NULL OR role.thru_date > CURRENT_TIMESTAMP);

-- The e-mail addresses of orders. One without an order has a row as well, so that a search that is bounded by its rows is
-- bounded by the addresses that it reads.
CREATE INDEX IF NOT EXISTS oql_contact_mech_email ON contact_mech (info_string, contact_mech_id)
WHERE contact_mech_type_id = 'EMAIL_ADDRESS';

CREATE OR REPLACE VIEW orderql.order_email AS
SELECT link.order_id, mechanism.info_string AS email_address
FROM contact_mech AS mechanism
LEFT JOIN order_contact_mech AS link ON link.contact_mech_id = mechanism.contact_mech_id
WHERE mechanism.contact_mech_type_id = 'EMAIL_ADDRESS';

-- When shipments left: the first time that they were in SHIPMENT_SHIPPED.
CREATE INDEX IF NOT EXISTS oql_shipment_status_shipped ON shipment_status (status_date, shipment_id)
WHERE status_id = 'SHIPMENT_SHIPPED';

CREATE OR REPLACE VIEW orderql.shipped_shipment AS
SELECT shipped.shipment_id, shipped.status_date AS shipped_date
FROM shipment_status AS shipped
WHERE shipped.status_id = 'SHIPMENT_SHIPPED'
  AND NOT EXISTS (
    SELECT
    FROM shipment_status AS earlier
    WHERE earlier.shipment_id = shipped.shipment_id
      AND earlier.status_id = shipped.status_id
      AND (earlier.status_date, earlier.shipment_status_id) < (shipped.status_date, shipped.shipment_status_id)
  );

-- Returns with the time of their last change.
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
    ) AS product_store_id,
    header.last_updated_stamp
FROM return_header AS header;

CREATE OR REPLACE VIEW orderql.return_by_identification AS
SELECT known.return_identification_type_id AS identification_type_id, known.id_value, return_header.*
FROM return_identification AS known
JOIN orderql.return_header ON return_header.return_id = known.return_id
WHERE known.from_date <= CURRENT_TIMESTAMP AND (known.thru_date IS NULL OR known.thru_date > CURRENT_TIMESTAMP);

-- The current ways to reach a facility, each once for each of its purposes.
CREATE OR REPLACE VIEW orderql.facility_contact AS
SELECT
    purpose.facility_id,
    purpose.contact_mech_id,
    purpose.contact_mech_purpose_type_id,
    mechanism.info_string
FROM facility_contact_mech_purpose AS purpose
LEFT JOIN contact_mech AS mechanism ON mechanism.contact_mech_id = purpose.contact_mech_id
WHERE purpose.from_date <= CURRENT_TIMESTAMP
  AND (purpose.thru_date IS NULL OR purpose.thru_date > CURRENT_TIMESTAMP)
  AND NOT EXISTS (
    SELECT
    FROM facility_contact_mech_purpose AS newer
    WHERE newer.facility_id = purpose.facility_id
      AND newer.contact_mech_id = purpose.contact_mech_id
      AND newer.contact_mech_purpose_type_id = purpose.contact_mech_purpose_type_id
      AND newer.from_date > purpose.from_date
      AND newer.from_date <= CURRENT_TIMESTAMP
      AND (newer.thru_date IS NULL OR newer.thru_date > CURRENT_TIMESTAMP)
  )
  AND EXISTS (
    SELECT
    FROM facility_contact_mech AS link
    WHERE link.facility_id = purpose.facility_id
      AND link.contact_mech_id = purpose.contact_mech_id
      AND link.from_date <= CURRENT_TIMESTAMP
      AND (link.thru_date IS NULL OR link.thru_date > CURRENT_TIMESTAMP)
  );

-- The current variants of virtual products, each once. Their ids are the association's (USING takes them from there), so that
-- a page begins in the middle of an index on the associations.
CREATE OR REPLACE VIEW orderql.current_variant AS
SELECT assoc.product_id AS virtual_product_id, assoc.product_id_to AS variant_product_id
FROM product_assoc AS assoc
WHERE assoc.product_assoc_type_id = 'PRODUCT_VARIANT'
  AND assoc.from_date <= CURRENT_TIMESTAMP
  AND (assoc.thru_date IS NULL OR assoc.thru_date > CURRENT_TIMESTAMP)
  AND NOT EXISTS (
    SELECT
    FROM product_assoc AS later
    WHERE later.product_id = assoc.product_id
      AND later.product_assoc_type_id = assoc.product_assoc_type_id
      AND later.product_id_to = assoc.product_id_to
      AND later.from_date > assoc.from_date
      AND later.from_date <= CURRENT_TIMESTAMP
      AND (later.thru_date IS NULL OR later.thru_date > CURRENT_TIMESTAMP)
  );

CREATE OR REPLACE VIEW orderql.product_variant AS
SELECT *
FROM (SELECT virtual_product_id, variant_product_id AS product_id FROM orderql.current_variant) AS variant
JOIN product USING (product_id);

CREATE OR REPLACE VIEW orderql.virtual_product AS
SELECT *
FROM (SELECT variant_product_id, virtual_product_id AS product_id FROM orderql.current_variant) AS variant
JOIN product USING (product_id);

-- The ways to send that a store offers.
CREATE TABLE IF NOT EXISTS product_store_shipment_meth (
    product_store_ship_meth_id VARCHAR(20) NOT NULL,
    product_store_id           VARCHAR(20),
    shipment_method_type_id    VARCHAR(20),
    party_id                   VARCHAR(20),
    role_type_id               VARCHAR(20),
    company_party_id           VARCHAR(20),
    min_weight                 NUMERIC(18,6),
    max_weight                 NUMERIC(18,6),
    min_size                   NUMERIC(18,6),
    max_size                   NUMERIC(18,6),
    min_total                  NUMERIC(18,2),
    max_total                  NUMERIC(18,2),
    allow_usps_addr            CHAR(1),
    require_usps_addr          CHAR(1),
    allow_company_addr         CHAR(1),
    require_company_addr       CHAR(1),
    include_no_charge_items    CHAR(1),
    include_feature_group      VARCHAR(20),
    exclude_feature_group      VARCHAR(20),
    include_geo_id             VARCHAR(20),
    exclude_geo_id             VARCHAR(20),
    service_name               VARCHAR(255),
    config_props               VARCHAR(255),
    shipment_custom_method_id  VARCHAR(20),
    shipment_gateway_config_id VARCHAR(20),
    sequence_number            NUMERIC(20,0),
    allowance_percent          NUMERIC(18,6),
    minimum_price              NUMERIC(18,2),
    last_updated_stamp         TIMESTAMPTZ,
    last_updated_tx_stamp      TIMESTAMPTZ,
    created_stamp              TIMESTAMPTZ,
    created_tx_stamp           TIMESTAMPTZ,
    CONSTRAINT pk_product_store_shipment_meth PRIMARY KEY (product_store_ship_meth_id)
);
SELECT orderql.add_index(name, 'product_store_shipment_meth', columns)
FROM (VALUES
    ('oql_product_store_shipment_meth_of_store',             'product_store_id, product_store_ship_meth_id'),
    ('oql_product_store_shipment_meth_of_store_by_sequence', 'product_store_id, sequence_number, product_store_ship_meth_id')
) AS listed (name, columns);

-- What there is of a product at a facility, as before. The items of a pair without a current item are found by the index on
-- both of its columns: their order says so, whatever PostgreSQL's statistics are. The order keeps neither a column that equals a
-- value, nor an array of values in the second column.
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
                      AND of_pair.facility_id >= pair.facility_id
                      AND of_pair.facility_id <= pair.facility_id
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
                      AND of_pair.facility_id >= pair.facility_id
                      AND of_pair.facility_id <= pair.facility_id
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
