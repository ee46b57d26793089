-- The feed of orders, as the built-in schema file declares it with @part. `orderql migrate` makes those of the schema file that is
-- served in the same way.

-- The indexes by which a changed row finds its order.
SELECT orderql.add_index(name, relation, columns)
FROM (VALUES
    ('oql_order_header_note_of_note', 'order_header_note', 'note_id, order_id')
) AS listed (name, relation, columns);
CREATE INDEX IF NOT EXISTS oql_return_item_of_response ON return_item (return_item_response_id, order_id)
WHERE return_item_response_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS oql_return_item_response_of_payment ON return_item_response (payment_id, return_item_response_id)
WHERE payment_id IS NOT NULL;

-- The orders that a payment is paid back for.
CREATE OR REPLACE VIEW orderql.order_of_refund AS
SELECT response.payment_id, item.order_id
FROM return_item_response AS response
JOIN return_item AS item ON item.return_item_response_id = response.return_item_response_id
WHERE response.payment_id IS NOT NULL;

SELECT orderql.make_feed($feed${
    "feed": "order_change", "relation": "order_header", "key": "order_id",
    "parts": [
        {"relation": "excluded_order_facility", "by": "order_id"},
        {"relation": "inventory_item_detail", "by": "order_id"},
        {"relation": "item_issuance", "by": "order_id"},
        {"relation": "item_issuance", "by": "shipment_id", "through": "shipment", "to": "shipment_id", "key": "primary_order_id"},
        {"relation": "note_data", "by": "note_id", "through": "order_header_note", "to": "note_id", "key": "order_id"},
        {"relation": "order_adjustment", "by": "order_id"},
        {"relation": "order_attribute", "by": "order_id"},
        {"relation": "order_contact_mech", "by": "order_id"},
        {"relation": "order_facility_change", "by": "order_id"},
        {"relation": "order_header", "by": "order_id"},
        {"relation": "order_header_note", "by": "order_id"},
        {"relation": "order_identification", "by": "order_id"},
        {"relation": "order_item", "by": "order_id"},
        {"relation": "order_item_attribute", "by": "order_id"},
        {"relation": "order_item_change", "by": "order_id"},
        {"relation": "order_item_ship_group", "by": "order_id"},
        {"relation": "order_item_ship_group_assoc", "by": "order_id"},
        {"relation": "order_item_ship_grp_inv_res", "by": "order_id"},
        {"relation": "order_payment_preference", "by": "order_id"},
        {"relation": "order_role", "by": "order_id"},
        {"relation": "order_shipment", "by": "order_id"},
        {"relation": "order_shipment", "by": "shipment_id", "through": "shipment", "to": "shipment_id", "key": "primary_order_id"},
        {"relation": "order_status", "by": "order_id"},
        {"relation": "order_status", "by": "order_payment_preference_id", "through": "order_payment_preference", "to": "order_payment_preference_id", "key": "order_id"},
        {"relation": "payment", "by": "payment_id", "through": "orderql.order_of_refund", "to": "payment_id", "key": "order_id"},
        {"relation": "payment", "by": "payment_preference_id", "through": "order_payment_preference", "to": "order_payment_preference_id", "key": "order_id"},
        {"relation": "payment_gateway_response", "by": "order_payment_preference_id", "through": "order_payment_preference", "to": "order_payment_preference_id", "key": "order_id"},
        {"relation": "picklist_bin", "by": "primary_order_id"},
        {"relation": "picklist_item", "by": "order_id"},
        {"relation": "return_adjustment", "by": "order_id"},
        {"relation": "return_adjustment", "by": "return_id", "through": "return_item", "to": "return_id", "key": "order_id"},
        {"relation": "return_header", "by": "return_id", "through": "return_item", "to": "return_id", "key": "order_id"},
        {"relation": "return_identification", "by": "return_id", "through": "return_item", "to": "return_id", "key": "order_id"},
        {"relation": "return_item", "by": "order_id"},
        {"relation": "return_item", "by": "return_id", "through": "return_item", "to": "return_id", "key": "order_id"},
        {"relation": "return_item_response", "by": "return_item_response_id", "through": "return_item", "to": "return_item_response_id", "key": "order_id"},
        {"relation": "return_status", "by": "return_id", "through": "return_item", "to": "return_id", "key": "order_id"},
        {"relation": "shipment", "by": "primary_order_id"},
        {"relation": "shipment_content", "by": "shipment_id", "through": "shipment", "to": "shipment_id", "key": "primary_order_id"},
        {"relation": "shipment_item", "by": "shipment_id", "through": "shipment", "to": "shipment_id", "key": "primary_order_id"},
        {"relation": "shipment_package", "by": "shipment_id", "through": "shipment", "to": "shipment_id", "key": "primary_order_id"},
        {"relation": "shipment_package_content", "by": "shipment_id", "through": "shipment", "to": "shipment_id", "key": "primary_order_id"},
        {"relation": "shipment_package_route_seg", "by": "shipment_id", "through": "shipment", "to": "shipment_id", "key": "primary_order_id"},
        {"relation": "shipment_receipt", "by": "order_id"},
        {"relation": "shipment_route_segment", "by": "shipment_id", "through": "shipment", "to": "shipment_id", "key": "primary_order_id"},
        {"relation": "shipment_status", "by": "shipment_id", "through": "shipment", "to": "shipment_id", "key": "primary_order_id"}
    ]
}$feed$);
