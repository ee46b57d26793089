-- Rows in distributions that make a search expensive: nulls, thousands of rows with one sort value, values that one row, some
-- rows or half of the table have, values at one end of an order only, and columns that depend on each other.
BEGIN;
-- Without foreign keys.
SET LOCAL session_replication_role = replica;
-- The open ship groups have rows of their own below.
ALTER TABLE order_header DISABLE TRIGGER orderql_item_replicated;
ALTER TABLE order_item DISABLE TRIGGER orderql_item_replicated;
ALTER TABLE order_item_ship_group DISABLE TRIGGER orderql_item_replicated;
ALTER TABLE order_item_ship_grp_inv_res DISABLE TRIGGER orderql_item_replicated;
-- The columns that triggers keep are filled in at the end: row by row it takes long.
ALTER TABLE return_item DISABLE TRIGGER orderql_return_replicated;

INSERT INTO order_header
    (order_id, external_id, order_name, status_id, order_date, product_store_id, order_type_id, grand_total, last_updated_stamp)
SELECT 'O' || lpad(n::text, 6, '0'),
    CASE WHEN n % 7 > 0 THEN 'X' || n / 2 END,
    CASE WHEN n % 10 > 0 THEN 'N' || n * 7919 % 5000 END,
    CASE
        WHEN n = 7777 THEN 'ONE'
        WHEN n % 1000 = 3 THEN 'TWENTY'
        WHEN n % 66 = 5 THEN 'HUNDREDS'
        WHEN n > 19400 THEN 'LAST'
        WHEN n <= 400 THEN 'FIRST'
        WHEN n * 7919 % 20000 > 19700 THEN 'LATE'
        WHEN n % 2 = 0 THEN 'HALF'
        ELSE 'S' || n % 5
    END,
    CASE
        WHEN n % 10 = 0 THEN NULL
        WHEN n % 4 = 1 THEN timestamptz '2026-03-01'
        ELSE timestamptz '2026-01-01' + n * 7919 % 20000 * interval '5 minutes'
    END,
    CASE
        WHEN n % 13 = 0 THEN NULL
        WHEN n % 2 = 0 THEN 'T' || n % 3
        WHEN n BETWEEN 12000 AND 12300 THEN 'T_RANGE'
        ELSE 'T' || 3 + n % 50
    END,
    CASE WHEN n % 3 = 0 THEN 'SALES' WHEN n > 19900 THEN 'PURCHASE' END,
    CASE WHEN n % 11 = 0 THEN NULL WHEN n % 3 = 1 THEN 0 ELSE n * 7919 % 3000 / 100.0 END,
    CASE
        WHEN n % 12 = 0 THEN NULL
        WHEN n % 2 = 0 THEN timestamptz '2026-04-01'
        ELSE timestamptz '2026-01-01' + n * 7907 % 20000 * interval '5 minutes'
    END
FROM generate_series(1, 20000) AS n;
-- Some customers are no longer those of their orders, and some are those of orders that do not exist.
INSERT INTO order_role (order_id, party_id, role_type_id, thru_date)
SELECT CASE WHEN n % 19 = 0 THEN 'Q' ELSE 'O' END || lpad(n::text, 6, '0'),
    CASE
        WHEN n = 3333 THEN 'Y_ONE'
        WHEN n % 1000 = 7 THEN 'Y_TWENTY'
        WHEN n % 100 = 11 THEN 'Y_HUNDREDS'
        WHEN n > 19500 THEN 'Y_LAST'
        WHEN n % 2 = 0 THEN 'Y_BIG'
        ELSE 'Y' || n % 900
    END,
    role, CASE WHEN n % 23 = 0 THEN timestamptz '2020-01-01' END
FROM generate_series(1, 20000) AS n, unnest('{BILL_TO_CUSTOMER, PLACING_CUSTOMER}'::text[]) AS role
WHERE n % 3 > 0 OR role = 'BILL_TO_CUSTOMER';

