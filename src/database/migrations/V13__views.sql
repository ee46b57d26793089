-- The relations that the catalog reads and that are more than one table. Each is a plain join or filter, which the planner
-- takes apart and plans together with the statement around it: a left join that nothing is selected from vanishes, and
-- an ORDER BY … LIMIT outside walks an index inside.
--
-- Where a view has all columns of a table (`*`), its own come first, so that a later migration can replace it when the
-- table has got more.

-- A ship group that has items; the others are never shown.
CREATE OR REPLACE VIEW orderql.ship_group AS
SELECT ship_group.*
FROM order_item_ship_group AS ship_group
WHERE EXISTS (
    SELECT
    FROM order_item AS item
    WHERE item.order_id = ship_group.order_id AND item.ship_group_seq_id = ship_group.ship_group_seq_id
);

-- The person an order is billed to: one an order, the first by party id where several have the role. An order billed to a
-- company has none.
CREATE OR REPLACE VIEW orderql.bill_to_customer AS
SELECT role.order_id, role.party_id, person.first_name, person.last_name
FROM order_role AS role
JOIN person ON person.party_id = role.party_id
WHERE role.role_type_id = 'BILL_TO_CUSTOMER'
  AND NOT EXISTS (
    SELECT
    FROM order_role AS earlier
    JOIN person AS earlier_person ON earlier_person.party_id = earlier.party_id
    WHERE earlier.order_id = role.order_id
      AND earlier.role_type_id = 'BILL_TO_CUSTOMER'
      AND earlier.party_id < role.party_id
);

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
    CASE WHEN point.latitude::text ~ '^\s*[-+]?\d+(\.\d*)?\s*$' THEN point.latitude::numeric END AS latitude,
    CASE WHEN point.longitude::text ~ '^\s*[-+]?\d+(\.\d*)?\s*$' THEN point.longitude::numeric END AS longitude
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

-- The orders billed to a party, person or group. Their id is the role's (USING takes it from there), so that a page of a
-- party's orders begins in the middle of an index on the roles.
CREATE OR REPLACE VIEW orderql.party_order AS
SELECT *
FROM (
    SELECT order_id, party_id AS bill_to_party_id
    FROM order_role
    WHERE role_type_id = 'BILL_TO_CUSTOMER'
) AS role
JOIN order_header USING (order_id);

-- A return and its store, which OFBiz does not keep: that of the order which the first of its items is of.
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
        FROM return_item AS item
        JOIN order_header ON order_header.order_id = item.order_id
        WHERE item.return_id = header.return_id
        ORDER BY item.return_item_seq_id
        LIMIT 1
    ) AS product_store_id
FROM return_header AS header;

-- Orders, returns and products by an identification of theirs that is valid now.
CREATE OR REPLACE VIEW orderql.order_by_identification AS
SELECT known.order_identification_type_id AS identification_type_id, known.id_value, order_header.*
FROM order_identification AS known
JOIN order_header ON order_header.order_id = known.order_id
WHERE known.from_date <= CURRENT_TIMESTAMP AND (known.thru_date IS NULL OR known.thru_date > CURRENT_TIMESTAMP);

CREATE OR REPLACE VIEW orderql.return_by_identification AS
SELECT known.return_identification_type_id AS identification_type_id, known.id_value, return_header.*
FROM return_identification AS known
JOIN orderql.return_header ON return_header.return_id = known.return_id
WHERE known.from_date <= CURRENT_TIMESTAMP AND (known.thru_date IS NULL OR known.thru_date > CURRENT_TIMESTAMP);

-- Stock OFBiz does not date a product's identifications: without dates they are valid.
CREATE OR REPLACE VIEW orderql.product_by_identification AS
SELECT known.good_identification_type_id AS identification_type_id, known.id_value, product.*
FROM good_identification AS known
JOIN product ON product.product_id = known.product_id
WHERE (known.from_date IS NULL OR known.from_date <= CURRENT_TIMESTAMP)
  AND (known.thru_date IS NULL OR known.thru_date > CURRENT_TIMESTAMP);

-- What is there of a product at a facility: a row for every configured pair, nothing being 0. The pair's current
-- inventory item tells, or where none is set, all items of the pair together.
CREATE OR REPLACE VIEW orderql.inventory_level AS
SELECT
    pair.product_id,
    pair.facility_id,
    COALESCE(
        CASE
            WHEN pair.inventory_item_id IS NOT NULL THEN item.quantity_on_hand_total
            ELSE (
                SELECT sum(every.quantity_on_hand_total)
                FROM inventory_item AS every
                WHERE every.product_id = pair.product_id AND every.facility_id = pair.facility_id
            )
        END,
        0::numeric(18,6)
    ) AS quantity_on_hand,
    COALESCE(
        CASE
            WHEN pair.inventory_item_id IS NOT NULL THEN item.available_to_promise_total
            ELSE (
                SELECT sum(every.available_to_promise_total)
                FROM inventory_item AS every
                WHERE every.product_id = pair.product_id AND every.facility_id = pair.facility_id
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
