-- The relations that the catalog reads and that are more than one table. Each is a plain join or filter, which the planner takes apart and
-- plans together with the statement around it: a left join that nothing is selected from vanishes, and an ORDER BY … LIMIT outside reads an
-- index inside.
--
-- `{table.*}` stands for the columns of a table that the schema file reads from the view and that are not named before it. The view depends on
-- no others, so that the table's owner can change and drop them.

--- view orderql.ship_group
-- A ship group that has items; the others are never shown.
CREATE OR REPLACE VIEW orderql.ship_group AS
SELECT {order_item_ship_group.*}
FROM order_item_ship_group
WHERE EXISTS (
    SELECT
    FROM orderql.item_place AS item
    WHERE item.order_id = order_item_ship_group.order_id AND item.ship_group_seq_id = order_item_ship_group.ship_group_seq_id
);

--- view orderql.current_origin
-- The ways to send from a facility that are current, by their purpose's dates and their own.
CREATE OR REPLACE VIEW orderql.current_origin AS
SELECT
    mechanism.facility_id,
    mechanism.contact_mech_id,
    mechanism.from_date AS mechanism_from_date,
    purpose.from_date AS purpose_from_date
FROM facility_contact_mech AS mechanism
JOIN facility_contact_mech_purpose AS purpose
  ON purpose.facility_id = mechanism.facility_id AND purpose.contact_mech_id = mechanism.contact_mech_id
WHERE purpose.contact_mech_purpose_type_id = 'SHIP_ORIG_LOCATION'
  AND purpose.from_date <= CURRENT_TIMESTAMP
  AND (purpose.thru_date IS NULL OR purpose.thru_date > CURRENT_TIMESTAMP)
  AND mechanism.from_date <= CURRENT_TIMESTAMP
  AND (mechanism.thru_date IS NULL OR mechanism.thru_date > CURRENT_TIMESTAMP);

--- view orderql.facility_origin_address
-- The address that a facility ships from: one a facility, the newest where several are current. Up to OFBiz 17.12 geo_point
-- holds degrees as text that anybody may have typed; what is no number is no degree.
CREATE OR REPLACE VIEW orderql.facility_origin_address AS
SELECT
    origin.facility_id,
    origin.contact_mech_id,
    address.to_name,
    address.attn_name,
    address.address1,
    address.address2,
    address.city,
    address.postal_code,
    address.state_province_geo_id,
    address.country_geo_id,
    CASE WHEN point.latitude::text ~ '^[[:space:]]*[-+]?[0-9]+([.][0-9]*)?[[:space:]]*$' THEN point.latitude::numeric END AS latitude,
    CASE WHEN point.longitude::text ~ '^[[:space:]]*[-+]?[0-9]+([.][0-9]*)?[[:space:]]*$' THEN point.longitude::numeric END AS longitude
FROM orderql.current_origin AS origin
LEFT JOIN postal_address AS address ON address.contact_mech_id = origin.contact_mech_id
LEFT JOIN geo_point AS point ON point.geo_point_id = address.geo_point_id
WHERE NOT EXISTS (
    SELECT
    FROM orderql.current_origin AS newer
    WHERE newer.facility_id = origin.facility_id
      AND (newer.purpose_from_date, newer.mechanism_from_date, newer.contact_mech_id)
        > (origin.purpose_from_date, origin.mechanism_from_date, origin.contact_mech_id)
);

--- view orderql.order_note
-- A note on an order, with its text.
CREATE OR REPLACE VIEW orderql.order_note AS
SELECT
    link.order_id,
    link.note_id,
    link.internal_note,
    note.note_name,
    note.note_info,
    note.note_date_time,
    note.note_party
FROM order_header_note AS link
JOIN note_data AS note ON note.note_id = link.note_id;

--- view orderql.order_contact
-- A way to reach somebody about an order. The information string is an e-mail or web address.
CREATE OR REPLACE VIEW orderql.order_contact AS
SELECT
    link.order_id,
    link.contact_mech_purpose_type_id,
    link.contact_mech_id,
    mechanism.contact_mech_type_id,
    mechanism.info_string
FROM order_contact_mech AS link
LEFT JOIN contact_mech AS mechanism ON mechanism.contact_mech_id = link.contact_mech_id;

--- view orderql.order_billing_address
-- The billing and the shipping addresses of orders.
CREATE OR REPLACE VIEW orderql.order_billing_address AS
SELECT
    link.order_id,
    link.contact_mech_id,
    address.to_name,
    address.attn_name,
    address.address1,
    address.address2,
    address.city,
    address.postal_code,
    address.state_province_geo_id,
    address.country_geo_id
FROM order_contact_mech AS link
JOIN postal_address AS address ON address.contact_mech_id = link.contact_mech_id
WHERE link.contact_mech_purpose_type_id = 'BILLING_LOCATION';

--- view orderql.order_shipping_address
CREATE OR REPLACE VIEW orderql.order_shipping_address AS
SELECT
    link.order_id,
    link.contact_mech_id,
    address.to_name,
    address.attn_name,
    address.address1,
    address.address2,
    address.city,
    address.postal_code,
    address.state_province_geo_id,
    address.country_geo_id
