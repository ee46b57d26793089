//! The statements. The parents of a batch are array parameters, and every row begins with its parent's position. Views are
//! joined laterally with a limit, as PostgreSQL would compute them whole otherwise.

use tokio_postgres::types::ToSql;

use crate::nodes::{GroupExtras, OrderExtras};
use crate::pages::OrdersPage;
use crate::values::OrderCursor;

/// The items of orders.
pub const ITEMS_OF_ORDERS: &str = "\
SELECT parent.position, t.order_item_seq_id, t.product_id, t.quantity, t.unit_price, t.status_id
FROM unnest($1::text[], $2::text[], $3::int8[]) WITH ORDINALITY AS parent (order_id, after, \"limit\", position)
CROSS JOIN LATERAL (
    SELECT order_item_seq_id, product_id, quantity, unit_price, status_id
    FROM order_item
    WHERE order_id = parent.order_id AND order_item_seq_id > parent.after
    ORDER BY order_item_seq_id
    LIMIT parent.\"limit\"
) AS t";

/// The items of ship groups.
pub const ITEMS_OF_GROUPS: &str = "\
SELECT parent.position, t.order_item_seq_id, t.product_id, t.quantity, t.unit_price, t.status_id
FROM unnest($1::text[], $2::text[], $3::int8[], $4::text[]) WITH ORDINALITY
    AS parent (order_id, after, \"limit\", ship_group_seq_id, position)
CROSS JOIN LATERAL (
    SELECT order_item_seq_id, product_id, quantity, unit_price, status_id
    FROM order_item
    WHERE order_id = parent.order_id AND ship_group_seq_id = parent.ship_group_seq_id AND order_item_seq_id > parent.after
    ORDER BY order_item_seq_id
    LIMIT parent.\"limit\"
) AS t";

/// The ship groups of orders.
pub fn groups_of_orders(extras: GroupExtras) -> String {
    let (address, address_join) = if extras.address {
        (
            ", address.facility_id, address.address1, address.city, address.postal_code, address.state_province_geo_id",
            " LEFT JOIN LATERAL (
                SELECT * FROM orderql.facility_origin_address WHERE facility_id = t.facility_id LIMIT 1
            ) AS address ON TRUE",
        )
    } else {
        ("", "")
    };
    let (method, method_join) = if extras.method {
        (
            ", method.shipment_method_type_id, method.description",
            " LEFT JOIN shipment_method_type AS method ON method.shipment_method_type_id = t.shipment_method_type_id",
        )
    } else {
        ("", "")
    };
    format!(
        "\
SELECT parent.position, parent.order_id, t.ship_group_seq_id, t.facility_id, t.tracking_number, t.may_split, t.is_gift{address}{method}
FROM unnest($1::text[], $2::text[], $3::int8[]) WITH ORDINALITY AS parent (order_id, after, \"limit\", position)
CROSS JOIN LATERAL (
    SELECT ship_group_seq_id, facility_id, tracking_number, may_split, is_gift, shipment_method_type_id
    FROM orderql.ship_group
    WHERE order_id = parent.order_id AND ship_group_seq_id > parent.after
    ORDER BY ship_group_seq_id
    LIMIT parent.\"limit\"
) AS t{address_join}{method_join}
ORDER BY parent.position, t.ship_group_seq_id"
    )
}

/// An order by its id.
pub fn order(extras: OrderExtras) -> String {
    format!("{} WHERE t.order_id = $1", select_orders(extras))
}

/// A page of orders and one more, and the parameters of the statement.
pub fn orders<'a>(page: &'a OrdersPage, limit: &'a i64, extras: OrderExtras) -> (String, Vec<&'a (dyn ToSql + Sync)>) {
    let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![limit];
    let mut conditions = String::new();
    let mut condition = |text: &str| {
        conditions.push_str(if conditions.is_empty() { " WHERE " } else { " AND " });
        conditions.push_str(text);
    };
    // Rows without a date come last in ascending order, and first in descending order.
    if let Some(OrderCursor { date, order_id }) = &page.after {
        parameters.push(order_id);
        if let Some(date) = date {
            parameters.push(date);
        }
        condition(match (date, page.reverse) {
            (Some(_), true) => "(t.order_date, t.order_id) < ($3, $2)",
            (Some(_), false) => "((t.order_date, t.order_id) > ($3, $2) OR t.order_date IS NULL)",
            (None, true) => "(t.order_date IS NOT NULL OR t.order_id < $2)",
            (None, false) => "t.order_date IS NULL AND t.order_id > $2",
        });
    }
    if let Some(status_id) = &page.status_id {
        parameters.push(status_id);
        condition(&format!("t.status_id = ${}", parameters.len()));
    }
    if let Some(before) = &page.before {
        parameters.push(before);
        condition(&format!("t.order_date <= ${}", parameters.len()));
    }
    let direction = if page.reverse { "DESC" } else { "ASC" };
    let select = select_orders(extras);
    let sql = format!("{select}{conditions} ORDER BY t.order_date {direction}, t.order_id {direction} LIMIT $1");
    (sql, parameters)
}

fn select_orders(extras: OrderExtras) -> String {
    let count = if extras.count {
        ", (SELECT count(DISTINCT item.external_id) FROM order_item AS item WHERE item.order_id = t.order_id)"
    } else {
        ""
    };
    let (customer, customer_join) = if extras.customer {
        (
            ", customer.party_id, customer.first_name, customer.last_name",
            " LEFT JOIN LATERAL (
                SELECT * FROM orderql.bill_to_customer WHERE order_id = t.order_id LIMIT 1
            ) AS customer ON TRUE",
        )
    } else {
        ("", "")
    };
    format!(
        "SELECT t.order_id, t.order_name, t.external_id, t.status_id, t.order_date, t.grand_total, t.currency_uom{count}{customer} \
         FROM order_header AS t{customer_join}"
    )
}
