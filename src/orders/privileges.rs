//! The privileges of the serving role in the tables that an update locks and changes.

/// The tables that an update uses, beside the tables that only the schema reads.
pub(crate) const PRIVILEGES: [(&str, &[&str]); 28] = [
    ("enumeration", &["SELECT"]),
    ("excluded_order_facility", &["INSERT"]),
    ("inventory_item", &["SELECT", "UPDATE"]),
    ("inventory_item_detail", &["SELECT", "INSERT"]),
    ("inventory_item_variance", &["INSERT"]),
    ("order_adjustment", &["SELECT", "UPDATE"]),
    ("order_facility_change", &["INSERT"]),
    ("order_header", &["SELECT", "UPDATE"]),
    ("order_item", &["SELECT", "UPDATE"]),
    ("order_item_ship_group", &["SELECT", "INSERT"]),
    ("order_item_ship_group_assoc", &["SELECT", "INSERT", "UPDATE", "DELETE"]),
    ("order_item_ship_grp_inv_res", &["SELECT", "UPDATE", "DELETE"]),
    ("order_shipment", &["SELECT", "UPDATE", "DELETE"]),
    ("order_status", &["INSERT"]),
    ("physical_inventory", &["INSERT"]),
    ("picklist_item", &["SELECT", "UPDATE"]),
    ("product_facility", &["SELECT", "UPDATE"]),
    ("shipment", &["SELECT", "INSERT", "UPDATE"]),
    ("shipment_item", &["SELECT", "INSERT", "DELETE"]),
    ("shipment_package", &["SELECT", "INSERT", "UPDATE"]),
    ("shipment_package_content", &["SELECT", "INSERT", "DELETE"]),
    ("shipment_package_route_seg", &["SELECT", "INSERT", "UPDATE"]),
    ("shipment_route_segment", &["SELECT", "INSERT", "UPDATE"]),
    ("shipment_status", &["SELECT", "INSERT", "UPDATE"]),
    ("user_login", &["INSERT"]),
    ("orderql.idempotent_answer", &["SELECT", "INSERT", "UPDATE", "DELETE"]),
    ("orderql.order_item", &["SELECT"]),
    ("orderql.order_update", &["INSERT"]),
];

/// The sequences of new ids, whose use is a privilege as well.
pub(crate) const SEQUENCES: [&str; 1] = ["orderql.entity_id"];