FROM order_contact_mech AS link
JOIN postal_address AS address ON address.contact_mech_id = link.contact_mech_id
WHERE link.contact_mech_purpose_type_id = 'SHIPPING_LOCATION';

--- view orderql.order_communication
-- Messages and calls about orders, without their contents.
CREATE OR REPLACE VIEW orderql.order_communication AS
SELECT
    link.order_id,
    link.communication_event_id,
    event.communication_event_type_id,
    event.status_id,
    event.entry_date,
    event.datetime_started,
    event.datetime_ended,
    event.subject,
    event.party_id_from,
    event.party_id_to
FROM communication_event_order AS link
LEFT JOIN communication_event AS event ON event.communication_event_id = link.communication_event_id;

--- view orderql.order_attribute_value
-- The attributes of orders as they are searched: each with its value.
CREATE OR REPLACE VIEW orderql.order_attribute_value AS
SELECT order_id, attr_name || '=' || attr_value AS attribute
FROM order_attribute;

--- view orderql.rush_order
-- Whether an order is a rush order, as text, where that is said. An index has the same condition.
CREATE OR REPLACE VIEW orderql.rush_order AS
SELECT order_id, is_rush_order::text AS is_rush_order
FROM order_header
WHERE is_rush_order IS NOT NULL;

--- view orderql.order_by_identification
-- Orders, returns and products by an identification of theirs that is valid now.
CREATE OR REPLACE VIEW orderql.order_by_identification AS
SELECT known.order_identification_type_id AS identification_type_id, known.id_value, {order_header.*}
FROM order_identification AS known
JOIN order_header ON order_header.order_id = known.order_id
WHERE known.from_date <= CURRENT_TIMESTAMP AND (known.thru_date IS NULL OR known.thru_date > CURRENT_TIMESTAMP);

--- view orderql.product_by_identification
-- Stock OFBiz does not date a product's identifications: without dates they are valid.
CREATE OR REPLACE VIEW orderql.product_by_identification AS
SELECT known.good_identification_type_id AS identification_type_id, known.id_value, {product.*}
FROM good_identification AS known
JOIN product ON product.product_id = known.product_id
WHERE (known.from_date IS NULL OR known.from_date <= CURRENT_TIMESTAMP)
  AND (known.thru_date IS NULL OR known.thru_date > CURRENT_TIMESTAMP);

--- view orderql.shipment_item
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

--- view orderql.rejection_reason
-- The reasons that a rejection may have. OFBiz's table of enumerations has many others.
CREATE OR REPLACE VIEW orderql.rejection_reason AS
SELECT enum_id, enum_type_id, enum_code, sequence_id, description
FROM enumeration
WHERE enum_type_id IN ('REPORT_NO_VAR', 'REPORT_VAR', 'REPORT_ALL_VAR');

--- view orderql.bill_to_customer
-- The parties to whom an order is billed now, persons and organisations. Which of several is the one, the schema decides: the
-- first by party id. A role without dates is valid.
CREATE OR REPLACE VIEW orderql.bill_to_customer AS
SELECT role.order_id, role.party_id, person.first_name, person.last_name, party_group.group_name
FROM order_role AS role
LEFT JOIN person ON person.party_id = role.party_id
LEFT JOIN party_group ON party_group.party_id = role.party_id
WHERE role.role_type_id = 'BILL_TO_CUSTOMER'
  AND (role.from_date IS NULL OR role.from_date <= CURRENT_TIMESTAMP)
  AND (role.thru_date IS NULL OR role.thru_date > CURRENT_TIMESTAMP);

--- view orderql.party_order
-- The orders that are billed to a party now, each once, however often the party has the role. Their id is the role's (USING
-- takes it from there), so that a page of a party's orders begins in the middle of an index on the roles.
CREATE OR REPLACE VIEW orderql.party_order AS
SELECT role.order_id, role.bill_to_party_id, {order_header.*}
FROM (
    SELECT role.order_id, role.party_id AS bill_to_party_id
    FROM order_role AS role
    WHERE role.role_type_id = 'BILL_TO_CUSTOMER'
      AND (role.from_date IS NULL OR role.from_date <= CURRENT_TIMESTAMP)
      AND (role.thru_date IS NULL OR role.thru_date > CURRENT_TIMESTAMP)
      AND NOT EXISTS (
        SELECT
        FROM order_role AS later
        WHERE later.order_id = role.order_id
          AND later.party_id = role.party_id
          AND later.role_type_id = role.role_type_id
          AND later.from_date > role.from_date
          AND later.from_date <= CURRENT_TIMESTAMP
          AND (later.thru_date IS NULL OR later.thru_date > CURRENT_TIMESTAMP)
      )
) AS role
JOIN order_header ON order_header.order_id = role.order_id;

