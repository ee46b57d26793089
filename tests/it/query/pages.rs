//! A server over rows of a test's own, asked for pages over HTTP and walked through from end to end.

use std::fmt::Write as _;

use orderql::access::profile::Profile;
use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::support::database::{Database, migrated_database};
use crate::support::http::{JSON, Response};
use crate::support::server::Server;
use crate::support::users::create_users;

/// A caller whom no budget stops: these tests are about what is answered.
const UNHELD: Profile =
    Profile { max_cost: Some(1_000_000), bucket_size: Some(1_000_000_000), max_depth: Some(12), ..Profile::DEFAULT };

/// A server, its database, and a caller of it.
pub struct Service {
    server: Server,
    client: Client,
    token: String,
    /// Dropped last.
    _database: Database,
}

/// A connection, at one place of a query.
#[derive(Clone, Copy)]
pub struct Connection<'a> {
    /// What stands around the field, whose place is `*`.
    pub around: &'a str,
    /// The way to the field's object in the answer.
    pub object: &'a str,
    /// The field.
    pub field: &'a str,
    /// The arguments that decide its order, with a comma behind them.
    pub order: &'a str,
    /// The field of a row that tells it from others.
    pub id: &'a str,
}

/// A page as it was answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    pub ids: Vec<String>,
    pub cursors: Vec<String>,
    pub has_previous: bool,
    pub has_next: bool,
}

impl Service {
    /// Serves an empty database with these rows. Who is referred to need not be there.
    pub async fn with(rows: &str) -> Self {
        Self::on(migrated_database().await, rows).await
    }

    /// Serves that database, with these rows.
    pub async fn on(database: Database, rows: &str) -> Self {
        let mut client = database.connect().await;
        create_users(&mut client, &[("demo", UNHELD)]).await;
        client.batch_execute(&format!("SET session_replication_role = replica; {rows}")).await.unwrap();
        let server = Server::start(&database, &[]);
        let token = server.token("demo");
        Self { server, client, token, _database: database }
    }

    /// Does something to the rows.
    pub async fn run(&self, sql: &str) {
        self.client.batch_execute(sql).await.unwrap();
    }

    /// The first column of what PostgreSQL itself finds.
    pub async fn list(&self, sql: &str) -> Vec<String> {
        self.client.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }

    /// The whole answer.
    pub fn answer(&self, query: &str, variables: &Value) -> Response {
        self.server.post(&self.token, JSON, json!({ "query": query, "variables": variables }).to_string())
    }

    /// The `data` of an answer that has no errors.
    pub fn data(&self, query: &str) -> Value {
        let mut answer = self.answer(query, &json!({})).json();
        assert_eq!(answer.get("errors"), None, "{query}: {answer}");
        answer["data"].take()
    }

    /// Several pages of a connection, asked for in one query under an alias each.
    pub fn pages(&self, connection: Connection<'_>, pages: &[String]) -> Vec<Page> {
        let data = self.data(&connection.query(pages));
        let object = data.pointer(connection.object).unwrap_or_else(|| panic!("{}: {data}", connection.object));
        (0..pages.len()).map(|place| Page::read(&object[format!("p{place}")])).collect()
    }

    /// One page of a connection.
    pub fn page(&self, connection: Connection<'_>, page: &str) -> Page {
        self.pages(connection, &[page.to_owned()]).remove(0)
    }

    /// Sees that walks of several page sizes, from the front and from the back, come to exactly these rows in this order.
    pub fn assert_walks(&self, connection: Connection<'_>, rows: &[String]) {
        assert!(rows.len() > 3, "too few to walk through: {rows:?}");
        for size in [1, 2, 3, rows.len()] {
            assert_eq!(self.walk(connection, size, rows.len(), "first", "after"), rows, "by {size} from the front");
            assert_eq!(self.walk(connection, size, rows.len(), "last", "before"), rows, "by {size} from the back");
        }
    }

    /// The rows of a walk, which goes on as long as a page says that there is more.
    fn walk(&self, connection: Connection<'_>, size: usize, rows: usize, end: &str, beyond: &str) -> Vec<String> {
        let (mut seen, mut page) = (Vec::new(), format!("{end}: {size}"));
        // A walk that repeats its rows may never end.
        for _ in 0..=rows {
            let Page { ids, cursors, has_previous, has_next } = self.page(connection, &page);
            let (cursor, has_more) =
                if end == "first" { (cursors.last(), has_next) } else { (cursors.first(), has_previous) };
            page = format!("{end}: {size}, {beyond}: {}", json!(cursor));
            let place = if end == "first" { seen.len() } else { 0 };
            seen.splice(place..place, ids);
            if !has_more {
                break;
            }
        }
        seen
    }
}

impl Connection<'_> {
    /// A query for these pages, each by its arguments.
    pub fn query(&self, pages: &[String]) -> String {
        let Self { around, field, order, id, .. } = self;
        let mut fields = String::new();
        for (place, page) in pages.iter().enumerate() {
            let _ = write!(
                fields,
                "p{place}: {field}({order}{page}) {{ edges {{ cursor node {{ {id} }} }} \
                 pageInfo {{ hasPreviousPage hasNextPage startCursor endCursor }} }} "
            );
        }
        format!("{{ {} }}", around.replace('*', &fields))
    }
}

impl Page {
    fn read(connection: &Value) -> Self {
        let edges = connection["edges"].as_array().unwrap_or_else(|| panic!("{connection}"));
        let (ids, cursors): (Vec<_>, Vec<_>) =
            edges.iter().map(|edge| (id(&edge["node"]), text(&edge["cursor"]))).unzip();
        let info = &connection["pageInfo"];
        assert_eq!(info["startCursor"], json!(cursors.first()));
        assert_eq!(info["endCursor"], json!(cursors.last()));
        let flag = |name: &str| info[name].as_bool().unwrap_or_else(|| panic!("{name}: {connection}"));
        Self { has_previous: flag("hasPreviousPage"), has_next: flag("hasNextPage"), ids, cursors }
    }
}

/// The only field of a row.
fn id(node: &Value) -> String {
    text(node.as_object().unwrap().values().next().unwrap())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}
