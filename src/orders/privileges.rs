//! What the role that serves may do in the tables that an update locks and changes.

/// The tables, and the privileges besides `SELECT`. Those of `order_header` are for its lock.
pub(crate) const PRIVILEGES: [(&str, &[&str]); 26] = [
    ("excluded_order_facility", &["INSERT"]),
    ("inventory_item", &["UPDATE"]),
    ("inventory_item_detail", &["INSERT"]),
    ("inventory_item_variance", &["INSERT"]),
    ("order_adjustment", &["UPDATE"]),
    ("order_facility_change", &["INSERT"]),
    ("order_header", &["UPDATE"]),
    ("order_item", &["UPDATE"]),
    ("order_item_ship_group", &["INSERT"]),
    ("order_item_ship_group_assoc", &["INSERT", "UPDATE", "DELETE"]),
    ("order_item_ship_grp_inv_res", &["UPDATE", "DELETE"]),
    ("order_shipment", &["UPDATE", "DELETE"]),
    ("order_status", &["INSERT"]),
    ("physical_inventory", &["INSERT"]),
    ("picklist_item", &["UPDATE"]),
    ("product_facility", &["UPDATE"]),
    ("shipment", &["UPDATE"]),
    ("shipment_item", &["INSERT", "DELETE"]),
    ("shipment_package", &["INSERT", "UPDATE"]),
    ("shipment_package_content", &["INSERT", "DELETE"]),
    ("shipment_package_route_seg", &["UPDATE"]),
    ("shipment_route_segment", &["UPDATE"]),
    ("shipment_status", &["INSERT", "UPDATE"]),
    ("user_login", &["INSERT"]),
    ("orderql.idempotent_answer", &["INSERT", "UPDATE", "DELETE"]),
    ("orderql.order_update", &["INSERT"]),
];

/// The sequence of new ids, whose use is a privilege as well.
pub(crate) const SEQUENCE: &str = "orderql.entity_id";