--- view orderql.order_customer
-- The customers of orders, by the name of a search key.
CREATE OR REPLACE VIEW orderql.order_customer AS
SELECT role.order_id, role.party_id AS customer_party_id
FROM order_role AS role
WHERE role.role_type_id = 'BILL_TO_CUSTOMER'
  AND (role.from_date IS NULL OR role.from_date <= CURRENT_TIMESTAMP)
  AND (role.thru_date IS NULL OR role.thru_date > CURRENT_TIMESTAMP);

--- view orderql.order_placing_customer
-- Who placed orders, by the name of a search key.
CREATE OR REPLACE VIEW orderql.order_placing_customer AS
SELECT role.order_id, role.party_id AS placing_customer_party_id
FROM order_role AS role
WHERE role.role_type_id = 'PLACING_CUSTOMER'
  AND (role.from_date IS NULL OR role.from_date <= CURRENT_TIMESTAMP)
  AND (role.thru_date IS NULL OR role.thru_date > CURRENT_TIMESTAMP);

--- view orderql.order_postal_code
-- The postal codes of the addresses of orders, as they are compared: in lower case and without spaces, which a search cannot have.
CREATE OR REPLACE VIEW orderql.order_postal_code AS
SELECT link.order_id, lower(replace(address.postal_code, ' ', '') COLLATE "C") AS postal_code
FROM postal_address AS address
LEFT JOIN order_contact_mech AS link ON link.contact_mech_id = address.contact_mech_id;

--- view orderql.order_country
-- The countries of the addresses of orders.
CREATE OR REPLACE VIEW orderql.order_country AS
SELECT link.order_id, address.country_geo_id
FROM order_contact_mech AS link
LEFT JOIN postal_address AS address ON address.contact_mech_id = link.contact_mech_id;

--- view orderql.refunded_order
-- Whether money was paid back for orders: by a means of payment of theirs, or for a return.
CREATE OR REPLACE VIEW orderql.refunded_order AS
SELECT
    header.order_id,
    CASE WHEN EXISTS (
        SELECT
        FROM order_payment_preference AS preference
        JOIN payment ON payment.payment_preference_id = preference.order_payment_preference_id
        WHERE preference.order_id = header.order_id AND payment.payment_type_id = 'CUSTOMER_REFUND'
    ) OR EXISTS (
        SELECT
        FROM return_item AS item
        JOIN return_item_response AS response ON response.return_item_response_id = item.return_item_response_id
        JOIN payment ON payment.payment_id = response.payment_id
        WHERE item.order_id = header.order_id AND payment.payment_type_id = 'CUSTOMER_REFUND'
    ) THEN 'Y' ELSE 'N' END AS refunded
FROM order_header AS header;

--- view orderql.product_name
-- The names of products, as they are compared.
CREATE OR REPLACE VIEW orderql.product_name AS
SELECT product_id, lower(product_name COLLATE "C") AS product_name
FROM product;

--- view orderql.party_name
-- The names of people and organisations, as they are compared.
CREATE OR REPLACE VIEW orderql.party_name AS
SELECT party.party_id, lower(COALESCE(party.last_name, party.group_name) COLLATE "C") AS name
FROM orderql.party;

--- view orderql.order_email
CREATE OR REPLACE VIEW orderql.order_email AS
SELECT link.order_id, mechanism.info_string AS email_address
FROM contact_mech AS mechanism
LEFT JOIN order_contact_mech AS link ON link.contact_mech_id = mechanism.contact_mech_id
WHERE mechanism.contact_mech_type_id = 'EMAIL_ADDRESS';

--- view orderql.facility_change
-- The moves of items between facilities as a list of their own, of which callers of a facility see those from and to it.
CREATE OR REPLACE VIEW orderql.facility_change AS
SELECT
    change.order_facility_change_id,
    change.order_id,
    change.order_item_seq_id,
    change.ship_group_seq_id,
    change.from_facility_id,
    change.facility_id,
    change.change_datetime,
    change.change_reason_enum_id,
    change.change_user_login,
    change.comments
FROM order_facility_change AS change;

--- view orderql.live_order
-- Whether orders are live: not given up.
CREATE OR REPLACE VIEW orderql.live_order AS
SELECT
    header.order_id,
    CASE WHEN header.status_id IN ('ORDER_CANCELLED', 'ORDER_REJECTED', 'ORDER_EXPIRED') THEN 'N' ELSE 'Y' END AS live
FROM order_header AS header;

--- view orderql.live_value
CREATE OR REPLACE VIEW orderql.live_value AS
SELECT live FROM (VALUES ('N'), ('Y')) AS known (live);

--- view orderql.shipment_tracking
-- The tracking numbers of shipments: those of whole legs and those of single boxes.
CREATE OR REPLACE VIEW orderql.shipment_tracking AS
SELECT leg.shipment_id, leg.tracking_id_number AS tracking_number
FROM shipment_route_segment AS leg
UNION ALL
SELECT box.shipment_id, box.tracking_code
FROM shipment_package_route_seg AS box;