-- Addresses that many orders have, as one contact or as many, and some that none has.
INSERT INTO contact_mech (contact_mech_id, contact_mech_type_id, info_string)
SELECT 'E' || n, CASE WHEN n % 30 = 0 THEN 'WEB_ADDRESS' ELSE 'EMAIL_ADDRESS' END,
    CASE
        WHEN n = 0 THEN 'E_BIG'
        WHEN n % 3 = 0 THEN 'E_MANY'
        WHEN n % 400 = 1 THEN 'E_TWENTY'
        WHEN n > 9000 THEN 'E_UNUSED'
        ELSE 'E' || n / 5
    END
FROM generate_series(0, 12000) AS n;
INSERT INTO order_contact_mech (order_id, contact_mech_purpose_type_id, contact_mech_id)
SELECT 'O' || lpad(n::text, 6, '0'), purpose, CASE WHEN n % 2 = 0 THEN 'E1' ELSE 'E' || n * 7919 % 8500 END
FROM generate_series(1, 20000) AS n, unnest('{ORDER_EMAIL, BILLING_EMAIL}'::text[]) AS purpose
WHERE purpose = 'ORDER_EMAIL' OR n % 10 = 0;

INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id, external_id, product_id, status_id, order_item_type_id)
SELECT 'O' || lpad((n / 4)::text, 6, '0'), lpad((n % 4)::text, 5, '0'), lpad((1 + n % 4 / 2)::text, 5, '0'), 'L' || n / 2,
    CASE
        WHEN n % 9 = 0 THEN NULL
        WHEN n % 2 = 0 THEN 'P0'
        WHEN n > 19800 THEN 'P_LAST'
        WHEN n % 1000 = 1 THEN 'P_TWENTY'
        ELSE 'P' || n * 7919 % 700
    END,
    CASE
        WHEN n = 5000 THEN 'ONE'
        WHEN n % 66 = 5 THEN 'HUNDREDS'
        WHEN n > 19400 THEN 'LAST'
        WHEN n % 2 = 0 THEN 'HALF'
        WHEN n % 15 = 1 THEN NULL
        ELSE 'S' || n % 7
    END,
    CASE WHEN n <= 150 THEN 'RENTAL' WHEN n % 3 > 0 THEN 'PRODUCT' END
FROM generate_series(1, 20000) AS n;

-- Facilities of all sizes, and ship groups without items.
INSERT INTO order_item_ship_group (order_id, ship_group_seq_id, facility_id)
SELECT 'O' || lpad(n::text, 6, '0'), lpad(i::text, 5, '0'),
    CASE
        WHEN n % 14 = 0 THEN NULL
        WHEN n = 2500 THEN 'F_ONE'
        WHEN i = 3 OR n % 2 = 0 THEN 'F0'
        WHEN n > 4900 THEN 'F_LAST'
        WHEN n % 100 = 3 THEN 'F_HUNDRED'
        ELSE 'F' || n % 60
    END
FROM generate_series(0, 5000) AS n, generate_series(1, 3) AS i;

-- Some order items are sent with several shipments, and some shipments are of order items that do not exist.
INSERT INTO order_shipment (order_id, order_item_seq_id, ship_group_seq_id, shipment_id, shipment_item_seq_id)
SELECT CASE WHEN n % 17 = 0 THEN 'Q' ELSE 'O' END || lpad((n / 4)::text, 6, '0'), lpad((n % 4)::text, 5, '0'), '00001',
    CASE
        WHEN i = 2 THEN 'M2'
        WHEN n = 555 THEN 'M_ONE'
        WHEN n % 3 = 0 THEN 'M_BIG'
        WHEN n % 1000 = 7 THEN 'M_TWENTY'
        WHEN n % 100 = 11 THEN 'M_HUNDREDS'
        ELSE 'M' || n / 6
    END,
    lpad(n::text, 6, '0')
