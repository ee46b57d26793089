//! The collection roots: their rows, search keys and sort keys in SQL.
//!
//! Names, comparators and indexes come from the catalog, and the SDL's snapshot shows them for review. Tables and columns are
//! repeated here, so that the tests notice a wrong binding in the catalog.

use orderql::catalog::Catalog;
use orderql::search::Comparator;
use orderql::value::ScalarType;
use serde_json::Value;

use crate::support::built_in::collection_roots;

/// A collection root.
pub struct Root {
    pub name: String,
    /// The rows, named `t`.
    pub from: &'static str,
    /// The fields of the primary key, in its order.
    pub id: &'static str,
    pub search_keys: Vec<Key>,
    /// The names of the sort keys.
    pub sort_keys: Vec<String>,
}

/// A search key of a collection root.
pub struct Key {
    pub name: String,
    pub comparators: Vec<Comparator>,
    /// A value of its type.
    pub value: &'static str,
    pub is_indexed: bool,
    /// The condition, with `?` for a comparison such as `= 'x'`.
    pub condition: String,
    /// A query for all its values.
    pub values: String,
}

/// The rows of each collection root, and the fields of its primary key.
const TABLES: &[(&str, &str, &str)] = &[
    ("orders", "order_header AS t", "orderId"),
    ("orderItems", "orderql.order_item AS t", "orderId orderItemSeqId"),
    ("shipGroups", "orderql.fulfillment_queue AS t", "orderId shipGroupSeqId"),
    ("picklists", "picklist AS t", "picklistId"),
    ("picklistBins", "picklist_bin AS t", "picklistBinId"),
    ("picklistItems", "picklist_item AS t", "picklistBinId orderId orderItemSeqId shipGroupSeqId inventoryItemId"),
    ("facilityChanges", "order_facility_change AS t", "orderFacilityChangeId"),
    ("shipments", "shipment AS t", "shipmentId"),
    (
        "shippedShipments",
        "(SELECT shipment_id, min(status_date) AS shipped_date, min(shipment.origin_facility_id) AS origin_facility_id,
             min(o.product_store_id) AS product_store_id, min(shipment.shipment_method_type_id) AS shipment_method_type_id
          FROM shipment_status LEFT JOIN shipment USING (shipment_id) LEFT JOIN order_header AS o ON o.order_id = primary_order_id
          WHERE shipment_status.status_id = 'SHIPMENT_SHIPPED' GROUP BY shipment_id HAVING min(status_date) IS NOT NULL) AS t",
        "shipmentId",
    ),
    ("returns", "return_header AS t", "returnId"),
    ("returnItems", "return_item AS t", "returnId returnItemSeqId"),
    ("payments", "payment AS t", "paymentId"),
    ("orderAdjustments", "order_adjustment AS t", "orderAdjustmentId"),
    ("paymentPreferences", "order_payment_preference AS t", "orderPaymentPreferenceId"),
    ("facilities", "facility AS t", "facilityId"),
    (
        "parties",
        "(SELECT party.party_id, party.external_id, first_name, last_name, group_name
            FROM party LEFT JOIN person USING (party_id) LEFT JOIN party_group USING (party_id)) AS t",
        "partyId",
    ),
    ("products", "product AS t", "productId"),
    ("goodIdentifications", "good_identification AS t", "goodIdentificationTypeId productId"),
    (
        "productPrices",
        "product_price AS t",
        "productId productPriceTypeId productPricePurposeId currencyUomId productStoreGroupId",
    ),
    ("productFeatureAppls", "product_feature_appl AS t", "productId productFeatureId"),
    ("productAttributes", "product_attribute AS t", "productId attrName"),
    ("productKeywords", "product_keyword_new AS t", "productId keyword keywordTypeId"),
    ("productStores", "product_store AS t", "productStoreId"),
    ("inventoryLevels", "product_facility AS t", "productId facilityId"),
    ("inventoryItems", "inventory_item AS t", "inventoryItemId"),
    ("inventoryItemDetails", "inventory_item_detail AS t", "inventoryItemId inventoryItemDetailSeqId"),
    (
        "inventoryReservations",
        "order_item_ship_grp_inv_res AS t",
        "orderId shipGroupSeqId orderItemSeqId inventoryItemId",
    ),
    ("itemIssuances", "item_issuance AS t", "itemIssuanceId"),
    ("shipmentReceipts", "shipment_receipt AS t", "receiptId"),
    ("rejectionReasons", "(SELECT * FROM enumeration WHERE enum_type_id LIKE 'REPORT_%VAR') AS t", "enumId"),
    ("shipmentBoxTypes", "shipment_box_type AS t", "shipmentBoxTypeId"),
];

