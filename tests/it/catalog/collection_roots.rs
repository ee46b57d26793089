//! The collection roots as the curated schema lists them, and the SQL that says what is in each.

use orderql::catalog::Catalog;
use orderql::catalog::binding::{Binding, Connection};
use orderql::search::Comparator::{self, Equals, Greater, GreaterOrEqual, In, Less, LessOrEqual};
use serde_json::Value;

/// A collection root.
pub struct Root {
    pub name: &'static str,
    /// Its rows, by the name of `t`.
    pub from: &'static str,
    /// The fields that identify a row, in the order of the primary key.
    pub id: &'static str,
    /// The search keys. Without a mark: equals and in; `=`: equals; `<>`: the four of a range. `°`: not indexed.
    pub search: &'static str,
    /// The sort keys.
    pub sort: &'static str,
}

pub const ROOTS: &[Root] = &[
    Root {
        name: "orders",
        from: "order_header AS t",
        id: "orderId",
        search: "orderId externalId orderName= statusId° orderDate<>° productStoreId orderTypeId°",
        sort: "ORDER_DATE ORDER_ID ORDER_NAME GRAND_TOTAL",
    },
    Root {
        name: "orderItems",
        from: "order_item AS t",
        id: "orderId orderItemSeqId",
        search: "orderId externalId productId statusId° orderItemTypeId° shipmentId",
        sort: "ORDER_ID PRODUCT_ID",
    },
    Root {
        name: "shipments",
        from: "shipment AS t",
        id: "shipmentId",
        search: "shipmentId externalId primaryOrderId statusId° originFacilityId shipmentMethodTypeId° estimatedShipDate<>°",
        sort: "SHIPPED_DATE SHIPMENT_ID STATUS",
    },
    Root {
        name: "returns",
        from: "return_header AS t",
        id: "returnId",
        search: "returnId externalId statusId° fromPartyId entryDate<>° returnDate<>° productStoreId°",
        sort: "RETURN_DATE RETURN_ID STATUS",
    },
    Root {
        name: "returnItems",
        from: "return_item AS t",
        id: "returnId returnItemSeqId",
        search: "returnId orderId productId statusId° returnReasonId° returnTypeId°",
        sort: "RETURN_ID ORDER_ID",
    },
    Root {
        name: "facilities",
        from: "facility AS t",
        id: "facilityId",
        search: "facilityId externalId facilityTypeId° parentFacilityId",
        sort: "FACILITY_NAME FACILITY_ID",
    },
    Root {
        name: "parties",
        from: "(SELECT party.party_id, party.external_id, first_name, last_name
            FROM party LEFT JOIN person ON person.party_id = party.party_id) AS t",
        id: "partyId",
        search: "partyId externalId firstName= lastName= roleTypeId°",
        sort: "PARTY_ID LAST_NAME",
    },
    Root {
        name: "products",
        from: "product AS t",
        id: "productId",
        search: "productId productTypeId° primaryProductCategoryId brandName=° internalName=",
        sort: "PRODUCT_NAME PRODUCT_ID",
    },
    Root {
        name: "goodIdentifications",
        from: "good_identification AS t",
        id: "goodIdentificationTypeId productId",
        search: "productId goodIdentificationTypeId° idValue=",
        sort: "FROM_DATE",
    },
    Root {
        name: "productStores",
        from: "product_store AS t",
        id: "productStoreId",
        search: "productStoreId storeName= inventoryFacilityId",
        sort: "STORE_NAME PRODUCT_STORE_ID",
    },
    Root {
        name: "inventoryLevels",
        from: "product_facility AS t",
        id: "productId facilityId",
        search: "productId facilityId",
        sort: "PRODUCT_ID FACILITY_ID",
    },
    Root {
        name: "inventoryItems",
        from: "inventory_item AS t",
        id: "inventoryItemId",
        search: "inventoryItemId productId facilityId statusId° serialNumber=",
        sort: "INVENTORY_ITEM_ID",
    },
    Root {
        name: "inventoryReservations",
        from: "order_item_ship_grp_inv_res AS t",
        id: "orderId shipGroupSeqId orderItemSeqId inventoryItemId",
        search: "orderId inventoryItemId shipmentId",
        sort: "ORDER_ID INVENTORY_ITEM_ID",
    },
    Root {
        name: "itemIssuances",
        from: "item_issuance AS t",
        id: "itemIssuanceId",
        search: "itemIssuanceId orderId shipmentId inventoryItemId",
        sort: "ITEM_ISSUANCE_ID",
    },
    Root {
        name: "shipmentReceipts",
        from: "shipment_receipt AS t",
        id: "receiptId",
        search: "receiptId orderId returnId shipmentId inventoryItemId productId",
        sort: "RECEIPT_ID",
    },
];

/// A search key of a root.
pub struct Key {
    pub name: &'static str,
    pub comparators: &'static [Comparator],
    pub is_indexed: bool,
    /// The condition, with `?` for a comparison such as `= 'x'`.
    pub condition: String,
    /// A query for all its values.
    pub values: String,
}