--- view orderql.order_tracking
-- The tracking numbers of orders: those of their shipments.
CREATE OR REPLACE VIEW orderql.order_tracking AS
SELECT shipment.primary_order_id AS order_id, tracked.tracking_number
FROM orderql.shipment_tracking AS tracked
LEFT JOIN shipment ON shipment.shipment_id = tracked.shipment_id;

--- view orderql.shipment_with_tracking
-- Whether shipments have a tracking number.
CREATE OR REPLACE VIEW orderql.shipment_with_tracking AS
SELECT
    shipment.shipment_id,
    CASE WHEN EXISTS (
        SELECT FROM orderql.shipment_tracking AS tracked
        WHERE tracked.shipment_id = shipment.shipment_id AND tracked.tracking_number <> ''
    ) THEN 'Y' ELSE 'N' END AS has_tracking_number
FROM shipment;

--- view orderql.back_order
-- The items to which stock is promised without being there. An index has the same expression and condition.
CREATE OR REPLACE VIEW orderql.back_order AS
SELECT
    order_id,
    order_item_seq_id,
    ship_group_seq_id AS place,
    left('Y', sign(quantity_not_available)::integer) AS back_ordered
FROM order_item_ship_grp_inv_res
WHERE quantity_not_available > 0;

--- view orderql.shipped_shipment
-- Shipments that have left, by the first entry that says so.
CREATE OR REPLACE VIEW orderql.shipped_shipment AS
SELECT
    shipped.shipment_id,
    shipped.status_date AS shipped_date,
    shipment.origin_facility_id,
    shipment.orderql_product_store_id AS product_store_id,
    shipment.shipment_method_type_id
FROM shipment_status AS shipped
LEFT JOIN shipment ON shipment.shipment_id = shipped.shipment_id
WHERE shipped.status_id = 'SHIPMENT_SHIPPED'
  AND shipped.status_date IS NOT NULL
  AND NOT EXISTS (
    SELECT
    FROM shipment_status AS earlier
    WHERE earlier.shipment_id = shipped.shipment_id
      AND earlier.status_id = shipped.status_id
      AND (earlier.status_date, earlier.shipment_status_id) < (shipped.status_date, shipped.shipment_status_id)
  );

--- view orderql.return_header
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
    header.orderql_product_store_id AS product_store_id,
    header.last_updated_stamp
FROM return_header AS header;

--- view orderql.return_by_identification
CREATE OR REPLACE VIEW orderql.return_by_identification AS
SELECT known.return_identification_type_id AS identification_type_id, known.id_value, return_header.*
FROM return_identification AS known
JOIN orderql.return_header ON return_header.return_id = known.return_id
WHERE known.from_date <= CURRENT_TIMESTAMP AND (known.thru_date IS NULL OR known.thru_date > CURRENT_TIMESTAMP);

--- view orderql.facility_contact
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

--- view orderql.current_variant
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

--- view orderql.product_variant
CREATE OR REPLACE VIEW orderql.product_variant AS
SELECT variant.product_id, variant.virtual_product_id, {product.*}
FROM (SELECT virtual_product_id, variant_product_id AS product_id FROM orderql.current_variant) AS variant
JOIN product ON product.product_id = variant.product_id;

--- view orderql.virtual_product
CREATE OR REPLACE VIEW orderql.virtual_product AS
SELECT variant.product_id, variant.variant_product_id, {product.*}
FROM (SELECT variant_product_id, virtual_product_id AS product_id FROM orderql.current_variant) AS variant
JOIN product ON product.product_id = variant.product_id;

--- view orderql.inventory_level if product_facility.inventory_item_id
-- What there is of a product at a facility. The items of a pair are found by the index on both of its columns: their order says so, whatever
-- PostgreSQL's statistics are. The order keeps neither a column that equals a value, nor an array of values in the second column.
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
                      AND of_pair.facility_id >= pair.facility_id AND of_pair.facility_id <= pair.facility_id
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
                      AND of_pair.facility_id >= pair.facility_id AND of_pair.facility_id <= pair.facility_id
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

--- view orderql.inventory_level unless product_facility.inventory_item_id
CREATE OR REPLACE VIEW orderql.inventory_level AS
SELECT
    pair.product_id,
    pair.facility_id,
    COALESCE(
        (
            SELECT sum(every.quantity_on_hand_total)
            FROM (
                SELECT of_pair.quantity_on_hand_total
                FROM inventory_item AS of_pair
                WHERE of_pair.product_id = ANY(ARRAY[pair.product_id])
                  AND of_pair.facility_id >= pair.facility_id AND of_pair.facility_id <= pair.facility_id
                ORDER BY of_pair.product_id, of_pair.facility_id
                OFFSET 0
            ) AS every
        ),
        0::numeric(18,6)
    ) AS quantity_on_hand,
    COALESCE(
        (
            SELECT sum(every.available_to_promise_total)
            FROM (
                SELECT of_pair.available_to_promise_total
                FROM inventory_item AS of_pair
                WHERE of_pair.product_id = ANY(ARRAY[pair.product_id])
                  AND of_pair.facility_id >= pair.facility_id AND of_pair.facility_id <= pair.facility_id
                ORDER BY of_pair.product_id, of_pair.facility_id
                OFFSET 0
            ) AS every
        ),
        0::numeric(18,6)
    ) AS available_to_promise,
    pair.minimum_stock,
    pair.reorder_quantity,
    pair.days_to_ship,
    NULL::text AS inventory_item_id
