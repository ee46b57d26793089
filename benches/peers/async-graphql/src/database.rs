//! The statements and their rows.

use std::sync::Arc;
use std::time::Duration;

use async_graphql::{ID, SimpleObject};
use deadpool_postgres::{BuildError, Manager, ManagerConfig, Pool, PoolError, RecyclingMethod};
use rust_decimal::Decimal;
use time::OffsetDateTime;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, NoTls, Row};

use crate::cursor::OrderCursor;
use crate::loaders::{GroupsOfOrder, ItemsOfGroup, ItemsOfOrder, Page};
use crate::scalar::{DateTime, flag};

/// As many connections as orderql has.
const CONNECTIONS: usize = 16;

/// What orderql sets its connections to: see `src/database/pool.rs` there.
const SETTINGS: &str = "-c plan_cache_mode=force_generic_plan -c enable_mergejoin=off -c enable_hashjoin=off -c jit=off \
                        -c default_transaction_read_only=on -c TimeZone=UTC -c search_path=public";

#[derive(Debug, SimpleObject)]
#[graphql(complex)]
pub struct Order {
    pub order_id: ID,
    pub order_name: Option<String>,
    pub external_id: Option<String>,
    pub status_id: ID,
    pub order_date: Option<DateTime>,
    pub grand_total: Option<Decimal>,
    pub currency_uom_id: Option<ID>,
    pub order_item_count: i64,
    pub bill_to_customer: Option<BillToCustomer>,
}

#[derive(Debug, SimpleObject)]
pub struct BillToCustomer {
    pub party_id: ID,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
}

#[derive(Debug, SimpleObject)]
pub struct OrderItem {
    pub order_item_seq_id: ID,
    pub product_id: Option<ID>,
    pub quantity: Option<Decimal>,
    pub unit_price: Option<Decimal>,
    pub status_id: Option<ID>,
}

#[derive(Debug, SimpleObject)]
#[graphql(complex)]
pub struct ShipGroup {
    pub order_id: ID,
    pub ship_group_seq_id: ID,
    pub facility_id: Option<ID>,
    pub tracking_number: Option<String>,
    pub may_split: Option<bool>,
    pub is_gift: Option<bool>,
    pub ship_from_address: Option<FacilityOriginAddress>,
    pub shipping_method: Option<ShipmentMethodType>,
}

#[derive(Debug, SimpleObject)]
pub struct FacilityOriginAddress {
    pub facility_id: ID,
    pub address1: Option<String>,
    pub city: Option<String>,
    pub postal_code: Option<String>,
    pub state_province_geo_id: Option<ID>,
}

#[derive(Debug, SimpleObject)]
pub struct ShipmentMethodType {
    pub shipment_method_type_id: ID,
    pub description: Option<String>,
}

/// What is joined to an order.
#[derive(Debug, Clone, Copy)]
pub struct Extras {
    pub count: bool,
    pub customer: bool,
}

/// A page of orders by date.
#[derive(Debug)]
pub struct OrdersPage {
    pub first: i64,
    pub after: Option<OrderCursor>,
    pub reverse: bool,
    pub status_id: Option<String>,
    pub before: Option<OffsetDateTime>,
}

/// A page of one parent's children; shared by all who asked for it.
pub type Children<Node> = Arc<ChildPage<Node>>;

