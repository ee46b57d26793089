//! A reader of the feed of orders, in SQL: it copies what it reads, as a client of the feed does.

use std::collections::BTreeMap;

use tokio_postgres::Client;

/// What an order and the rows that belong to it amount to. Writers only add to it, so that a later version is a greater number.
macro_rules! version {
    () => {
        "(SELECT
            header.grand_total
            + (SELECT coalesce(sum(item.quantity), 0) FROM order_item AS item WHERE item.order_id = header.order_id)
            + (SELECT coalesce(sum(item.quantity), 0) FROM shipment JOIN shipment_item AS item USING (shipment_id)
               WHERE shipment.primary_order_id = header.order_id)
            + (SELECT coalesce(sum(1 + coalesce(return_header.external_id, '0')::numeric), 0)
               FROM return_item JOIN return_header USING (return_id) WHERE return_item.order_id = header.order_id)
         )::float8"
    };
}

/// One page: what is visible in `until` and not in `since`, after a position. An order comes once, with its last transaction.
const PAGE: &str = concat!(
    "WITH place AS MATERIALIZED (
        SELECT coalesce($2::text::pg_snapshot, pg_current_snapshot()) AS until
    ), marks AS (
        SELECT xid, order_id FROM orderql.order_change
        WHERE xid = ANY (ARRAY(SELECT pg_snapshot_xip($1::text::pg_snapshot)))
        UNION ALL
        SELECT xid, order_id FROM orderql.order_change WHERE xid >= pg_snapshot_xmax($1::text::pg_snapshot)
    ), changed AS (
        SELECT DISTINCT ON (order_id) xid, order_id
        FROM marks
        WHERE pg_visible_in_snapshot(xid, (SELECT until FROM place))
        ORDER BY order_id, xid DESC
    )
    SELECT place.until::text, pg_current_wal_insert_lsn()::text, page.xid::text, page.order_id, page.version
    FROM place
    LEFT JOIN LATERAL (
        SELECT changed.xid, changed.order_id, ",
    version!(),
    " AS version
        FROM changed
        LEFT JOIN order_header AS header ON header.order_id = changed.order_id
        WHERE (changed.xid, changed.order_id) > ($3::text::xid8, $4::text)
        ORDER BY changed.xid, changed.order_id
        LIMIT $5
    ) AS page ON true"
);

const ALL: &str = concat!("SELECT header.order_id, ", version!(), " FROM order_header AS header");

/// All orders with their versions.
pub type Orders = BTreeMap<String, f64>;

/// A client that copies orders.
pub struct Reader {
    size: i64,
    /// What the copy has: everything visible in this snapshot.
    pub since: String,
    pub copy: Orders,
    /// Orders that were delivered.
    pub delivered: u64,
}

/// Reads all orders. Those without a version do not exist.
pub async fn all(client: &Client) -> Orders {
    client.query(ALL, &[]).await.unwrap().iter().map(|row| (row.get(0), row.get(1))).collect()
}

impl Reader {
    /// Takes a token for now, and copies all orders afterwards.
    pub async fn start(client: &Client, size: i64) -> Self {
        let since = client.query_one("SELECT pg_current_snapshot()::text", &[]).await.unwrap().get(0);
        Self { size, since, copy: all(client).await, delivered: 0 }
    }

    /// Reads all pages of what changed since, which begin with the session's snapshot. Returns where the write-ahead log ended when
    /// the last one was read: it shows the newest data.
    pub async fn read(&mut self, client: &Client) -> String {
        let mut until = None::<String>;
        let mut position = ("0".to_owned(), String::new());
        loop {
            let rows = client.query(PAGE, &[&self.since, &until, &position.0, &position.1, &self.size]).await.unwrap();
            until.get_or_insert_with(|| rows[0].get(0));
            let end = rows[0].get(1);
            let mut count = 0;
            for row in &rows {
                let Some(xid) = row.get::<_, Option<String>>(2) else { continue };
                let (order, version): (String, Option<f64>) = (row.get(3), row.get(4));
                match version {
                    Some(version) => self.copy.insert(order.clone(), version),
                    None => self.copy.remove(&order),
                };
                position = (xid, order);
                count += 1;
            }
            self.delivered += u64::try_from(count).unwrap();
            if count < self.size {
                self.since = until.unwrap();
                return end;
            }
        }
    }
}