FROM product_facility AS pair;

--- view orderql.level_below_minimum
-- Whether less can be promised of a product at a facility than should stay unsold.
CREATE OR REPLACE VIEW orderql.level_below_minimum AS
SELECT product_id, facility_id, CASE WHEN available_to_promise < minimum_stock THEN 'Y' ELSE 'N' END AS below_minimum
FROM orderql.inventory_level;

--- view orderql.negative_item
-- The records of stock of which more is promised than there is. An index has the same expression and condition.
CREATE OR REPLACE VIEW orderql.negative_item AS
SELECT inventory_item_id, left('Y', sign(-available_to_promise_total)::integer) AS negative
FROM inventory_item
WHERE available_to_promise_total < 0;

--- view orderql.negative_level
-- The pairs of which more is promised than there is: then it is so of one of their records. An index has the same expression and condition.
CREATE OR REPLACE VIEW orderql.negative_level AS
SELECT item.product_id, item.facility_id, left('Y', sign(-item.available_to_promise_total)::integer) AS negative
FROM inventory_item AS item
WHERE item.available_to_promise_total < 0
  AND (
    SELECT level.available_to_promise
    FROM orderql.inventory_level AS level
    WHERE level.product_id = item.product_id AND level.facility_id = item.facility_id
  ) < 0;

--- view orderql.gift_card
-- A gift card by the end of its number, if that is a small part of it. A number that OFBiz encrypted has none that means anything. The PIN is
-- not read at all.
CREATE OR REPLACE VIEW orderql.gift_card AS
SELECT
    card.payment_method_id,
    CASE WHEN card.card_number ~ '^[0-9 -]+$' AND length(translate(card.card_number, ' -', '')) >= 12
        THEN right(card.card_number, 4) END AS last_digits,
    card.expire_date
FROM gift_card AS card;

--- view orderql.party_contact
-- The current ways to reach a party, each once for each of its purposes.
CREATE OR REPLACE VIEW orderql.party_contact AS
SELECT
    purpose.party_id,
    purpose.contact_mech_id,
    purpose.contact_mech_purpose_type_id,
    mechanism.info_string
FROM party_contact_mech_purpose AS purpose
LEFT JOIN contact_mech AS mechanism ON mechanism.contact_mech_id = purpose.contact_mech_id
WHERE purpose.from_date <= CURRENT_TIMESTAMP
  AND (purpose.thru_date IS NULL OR purpose.thru_date > CURRENT_TIMESTAMP)
  AND NOT EXISTS (
    SELECT
    FROM party_contact_mech_purpose AS newer
    WHERE newer.party_id = purpose.party_id
      AND newer.contact_mech_id = purpose.contact_mech_id
      AND newer.contact_mech_purpose_type_id = purpose.contact_mech_purpose_type_id
      AND newer.from_date > purpose.from_date
      AND newer.from_date <= CURRENT_TIMESTAMP
      AND (newer.thru_date IS NULL OR newer.thru_date > CURRENT_TIMESTAMP)
  )
  AND EXISTS (
    SELECT
    FROM party_contact_mech AS link
    WHERE link.party_id = purpose.party_id
      AND link.contact_mech_id = purpose.contact_mech_id
      AND link.from_date <= CURRENT_TIMESTAMP
      AND (link.thru_date IS NULL OR link.thru_date > CURRENT_TIMESTAMP)
  );

--- view orderql.applied_feature
-- The features of products in all periods.
CREATE OR REPLACE VIEW orderql.applied_feature AS
SELECT
    applied.product_id,
    applied.product_feature_id,
    applied.from_date,
    applied.product_feature_appl_type_id,
    applied.sequence_num,
    feature.product_feature_type_id,
    feature.description,
    feature.abbrev
FROM product_feature_appl AS applied
LEFT JOIN product_feature AS feature ON feature.product_feature_id = applied.product_feature_id;

--- view orderql.current_feature
-- The current features of products, each once: of several periods the newest.
CREATE OR REPLACE VIEW orderql.current_feature AS
SELECT
    applied.product_id,
    applied.product_feature_id,
    applied.from_date,
    applied.product_feature_appl_type_id,
    applied.sequence_num,
    feature.product_feature_type_id,
    feature.description,
    feature.abbrev
FROM product_feature_appl AS applied
LEFT JOIN product_feature AS feature ON feature.product_feature_id = applied.product_feature_id
WHERE applied.from_date <= CURRENT_TIMESTAMP
  AND (applied.thru_date IS NULL OR applied.thru_date > CURRENT_TIMESTAMP)
  AND NOT EXISTS (
    SELECT
    FROM product_feature_appl AS newer
    WHERE newer.product_id = applied.product_id
      AND newer.product_feature_id = applied.product_feature_id
      AND newer.from_date > applied.from_date
      AND newer.from_date <= CURRENT_TIMESTAMP
      AND (newer.thru_date IS NULL OR newer.thru_date > CURRENT_TIMESTAMP)
  );