FROM generate_series(1, 12000) AS n, generate_series(1, 2) AS i
WHERE i = 1 OR n % 40 = 0;
-- The same shipment twice for one order item.
INSERT INTO order_shipment (order_id, order_item_seq_id, ship_group_seq_id, shipment_id, shipment_item_seq_id)
SELECT order_id, order_item_seq_id, ship_group_seq_id, shipment_id, shipment_item_seq_id || '+'
FROM order_shipment WHERE shipment_id IN ('M_TWENTY', 'M_HUNDREDS');

INSERT INTO order_item_ship_grp_inv_res (order_id, ship_group_seq_id, order_item_seq_id, inventory_item_id)
SELECT 'O' || lpad((n / 4)::text, 6, '0'), lpad((1 + n % 2)::text, 5, '0'), lpad((n % 4)::text, 5, '0'),
    CASE WHEN n % 2 = 0 THEN 'I_BIG' ELSE 'I' || n * 7919 % 900 END
FROM generate_series(1, 8000) AS n;

INSERT INTO shipment (shipment_id, external_id, primary_order_id, status_id, origin_facility_id, shipment_method_type_id,
    estimated_ship_date, last_updated_stamp, destination_facility_id, shipment_type_id)
SELECT 'M' || n, 'X' || n / 3, CASE WHEN n % 5 > 0 THEN 'O' || lpad((n / 2)::text, 6, '0') ELSE 'O_BIG' END,
    CASE
        WHEN n % 10 = 0 THEN NULL
        WHEN n = 4321 THEN 'ONE'
        WHEN n % 1000 = 3 THEN 'TWENTY'
        WHEN n % 66 = 5 THEN 'HUNDREDS'
        WHEN n > 19400 THEN 'LAST'
        WHEN n % 2 = 0 THEN 'HALF'
        ELSE 'S' || n % 5
    END,
    CASE WHEN n % 2 = 0 THEN 'F0' WHEN n % 21 = 0 THEN NULL WHEN n BETWEEN 9000 AND 9040 THEN 'F_RANGE' ELSE 'F' || n % 30 END,
    CASE WHEN n % 500 = 9 THEN 'RARE' WHEN n % 2 = 0 THEN 'GROUND' WHEN n % 3 = 0 THEN NULL ELSE 'AIR' END,
    CASE
        WHEN n % 6 = 0 THEN NULL
        WHEN n % 4 = 1 THEN timestamptz '2026-02-01'
        ELSE timestamptz '2026-01-01' + n * 7919 % 20000 * interval '5 minutes'
    END,
    CASE WHEN n % 9 > 0 THEN timestamptz '2026-03-01' + n * 7907 % 10000 * interval '5 minutes' END,
    CASE WHEN n % 2 = 0 THEN 'F0' WHEN n % 6 = 1 THEN NULL WHEN n > 19900 THEN 'F_LAST' ELSE 'F' || n % 40 END,
    CASE WHEN n % 500 = 11 THEN 'RARE' WHEN n % 3 > 0 THEN 'SALES' END
FROM generate_series(1, 20000) AS n;
-- Some shipments left twice, and some are unknown.
INSERT INTO shipment_status (status_id, shipment_id, shipment_status_id, status_date)
SELECT status, CASE WHEN n % 17 = 0 THEN 'Q' ELSE 'M' END || n, lpad(n::text, 6, '0'),
    CASE WHEN n % 4 = 1 THEN timestamptz '2026-02-03' ELSE timestamptz '2026-01-02' + n * 7919 % 20000 * interval '5 minutes' END
FROM generate_series(1, 20000) AS n, unnest('{SHIPMENT_PACKED, SHIPMENT_SHIPPED}'::text[]) AS status
WHERE n % 5 > 0 OR status = 'SHIPMENT_PACKED';

INSERT INTO return_header
    (return_id, external_id, from_party_id, status_id, return_date, entry_date, last_updated_stamp, destination_facility_id)
