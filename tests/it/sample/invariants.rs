//! What a sample of some thousand orders holds: a sentence, and the statement that says whether it is so.

pub const ALL: &[(&str, &str)] = &[
    ("as many orders as were asked for", "SELECT count(*) = 2000 FROM order_header"),
    (
        "orders of one to eight items, and of each number between",
        "SELECT min(n) = 1 AND max(n) = 8 AND count(DISTINCT n) = 8 FROM (SELECT count(*) AS n FROM order_item GROUP BY order_id) AS o",
    ),
    (
        "orders of one to three ship groups",
        "SELECT min(n) = 1 AND max(n) = 3 AND count(DISTINCT n) = 3
         FROM (SELECT count(*) AS n FROM order_item_ship_group GROUP BY order_id) AS o",
    ),
    (
        "ship groups that are empty, a few of all",
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
        "SELECT count(DISTINCT shipment.status_id) = count(DISTINCT known.status_id)
         FROM status_item AS known LEFT JOIN shipment USING (status_id)
         WHERE known.status_type_id IN ('SHIPMENT_STATUS', 'PURCH_SHIP_STATUS')",
    ),
    (
        "a return in every status",
        "SELECT count(DISTINCT header.status_id) = count(DISTINCT known.status_id)
         FROM status_item AS known LEFT JOIN return_header AS header USING (status_id)
         WHERE known.status_type_id = 'ORDER_RETURN_STTS'",
    ),
    (
        "an order in every status that clients know",
        "SELECT count(DISTINCT status_id) >= 9 AND bool_or(status_id = 'ORDER_HELD') AND bool_and(status_id IS NOT NULL) FROM order_header",
    ),
    (
        "items that are created, approved, held, completed, cancelled, rejected and expired",
        "SELECT count(DISTINCT status_id) = 7 FROM order_item",
    ),
    (
        "every change of a status is one that is allowed, or no change",
        "SELECT NOT EXISTS (
            SELECT FROM (
                SELECT status_id, lead(status_id) OVER (PARTITION BY order_id ORDER BY status_datetime) AS next FROM order_status
                UNION ALL
                SELECT status_id, lead(status_id) OVER (PARTITION BY shipment_id ORDER BY status_date) FROM shipment_status
            ) AS step
            WHERE next IS NOT NULL AND (status_id, next) NOT IN (
                SELECT status_id, status_id_to FROM status_valid_change
                -- Stock OFBiz's, which the migrations leave to its data.
                UNION ALL VALUES
                    ('ORDER_CREATED', 'ORDER_PROCESSING'), ('ORDER_CREATED', 'ORDER_APPROVED'), ('ORDER_CREATED', 'ORDER_HOLD'),
                    ('ORDER_CREATED', 'ORDER_REJECTED'), ('ORDER_CREATED', 'ORDER_CANCELLED'), ('ORDER_APPROVED', 'ORDER_SENT'),
                    ('ORDER_APPROVED', 'ORDER_COMPLETED'), ('ORDER_APPROVED', 'ORDER_CANCELLED'), ('ORDER_APPROVED', 'ORDER_HOLD'),
                    ('SHIPMENT_INPUT', 'SHIPMENT_SCHEDULED'), ('SHIPMENT_INPUT', 'SHIPMENT_PICKED'),
                    ('SHIPMENT_INPUT', 'SHIPMENT_PACKED'), ('SHIPMENT_INPUT', 'SHIPMENT_CANCELLED'),
                    ('SHIPMENT_PACKED', 'SHIPMENT_SHIPPED'), ('SHIPMENT_SHIPPED', 'SHIPMENT_DELIVERED'),
                    ('PURCH_SHIP_CREATED', 'PURCH_SHIP_SHIPPED'), ('PURCH_SHIP_SHIPPED', 'PURCH_SHIP_RECEIVED'),
                    -- Carriers and clocks bring these about; no model has their changes.
                    ('ORDER_CREATED', 'ORDER_EXPIRED'),
                    ('SHIPMENT_SHIPPED', 'SHIPMENT_IN_TRANSIT'), ('SHIPMENT_SHIPPED', 'SHIPMENT_EXCEPTION'),
                    -- The id that clients know for OFBiz's ORDER_HOLD.
                    ('ORDER_APPROVED', 'ORDER_HELD')
            )
         )",
    ),
    (
        "the last of an order's statuses is its own",
        "SELECT bool_and(header.status_id = latest.status_id) FROM order_header AS header JOIN LATERAL (
            SELECT status_id FROM order_status WHERE order_id = header.order_id ORDER BY status_datetime DESC LIMIT 1
         ) AS latest ON true",
    ),
    (
        "a shipment's packages hold its items, each once",
        "SELECT count(*) = (SELECT count(*) FROM shipment_item JOIN shipment USING (shipment_id) WHERE shipment_type_id = 'SALES_SHIPMENT')
         FROM shipment_package_content",
    ),
    (
        "shipments with one package and with two",
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
        "items in progress are reserved, and no others",
        "SELECT bool_and(item.status_id = 'ITEM_APPROVED') AND count(*) > 100
         FROM order_item_ship_grp_inv_res AS reserved JOIN order_item AS item USING (order_id, order_item_seq_id)",
    ),
    (
        "products that were shipped are issued, once each",
        "SELECT count(*) = count(issued.item_issuance_id) AND count(*) = count(DISTINCT issued.item_issuance_id)
         FROM order_item AS item LEFT JOIN item_issuance AS issued USING (order_id, order_item_seq_id)
         WHERE item.status_id = 'ITEM_COMPLETED' AND item.product_id IS NOT NULL",
    ),
    (
        "what is reserved and issued is of the item's product, at the group's facility",
        "SELECT bool_and(stock.product_id = item.product_id AND stock.facility_id = place.facility_id)
         FROM (SELECT order_id, order_item_seq_id, inventory_item_id FROM order_item_ship_grp_inv_res
               UNION ALL SELECT order_id, order_item_seq_id, inventory_item_id FROM item_issuance) AS taken
         JOIN inventory_item AS stock USING (inventory_item_id) JOIN order_item AS item USING (order_id, order_item_seq_id)
         JOIN order_item_ship_group AS place USING (order_id, ship_group_seq_id)",
    ),
    (
        "returns that are received have receipts, and others none",
        "SELECT bool_and((receipt_id IS NOT NULL) = (item.status_id IN ('RETURN_RECEIVED', 'RETURN_COMPLETED', 'RETURN_MAN_REFUND')))
             AND bool_or(receipt_id IS NOT NULL) AND bool_or(receipt_id IS NULL)
         FROM return_item AS item LEFT JOIN shipment_receipt USING (return_id, return_item_seq_id)",
    ),
    ("returns of one item and of two", "SELECT min(n) = 1 AND max(n) = 2 FROM (SELECT count(*) AS n FROM return_item GROUP BY return_id) AS r"),
    (
        "returns with adjustments, identifications and a way of statuses",
        "SELECT EXISTS (SELECT FROM return_adjustment) AND EXISTS (SELECT FROM return_identification WHERE thru_date IS NOT NULL)
             AND max(n) = 4 FROM (SELECT count(*) AS n FROM return_status GROUP BY return_id) AS s",
    ),
    (
        "every facility has an address that it ships from now, with its place on the map",
        "SELECT count(*) = 20 AND bool_and(latitude BETWEEN 25 AND 48 AND longitude BETWEEN -123 AND -73)
         FROM orderql.facility_origin_address",
    ),
    (
        "facilities that moved, and that ship from two places",
        "SELECT bool_or(n > 1 AND now_valid = 1) AND bool_or(now_valid = 2) FROM (
            SELECT count(*) AS n, count(*) FILTER (WHERE thru_date IS NULL) AS now_valid FROM facility_contact_mech_purpose GROUP BY facility_id
         ) AS f",
    ),
    (
        "levels of stock that are there, that are 0, and that were never there; and pairs that are absent",
        "SELECT bool_or(quantity_on_hand > 0) AND bool_or(available_to_promise = 0 AND inventory_item_id IS NOT NULL)
             AND bool_or(NOT EXISTS (SELECT FROM inventory_item AS i WHERE (i.product_id, i.facility_id) = (l.product_id, l.facility_id)))
             AND bool_or(inventory_item_id IS NULL AND quantity_on_hand > 0)
             AND count(*) < (SELECT count(*) FROM product) * 20
         FROM orderql.inventory_level AS l",
    ),
    ("no stock is less than nothing", "SELECT bool_and(quantity_on_hand >= available_to_promise AND available_to_promise >= 0) FROM orderql.inventory_level"),
    (
        "a pair's last count is what is available",
        "SELECT bool_and(pair.last_inventory_count = level.available_to_promise)
         FROM product_facility AS pair JOIN orderql.inventory_level AS level USING (product_id, facility_id)",
    ),
    (
        "dates over three years, in each of their months",
        "SELECT count(DISTINCT date_trunc('month', order_date, 'UTC')) = 36
             AND min(order_date) >= '2023-01-01Z' AND max(order_date) < '2026-01-01Z' FROM order_header",
    ),
    (
        "orders of the same millisecond, and of the same microsecond",
        "SELECT count(*) FILTER (WHERE n > d) > 3 AND count(*) FILTER (WHERE d > 1) > 3 FROM (
            SELECT count(*) AS n, count(DISTINCT order_date) AS d FROM order_header WHERE order_date IS NOT NULL
            GROUP BY date_trunc('milliseconds', order_date) HAVING count(*) > 1
         ) AS moment",
    ),
    (
        "customers who are persons, companies, and nobody at all",
        "SELECT count(customer.party_id) > 1800 AND count(*) > count(customer.party_id)
             AND bool_or(party.party_type_id = 'PARTY_GROUP') AND bool_or(role.party_id IS NULL)
         FROM order_header AS header
         LEFT JOIN orderql.bill_to_customer AS customer USING (order_id)
         LEFT JOIN order_role AS role ON role.order_id = header.order_id AND role.role_type_id = 'BILL_TO_CUSTOMER'
         LEFT JOIN party ON party.party_id = role.party_id",
    ),
    (
        "the table of parties is as the triggers would have kept it",
        "SELECT count(*) = (SELECT count(*) FROM party) AND count(last_name) > 250 AND count(group_name) > 4 FROM orderql.party",
    ),
    (
        "the total is the items' that are not cancelled and the adjustments'",
        "SELECT bool_and(header.grand_total = items.total + coalesce(adjustments.total, 0))
         FROM order_header AS header
         JOIN LATERAL (SELECT sum((quantity - coalesce(cancel_quantity, 0)) * unit_price) AS total
            FROM order_item WHERE order_id = header.order_id) AS items ON true
         JOIN LATERAL (SELECT sum(amount) AS total FROM order_adjustment WHERE order_id = header.order_id) AS adjustments ON true
         WHERE grand_total IS NOT NULL",
    ),
    (
        "what is to be paid is the total",
        "SELECT bool_and(header.grand_total = paid.total) AND bool_or(paid.n = 2)
         FROM order_header AS header
         JOIN LATERAL (SELECT sum(max_amount) AS total, count(*) AS n FROM order_payment_preference
            WHERE order_id = header.order_id) AS paid ON true
         WHERE grand_total IS NOT NULL",
    ),
    (
        "addresses, mailboxes and telephones of orders",
        "SELECT count(DISTINCT contact_mech_purpose_type_id) = 3 AND bool_or(info_string LIKE '%@%') FROM orderql.order_contact",
    ),
    ("notes, for everybody and for the house", "SELECT count(*) > 100 AND count(DISTINCT internal_note) = 2 FROM orderql.order_note"),
    (
        "identifications that are over, and some that orders share",
        "SELECT bool_or(thru_date IS NOT NULL) AND count(*) > count(DISTINCT (order_identification_type_id, id_value)) FROM order_identification",
    ),
    (
        "moves from a store that rejected an item, whose group is empty now, and from the queue",
        "SELECT bool_or(from_facility_id = '_NA_' AND change_reason_enum_id = 'BROKERED')
             AND bool_or(left_group.facility_id IS NOT NULL AND change_reason_enum_id = 'NOT_IN_STOCK')
         FROM order_facility_change AS change
         LEFT JOIN order_item_ship_group AS left_group
           ON left_group.order_id = change.order_id AND left_group.facility_id = change.from_facility_id
          AND NOT EXISTS (SELECT FROM order_item AS item
              WHERE (item.order_id, item.ship_group_seq_id) = (left_group.order_id, left_group.ship_group_seq_id))",
    ),
    (
        "all methods of shipping, with carriers and without",
        "SELECT count(DISTINCT shipment_method_type_id) = 8 AND count(DISTINCT carrier_party_id) = 4 FROM order_item_ship_group",
    ),
];