--- view orderql.product_price
-- The current prices of products: of each type, purpose, currency and group of stores the newest.
CREATE OR REPLACE VIEW orderql.product_price AS
SELECT
    price_now.product_id,
    price_now.product_price_type_id,
    price_now.product_price_purpose_id,
    price_now.currency_uom_id,
    price_now.product_store_group_id,
    price_now.price,
    price_now.from_date,
    price_now.thru_date
FROM product_price AS price_now
WHERE price_now.from_date <= CURRENT_TIMESTAMP
  AND (price_now.thru_date IS NULL OR price_now.thru_date > CURRENT_TIMESTAMP)
  AND NOT EXISTS (
    SELECT
    FROM product_price AS newer
    WHERE newer.product_id = price_now.product_id
      AND newer.product_price_type_id = price_now.product_price_type_id
      AND newer.product_price_purpose_id = price_now.product_price_purpose_id
      AND newer.currency_uom_id = price_now.currency_uom_id
      AND newer.product_store_group_id = price_now.product_store_group_id
      AND newer.from_date > price_now.from_date
      AND newer.from_date <= CURRENT_TIMESTAMP
      AND (newer.thru_date IS NULL OR newer.thru_date > CURRENT_TIMESTAMP)
  );

--- view orderql.product_image
-- The current images of products: contents of a type that names an image, and where each is, unless that is a file of the shop's server.
-- OFBiz's own services write the address of an uploaded image as SHORT_TEXT. Without a type, a path may be one of the server's disk.
CREATE OR REPLACE VIEW orderql.product_image AS
SELECT
    link.product_id,
    link.content_id,
    link.product_content_type_id,
    link.sequence_num,
    content.description,
    COALESCE(resource.mime_type_id, content.mime_type_id) AS mime_type_id,
    CASE
        WHEN resource.object_info ~* '^https?:'
            AND COALESCE(resource.data_resource_type_id, 'LINK') IN ('URL_RESOURCE', 'LINK', 'SHORT_TEXT')
            THEN resource.object_info
        WHEN resource.object_info !~ '^[A-Za-z][A-Za-z0-9+.-]*:'
            AND resource.data_resource_type_id IN ('URL_RESOURCE', 'LINK', 'SHORT_TEXT')
            THEN resource.object_info
    END AS url
FROM product_content AS link
LEFT JOIN content ON content.content_id = link.content_id
LEFT JOIN data_resource AS resource ON resource.data_resource_id = content.data_resource_id
WHERE link.product_content_type_id LIKE '%IMAGE%'
  AND link.from_date <= CURRENT_TIMESTAMP
  AND (link.thru_date IS NULL OR link.thru_date > CURRENT_TIMESTAMP)
  AND NOT EXISTS (
    SELECT
    FROM product_content AS newer
    WHERE newer.product_id = link.product_id
      AND newer.content_id = link.content_id
      AND newer.product_content_type_id = link.product_content_type_id
      AND newer.from_date > link.from_date
      AND newer.from_date <= CURRENT_TIMESTAMP
      AND (newer.thru_date IS NULL OR newer.thru_date > CURRENT_TIMESTAMP)
  );

--- view orderql.order_email_address
CREATE OR REPLACE VIEW orderql.order_email_address AS
SELECT link.order_id, lower(mechanism.info_string COLLATE "C") AS email_address
FROM contact_mech AS mechanism
LEFT JOIN order_contact_mech AS link ON link.contact_mech_id = mechanism.contact_mech_id
WHERE mechanism.contact_mech_type_id = 'EMAIL_ADDRESS';

--- view orderql.party_email_address
CREATE OR REPLACE VIEW orderql.party_email_address AS
SELECT link.party_id, lower(mechanism.info_string COLLATE "C") AS email_address
FROM contact_mech AS mechanism
LEFT JOIN party_contact_mech AS link
  ON link.contact_mech_id = mechanism.contact_mech_id
  AND link.from_date <= CURRENT_TIMESTAMP
  AND (link.thru_date IS NULL OR link.thru_date > CURRENT_TIMESTAMP)
WHERE mechanism.contact_mech_type_id = 'EMAIL_ADDRESS';

--- view orderql.order_phone
CREATE OR REPLACE VIEW orderql.order_phone AS
SELECT
    link.order_id,
    right(regexp_replace(
        coalesce(number.country_code, '') || coalesce(number.area_code, '') || coalesce(number.contact_number, ''), '[^0-9]', '', 'g'
    ), 9) AS phone
FROM telecom_number AS number
LEFT JOIN order_contact_mech AS link ON link.contact_mech_id = number.contact_mech_id;

