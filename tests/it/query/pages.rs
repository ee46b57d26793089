//! Pages of connections over HTTP, from a server on rows of a test.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::support::database::{Database, migrated_database};
use crate::support::http::{JSON, Response};
use crate::support::server::Server;
use crate::support::users::{UNLIMITED_PROFILE, create_users};

/// A server, its database, and a token.
pub struct PageReader {
    server: Server,
    client: Client,
    token: String,
    /// The last field, because fields are dropped in order and the others use it.
    _database: Database,
}

/// A connection in a query.
#[derive(Clone, Copy)]
pub struct Connection<'a> {
    /// The rest of the query, with `*` for the field.
    pub around: &'a str,
    /// The JSON pointer of the field's object in `data`.
    pub object: &'a str,
    /// The field.
    pub field: &'a str,
    /// The arguments of the order, with a trailing comma.
    pub order: &'a str,
    /// A field that identifies a row.
    pub id: &'a str,
}

/// A page of a response.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    pub ids: Vec<String>,
    pub cursors: Vec<String>,
    pub has_previous: bool,
    pub has_next: bool,
}

impl PageReader {
    /// Starts a server on a migrated database with these rows. Foreign keys are not checked.
    pub async fn with_rows(rows: &str) -> Self {
        Self::with_database(migrated_database().await, rows).await
    }

    /// Starts a server on that database, with these rows.
    pub async fn with_database(database: Database, rows: &str) -> Self {
        let mut client = database.connect().await;
        create_users(&mut client, &[("demo", UNLIMITED_PROFILE)]).await;
        client.batch_execute(&format!("SET session_replication_role = replica; {rows}")).await.unwrap();
        let server = Server::start(&database, &[]);
        let token = server.token("demo");
        Self { server, client, token, _database: database }
    }

    /// Executes SQL statements.
    pub async fn execute(&self, sql: &str) {
        self.client.batch_execute(sql).await.unwrap();
    }

    /// The first column of an SQL query.
    pub async fn list(&self, sql: &str) -> Vec<String> {
        self.client.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }

    /// The response to a query.
    pub fn query(&self, query: &str, variables: &Value) -> Response {
        self.server.post(&self.token, JSON, json!({ "query": query, "variables": variables }).to_string())
    }

    /// The `data` of a response without errors.
    pub fn data(&self, query: &str) -> Value {
        let mut body = self.query(query, &json!({})).json();
        assert_eq!(body.get("errors"), None, "{query}: {body}");
        body["data"].take()
    }

    /// Several pages of a connection, selected in one query with aliases.
    pub fn pages(&self, connection: Connection<'_>, pages: &[String]) -> Vec<Page> {
        let data = self.data(&connection.query(pages));
        let object = data.pointer(connection.object).unwrap_or_else(|| panic!("{}: {data}", connection.object));
        (0..pages.len()).map(|index| Page::read(&object[format!("p{index}")])).collect()
    }

    /// One page of a connection.
    pub fn page(&self, connection: Connection<'_>, page: &str) -> Page {
        self.pages(connection, &[page.to_owned()]).remove(0)
    }

    /// Pages through a connection with several page sizes, from the front and from the back. Panics unless the rows are exactly
    /// these, in this order.
    pub fn assert_rows(&self, connection: Connection<'_>, rows: &[String]) {
        assert!(rows.len() > 3, "too few rows for pagination: {rows:?}");
        for size in [1, 2, 3, rows.len()] {
            assert_eq!(
                self.page_through(connection, size, rows.len(), "first", "after"),
                rows,
                "by {size} from the front"
            );
            assert_eq!(
                self.page_through(connection, size, rows.len(), "last", "before"),
                rows,
                "by {size} from the back"
            );
        }
    }

    /// Pages through a connection as long as the flag of the last page is true.
    fn page_through(
        &self,
        connection: Connection<'_>,
        size: usize,
        rows: usize,
        end: &str,
        beyond: &str,
    ) -> Vec<String> {
        let (mut seen, mut page) = (Vec::new(), format!("{end}: {size}"));
        // Limits the number of pages, because pages that repeat rows might never end.
        for _ in 0..=rows {
            let Page { ids, cursors, has_previous, has_next } = self.page(connection, &page);
            let (cursor, has_more) =
                if end == "first" { (cursors.last(), has_next) } else { (cursors.first(), has_previous) };
            page = format!("{end}: {size}, {beyond}: {}", json!(cursor));
            let index = if end == "first" { seen.len() } else { 0 };
            seen.splice(index..index, ids);
            if !has_more {
                break;
            }
        }
        seen
    }
}

impl Connection<'_> {
    /// A query for pages with these arguments.
    pub fn query(&self, pages: &[String]) -> String {
        let Self { around, field, order, id, .. } = self;
        let mut fields = String::new();
        for (index, page) in pages.iter().enumerate() {
            let _ = write!(
                fields,
                "p{index}: {field}({order}{page}) {{ edges {{ cursor node {{ {id} }} }} \
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