#[derive(Debug)]
pub struct ChildPage<Node> {
    pub nodes: Vec<Arc<Node>>,
    pub has_next: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error("no connection to the database")]
    Pool(#[from] PoolError),
    #[error("the database refused a statement")]
    Statement(#[from] tokio_postgres::Error),
}

#[derive(Debug, Clone)]
pub struct Database {
    pool: Pool,
}

impl Database {
    /// A database by its URL, or its key=value form.
    pub fn new(url: &str) -> Result<Self, NewError> {
        let mut config: Config = url.parse()?;
        config.options(SETTINGS).application_name("peer-async-graphql").connect_timeout(Duration::from_secs(2));
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let pool = Pool::builder(Manager::from_config(config, NoTls, manager)).max_size(CONNECTIONS).build()?;
        Ok(Self { pool })
    }

    pub async fn order(&self, order_id: &str, extras: Extras) -> Result<Option<Order>, DatabaseError> {
        let sql = format!("{} WHERE t.order_id = $1", select_orders(extras));
        let rows = self.query(&sql, &[&order_id]).await?;
        Ok(rows.first().map(|row| order(row, extras)).transpose()?)
    }

    /// The orders of a page, and whether there are more.
    pub async fn orders(&self, page: &OrdersPage, extras: Extras) -> Result<(Vec<Order>, bool), DatabaseError> {
        let limit = page.first + 1;
        let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&limit];
        let mut conditions = String::new();
        let mut condition = |text: &str| {
            conditions.push_str(if conditions.is_empty() { " WHERE " } else { " AND " });
            conditions.push_str(text);
        };
        // Ascending, nulls are last; descending, they are first.
        let operator = if page.reverse { '<' } else { '>' };
        if let Some(OrderCursor { date, order_id }) = &page.after {
            parameters.push(order_id);
            match (date, page.reverse) {
                (Some(date), reverse) => {
                    parameters.push(date);
                    let place = format!("(t.order_date, t.order_id) {operator} ($3, $2)");
                    condition(&if reverse { place } else { format!("({place} OR t.order_date IS NULL)") });
                }
                (None, true) => condition("(t.order_date IS NOT NULL OR t.order_id < $2)"),
                (None, false) => condition("t.order_date IS NULL AND t.order_id > $2"),
            }
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
        let sql = format!(
            "{}{conditions} ORDER BY t.order_date {direction}, t.order_id {direction} LIMIT $1",
            select_orders(extras)
        );
        let rows = self.query(&sql, &parameters).await?;
        let shown = rows.iter().take(usize::try_from(page.first).unwrap_or(usize::MAX));
        let orders: Vec<_> = shown.map(|row| order(row, extras)).collect::<Result<_, _>>()?;
        Ok((orders, i64::try_from(rows.len()).is_ok_and(|rows| rows == limit)))
    }

    pub async fn items_of_orders(&self, keys: &[ItemsOfOrder]) -> Result<Vec<Children<OrderItem>>, DatabaseError> {
        let parents: Vec<_> = keys.iter().map(|key| key.order_id.as_str()).collect();
        let pages = Pages::new(keys.iter().map(|key| &key.page));
        let rows = self.query(ITEMS_OF_ORDERS, &[&parents, &pages.after, &pages.limit]).await?;
        children(&rows, &pages, item)
    }

    pub async fn items_of_groups(&self, keys: &[ItemsOfGroup]) -> Result<Vec<Children<OrderItem>>, DatabaseError> {
        let orders: Vec<_> = keys.iter().map(|key| key.order_id.as_str()).collect();
        let groups: Vec<_> = keys.iter().map(|key| key.ship_group_seq_id.as_str()).collect();
        let pages = Pages::new(keys.iter().map(|key| &key.page));
        let rows = self.query(ITEMS_OF_GROUPS, &[&orders, &pages.after, &pages.limit, &groups]).await?;
        children(&rows, &pages, item)
    }

    pub async fn groups_of_orders(&self, keys: &[GroupsOfOrder]) -> Result<Vec<Children<ShipGroup>>, DatabaseError> {
        let with_address = keys.iter().any(|key| key.with_address);
        let with_method = keys.iter().any(|key| key.with_method);
        let parents: Vec<_> = keys.iter().map(|key| key.order_id.as_str()).collect();
        let pages = Pages::new(keys.iter().map(|key| &key.page));
        let sql = groups_of_orders(with_address, with_method);
        let rows = self.query(&sql, &[&parents, &pages.after, &pages.limit]).await?;
        children(&rows, &pages, |row| group(row, with_address, with_method))
    }

    async fn query(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, DatabaseError> {
        let client = self.pool.get().await?;
        let statement = client.prepare_cached(sql).await?;
        Ok(client.query(&statement, parameters).await?)
    }
}

/// Why there is no pool.
#[derive(Debug, thiserror::Error)]
pub enum NewError {
    #[error("the database's URL cannot be read")]
    Url(#[from] tokio_postgres::Error),
    #[error("no pool can be made")]
    Pool(#[from] BuildError),
}

const ITEMS_OF_ORDERS: &str = "\
SELECT parent.place, t.order_item_seq_id, t.product_id, t.quantity, t.unit_price, t.status_id
FROM unnest($1::text[], $2::text[], $3::int8[]) WITH ORDINALITY AS parent (order_id, after, \"limit\", place)
CROSS JOIN LATERAL (
    SELECT order_item_seq_id, product_id, quantity, unit_price, status_id
    FROM order_item
    WHERE order_id = parent.order_id AND order_item_seq_id > parent.after
    ORDER BY order_item_seq_id
    LIMIT parent.\"limit\"
) AS t";

const ITEMS_OF_GROUPS: &str = "\
SELECT parent.place, t.order_item_seq_id, t.product_id, t.quantity, t.unit_price, t.status_id
FROM unnest($1::text[], $2::text[], $3::int8[], $4::text[]) WITH ORDINALITY
    AS parent (order_id, after, \"limit\", ship_group_seq_id, place)
CROSS JOIN LATERAL (
    SELECT order_item_seq_id, product_id, quantity, unit_price, status_id
    FROM order_item
    WHERE order_id = parent.order_id AND ship_group_seq_id = parent.ship_group_seq_id AND order_item_seq_id > parent.after
    ORDER BY order_item_seq_id
    LIMIT parent.\"limit\"
) AS t";

fn groups_of_orders(with_address: bool, with_method: bool) -> String {
    let (address, address_join) = if with_address {
        (
            ", address.facility_id, address.address1, address.city, address.postal_code, address.state_province_geo_id",
            " LEFT JOIN orderql.facility_origin_address AS address ON address.facility_id = t.facility_id",
        )
    } else {
        ("", "")
    };
    let (method, method_join) = if with_method {
        (
            ", method.shipment_method_type_id, method.description",
            " LEFT JOIN shipment_method_type AS method ON method.shipment_method_type_id = t.shipment_method_type_id",
        )
    } else {
        ("", "")
    };
    format!(
        "\
SELECT parent.place, parent.order_id, t.ship_group_seq_id, t.facility_id, t.tracking_number, t.may_split, t.is_gift{address}{method}
FROM unnest($1::text[], $2::text[], $3::int8[]) WITH ORDINALITY AS parent (order_id, after, \"limit\", place)
CROSS JOIN LATERAL (
    SELECT ship_group_seq_id, facility_id, tracking_number, may_split, is_gift, shipment_method_type_id
    FROM orderql.ship_group
    WHERE order_id = parent.order_id AND ship_group_seq_id > parent.after
    ORDER BY ship_group_seq_id
    LIMIT parent.\"limit\"
) AS t{address_join}{method_join}
ORDER BY parent.place, t.ship_group_seq_id"
    )
}

fn select_orders(extras: Extras) -> String {
    let count = if extras.count {
        ", (SELECT count(DISTINCT item.external_id) FROM order_item AS item WHERE item.order_id = t.order_id)"
    } else {
        ""
    };
    let (customer, customer_join) = if extras.customer {
        (
            ", customer.party_id, customer.first_name, customer.last_name",
            " LEFT JOIN orderql.bill_to_customer AS customer ON customer.order_id = t.order_id",
        )
    } else {
        ("", "")
    };
    format!(
        "SELECT t.order_id, t.order_name, t.external_id, t.status_id, t.order_date, t.grand_total, t.currency_uom{count}{customer} \
         FROM order_header AS t{customer_join}"
    )
}

/// The pages of a batch, as the arrays of its statement.
struct Pages<'a> {
    after: Vec<&'a str>,
    limit: Vec<i64>,
}

impl<'a> Pages<'a> {
    fn new(pages: impl Iterator<Item = &'a Page>) -> Self {
        let (after, limit) = pages.map(|page| (page.after.as_str(), page.first + 1)).unzip();
        Self { after, limit }
    }
}

/// Sorts the rows of a batch to their parents, whose place is the first column.
fn children<Node>(
    rows: &[Row],
    pages: &Pages<'_>,
    node: impl Fn(&Row) -> Result<Node, tokio_postgres::Error>,
) -> Result<Vec<Children<Node>>, DatabaseError> {
    let empty = || ChildPage { nodes: Vec::new(), has_next: false };
    let mut children: Vec<_> = pages.limit.iter().map(|_| empty()).collect();
    for row in rows {
        let place: i64 = row.try_get(0)?;
        let place = usize::try_from(place - 1).unwrap_or(usize::MAX);
        let (Some(page), Some(limit)) = (children.get_mut(place), pages.limit.get(place)) else { continue };
        if usize::try_from(*limit).is_ok_and(|limit| page.nodes.len() + 1 < limit) {
            page.nodes.push(Arc::new(node(row)?));
        } else {
            page.has_next = true;
        }
    }
    Ok(children.into_iter().map(Arc::new).collect())
}

fn order(row: &Row, extras: Extras) -> Result<Order, tokio_postgres::Error> {
    let customer = 7 + usize::from(extras.count);
    Ok(Order {
        order_id: id(row, 0)?,
        order_name: row.try_get(1)?,
        external_id: row.try_get(2)?,
        status_id: id(row, 3)?,
        order_date: row.try_get::<_, Option<OffsetDateTime>>(4)?.map(DateTime),
        grand_total: row.try_get(5)?,
        currency_uom_id: maybe_id(row, 6)?,
        order_item_count: if extras.count { row.try_get(7)? } else { 0 },
        bill_to_customer: joined(row, customer, extras.customer, |party_id| {
            Ok(BillToCustomer {
                party_id,
                first_name: row.try_get(customer + 1)?,
                last_name: row.try_get(customer + 2)?,
            })
        })?,
    })
}

fn item(row: &Row) -> Result<OrderItem, tokio_postgres::Error> {
    Ok(OrderItem {
        order_item_seq_id: id(row, 1)?,
        product_id: maybe_id(row, 2)?,
        quantity: row.try_get(3)?,
        unit_price: row.try_get(4)?,
        status_id: maybe_id(row, 5)?,
    })
}

fn group(row: &Row, with_address: bool, with_method: bool) -> Result<ShipGroup, tokio_postgres::Error> {
    let method = if with_address { 12 } else { 7 };
    Ok(ShipGroup {
        order_id: id(row, 1)?,
        ship_group_seq_id: id(row, 2)?,
        facility_id: maybe_id(row, 3)?,
        tracking_number: row.try_get(4)?,
        may_split: flag(row.try_get(5)?),
        is_gift: flag(row.try_get(6)?),
        ship_from_address: joined(row, 7, with_address, |facility_id| {
            Ok(FacilityOriginAddress {
                facility_id,
                address1: row.try_get(8)?,
                city: row.try_get(9)?,
                postal_code: row.try_get(10)?,
                state_province_geo_id: maybe_id(row, 11)?,
            })
        })?,
        shipping_method: joined(row, method, with_method, |shipment_method_type_id| {
            Ok(ShipmentMethodType { shipment_method_type_id, description: row.try_get(method + 1)? })
        })?,
    })
}

/// An object that is joined, where it is selected and there: its key, which is its first column, is not null then.
fn joined<T>(
    row: &Row,
    key: usize,
    selected: bool,
    object: impl FnOnce(ID) -> Result<T, tokio_postgres::Error>,
) -> Result<Option<T>, tokio_postgres::Error> {
    if !selected {
        return Ok(None);
    }
    maybe_id(row, key)?.map(object).transpose()
}

fn id(row: &Row, column: usize) -> Result<ID, tokio_postgres::Error> {
    row.try_get(column).map(ID)
}

fn maybe_id(row: &Row, column: usize) -> Result<Option<ID>, tokio_postgres::Error> {
    Ok(row.try_get::<_, Option<String>>(column)?.map(ID))
}