--- view orderql.party_phone
CREATE OR REPLACE VIEW orderql.party_phone AS
SELECT
    link.party_id,
    right(regexp_replace(
        coalesce(number.country_code, '') || coalesce(number.area_code, '') || coalesce(number.contact_number, ''), '[^0-9]', '', 'g'
    ), 9) AS phone
FROM telecom_number AS number
LEFT JOIN party_contact_mech AS link
  ON link.contact_mech_id = number.contact_mech_id
  AND link.from_date <= CURRENT_TIMESTAMP
  AND (link.thru_date IS NULL OR link.thru_date > CURRENT_TIMESTAMP);

--- view orderql.party_source
-- The same for orderql.party, so that both tables are compared in the same way.
CREATE OR REPLACE VIEW orderql.party_source AS
SELECT
    party.party_id::text,
    party.party_type_id::text,
    party.external_id::text,
    party.status_id::text,
    party.created_date::timestamptz,
    person.first_name::text,
    person.last_name::text,
    party_group.group_name::text
FROM public.party
LEFT JOIN public.person ON person.party_id = party.party_id
LEFT JOIN public.party_group ON party_group.party_id = party.party_id;

--- view orderql.stale_party
-- The parties whose kept rows differ from them, and those that are no longer there.
CREATE OR REPLACE VIEW orderql.stale_party AS
SELECT party_id
FROM orderql.party_source AS source
FULL JOIN orderql.party AS kept USING (party_id)
WHERE source.* IS DISTINCT FROM kept.*;

--- view orderql.order_status_value
-- The statuses of orders, of items and of picks, by the names of search keys.
CREATE OR REPLACE VIEW orderql.order_status_value AS
SELECT status_id AS order_status_id FROM status_item WHERE status_type_id = 'ORDER_STATUS';

--- view orderql.item_status_value
CREATE OR REPLACE VIEW orderql.item_status_value AS
SELECT status_id AS item_status_id FROM status_item WHERE status_type_id = 'ORDER_ITEM_STATUS';

--- view orderql.pick_status_value
CREATE OR REPLACE VIEW orderql.pick_status_value AS
SELECT status_id AS item_status_id FROM status_item WHERE status_type_id = 'PICKITEM_STATUS';

--- view orderql.stale_return
CREATE OR REPLACE VIEW orderql.stale_return AS
SELECT header.return_id, order_header.product_store_id
FROM return_header AS header
LEFT JOIN LATERAL (
    SELECT item.order_id
    FROM return_item AS item
    WHERE item.return_id = header.return_id
    ORDER BY item.return_item_seq_id
    LIMIT 1
) AS item ON true
LEFT JOIN order_header ON order_header.order_id = item.order_id
WHERE header.orderql_product_store_id IS DISTINCT FROM order_header.product_store_id;

--- view orderql.stale_shipment
CREATE OR REPLACE VIEW orderql.stale_shipment AS
SELECT shipment.shipment_id, order_header.product_store_id
FROM shipment
LEFT JOIN order_header ON order_header.order_id = shipment.primary_order_id
WHERE shipment.orderql_product_store_id IS DISTINCT FROM order_header.product_store_id;

--- view orderql.order_of_refund
-- The orders that a payment is paid back for.
CREATE OR REPLACE VIEW orderql.order_of_refund AS
SELECT response.payment_id, item.order_id
FROM return_item_response AS response
JOIN return_item AS item ON item.return_item_response_id = response.return_item_response_id
WHERE response.payment_id IS NOT NULL;

--- view orderql.item_in_group if order_item.ship_group_seq_id
-- The items in their groups as the database has them.
CREATE OR REPLACE VIEW orderql.item_in_group AS
SELECT
    item.order_id::text,
    item.order_item_seq_id::text,
    COALESCE(item.ship_group_seq_id, '')::text AS ship_group_seq_id,
    item.external_id::text,
    item.order_item_type_id::text,
    item.product_id::text,
    item.status_id::text,
    item.quantity::numeric,
    item.cancel_quantity::numeric,
    item.unit_price::numeric
FROM public.order_item AS item;

--- view orderql.item_in_group unless order_item.ship_group_seq_id
CREATE OR REPLACE VIEW orderql.item_in_group AS
SELECT
    item.order_id::text,
    item.order_item_seq_id::text,
    COALESCE(assoc.ship_group_seq_id, '')::text AS ship_group_seq_id,
    item.external_id::text,
    item.order_item_type_id::text,
    item.product_id::text,
    item.status_id::text,
    CASE WHEN assoc.order_id IS NULL THEN item.quantity ELSE assoc.quantity END::numeric AS quantity,
    CASE WHEN assoc.order_id IS NULL THEN item.cancel_quantity ELSE assoc.cancel_quantity END::numeric AS cancel_quantity,
    item.unit_price::numeric
FROM public.order_item AS item
LEFT JOIN public.order_item_ship_group_assoc AS assoc
  ON assoc.order_id = item.order_id AND assoc.order_item_seq_id = item.order_item_seq_id;