impl Root {
    /// The columns that identify a row.
    pub fn id_columns(&self) -> Vec<String> {
        self.id.split(' ').map(snake_case).collect()
    }

    /// What identifies a row, in one text.
    pub fn id_sql(&self) -> String {
        format!("concat_ws('|', t.{})", self.id_columns().join(", t."))
    }

    /// What identifies the row of an edge, in the same text.
    pub fn id_of(&self, edge: &Value) -> String {
        let parts = self.id.split(' ').map(|field| edge["node"][field].as_str().unwrap());
        parts.collect::<Vec<_>>().join("|")
    }

    /// The search keys.
    pub fn keys(&self) -> Vec<Key> {
        self.search.split(' ').map(|marked| self.key(marked)).collect()
    }

    fn key(&self, marked: &'static str) -> Key {
        let (rest, is_indexed) = marked.strip_suffix('°').map_or((marked, true), |rest| (rest, false));
        let (name, comparators): (_, &[Comparator]) = if let Some(name) = rest.strip_suffix("<>") {
            (name, &[Greater, GreaterOrEqual, Less, LessOrEqual])
        } else if let Some(name) = rest.strip_suffix('=') {
            (name, &[Equals])
        } else {
            (rest, &[Equals, In])
        };
        let (condition, values) = match (self.name, name) {
            ("orderItems", "shipmentId") => (
                "(t.order_id, t.order_item_seq_id) IN
                    (SELECT order_id, order_item_seq_id FROM order_shipment WHERE shipment_id ?)"
                    .to_owned(),
                "SELECT shipment_id FROM order_shipment".to_owned(),
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
            _ if comparators.contains(&Less) => (
                format!("t.{} ?", snake_case(name)),
                format!(
                    "SELECT to_char(t.{} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') FROM {}",
                    snake_case(name),
                    self.from
                ),
            ),
            _ => (format!("t.{} ?", snake_case(name)), format!("SELECT t.{} FROM {}", snake_case(name), self.from)),
        };
        Key { name, comparators, is_indexed, condition, values }
    }
}

/// The column of a sort key.
pub fn sort_column(sort_key: &str) -> String {
    match sort_key {
        "SHIPPED_DATE" => "estimated_ship_date".to_owned(),
        "STATUS" => "status_id".to_owned(),
        other => other.to_lowercase(),
    }
}

pub fn snake_case(name: &str) -> String {
    let mut column = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            column.push('_');
        }
        column.extend(c.to_lowercase());
    }
    column
}

/// The catalog's collection roots.
pub fn collections(catalog: &Catalog) -> Vec<(&str, &Connection)> {
    let fields = catalog.object(catalog.query()).unwrap().fields.iter();
    fields
        .filter_map(|field| match &field.binding {
            Binding::Connection(connection) => Some((field.name.as_str(), connection)),
            _ => None,
        })
        .collect()
}

#[test]
fn the_catalog_declares_the_roots_of_the_curated_schema() {
    let catalog = Catalog::built_in().unwrap();
    let collections = collections(&catalog);
    assert_eq!(
        collections.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        ROOTS.iter().map(|root| root.name).collect::<Vec<_>>()
    );
    for (root, (_, connection)) in ROOTS.iter().zip(collections) {
        let declared: Vec<_> =
            connection.search_keys.iter().map(|key| (key.name.as_str(), &*key.comparators, key.indexed)).collect();
        let keys = root.keys();
        let listed: Vec<_> = keys.iter().map(|key| (key.name, key.comparators, key.is_indexed)).collect();
        assert_eq!(declared, listed, "{}", root.name);
        let sorted: Vec<_> = connection.sort_keys.iter().map(|key| key.name.as_str()).collect();
        assert_eq!(sorted.join(" "), root.sort, "{}", root.name);
    }
    let query = catalog.object(catalog.query()).unwrap();
    let points = query.fields.iter().filter(|field| matches!(field.binding, Binding::Lookup(_)));
    let arguments = |field: &orderql::catalog::schema::Field| {
        let arguments =
            field.arguments.iter().map(|argument| format!("{}: {}", argument.name, argument.ty.display(&catalog)));
        format!("{}({})", field.name, arguments.collect::<Vec<_>>().join(", "))
    };
    assert_eq!(
        points.map(arguments).collect::<Vec<_>>(),
        [
            "order(orderId: ID, externalId: String)",
            "shipment(shipmentId: ID, externalId: String)",
            "return(returnId: ID, externalId: String)",
            "facility(facilityId: ID, externalId: String)",
            "party(partyId: ID, externalId: String)",
            "product(productId: ID!)",
            "productStore(productStoreId: ID!)",
            "inventoryItem(inventoryItemId: ID!)",
            "orderByIdentification(identificationTypeId: ID!, idValue: String!)",
            "returnByIdentification(identificationTypeId: ID!, idValue: String!)",
            "productByIdentification(identificationTypeId: ID!, idValue: String!)",
        ]
    );
}
