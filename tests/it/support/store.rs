//! A server with the demo orders, and order updates as a store's app sends them.

use std::fmt::Write as _;
use std::thread;

use orderql::access::profile::Profile;
use serde_json::Value;
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::support::command::{orderql, run};
use crate::support::database::{Database, loaded_database};
use crate::support::http::{Response, with_body};
use crate::support::server::{Server, connection_string};
use crate::support::users::create_users;

pub const URLENCODED: &str = "Content-Type: application/x-www-form-urlencoded";
const FLAGS: [&str; 8] =
    ["--writer-pool-size", "8", "--concurrent-updates", "8", "--updates-per-second", "100000", "--pool-wait", "30s"];
pub const MULTIPART: &str = "Content-Type: multipart/form-data; boundary=----part";

/// A server, its database, and a connection to inspect the tables.
pub struct Store {
    pub server: Server,
    pub client: Client,
    pub token: String,
    // The last field, because fields are dropped in order and the others use it.
    pub database: Database,
}

impl Store {
    /// Starts a server on all demo orders. The users `demo` and `other` have all grants, `guest` has none.
    pub async fn open() -> Self {
        let database = loaded_database().await;
        let profile = Profile { bucket_size: Some(1_000_000), ..Profile::default() };
        let mut client = database.connect().await;
        create_users(&mut client, &[("demo", profile), ("other", profile), ("guest", profile)]).await;
        let server = Server::start(&database, &FLAGS);
        let token = server.token("demo");
        Self { server, client, token, database }
    }

    /// As [`Store::open`], with a role that has the privileges that `orderql doctor` asks for, and no others.
    pub async fn open_with_least_privileges() -> Self {
        let mut store = Self::open().await;
        let role = format!("least_{}", store.database.name());
        store
            .execute(&format!(
                "DROP ROLE IF EXISTS {role}; CREATE ROLE {role} LOGIN; REVOKE ALL ON SCHEMA orderql FROM PUBLIC"
            ))
            .await;
        let address = connection_string(&store.database.config()).replace("user=postgres", &format!("user={role}"));
        let grants = || -> Vec<String> {
            let examined = run(orderql().args(["doctor", "--json", "--database-url", &address]), "");
            let findings: Value = serde_json::from_str(&examined.stdout).unwrap();
            let remedies = findings.as_array().unwrap().iter().filter_map(|finding| finding["remedy"].as_str());
            remedies.filter(|remedy| remedy.ends_with(" -- as the tables' owner")).map(str::to_owned).collect()
        };
        // Without the schema nothing else can be examined.
        for count in [1, 3] {
            let asked = grants();
            assert_eq!(asked.len(), count, "{asked:?}");
            store.execute(&asked.join("\n")).await;
        }
        assert_eq!(grants(), [""; 0]);
        store.server = Server::start_on(&address, &FLAGS);
        store.token = store.server.token("demo");
        store
    }

    /// Sends an urlencoded form.
    pub fn update(&self, form: &str) -> Response {
        self.send(&[URLENCODED], form)
    }

    /// Sends an urlencoded form with an `Idempotency-Key`.
    pub fn update_with_key(&self, key: &str, form: &str) -> Response {
        self.send(&[URLENCODED, &format!("Idempotency-Key: {key}")], form)
    }

    /// Sends a body with these headers and the token of `demo`.
    pub fn send(&self, headers: &[&str], body: &str) -> Response {
        self.send_as(&self.token, headers, body)
    }

    /// Sends a body with these headers and that token.
    pub fn send_as(&self, token: &str, headers: &[&str], body: &str) -> Response {
        self.server.send(update_request(token, headers, body))
    }

    /// Sends two updates at the same time: both wait for locks, on the orders or on each other, before either can finish.
    pub async fn send_together(&self, send: [&(dyn Fn() -> Response + Sync); 2]) -> [Response; 2] {
        let mut other = self.database.connect().await;
        let lock = other.transaction().await.unwrap();
        lock.batch_execute("SELECT FROM order_header FOR UPDATE").await.unwrap();
        thread::scope(|scope| {
            let sent = send.map(|send| scope.spawn(send));
            tokio::task::block_in_place(|| {
                tokio::runtime::Handle::current().block_on(async {
                    self.database.wait_for_lock_waits(2).await;
                    lock.commit().await.unwrap();
                });
            });
            sent.map(|sent| sent.join().unwrap())
        })
    }

    /// The `data` of a GraphQL query, with each connection as the list of its nodes.
    pub fn query(&self, query: &str) -> Value {
        let mut body = self.server.query(&self.token, query).json();
        assert_eq!(body.get("errors"), None, "{body}");
        without_edges(body["data"].take())
    }