--- view orderql.item_place_source
-- The rows that the table must have. For one order it reads rows by the primary keys of their tables, whatever PostgreSQL's statistics say.
CREATE OR REPLACE VIEW orderql.item_place_source AS
SELECT
    item.order_id,
    item.order_item_seq_id,
    item.ship_group_seq_id,
    item.external_id,
    item.order_item_type_id,
    item.product_id,
    item.status_id,
    item.quantity,
    item.cancel_quantity,
    item.unit_price,
    own.facility_id::text,
    own.shipment_method_type_id::text,
    header.product_store_id::text,
    header.status_id::text AS order_status_id,
    header.order_date::timestamptz,
    (
        SELECT min(reserved.promised_datetime)
        FROM public.order_item_ship_grp_inv_res AS reserved
        WHERE reserved.order_id = item.order_id AND reserved.ship_group_seq_id = item.ship_group_seq_id
          AND reserved.order_item_seq_id = item.order_item_seq_id
    )::timestamptz AS promised_date,
    own.order_id IS NOT NULL AS has_group,
    header.order_id IS NOT NULL AND orderql.is_order_open(header.order_type_id, header.status_id) AS is_order_open
FROM orderql.item_in_group AS item
LEFT JOIN public.order_header AS header ON header.order_id = item.order_id
LEFT JOIN public.order_item_ship_group AS own
  ON own.order_id = item.order_id AND own.ship_group_seq_id = item.ship_group_seq_id;

--- view orderql.stale_item_place
-- The rows that differ from what they come from.
CREATE OR REPLACE VIEW orderql.stale_item_place AS
SELECT order_id, order_item_seq_id, ship_group_seq_id
FROM orderql.item_place_source AS source
FULL JOIN (
    SELECT
        order_id, order_item_seq_id, ship_group_seq_id, external_id, order_item_type_id, product_id, status_id, quantity,
        cancel_quantity, unit_price, facility_id, shipment_method_type_id, product_store_id, order_status_id, order_date,
        promised_date, has_group, is_order_open
    FROM orderql.item_place
) AS kept USING (order_id, order_item_seq_id, ship_group_seq_id)
WHERE source.* IS DISTINCT FROM kept.*;

--- view orderql.order_item
-- Items as they are read. What is searched and what is selected most often is in one table; the rest is joined by its key, and only where it
-- is selected.
CREATE OR REPLACE VIEW orderql.order_item AS
SELECT
    place.order_id,
    place.order_item_seq_id,
    place.ship_group_seq_id AS place,
    NULLIF(place.ship_group_seq_id, '') AS ship_group_seq_id,
    place.order_item_seq_id || ' ' || place.ship_group_seq_id AS part,
    place.external_id,
    place.order_item_type_id,
    place.product_id,
    place.status_id,
    place.quantity,
    place.cancel_quantity,
    place.unit_price,
    place.facility_id,
    place.product_store_id,
    place.order_date,
    item.item_description,
    item.unit_list_price,
    item.estimated_ship_date,
    item.estimated_delivery_date,
    item.auto_cancel_date,
    item.ship_before_date,
    item.ship_after_date,
    place.promised_date,
    own.ship_by_date,
    COALESCE(place.status_id, '') NOT IN ('ITEM_CANCELLED', 'ITEM_REJECTED', 'ITEM_EXPIRED') AS live,
    CASE WHEN place.status_id IN ('ITEM_CANCELLED', 'ITEM_REJECTED', 'ITEM_EXPIRED') THEN 0
        ELSE place.quantity - COALESCE(place.cancel_quantity, 0) END AS net_quantity,
    item.order_item_group_seq_id,
    item.is_promo
FROM orderql.item_place AS place
LEFT JOIN order_item AS item ON item.order_id = place.order_id AND item.order_item_seq_id = place.order_item_seq_id
LEFT JOIN order_item_ship_group AS own
  ON own.order_id = place.order_id AND own.ship_group_seq_id = place.ship_group_seq_id;

--- view orderql.fulfillment_queue
-- The fulfilment queue: of each group, the item that comes next. An index has the items of a group in this order.
CREATE OR REPLACE VIEW orderql.fulfillment_queue AS
SELECT
    item.order_id,
    item.ship_group_seq_id,
    item.facility_id,
    item.shipment_method_type_id,
    item.status_id AS item_status_id,
    item.order_status_id,
    item.product_store_id,
    item.order_date,
    item.promised_date,
    own.ship_by_date
FROM orderql.item_place AS item
LEFT JOIN order_item_ship_group AS own ON own.order_id = item.order_id AND own.ship_group_seq_id = item.ship_group_seq_id
WHERE item.open_rank IS NOT NULL
  AND item.order_item_seq_id = (
    SELECT next.order_item_seq_id
    FROM orderql.item_place AS next
    WHERE next.order_id = item.order_id AND next.ship_group_seq_id = item.ship_group_seq_id AND next.open_rank IS NOT NULL
    ORDER BY next.open_rank, next.promised_date, next.order_item_seq_id
    LIMIT 1
  );