/// The collection roots of the built-in schema. Panics if `TABLES` lacks one.
pub fn roots() -> Vec<Root> {
    let catalog = Catalog::built_in().unwrap();
    let roots = collection_roots(&catalog).into_iter().map(|(name, connection)| {
        let table = TABLES.iter().find(|(root, ..)| *root == name);
        let &(_, from, id) = table.unwrap_or_else(|| panic!("add {name} to TABLES"));
        let search_keys = connection.search_keys.iter().map(|key| {
            let scalar = key.column.scalar;
            let (condition, values) = condition(name, from, &key.name, scalar);
            Key {
                name: key.name.clone(),
                comparators: key.comparators.clone(),
                value: match scalar {
                    ScalarType::DateTime => "2026-05-01",
                    ScalarType::Boolean => "Y",
                    _ => "1",
                },
                is_indexed: key.indexed,
                condition,
                values,
            }
        });
        let sort_keys = connection.sort_keys.iter().map(|key| key.name.clone()).collect();
        Root { name: name.to_owned(), from, id, search_keys: search_keys.collect(), sort_keys }
    });
    roots.collect()
}

/// The condition of a search key, and a query for its values. A key in another table than the root's needs an arm here.
fn condition(root: &str, from: &str, key: &str, scalar: ScalarType) -> (String, String) {
    let utc = |moment: &str| format!("to_char({moment} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')");
    match (root, key) {
        ("orders", "customerPartyId") => {
            let roles = "FROM order_role WHERE role_type_id = 'BILL_TO_CUSTOMER' AND coalesce(thru_date > now(), TRUE)";
            (format!("t.order_id IN (SELECT order_id {roles} AND party_id ?)"), format!("SELECT party_id {roles}"))
        }
        ("orders", "attribute") => {
            let attribute = "concat(attr_name, '=', attr_value)";
            let valued = "FROM order_attribute WHERE attr_value IS NOT NULL";
            (
                format!("t.order_id IN (SELECT order_id {valued} AND {attribute} ?)"),
                format!("SELECT {attribute} {valued}"),
            )
        }
        ("orderAdjustments", "orderDate") => (
            "t.order_id IN (SELECT order_id FROM order_header WHERE order_date ?)".to_owned(),
            format!("SELECT {} FROM order_header JOIN order_adjustment USING (order_id)", utc("order_date")),
        ),
        ("orderAdjustments", "live") => {
            let live = "SELECT CASE WHEN status_id IN ('ORDER_CANCELLED', 'ORDER_REJECTED', 'ORDER_EXPIRED') THEN 'N' ELSE 'Y' END
                FROM order_header AS h WHERE h.order_id = t.order_id";
            (format!("({live}) ?"), format!("SELECT ({live}) FROM {from}"))
        }
        ("orders", "live") => {
            let live =
                "CASE WHEN t.status_id IN ('ORDER_CANCELLED', 'ORDER_REJECTED', 'ORDER_EXPIRED') THEN 'N' ELSE 'Y' END";
            (format!("{live} ?"), format!("SELECT {live} FROM {from}"))
        }
        ("orderItems", "live") => {
            let live = "coalesce(t.status_id, '') NOT IN ('ITEM_CANCELLED', 'ITEM_REJECTED', 'ITEM_EXPIRED')";
            (format!("({live}) ?"), format!("SELECT ({live})::text FROM {from}"))
        }
        ("orderItems" | "shipGroups", "shipByDate") => (
            "(t.order_id, t.ship_group_seq_id) IN
                (SELECT order_id, ship_group_seq_id FROM order_item_ship_group WHERE ship_by_date ?)"
                .to_owned(),
            format!(
                "SELECT {} FROM order_item_ship_group JOIN orderql.item_place USING (order_id, ship_group_seq_id)",
                utc("ship_by_date")
            ),
        ),
        ("shipments", "trackingNumber") => (
            "t.shipment_id IN (SELECT shipment_id FROM shipment_route_segment WHERE tracking_id_number ?
                UNION SELECT shipment_id FROM shipment_package_route_seg WHERE tracking_code ?)"
                .to_owned(),
            "SELECT tracking_id_number FROM shipment_route_segment
                UNION SELECT tracking_code FROM shipment_package_route_seg"
                .to_owned(),
        ),
        ("returnItems", "entryDate") => (
            "t.return_id IN (SELECT return_id FROM return_header WHERE entry_date ?)".to_owned(),
            format!("SELECT {} FROM return_header JOIN return_item USING (return_id)", utc("entry_date")),
        ),
        ("paymentPreferences", "referenceNum") => (
            "t.order_payment_preference_id IN
                (SELECT order_payment_preference_id FROM payment_gateway_response WHERE reference_num ?)"
                .to_owned(),
            "SELECT reference_num FROM payment_gateway_response".to_owned(),
        ),
        ("orders" | "parties", "emailAddress") => {
            let (id, links) = contacts(root);
            let contacts = format!(
                "FROM {links} JOIN contact_mech USING (contact_mech_id) WHERE contact_mech_type_id = 'EMAIL_ADDRESS'"
            );
            (
                format!("t.{id} IN (SELECT {id} {contacts} AND lower(info_string) ?)"),
                format!("SELECT lower(info_string) {contacts}"),
            )
        }
        ("orders", "trackingNumber") => {
            let parcels = "SELECT shipment_id, tracking_id_number AS number FROM shipment_route_segment
                UNION SELECT shipment_id, tracking_code FROM shipment_package_route_seg";
            (
                format!(
                    "t.order_id IN (SELECT primary_order_id FROM shipment JOIN ({parcels}) AS parcel USING (shipment_id) WHERE number ?)"
                ),
                format!(
                    "SELECT number FROM ({parcels}) AS parcel JOIN shipment USING (shipment_id) JOIN order_header ON order_id = primary_order_id"
                ),
            )
        }
        ("orders", "countryGeoId") => {
            let links = "FROM order_contact_mech JOIN postal_address USING (contact_mech_id)";
            (
                format!("t.order_id IN (SELECT order_id {links} WHERE country_geo_id ?)"),
                format!("SELECT country_geo_id {links}"),
            )
        }
        ("orders", "paymentStatusId") => (
            "t.order_id IN (SELECT order_id FROM order_payment_preference WHERE status_id ?)".to_owned(),
            "SELECT status_id FROM order_payment_preference".to_owned(),
        ),
        ("orders", "refunded") => {
            let refunds = "SELECT order_id FROM payment
                    JOIN order_payment_preference ON order_payment_preference_id = payment_preference_id
                    WHERE payment_type_id = 'CUSTOMER_REFUND'
                UNION SELECT order_id FROM payment JOIN return_item_response USING (payment_id)
                    JOIN return_item USING (return_item_response_id) WHERE payment_type_id = 'CUSTOMER_REFUND'";
            let refunded = format!(
                "CASE WHEN EXISTS (SELECT FROM ({refunds}) AS r WHERE r.order_id = t.order_id) THEN 'Y' ELSE 'N' END"
            );
            (format!("{refunded} ?"), format!("SELECT {refunded} FROM {from}"))
        }
        ("orderItems", "backOrdered") => {
            let more = "FROM order_item_ship_grp_inv_res WHERE quantity_not_available > 0";
            (
                format!(
                    "((t.order_id, t.order_item_seq_id, t.ship_group_seq_id) IN
                        (SELECT order_id, order_item_seq_id, ship_group_seq_id {more}) AND 'Y' ?)"
                ),
                format!("SELECT 'Y' {more}"),
            )
        }
        ("shipments", "hasTrackingNumber") => {
            let tracked = "SELECT shipment_id FROM shipment_route_segment WHERE tracking_id_number <> ''
                UNION SELECT shipment_id FROM shipment_package_route_seg WHERE tracking_code <> ''";
            let has_number = format!("CASE WHEN t.shipment_id IN ({tracked}) THEN 'Y' ELSE 'N' END");
            (format!("{has_number} ?"), format!("SELECT {has_number} FROM {from}"))
        }
        ("products", "productName") => {
            ("lower(t.product_name) ?".to_owned(), format!("SELECT lower(product_name) FROM {from}"))
        }
        ("products", "keyword") => (
            "t.product_id IN (SELECT product_id FROM product_keyword_new WHERE keyword ?)".to_owned(),
            "SELECT keyword FROM product_keyword_new".to_owned(),
        ),
        ("orders", "placingCustomerPartyId") => {
            let roles = "FROM order_role WHERE role_type_id = 'PLACING_CUSTOMER' AND coalesce(thru_date > now(), TRUE)";
            (format!("t.order_id IN (SELECT order_id {roles} AND party_id ?)"), format!("SELECT party_id {roles}"))
        }
        ("orders", "postalCode") => {
            let code = "lower(replace(postal_code, ' ', ''))";
            let links = "FROM order_contact_mech JOIN postal_address USING (contact_mech_id)";
            (format!("t.order_id IN (SELECT order_id {links} WHERE {code} ?)"), format!("SELECT {code} {links}"))
        }
        ("orders", "contactMechId") => (
            "t.order_id IN (SELECT order_id FROM order_contact_mech WHERE contact_mech_id ?)".to_owned(),
            "SELECT contact_mech_id FROM order_contact_mech".to_owned(),
        ),
        ("parties", "name") => {
            let name = "lower(coalesce(t.last_name, t.group_name))";
            (format!("{name} ?"), format!("SELECT {name} FROM {from}"))
        }
        ("orders" | "parties", "phone") => {
            let (id, links) = contacts(root);
            let digits = r"right(regexp_replace(concat(country_code, area_code, contact_number), '\D', '', 'g'), 9)";
            let contacts = format!("FROM {links} JOIN telecom_number USING (contact_mech_id) WHERE {digits} <> ''");
            (format!("t.{id} IN (SELECT {id} {contacts} AND {digits} ?)"), format!("SELECT {digits} {contacts}"))
        }
        ("inventoryItemDetails" | "inventoryReservations", "productId" | "facilityId") => {
            let column = snake_case(key);
            (
                format!("t.inventory_item_id IN (SELECT inventory_item_id FROM inventory_item WHERE {column} ?)"),
                format!("SELECT {column} FROM inventory_item"),
            )
        }
        ("orderItems", "facilityId") => (
            "(t.order_id, t.ship_group_seq_id) IN
                (SELECT order_id, ship_group_seq_id FROM order_item_ship_group WHERE facility_id ?)"
                .to_owned(),
            "SELECT facility_id FROM order_item_ship_group".to_owned(),
        ),
        ("shipments", "productStoreId") => (
            "t.primary_order_id IN (SELECT order_id FROM order_header WHERE product_store_id ?)".to_owned(),
            "SELECT product_store_id FROM order_header JOIN shipment ON primary_order_id = order_id".to_owned(),
        ),
        ("shipments", "shippedDate") => {
            let first = "FROM shipment_status WHERE status_id = 'SHIPMENT_SHIPPED' GROUP BY shipment_id";
            (
                format!("t.shipment_id IN (SELECT shipment_id {first} HAVING min(status_date) ?)"),
                format!("SELECT {} {first}", utc("min(status_date)")),
            )
        }
        ("returns", "orderId") => (
            "t.return_id IN (SELECT return_id FROM return_item WHERE order_id ?)".to_owned(),
            "SELECT order_id FROM return_item".to_owned(),
        ),
        ("inventoryLevels", "availableToPromise" | "quantityOnHand") => {
            let total = format!("{}_total", snake_case(key));
            let of_pair = format!(
                "coalesce(CASE WHEN t.inventory_item_id IS NULL
                    THEN (SELECT sum({total}) FROM inventory_item AS i
                          WHERE (i.product_id, i.facility_id) = (t.product_id, t.facility_id))
                    ELSE (SELECT {total} FROM inventory_item AS i WHERE i.inventory_item_id = t.inventory_item_id)
                 END, 0)"
            );
            (format!("{of_pair} ?"), format!("SELECT {of_pair}::text FROM {from}"))
        }
        ("inventoryLevels", "belowMinimum") => {
            let below = "CASE WHEN t.minimum_stock > coalesce(CASE WHEN t.inventory_item_id IS NULL
                THEN (SELECT sum(available_to_promise_total) FROM inventory_item AS i
                      WHERE (i.product_id, i.facility_id) = (t.product_id, t.facility_id))
                ELSE (SELECT available_to_promise_total FROM inventory_item AS i WHERE i.inventory_item_id = t.inventory_item_id)
             END, 0) THEN 'Y' ELSE 'N' END";
            (format!("{below} ?"), format!("SELECT {below} FROM {from}"))
        }
        ("inventoryLevels", "negative") => {
            let negative = "CASE WHEN 0 > CASE WHEN t.inventory_item_id IS NULL
                THEN (SELECT sum(available_to_promise_total) FROM inventory_item AS i
                      WHERE (i.product_id, i.facility_id) = (t.product_id, t.facility_id))
                ELSE (SELECT available_to_promise_total FROM inventory_item AS i WHERE i.inventory_item_id = t.inventory_item_id)
             END THEN 'Y' END";
            (format!("{negative} ?"), format!("SELECT {negative} FROM {from}"))
        }
        ("inventoryItems", "negative") => {
            let negative = "CASE WHEN t.available_to_promise_total < 0 THEN 'Y' END";
            (format!("{negative} ?"), format!("SELECT {negative} FROM {from}"))
        }
        ("orderItems", "shipmentId") => (
            "(t.order_id, t.order_item_seq_id) IN
                (SELECT order_id, order_item_seq_id FROM order_shipment WHERE shipment_id ?)"
                .to_owned(),
            "SELECT shipment_id FROM order_shipment".to_owned(),
        ),
        ("orderItems", "orderDate") => (
            "t.order_id IN (SELECT order_id FROM order_header WHERE order_date ?)".to_owned(),
            format!("SELECT {} FROM order_header JOIN order_item USING (order_id)", utc("order_date")),
        ),
        ("inventoryReservations", "shipmentId") => (
            "(t.order_id, t.order_item_seq_id, t.ship_group_seq_id) IN
                (SELECT order_id, order_item_seq_id, ship_group_seq_id FROM order_shipment WHERE shipment_id ?)"
                .to_owned(),
            "SELECT shipment_id FROM order_shipment".to_owned(),
        ),
        ("parties", "roleTypeId") => (
            "t.party_id IN (SELECT party_id FROM party_role WHERE role_type_id ?)".to_owned(),
            "SELECT role_type_id FROM party_role".to_owned(),
        ),
        ("returns", "productStoreId") => {
            let first = "SELECT DISTINCT ON (return_id) return_id, order_id FROM return_item
                ORDER BY return_id, return_item_seq_id";
            (
                format!(
                    "t.return_id IN (SELECT return_id FROM ({first}) AS first JOIN order_header USING (order_id)
                        WHERE product_store_id ?)"
                ),
                format!("SELECT product_store_id FROM ({first}) AS first JOIN order_header USING (order_id)"),
            )
        }
        (_, key) => {
            let column = format!("t.{}", snake_case(key));
            let text = if scalar == ScalarType::DateTime { utc(&column) } else { format!("{column}::text") };
            (format!("{column} ?"), format!("SELECT {text} FROM {from}"))
        }
    }
}