SELECT 'R' || n, 'X' || n / 2, CASE WHEN n % 3 = 0 THEN 'Y_BIG' WHEN n % 8 = 0 THEN NULL ELSE 'Y' || n % 400 END,
    CASE WHEN n % 10 = 0 THEN NULL WHEN n = 4000 THEN 'ONE' WHEN n % 300 = 1 THEN 'TWENTY' WHEN n % 2 = 0 THEN 'HALF' ELSE 'S' || n % 4 END,
    CASE WHEN n % 7 = 0 THEN NULL WHEN n % 2 = 0 THEN timestamptz '2026-02-01' ELSE timestamptz '2026-01-01' + n * 7919 % 6000 * interval '7 minutes' END,
    CASE WHEN n % 9 = 0 THEN NULL WHEN n % 3 = 0 THEN timestamptz '2026-02-02' ELSE timestamptz '2026-01-01' + n * interval '7 minutes' END,
    CASE WHEN n % 8 > 0 THEN timestamptz '2026-03-01' + n * 7907 % 3000 * interval '7 minutes' END,
    CASE WHEN n % 2 = 0 THEN 'F0' WHEN n % 7 = 1 THEN NULL ELSE 'F' || n % 40 END
FROM generate_series(1, 6000) AS n;

INSERT INTO return_item (return_id, return_item_seq_id, product_id, order_id, status_id, return_reason_id, return_type_id)
SELECT 'R' || n / 2, lpad((n % 2)::text, 5, '0'), CASE WHEN n % 2 = 0 THEN 'P0' ELSE 'P' || n * 7919 % 500 END,
    CASE WHEN n % 10 = 0 THEN NULL WHEN n % 4 = 1 THEN 'O000100' ELSE 'O' || lpad((n * 7919 % 5000)::text, 6, '0') END,
    CASE WHEN n % 150 = 1 THEN 'HUNDRED' WHEN n % 2 = 0 THEN 'HALF' ELSE 'S' || n % 3 END,
    CASE WHEN n > 11900 THEN 'LAST' WHEN n % 2 = 0 THEN 'SIZE' ELSE 'COLOR' END,
    CASE WHEN n % 5 > 0 THEN 'REFUND' END
FROM generate_series(1, 12000) AS n;

INSERT INTO party (party_id, external_id)
SELECT 'Y' || n, CASE WHEN n % 4 > 0 THEN 'X' || n / 2 END FROM generate_series(1, 20000) AS n;
INSERT INTO person (party_id, first_name, last_name)
SELECT 'Y' || n,
    CASE WHEN n % 2 = 0 THEN 'Ann' WHEN n % 1000 = 3 THEN 'Zoe' WHEN n % 66 = 5 THEN 'Max' ELSE 'F' || n * 7919 % 800 END,
    CASE WHEN n % 10 = 0 THEN NULL WHEN n % 4 = 1 THEN 'Lee' ELSE 'L' || n * 7919 % 4000 END
FROM generate_series(1, 20000) AS n WHERE n % 3 > 0;
INSERT INTO party_role (party_id, role_type_id)
SELECT 'Y' || n, 'CUSTOMER' FROM generate_series(1, 20000) AS n WHERE n % 5 > 0
UNION ALL SELECT 'Y' || n, 'SUPPLIER' FROM generate_series(1, 20000) AS n WHERE n % 70 = 0
UNION ALL SELECT 'Y' || n, 'CARRIER' FROM generate_series(1, 20000) AS n WHERE n % 1000 = 0
UNION ALL SELECT 'Z' || n, 'CARRIER' FROM generate_series(1, 20) AS n
UNION ALL SELECT 'Y' || n, 'LATE' FROM generate_series(19950, 20000) AS n;
SELECT orderql.backfill_parties();

