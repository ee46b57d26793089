//! The pool, and the queries.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use deadpool_postgres::{BuildError, Manager, ManagerConfig, Pool, PoolError, RecyclingMethod};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, NoTls, Row};

use crate::nodes::{GroupExtras, Order, OrderExtras, OrderItem, ShipGroup};
use crate::pages::{ChildPage, Children, GroupsOfOrder, ItemsOfGroup, ItemsOfOrder, OrdersPage, Page};
use crate::statements;

/// orderql's own settings, of `src/database/connection/session.rs`.
const SETTINGS: &str = "-c plan_cache_mode=force_generic_plan -c enable_mergejoin=off -c enable_hashjoin=off \
                        -c enable_incremental_sort=off -c random_page_cost=2 -c jit=off \
                        -c default_transaction_read_only=on -c TimeZone=UTC -c search_path=public";

/// As many connections as orderql has.
fn connections() -> usize {
    2 * thread::available_parallelism().map_or(1, usize::from) + 1
}

#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error("no connection to the database")]
    Pool(#[from] PoolError),
    #[error("the database rejected a statement")]
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
        let pool = Pool::builder(Manager::from_config(config, NoTls, manager)).max_size(connections()).build()?;
        Ok(Self { pool })
    }

    pub async fn order(&self, order_id: &str, extras: OrderExtras) -> Result<Option<Order>, DatabaseError> {
        let rows = self.query(&statements::order(extras), &[&order_id]).await?;
        Ok(rows.first().map(|row| Order::read(row, extras)).transpose()?)
    }

    /// The orders of a page, and whether there is a next page.
    pub async fn orders(&self, page: &OrdersPage, extras: OrderExtras) -> Result<(Vec<Order>, bool), DatabaseError> {
        let limit = page.first + 1;
        let (sql, parameters) = statements::orders(page, &limit, extras);
        let rows = self.query(&sql, &parameters).await?;
        let shown = rows.iter().take(usize::try_from(page.first).unwrap_or(usize::MAX));
        let orders: Vec<_> = shown.map(|row| Order::read(row, extras)).collect::<Result<_, _>>()?;
        let has_next = rows.len() > orders.len();
        Ok((orders, has_next))
    }

    pub async fn items_of_orders(&self, keys: &[ItemsOfOrder]) -> Result<Vec<Children<OrderItem>>, DatabaseError> {
        let orders: Vec<_> = keys.iter().map(|key| key.order_id.as_str()).collect();
        let pages = Pages::new(keys.iter().map(|key| &key.page));
        let rows = self.query(statements::ITEMS_OF_ORDERS, &[&orders, &pages.after, &pages.limit]).await?;
        children(&rows, &pages, OrderItem::read)
    }

    pub async fn items_of_groups(&self, keys: &[ItemsOfGroup]) -> Result<Vec<Children<OrderItem>>, DatabaseError> {
        let orders: Vec<_> = keys.iter().map(|key| key.order_id.as_str()).collect();
        let groups: Vec<_> = keys.iter().map(|key| key.ship_group_seq_id.as_str()).collect();
        let pages = Pages::new(keys.iter().map(|key| &key.page));
        let rows = self.query(statements::ITEMS_OF_GROUPS, &[&orders, &pages.after, &pages.limit, &groups]).await?;
        children(&rows, &pages, OrderItem::read)
    }

    pub async fn groups_of_orders(&self, keys: &[GroupsOfOrder]) -> Result<Vec<Children<ShipGroup>>, DatabaseError> {
        let extras = GroupExtras {
            address: keys.iter().any(|key| key.extras.address),
            method: keys.iter().any(|key| key.extras.method),
        };
        let orders: Vec<_> = keys.iter().map(|key| key.order_id.as_str()).collect();
        let pages = Pages::new(keys.iter().map(|key| &key.page));
        let rows = self.query(&statements::groups_of_orders(extras), &[&orders, &pages.after, &pages.limit]).await?;
        children(&rows, &pages, |row| ShipGroup::read(row, extras))
    }

    async fn query(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, DatabaseError> {
        let client = self.pool.get().await?;
        let statement = client.prepare_cached(sql).await?;
        Ok(client.query(&statement, parameters).await?)
    }
}

/// Why the pool cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum NewError {
    #[error("the database's URL cannot be read")]
    Url(#[from] tokio_postgres::Error),
    #[error("the pool cannot be created")]
    Pool(#[from] BuildError),
}

/// The pages of a batch, as array parameters of its statement.
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

/// Distributes the rows of a batch to their parents. The first column is the parent's position, from 1.
fn children<Node>(
    rows: &[Row],
    pages: &Pages<'_>,
    node: impl Fn(&Row) -> Result<Node, tokio_postgres::Error>,
) -> Result<Vec<Children<Node>>, DatabaseError> {
    let empty = || ChildPage { nodes: Vec::new(), has_next: false };
    let mut children: Vec<_> = pages.limit.iter().map(|_| empty()).collect();
    for row in rows {
        let position: i64 = row.try_get(0)?;
        let index = usize::try_from(position - 1).unwrap_or(usize::MAX);
        let (Some(page), Some(limit)) = (children.get_mut(index), pages.limit.get(index)) else { continue };
        if usize::try_from(*limit).is_ok_and(|limit| page.nodes.len() + 1 < limit) {
            page.nodes.push(Arc::new(node(row)?));
        } else {
            page.has_next = true;
        }
    }
    Ok(children.into_iter().map(Arc::new).collect())
}