impl Root {
    /// The columns of the primary key.
    pub fn id_columns(&self) -> Vec<String> {
        self.id.split(' ').map(snake_case).collect()
    }

    /// The primary key of a row as one text.
    pub fn id_sql(&self) -> String {
        format!("concat_ws('|', t.{})", self.id_columns().join(", t."))
    }

    /// The column of a sort key.
    pub fn sort_column(&self, sort_key: &str) -> String {
        match (self.name.as_str(), sort_key) {
            ("shipments", "SHIPPED_DATE") => "estimated_ship_date".to_owned(),
            (_, "STATUS") => "status_id".to_owned(),
            (_, "RETURN_DATE") => "entry_date".to_owned(),
            (_, "RETURNED_DATE") => "return_date".to_owned(),
            (_, other) => other.to_lowercase(),
        }
    }

    /// The primary key of an edge's node as the same text.
    pub fn id_of(&self, edge: &Value) -> String {
        let parts = self.id.split(' ').map(|field| edge["node"][field].as_str().unwrap());
        parts.collect::<Vec<_>>().join("|")
    }
}

/// The column of a root's id, and the relation that links its rows with contacts.
fn contacts(root: &str) -> (&'static str, &'static str) {
    match root {
        "orders" => ("order_id", "order_contact_mech"),
        _ => ("party_id", "(SELECT * FROM party_contact_mech WHERE coalesce(thru_date > now(), TRUE)) AS link"),
    }
}

fn snake_case(name: &str) -> String {
    let mut column = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            column.push('_');
        }
        column.extend(c.to_lowercase());
    }
    column
}

#[test]
fn every_table_is_that_of_a_collection_root() {
    let names: Vec<_> = roots().into_iter().map(|root| root.name).collect();
    assert_eq!(names, TABLES.iter().map(|(name, ..)| *name).collect::<Vec<_>>());
}