INSERT INTO facility (facility_id, external_id, facility_type_id, parent_facility_id, facility_name)
SELECT 'F' || n, 'X' || n / 2, CASE WHEN n % 2 = 0 THEN 'STORE' WHEN n % 300 = 1 THEN 'PLANT' END,
    CASE WHEN n % 3 = 0 THEN 'F0' ELSE 'F' || n % 100 END, CASE WHEN n % 10 > 0 THEN 'W' || n * 7919 % 500 END
FROM generate_series(0, 1500) AS n;

INSERT INTO product (product_id, product_type_id, primary_product_category_id, brand_name, internal_name, product_name)
SELECT 'P' || n, CASE WHEN n % 2 = 0 THEN 'GOOD' WHEN n % 400 = 1 THEN 'KIT' END,
    CASE WHEN n % 3 = 0 THEN 'C0' WHEN n % 5 = 0 THEN NULL ELSE 'C' || n % 200 END,
    CASE WHEN n % 2 = 0 THEN 'B0' WHEN n % 5 = 0 THEN NULL ELSE 'B' || n % 100 END,
    'In' || n / 2, CASE WHEN n % 10 = 0 THEN NULL WHEN n % 4 = 1 THEN 'Shirt' ELSE 'W' || n * 7919 % 1000 END
FROM generate_series(0, 4000) AS n;

INSERT INTO good_identification (product_id, good_identification_type_id, id_value, from_date)
SELECT 'P' || n / 2, CASE WHEN n % 2 = 0 THEN 'SKU' ELSE 'UPC' || n % 90 END, 'V' || n * 7919 % 1500,
    CASE WHEN n % 4 = 0 THEN timestamptz '1970-01-01' WHEN n % 2 = 0 THEN timestamptz '2026-02-01' ELSE timestamptz '2026-01-01' + n * interval '1 minute' END
FROM generate_series(1, 4000) AS n;

INSERT INTO product_price
    (product_id, product_price_type_id, product_price_purpose_id, currency_uom_id, product_store_group_id, from_date, price)
SELECT CASE WHEN n % 4 = 0 THEN 'P0' ELSE 'P' || n / 4 END, CASE WHEN n % 2 = 0 THEN 'LIST' WHEN n % 300 = 1 THEN 'COST' ELSE 'SALE' END,
    CASE WHEN n % 3 = 0 THEN 'RENT' ELSE 'BUY' END, 'USD', 'G' || n,
    CASE WHEN n % 4 = 1 THEN timestamptz '2026-02-01' ELSE timestamptz '2026-01-01' + n * 7919 % 4000 * interval '1 minute' END, n
FROM generate_series(1, 4000) AS n;

INSERT INTO product_feature_appl (product_id, product_feature_id, product_feature_appl_type_id, from_date, sequence_num)
SELECT CASE WHEN n % 4 = 0 THEN 'P0' ELSE 'P' || n / 4 END, 'F' || n,
    CASE WHEN n % 2 = 0 THEN 'STANDARD' WHEN n % 300 = 1 THEN 'RARE' WHEN n % 3 = 0 THEN 'SOLD_WITH' END, timestamptz '2026-01-01',
    CASE WHEN n % 10 > 0 THEN n * 7919 % 40 END
FROM generate_series(1, 4000) AS n;

INSERT INTO product_attribute (product_id, attr_name, attr_type)
SELECT 'P' || n / 4, CASE WHEN n % 4 = 0 THEN 'HAZMAT' WHEN n % 4 = 1 THEN 'A' || n % 90 ELSE 'B' || n END,
    CASE WHEN n % 2 = 0 THEN 'TEXT' WHEN n % 300 = 1 THEN 'RARE' END
FROM generate_series(1, 4000) AS n;

INSERT INTO product_keyword_new (product_id, keyword, keyword_type_id, status_id)
SELECT CASE WHEN n % 5 = 0 THEN 'P0' ELSE 'P' || n / 8 END, CASE WHEN n % 8 = 1 AND n % 5 > 0 THEN 'shirt' ELSE 'w' || n END,
    CASE WHEN n % 2 = 0 THEN 'TAG' WHEN n % 300 = 1 THEN 'RARE' ELSE 'WORD' END,
    CASE WHEN n % 2 = 0 THEN 'APPROVED' WHEN n % 400 = 1 THEN 'PENDING' END
