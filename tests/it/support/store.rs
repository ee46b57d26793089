//! A server on the demo orders, and what a store's app sends it.

use std::fmt::Write as _;
use std::thread;

use orderql::access::accounts::{Profile, User, ensure_user};
use orderql::access::password::Passwords;
use serde_json::{Value, json};
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::support::database::{Database, loaded_database};
use crate::support::server::{Answer, Server};

pub const URLENCODED: &str = "Content-Type: application/x-www-form-urlencoded";
pub const MULTIPART: &str = "Content-Type: multipart/form-data; boundary=----part";

/// A server, its database, and a connection to look into it.
pub struct Store {
    pub server: Server,
    pub client: Client,
    pub token: String,
    // Dropped last: the others use it.
    pub database: Database,
}

impl Store {
    /// A store with all demo orders, and the users `demo` and `other`, who may do everything, and `guest`, who may not.
    pub async fn open() -> Self {
        let database = loaded_database().await;
        let passwords = Passwords::new(1).unwrap();
        let profile = Profile { bucket_size: Some(1_000_000), ..Profile::default() };
        for (user_id, groups) in [("demo", &["API"][..]), ("other", &["API"]), ("guest", &[])] {
            let user = User { user_id, password: user_id, groups, profile };
            ensure_user(&mut database.connect().await, &passwords, &user).await.unwrap();
        }
        let server = Server::start(&database, &["--writer-pool-size", "8", "--pool-wait", "30s"]);
        let token = server.token("demo");
        Self { client: database.connect().await, server, token, database }
    }

    /// Sends an urlencoded form.
    pub fn update(&self, form: &str) -> Answer {
        self.send(&[URLENCODED], form)
    }

    /// The same with an `Idempotency-Key`.
    pub fn update_once(&self, key: &str, form: &str) -> Answer {
        self.send(&[URLENCODED, &format!("Idempotency-Key: {key}")], form)
    }

    /// Sends a body with headers beside the token.
    pub fn send(&self, headers: &[&str], body: &str) -> Answer {
        self.send_as(&self.token, headers, body)
    }

    /// Sends a body as somebody else.
    pub fn send_as(&self, token: &str, headers: &[&str], body: &str) -> Answer {
        let mut answers = self.server.exchange(request(token, headers, body));
        assert_eq!(answers.len(), 1, "{answers:?}");
        answers.remove(0)
    }

    /// Sends both at once: neither is answered before both wait for the order, or for one another.
    pub async fn at_once(&self, send: [&(dyn Fn() -> Answer + Sync); 2]) -> [Answer; 2] {
        let mut holder = self.database.connect().await;
        let hold = holder.transaction().await.unwrap();
        hold.batch_execute("SELECT FROM order_header FOR UPDATE").await.unwrap();
        thread::scope(|scope| {
            let sent = send.map(|send| scope.spawn(send));
            tokio::task::block_in_place(|| {
                tokio::runtime::Handle::current().block_on(async {
                    self.wait_for(2).await;
                    hold.commit().await.unwrap();
                });
            });
            sent.map(|sent| sent.join().unwrap())
        })
    }

    /// Waits until so many connections wait for locks.
    pub async fn wait_for(&self, waiting: i64) {
        let count =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while self.client.query_one(count, &[]).await.unwrap().get::<_, i64>(0) != waiting {}
    }

    /// Asks GraphQL for `data`.
    pub fn ask(&self, query: &str) -> Value {
        let body = json!({ "query": query }).to_string();
        let head = format!(
            "POST /rest/s1/graphql HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            self.token,
            body.len()
        );
        let answer = self.server.exchange(head + &body).remove(0).json();
        assert_eq!(answer.get("errors"), None, "{answer}");
        without_edges(answer["data"].clone())
    }

    /// The rows of a query, the columns of each with spaces between; null is `-`.
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

    /// Changes the database as an operator would.
    pub async fn set(&self, statements: &str) {
        self.client.batch_execute(statements).await.unwrap();
    }

    /// Whether an update has left any trace, as text to compare.
    pub async fn traces(&self) -> Vec<String> {
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

/// A request for an update.
pub fn request(token: &str, headers: &[&str], body: &str) -> String {
    let mut head = format!("POST /api/updateOrder HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n");
    for header in headers {
        let _ = write!(head, "{header}\r\n");
    }
    format!("{head}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

/// The same parameters as multipart.
pub fn multipart(form: &str) -> String {
    let mut body = String::new();
    for (name, value) in form_urlencoded::parse(form.as_bytes()) {
        let _ = write!(body, "------part\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
    }
    body + "------part--\r\n"
}

/// Connections as the lists of their nodes.
fn without_edges(value: Value) -> Value {
    match value {
        Value::Object(mut fields) => match fields.remove("edges") {
            Some(Value::Array(edges)) => edges.into_iter().map(|mut edge| without_edges(edge["node"].take())).collect(),
            _ => fields.into_iter().map(|(name, value)| (name, without_edges(value))).collect(),
        },
        other => other,
    }
}

/// The messages of a refusal, after holding both of its forms against each other.
pub fn messages(answer: &Answer) -> Vec<String> {
    let body = answer.json();
    let list: Vec<String> = serde_json::from_value(body["_ERROR_MESSAGE_LIST_"].clone()).unwrap();
    assert_eq!(body["_ERROR_MESSAGE_"], list.join("\n"));
    assert_eq!(body.as_object().unwrap().len(), 2);
    list
}
