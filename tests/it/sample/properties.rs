//! Properties of a sample of 2,000 orders, each with a query that returns whether it holds.

pub const ALL: &[(&str, &str)] = &[
    ("the requested number of orders", "SELECT count(*) = 2000 FROM order_header"),
    (
        "orders of each number of items from one to eight",
        "SELECT min(n) = 1 AND max(n) = 8 AND count(DISTINCT n) = 8 FROM (SELECT count(*) AS n FROM order_item GROUP BY order_id) AS o",
    ),
    (
        "orders of each number of ship groups from one to three",
        "SELECT min(n) = 1 AND max(n) = 3 AND count(DISTINCT n) = 3
         FROM (SELECT count(*) AS n FROM order_item_ship_group GROUP BY order_id) AS o",
    ),
    (
        "a few empty ship groups",
        "SELECT (SELECT count(*) FROM orderql.ship_group) * 100 BETWEEN count(*) * 80 AND count(*) * 99 FROM order_item_ship_group",
    ),
    (
        "lines that are split over ship groups and share their external id",
        "SELECT count(*) > 20 FROM (SELECT FROM order_item WHERE external_id IS NOT NULL GROUP BY order_id, external_id
            HAVING count(*) > 1 AND count(DISTINCT ship_group_seq_id) > 1 AND count(DISTINCT product_id) = 1) AS split",
    ),
    ("orders without external ids", "SELECT count(*) > 20 FROM order_header WHERE external_id IS NULL"),
    (
        "a shipment in every status",
        "SELECT count(DISTINCT shipment.status_id) = count(DISTINCT status.status_id)
         FROM status_item AS status LEFT JOIN shipment USING (status_id)
         WHERE status.status_type_id IN ('SHIPMENT_STATUS', 'PURCH_SHIP_STATUS')",
    ),
    (
        "a return in every status",
        "SELECT count(DISTINCT header.status_id) = count(DISTINCT status.status_id)
         FROM status_item AS status LEFT JOIN return_header AS header USING (status_id)
         WHERE status.status_type_id = 'ORDER_RETURN_STTS'",
    ),
    (
        "orders in at least nine statuses",
        "SELECT count(DISTINCT status_id) >= 9 AND bool_or(status_id = 'ORDER_HELD') AND bool_and(status_id IS NOT NULL) FROM order_header",
    ),
    (
        "items in seven statuses",
        "SELECT count(DISTINCT status_id) = 7 FROM order_item",
    ),
    (
        "every change of a status is valid",
        "SELECT NOT EXISTS (
            SELECT FROM (
                SELECT status_id, lead(status_id) OVER (PARTITION BY order_id ORDER BY status_datetime) AS next FROM order_status
                UNION ALL
                SELECT status_id, lead(status_id) OVER (PARTITION BY shipment_id ORDER BY status_date) FROM shipment_status
            ) AS step
            WHERE next IS NOT NULL AND (status_id, next) NOT IN (
                SELECT status_id, status_id_to FROM status_valid_change
                -- The changes of stock OFBiz, which are in its data and not in the migrations.
                UNION ALL VALUES
                    ('ORDER_CREATED', 'ORDER_PROCESSING'), ('ORDER_CREATED', 'ORDER_APPROVED'), ('ORDER_CREATED', 'ORDER_HOLD'),
                    ('ORDER_CREATED', 'ORDER_REJECTED'), ('ORDER_CREATED', 'ORDER_CANCELLED'), ('ORDER_APPROVED', 'ORDER_SENT'),
                    ('ORDER_APPROVED', 'ORDER_COMPLETED'), ('ORDER_APPROVED', 'ORDER_CANCELLED'), ('ORDER_APPROVED', 'ORDER_HOLD'),
                    ('SHIPMENT_INPUT', 'SHIPMENT_SCHEDULED'), ('SHIPMENT_INPUT', 'SHIPMENT_PICKED'),
                    ('SHIPMENT_INPUT', 'SHIPMENT_PACKED'), ('SHIPMENT_INPUT', 'SHIPMENT_CANCELLED'),
                    ('SHIPMENT_PACKED', 'SHIPMENT_SHIPPED'), ('SHIPMENT_SHIPPED', 'SHIPMENT_DELIVERED'),
                    ('PURCH_SHIP_CREATED', 'PURCH_SHIP_SHIPPED'), ('PURCH_SHIP_SHIPPED', 'PURCH_SHIP_RECEIVED'),
                    -- Changes by carriers and by time, which no model contains.
                    ('ORDER_CREATED', 'ORDER_EXPIRED'),
                    ('SHIPMENT_SHIPPED', 'SHIPMENT_IN_TRANSIT'), ('SHIPMENT_SHIPPED', 'SHIPMENT_EXCEPTION'),
                    -- The specification's id for OFBiz's ORDER_HOLD.
                    ('ORDER_APPROVED', 'ORDER_HELD')
            )
         )",
    ),
    (
        "the last entry of an order's status history is its status",
        "SELECT bool_and(header.status_id = latest.status_id) FROM order_header AS header JOIN LATERAL (
            SELECT status_id FROM order_status WHERE order_id = header.order_id ORDER BY status_datetime DESC LIMIT 1
         ) AS latest ON true",
    ),
    (
        "the packages of a shipment contain each item once",
        "SELECT count(*) = (SELECT count(*) FROM shipment_item JOIN shipment USING (shipment_id) WHERE shipment_type_id = 'SALES_SHIPMENT')
         FROM shipment_package_content",
    ),
    (
        "shipments of one and of two packages",
        "SELECT min(n) = 1 AND max(n) = 2 FROM (SELECT count(*) AS n FROM shipment_package GROUP BY shipment_id) AS s",
    ),
    (
        "a shipment's items are those of its ship group, in the same quantities",
        "SELECT bool_and(shipped.product_id IS NOT DISTINCT FROM ordered.product_id AND shipped.quantity = ordered.quantity
             AND shipment.primary_ship_group_seq_id = ordered.ship_group_seq_id AND ordered.shipment_id = shipment.shipment_id)
         FROM order_shipment JOIN shipment USING (shipment_id) JOIN shipment_item AS shipped USING (shipment_id, shipment_item_seq_id)
         JOIN order_item AS ordered USING (order_id, order_item_seq_id)",
    ),
    (
        "only approved items have reservations",
        "SELECT bool_and(item.status_id = 'ITEM_APPROVED') AND count(*) > 100
         FROM order_item_ship_grp_inv_res AS reserved JOIN order_item AS item USING (order_id, order_item_seq_id)",
    ),
    (
        "every completed item has one issuance",
        "SELECT count(*) = count(issued.item_issuance_id) AND count(*) = count(DISTINCT issued.item_issuance_id)
         FROM order_item AS item LEFT JOIN item_issuance AS issued USING (order_id, order_item_seq_id)
         WHERE item.status_id = 'ITEM_COMPLETED' AND item.product_id IS NOT NULL",
    ),
    (
        "reservations and issuances are of the item's product at the ship group's facility",
        "SELECT bool_and(stock.product_id = item.product_id AND stock.facility_id = own.facility_id)
         FROM (SELECT order_id, order_item_seq_id, inventory_item_id FROM order_item_ship_grp_inv_res
               UNION ALL SELECT order_id, order_item_seq_id, inventory_item_id FROM item_issuance) AS taken
         JOIN inventory_item AS stock USING (inventory_item_id) JOIN order_item AS item USING (order_id, order_item_seq_id)
         JOIN order_item_ship_group AS own USING (order_id, ship_group_seq_id)",
    ),
    (
        "exactly the received return items have receipts",
        "SELECT bool_and((receipt_id IS NOT NULL) = (item.status_id IN ('RETURN_RECEIVED', 'RETURN_COMPLETED', 'RETURN_MAN_REFUND')))
             AND bool_or(receipt_id IS NOT NULL) AND bool_or(receipt_id IS NULL)
         FROM return_item AS item LEFT JOIN shipment_receipt USING (return_id, return_item_seq_id)",
    ),
    ("returns of one and of two items", "SELECT min(n) = 1 AND max(n) = 2 FROM (SELECT count(*) AS n FROM return_item GROUP BY return_id) AS r"),
    (
        "returns with adjustments, identifications and several statuses",
        "SELECT EXISTS (SELECT FROM return_adjustment) AND EXISTS (SELECT FROM return_identification WHERE thru_date IS NOT NULL)
             AND max(n) = 4 FROM (SELECT count(*) AS n FROM return_status GROUP BY return_id) AS s",
    ),
    (
        "every facility has a current ship-from address with coordinates",
        "SELECT count(*) = 20 AND bool_and(latitude BETWEEN 25 AND 48 AND longitude BETWEEN -123 AND -73)
         FROM orderql.facility_origin_address",
    ),
    (
        "every product has one current default price, and some had another",
        "SELECT count(*) = (SELECT count(*) FROM product) AND bool_or(former > 0) FROM (
            SELECT count(*) FILTER (WHERE thru_date IS NULL) AS current, count(thru_date) AS former
            FROM product_price WHERE product_price_type_id = 'DEFAULT_PRICE' GROUP BY product_id
         ) AS p WHERE current = 1",
    ),
    (
        "features of products and features that virtual products are sold with, some of them over, with and without a place",
        "SELECT bool_or(product_feature_appl_type_id = 'SELECTABLE_FEATURE') AND bool_or(thru_date IS NOT NULL)
             AND bool_or(sequence_num IS NULL) AND bool_or(sequence_num IS NOT NULL) FROM product_feature_appl",
    ),
    (
        "words and tags of products, tags that are not approved, and attributes with and without a type",
        "SELECT count(DISTINCT keyword_type_id) = 2 AND bool_or(status_id = 'KW_PENDING')
             AND (SELECT bool_or(attr_type IS NULL) AND bool_or(attr_type IS NOT NULL) FROM product_attribute)
         FROM product_keyword_new",
    ),
    (
        "facilities with a former address, and with two current ones",
        "SELECT bool_or(n > 1 AND now_valid = 1) AND bool_or(now_valid = 2) FROM (
            SELECT count(*) AS n, count(*) FILTER (WHERE thru_date IS NULL) AS now_valid FROM facility_contact_mech_purpose GROUP BY facility_id
         ) AS f",
    ),
    (
        "inventory levels above 0, at 0 and without inventory items, and pairs without a level",
        "SELECT bool_or(quantity_on_hand > 0) AND bool_or(available_to_promise = 0 AND inventory_item_id IS NOT NULL)
             AND bool_or(NOT EXISTS (SELECT FROM inventory_item AS i WHERE (i.product_id, i.facility_id) = (l.product_id, l.facility_id)))
             AND bool_or(inventory_item_id IS NULL AND quantity_on_hand > 0)
             AND count(*) < (SELECT count(*) FROM product) * 20
         FROM orderql.inventory_level AS l",
    ),
    ("no stock is negative", "SELECT bool_and(quantity_on_hand >= available_to_promise AND available_to_promise >= 0) FROM orderql.inventory_level"),
    (
        "the last inventory count is the available quantity",
        "SELECT bool_and(pair.last_inventory_count = level.available_to_promise)
         FROM product_facility AS pair JOIN orderql.inventory_level AS level USING (product_id, facility_id)",
    ),
    (
        "dates in each month of three years",
        "SELECT count(DISTINCT date_trunc('month', order_date, 'UTC')) = 36
             AND min(order_date) >= '2023-01-01Z' AND max(order_date) < '2026-01-01Z' FROM order_header",
    ),
    (
        "orders of the same millisecond and of the same microsecond",
        "SELECT count(*) FILTER (WHERE n > d) > 3 AND count(*) FILTER (WHERE d > 1) > 3 FROM (
            SELECT count(*) AS n, count(DISTINCT order_date) AS d FROM order_header WHERE order_date IS NOT NULL
            GROUP BY date_trunc('milliseconds', order_date) HAVING count(*) > 1
         ) AS moment",
    ),
    (
        "customers who are persons and companies, and orders without a customer",
        "SELECT count(customer.party_id) > 1800 AND count(*) > count(customer.party_id)
             AND bool_or(party.party_type_id = 'PARTY_GROUP') AND bool_or(role.party_id IS NULL)
         FROM order_header AS header
         LEFT JOIN orderql.bill_to_customer AS customer USING (order_id)
         LEFT JOIN order_role AS role ON role.order_id = header.order_id AND role.role_type_id = 'BILL_TO_CUSTOMER'
         LEFT JOIN party ON party.party_id = role.party_id",
    ),
    (
        "the party table is as the triggers would have written it",
        "SELECT count(*) = (SELECT count(*) FROM party) AND count(last_name) > 250 AND count(group_name) > 4 FROM orderql.party",
    ),
    (
        "the total is the sum of the items that are not cancelled and of the adjustments",
        "SELECT bool_and(header.grand_total = items.total + coalesce(adjustments.total, 0))
         FROM order_header AS header
         JOIN LATERAL (SELECT sum((quantity - coalesce(cancel_quantity, 0)) * unit_price) AS total
            FROM order_item WHERE order_id = header.order_id) AS items ON true
         JOIN LATERAL (SELECT sum(amount) AS total FROM order_adjustment WHERE order_id = header.order_id) AS adjustments ON true
         WHERE grand_total IS NOT NULL",
    ),
    (
        "the payment preferences add up to the total",
        "SELECT bool_and(header.grand_total = paid.total) AND bool_or(paid.n = 2)
         FROM order_header AS header
         JOIN LATERAL (SELECT sum(max_amount) AS total, count(*) AS n FROM order_payment_preference
            WHERE order_id = header.order_id) AS paid ON true
         WHERE grand_total IS NOT NULL",
    ),
    (
        "addresses, e-mail addresses and telephone numbers of orders",
        "SELECT count(DISTINCT contact_mech_purpose_type_id) = 3 AND bool_or(info_string LIKE '%@%') FROM orderql.order_contact",
    ),
    ("public and internal notes", "SELECT count(*) > 100 AND count(DISTINCT internal_note) = 2 FROM orderql.order_note"),
    (
        "expired identifications, and identifications that orders share",
        "SELECT bool_or(thru_date IS NOT NULL) AND count(*) > count(DISTINCT (order_identification_type_id, id_value)) FROM order_identification",
    ),
    (
        "moves out of a ship group that is empty now, and out of the queue",
        "SELECT bool_or(from_facility_id = '_NA_' AND change_reason_enum_id = 'BROKERED')
             AND bool_or(left_group.facility_id IS NOT NULL AND change_reason_enum_id = 'NOT_IN_STOCK')
         FROM order_facility_change AS change
         LEFT JOIN order_item_ship_group AS left_group
           ON left_group.order_id = change.order_id AND left_group.facility_id = change.from_facility_id
          AND NOT EXISTS (SELECT FROM order_item AS item
              WHERE (item.order_id, item.ship_group_seq_id) = (left_group.order_id, left_group.ship_group_seq_id))",
    ),
    (
        "all shipping methods, with and without carriers",
        "SELECT count(DISTINCT shipment_method_type_id) = 8 AND count(DISTINCT carrier_party_id) = 4 FROM order_item_ship_group",
    ),
];