FROM generate_series(1, 4000) AS n;

INSERT INTO product_store (product_store_id, store_name, inventory_facility_id)
SELECT 'T' || n, CASE WHEN n % 10 > 0 THEN 'W' || n * 7919 % 300 END, CASE WHEN n % 2 = 0 THEN 'F0' ELSE 'F' || n % 80 END
FROM generate_series(0, 1500) AS n;

INSERT INTO inventory_item (inventory_item_id, product_id, facility_id, status_id, serial_number)
SELECT 'I' || n, CASE WHEN n % 3 = 0 THEN 'P0' ELSE 'P' || n / 10 END, CASE WHEN n % 2 = 0 THEN 'F0' ELSE 'F' || n % 40 END,
    CASE WHEN n % 2 = 0 THEN 'AVAILABLE' WHEN n % 600 = 1 THEN 'LOST' END, CASE WHEN n % 6 = 0 THEN 'SN0' WHEN n % 5 > 0 THEN 'SN' || n / 2 END
FROM generate_series(1, 12000) AS n;

INSERT INTO inventory_item (inventory_item_id, available_to_promise_total, quantity_on_hand_total)
SELECT 'J' || n, CASE WHEN n % 3 = 0 THEN 0 WHEN n % 40 = 1 THEN -2 ELSE n * 7919 % 500 END, CASE WHEN n % 5 > 0 THEN n % 500 END
FROM generate_series(0, 5000) AS n;
INSERT INTO product_facility (product_id, facility_id, inventory_item_id)
SELECT 'P' || p, 'F' || f, CASE WHEN p = 0 OR p % 4 > 0 THEN 'J' || (p * 41 + f) % 5100 END FROM generate_series(0, 4000) AS p, generate_series(0, 40) AS f
WHERE f = 0 OR p = 0 OR (p * 31 + f * 17) % 20 = 0 AND f < 30;

INSERT INTO item_issuance (item_issuance_id, order_id, shipment_id, inventory_item_id)
SELECT 'U' || n, CASE WHEN n % 2 = 0 THEN 'O_BIG' ELSE 'O' || n / 4 END, 'M' || n / 6, 'I' || n * 7919 % 300
FROM generate_series(1, 4000) AS n;

INSERT INTO shipment_receipt (receipt_id, order_id, return_id, shipment_id, inventory_item_id, product_id)
SELECT 'E' || n, 'O' || n / 4, CASE WHEN n % 2 = 0 THEN 'R0' ELSE 'R' || n / 5 END, 'M' || n / 6, 'I' || n % 500,
    CASE WHEN n % 3 > 0 THEN 'P' || n % 90 END
FROM generate_series(1, 4000) AS n;
INSERT INTO inventory_item_detail (inventory_item_id, inventory_item_detail_seq_id, effective_date, order_id, reason_enum_id)
SELECT CASE WHEN n % 3 = 0 THEN 'I6' ELSE 'I' || n * 7919 % 9000 END, lpad(n::text, 6, '0'),
    CASE
        WHEN n % 9 = 0 THEN NULL
        WHEN n % 4 = 1 THEN timestamptz '2026-02-01'
        ELSE timestamptz '2026-01-01' + n * 7919 % 12000 * interval '5 minutes'
    END,
    CASE WHEN n % 5 = 0 THEN NULL WHEN n % 2 = 0 THEN 'O000100' ELSE 'O' || lpad((n / 3)::text, 6, '0') END,
    CASE WHEN n = 6000 THEN 'ONE' WHEN n % 100 = 7 THEN 'HUNDREDS' WHEN n % 2 = 0 THEN 'HALF' END