    /// The rows of an SQL query. Each is a text of its columns, separated by spaces; null is `-`.
    pub async fn rows(&self, query: &str) -> Vec<String> {
        let mut rows = Vec::new();
        for message in self.client.simple_query(query).await.unwrap() {
            if let SimpleQueryMessage::Row(row) = message {
                let columns: Vec<_> = (0..row.len()).map(|column| row.get(column).unwrap_or("-")).collect();
                rows.push(columns.join(" "));
            }
        }
        rows
    }

    /// Executes SQL statements.
    pub async fn execute(&self, statements: &str) {
        self.client.batch_execute(statements).await.unwrap();
    }

    /// Copies OFBiz's tables, for [`Store::restore`].
    pub async fn keep(&self) {
        self.execute(
            "CREATE SCHEMA kept; \
             DO $$ DECLARE name text; BEGIN \
                 FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' LOOP \
                     EXECUTE format('CREATE TABLE kept.%1$I AS TABLE public.%1$I', name); \
                 END LOOP; \
             END $$",
        )
        .await;
    }

    /// Restores the tables that have changed since [`Store::keep`], and the ids of new rows.
    pub async fn restore(&self) {
        self.execute(
            "DO $$ DECLARE name text; differs boolean; BEGIN \
                 SET LOCAL session_replication_role = replica; \
                 FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'kept'::regnamespace AND relkind = 'r' LOOP \
                     EXECUTE format('SELECT EXISTS ((TABLE public.%1$I EXCEPT TABLE kept.%1$I) \
                                         UNION ALL (TABLE kept.%1$I EXCEPT TABLE public.%1$I))', name) INTO differs; \
                     IF differs THEN \
                         EXECUTE format('DELETE FROM public.%1$I; INSERT INTO public.%1$I TABLE kept.%1$I', name); \
                     END IF; \
                 END LOOP; \
             END $$; \
             DELETE FROM orderql.order_update; \
             ALTER SEQUENCE orderql.entity_id RESTART",
        )
        .await;
    }

    /// The rows of every table that an update may change.
    pub async fn updatable_rows(&self) -> Vec<String> {
        self.rows(
            "SELECT 'update', order_update_id::text FROM orderql.order_update
             UNION ALL SELECT 'item', item::text FROM shipment_item AS item
             UNION ALL SELECT 'link', link::text FROM order_shipment AS link
             UNION ALL SELECT 'line', line::text FROM order_item AS line WHERE order_id LIKE 'ORDER_IN%'
             UNION ALL SELECT 'group', own::text FROM order_item_ship_group AS own
             UNION ALL SELECT 'reserved', reserved::text FROM order_item_ship_grp_inv_res AS reserved
             UNION ALL SELECT 'stock', stock::text FROM inventory_item AS stock
             UNION ALL SELECT 'box', box::text FROM shipment_package AS box
             UNION ALL SELECT 'login', login.user_login_id FROM user_login AS login
             UNION ALL SELECT 'shipment', shipment::text FROM shipment ORDER BY 1, 2",
        )
        .await
    }
}

/// A complete request for an update.
pub fn update_request(token: &str, headers: &[&str], body: &str) -> String {
    let mut head = format!("POST /api/updateOrder HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n");
    for header in headers {
        let _ = write!(head, "{header}\r\n");
    }
    with_body(&head, body)
}

/// An urlencoded form as a multipart body.
pub fn multipart(form: &str) -> String {
    let mut body = String::new();
    for (name, value) in form_urlencoded::parse(form.as_bytes()) {
        let _ = write!(body, "------part\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
    }
    body + "------part--\r\n"
}

/// Replaces each connection by the list of its nodes.
fn without_edges(value: Value) -> Value {
    match value {
        Value::Object(mut fields) => match fields.remove("edges") {
            Some(Value::Array(edges)) => edges.into_iter().map(|mut edge| without_edges(edge["node"].take())).collect(),
            _ => fields.into_iter().map(|(name, value)| (name, without_edges(value))).collect(),
        },
        other => other,
    }
}

/// The error messages of a response. Panics if its two forms of the messages differ.
pub fn messages(response: &Response) -> Vec<String> {
    let body = response.json();
    let list: Vec<String> = serde_json::from_value(body["_ERROR_MESSAGE_LIST_"].clone()).unwrap();
    assert_eq!(body["_ERROR_MESSAGE_"], list.join("\n"));
    assert_eq!(body.as_object().unwrap().len(), 2);
    list
}
