//! Schemas of databases that have nothing to do with OFBiz: the kinds of columns and relations that people have, over HTTP.

mod arrays;
mod bounded_lists;
mod byte_keys;
mod collations;
mod encodings;
mod enum_keys;
mod enums;
mod introspection;
mod keys;
mod lists_where_null;
mod missing_indexes;
mod names;
mod odd_numbers;
mod other_types;
mod relation_kinds;
mod soft_deletes;
mod text_search;
mod ties;
mod times;
mod unrepresentable;

use std::io::Write as _;

use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::support::command::{CommandResult, orderql_on, run};
use crate::support::database::{Database, empty_database};
use crate::support::http::{graphql_head, read_last_response, with_body};
use crate::support::server::Server;
use crate::support::test_folder::TestFolder;
use crate::support::users::{UNLIMITED_PROFILE, create_users};

/// A database and a schema file.
pub struct OwnSchema {
    pub database: Database,
    pub client: Client,
    folder: TestFolder,
}

impl OwnSchema {
    /// A database with these tables, and this schema file. `name` is unique among all tests.
    pub async fn create(name: &str, tables: &str, schema: &str) -> Self {
        Self::create_in(empty_database().await, name, tables, schema).await
    }

    /// The same in a database without tables.
    pub async fn create_in(database: Database, name: &str, tables: &str, schema: &str) -> Self {
        let mut client = database.connect().await;
        client.batch_execute(tables).await.unwrap();
        let folder = TestFolder::create(&format!("own-{name}"));
        let own = Self { database, client, folder };
        own.write(schema);
        assert!(own.run(&["migrate", "--only", "service"]).succeeded);
        client = own.database.connect().await;
        create_users(&mut client, &[("demo", UNLIMITED_PROFILE)]).await;
        own
    }

    /// The path of the schema file.
    pub fn file(&self) -> String {
        self.folder.path().join("schema.graphql").to_str().unwrap().to_owned()
    }

    /// Replaces the schema file.
    pub fn write(&self, schema: &str) {
        std::fs::write(self.file(), schema).unwrap();
    }

    /// Runs a command on the database.
    pub fn run(&self, arguments: &[&str]) -> CommandResult {
        run(orderql_on(&self.database).args(arguments), "")
    }

    /// The error of `schema check`, or nothing.
    pub fn check(&self) -> String {
        self.run(&["schema", "check", &self.file()]).stderr
    }

    /// Serves the schema, with further flags.
    pub fn serve(&self, flags: &[&str]) -> Served {
        let file = self.file();
        let server = Server::start(&self.database, &[&["--schema", &file], flags].concat());
        let token = server.token("demo");
        Served { server, token }
    }
}

/// A server of such a schema.
pub struct Served {
    pub server: Server,
    token: String,
}

/// The pages of a list.
#[derive(Debug, Default)]
pub struct Pages {
    /// The field that was selected of each row, in the order of the list.
    pub values: Vec<Value>,
    pub count: usize,
    /// Of how many pages a search ended before they were full.
    pub short: usize,
}

impl Served {
    /// The response to a query.
    pub fn query(&self, query: &str) -> Value {
        self.server.query(&self.token, query).json()
    }

    /// The lines of an export.
    pub fn export(&self, query: &str) -> Vec<Value> {
        let body = json!({ "query": query }).to_string();
        let request = with_body(&graphql_head(&self.token, "application/x-ndjson"), &body);
        let mut stream = self.server.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let (response, body) = read_last_response(stream);
        let body = String::from_utf8(body).unwrap();
        assert_eq!(response.status, 200, "{body}");
        body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The code and message of a query's first error.
    pub fn error(&self, query: &str) -> (String, String) {
        let response = self.query(query);
        let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{response}")).to_owned();
        let error = &response["errors"][0];
        (text(&error["extensions"]["code"]), text(&error["message"]))
    }

    /// Reads all pages of a root, forward or from its end.
    pub fn pages(&self, root: &str, arguments: &str, field: &str, size: usize, backward: bool) -> Pages {
        let (take, from, more, next) = if backward {
            ("last", "before", "hasPreviousPage", "startCursor")
        } else {
            ("first", "after", "hasNextPage", "endCursor")
        };
        let (mut pages, mut position) = (Pages::default(), String::new());
        loop {
            let query = format!(
                "{{ {root}({take}: {size} {position} {arguments}) {{ edges {{ node {{ {field} }} }} pageInfo {{ {more} {next} }} }} }}"
            );
            let response = self.query(&query);
            let page = &response["data"][root];
            let edges = page["edges"].as_array().unwrap_or_else(|| panic!("{query}: {response}"));
            let values: Vec<_> = edges.iter().map(|edge| edge["node"][field].clone()).collect();
            pages.count += 1;
            pages.short += usize::from(!response["extensions"]["search"].is_null());
            if backward {
                pages.values.splice(0..0, values);
            } else {
                pages.values.extend(values);
            }
            if page["pageInfo"][more] == Value::Bool(false) {
                return pages;
            }
            position = format!("{from}: {}", page["pageInfo"][next]);
        }
    }
}

/// The only column of a query's rows, as JSON.
pub async fn rows(client: &Client, sql: &str) -> Vec<Value> {
    let rows = client.query(&format!("SELECT to_json(v)::text FROM ({sql}) AS r (v)"), &[]).await;
    let rows = rows.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    let value = |text: Option<String>| text.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap());
    rows.iter().map(|row| value(row.get(0))).collect()
}