FROM generate_series(1, 12000) AS n;

-- Numbers that many orders and parties have, as one contact or as many; some are over.
INSERT INTO telecom_number (contact_mech_id, country_code, area_code, contact_number)
SELECT 'E' || n, CASE WHEN n % 2 = 0 THEN '1' END, CASE WHEN n % 3 > 0 THEN '212' END,
    CASE WHEN n % 4 = 0 THEN '555-0100' WHEN n % 400 = 1 THEN '555 0199' WHEN n % 50 = 3 THEN '7' ELSE lpad((n / 5)::text, 7, '0') END
FROM generate_series(0, 12000) AS n;
INSERT INTO party_contact_mech (party_id, contact_mech_id, from_date, thru_date)
SELECT CASE WHEN n % 19 = 0 THEN 'Z' ELSE 'Y' END || n, CASE WHEN n % 2 = 0 THEN 'E1' ELSE 'E' || n * 7919 % 8500 END,
    timestamptz '2020-01-01', CASE WHEN n % 23 = 0 THEN timestamptz '2021-01-01' END
FROM generate_series(1, 20000) AS n;

INSERT INTO picklist (picklist_id, facility_id, status_id, shipment_method_type_id, picklist_date)
SELECT 'K' || n, CASE WHEN n % 2 = 0 THEN 'HALF' ELSE 'F' || n % 40 END, 'PICKLIST_' || n % 3, 'M' || n % 4,
    CASE WHEN n % 10 > 0 THEN timestamptz '2026-01-01' + (n * 7919 % 300) * interval '1 day' END
FROM generate_series(1, 3000) AS n;
INSERT INTO picklist_bin (picklist_bin_id, picklist_id, primary_order_id)
SELECT 'B' || n, CASE WHEN n % 2 = 0 THEN 'K0' ELSE 'K' || n / 3 END, 'O' || n / 2 FROM generate_series(1, 3000) AS n;
INSERT INTO picklist_item (picklist_bin_id, order_id, order_item_seq_id, ship_group_seq_id, inventory_item_id, item_status_id)
SELECT 'B' || n / 4, CASE WHEN n % 2 = 0 THEN 'O0' ELSE 'O' || n / 5 END, n % 4, '00001', 'I' || n % 500,
    CASE WHEN n % 70 = 3 THEN 'SOME' WHEN n % 9 > 0 THEN 'PICKITEM_PICKED' END
FROM generate_series(1, 3000) AS n;
SELECT orderql.backfill_returns(), orderql.backfill_item_places();
-- The fulfilment queue.
INSERT INTO orderql.item_place
    (order_id, order_item_seq_id, ship_group_seq_id, facility_id, shipment_method_type_id, status_id, order_status_id,
     product_store_id, order_date, promised_date, has_group, is_order_open)
SELECT 'Q' || lpad((n / 2)::text, 6, '0'), '0000' || n % 2, '0000' || n % 2,
    CASE WHEN n % 3 = 0 THEN 'HALF' WHEN n % 11 > 0 THEN 'F' || n % 40 END, 'M' || n % 4,
    CASE WHEN n = 3000 THEN 'ITEM_REQ_CANCELATN' WHEN n % 90 = 7 THEN 'ITEM_HOLD' ELSE 'ITEM_APPROVED' END,
    CASE WHEN n > 3900 THEN 'LAST' ELSE 'ORDER_APPROVED' END, 'STORE' || n % 3,
    CASE WHEN n % 10 > 0 THEN timestamptz '2026-01-01' + (n * 7919 % 900) * interval '1 hour' END,
    CASE WHEN n % 2 = 0 THEN timestamptz '2026-01-05' + (n * 7907 % 300) * interval '1 day' END, true, true
FROM generate_series(1, 4000) AS n;
ALTER TABLE order_item_ship_group DISABLE TRIGGER orderql_item_replicated;
INSERT INTO order_item_ship_group (order_id, ship_group_seq_id, facility_id)
SELECT order_id, ship_group_seq_id, facility_id FROM orderql.item_place WHERE order_id LIKE 'Q%';
INSERT INTO order_payment_preference (order_payment_preference_id, order_id, payment_method_type_id, status_id, max_amount, created_date)
SELECT 'Q' || n, 'O' || n / 2, 'MEANS' || n % 3, 'PAYMENT_' || n % 4, n % 50, timestamptz '2026-01-01' + n % 700 * interval '1 hour'
FROM generate_series(1, 3000) AS n;
INSERT INTO payment_gateway_response (payment_gateway_response_id, order_payment_preference_id, reference_num)
SELECT 'G' || n, 'Q' || n % 2500, 'REF' || n % 900 FROM generate_series(1, 3000) AS n;
INSERT INTO payment
    (payment_id, payment_preference_id, payment_type_id, payment_method_type_id, status_id, payment_ref_num, amount, effective_date)
SELECT 'M' || n, 'Q' || n, 'TYPE' || n % 3, 'MEANS' || n % 3, 'PMNT_' || n % 4, 'REF' || n % 900, n % 50,
    timestamptz '2026-01-01' + n % 700 * interval '1 hour'
FROM generate_series(1, 3000) AS n;
INSERT INTO order_adjustment (order_adjustment_id, order_id, order_adjustment_type_id, tax_auth_geo_id, tax_auth_party_id)
SELECT 'A' || n, CASE WHEN n % 3 = 0 THEN 'O000100' ELSE 'O' || lpad((n / 2)::text, 6, '0') END,
    CASE WHEN n % 2 = 0 THEN 'SALES_TAX' WHEN n % 600 = 1 THEN 'FEE' END, CASE WHEN n % 4 = 0 THEN 'GEO' || n % 40 END,
    CASE WHEN n % 4 = 0 THEN 'AUTH' || n % 60 END
FROM generate_series(1, 6000) AS n;
INSERT INTO order_attribute (order_id, attr_name, attr_value)
SELECT 'O' || lpad(n::text, 6, '0'), 'campaign', CASE WHEN n % 2 = 0 THEN 'half' ELSE 'v' || n % 900 END FROM generate_series(1, 8000) AS n;
UPDATE order_header SET is_rush_order = CASE WHEN right(order_id, 2) = '07' THEN 'Y' ELSE 'N' END, priority = CASE WHEN right(order_id, 1) = '9' THEN '1' END
WHERE right(order_id, 1) IN ('7', '9');
UPDATE order_item SET is_promo = CASE WHEN right(order_id, 2) = '11' THEN 'Y' ELSE 'N' END WHERE right(order_id, 1) IN ('1', '2');
UPDATE order_item_ship_grp_inv_res SET quantity_not_available = CASE WHEN right(order_id, 2) = '13' THEN 2 ELSE 0 END WHERE right(order_id, 1) = '3';
UPDATE postal_address SET country_geo_id = CASE WHEN right(contact_mech_id, 2) = '07' THEN 'CAN' ELSE 'USA' END WHERE right(contact_mech_id, 1) <> '9';
UPDATE payment SET payment_type_id = 'CUSTOMER_REFUND' WHERE right(payment_id, 2) = '17';
UPDATE product_facility SET minimum_stock = 3 WHERE right(product_id, 1) IN ('1', '2');
INSERT INTO order_facility_change
    (order_facility_change_id, order_id, from_facility_id, facility_id, change_reason_enum_id, change_user_login, change_datetime)
SELECT 'C' || n, 'O' || n / 4, 'F' || n % 40, 'F' || n % 30, 'REASON' || n % 5, 'USER' || n % 6,
    timestamptz '2026-01-01' + n % 700 * interval '1 hour'
FROM generate_series(1, 3000) AS n;
ALTER TABLE return_item ENABLE REPLICA TRIGGER orderql_return_replicated;
COMMIT;
