//! The attacks.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use clap::ValueEnum;
use h2::Reason;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::attack::attacker::{Attacker, UNREAD, broken};
use crate::client::graphql_request;
use crate::database::LIMITED_USER;
use crate::error::Result;
use crate::orderql::{PATH, token_request};

/// The usual window of an HTTP/2 client.
const USUAL_WINDOW: u32 = 65_535;

/// Streams of an HTTP/2 connection; the server allows 100.
const STREAMS: usize = 99;

/// Connections of an attack over HTTP/1.1.
const CONNECTIONS: usize = 30;

const INTROSPECTION: &str = include_str!("../../micro/documents/introspection.graphql");

/// What is done to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Attack {
    /// Requests are logged, and nobody reads the log
    StalledLog,
    /// One address opens connections and sends nothing
    ConnectionFlood,
    /// 99 large responses on each of 20 HTTP/2 connections are never read
    UnreadResponses,
    /// 99 bodies on each of 8 HTTP/2 connections never end
    UnfinishedBodies,
    /// Wrong passwords for one account
    OneAccount,
    /// Wrong passwords for many accounts
    ManyAccounts,
    /// Searches by 32 lists of 100 values each
    LongLists,
    /// Queries of 94 KB, 420 at the same time
    LargeQueries,
    /// Order updates of many invalid rows
    InvalidForms,
    /// Cursors that the server did not make
    ForgedCursors,
    /// Ever new persisted queries of 90 KB
    LargeTexts,
    /// Ever new persisted queries of a few bytes
    TinyTexts,
    /// Variables of ten thousand small objects and of many more, in requests that wait for credits
    HeavyVariables,
    /// Cursors and schemas under many aliases, compressed
    FreeLeaves,
    /// HTTP/2 streams that are reset at once
    Resets,
    /// Queries of 9,900 unknown fields, 200 at the same time
    InvalidQueries,
    /// Orders whose notes have up to 4 MB each
    LargeValues,
}

/// An order with 100 notes of 1 MB and 100 of 4 MB.
pub const LARGE_VALUES: &str = "
    INSERT INTO order_header (order_id) VALUES ('LARGE1'), ('LARGE4');
    INSERT INTO note_data (note_id, note_info)
    SELECT concat('LARGE', size, n), repeat(md5(n::text), size * 31250) FROM generate_series(1, 100) AS n, unnest(ARRAY[1, 4]) AS size;
    INSERT INTO order_header_note (order_id, note_id) SELECT substr(note_id, 1, 6), note_id FROM note_data WHERE note_id LIKE 'LARGE%'";

/// Removes it.
pub const NO_LARGE_VALUES: &str = "
    DELETE FROM order_header_note WHERE order_id LIKE 'LARGE%';
    DELETE FROM note_data WHERE note_id LIKE 'LARGE%';
    DELETE FROM order_header WHERE order_id LIKE 'LARGE%'";

impl Attack {
    /// The name, as on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Attacks until the time is over.
    pub fn run(self, attacker: &Attacker) -> Result<()> {
        match self {
            Self::StalledLog => live_requests(attacker),
            Self::ConnectionFlood => connection_flood(attacker),
            Self::UnreadResponses => unread_responses(attacker),
            Self::UnfinishedBodies => unfinished_bodies(attacker),
            Self::OneAccount => wrong_passwords(attacker, |_| LIMITED_USER.to_owned()),
            Self::ManyAccounts => wrong_passwords(attacker, |number| format!("user{}", number % 10_000)),
            Self::LongLists => queries(attacker, |_| list_query(32, 100)),
            Self::LargeQueries => large_queries(attacker),
            Self::InvalidForms => invalid_forms(attacker),
            Self::ForgedCursors => queries(attacker, forged_cursor),
            Self::LargeTexts => persisted_queries(attacker, 90_000),
            Self::TinyTexts => persisted_queries(attacker, 0),
            Self::HeavyVariables => heavy_variables(attacker),
            Self::FreeLeaves => free_leaves(attacker),
            Self::Resets => resets(attacker),
            Self::InvalidQueries => invalid_queries(attacker),
            Self::LargeValues => queries(attacker, large_values),
        }
    }
}

fn live_requests(attacker: &Attacker) -> Result<()> {
    let request = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n";
    attacker.run_clients(CONNECTIONS, async |_| attacker.send_all(|| request.to_vec()).await)
}

/// Keeps as many connections open as the server lets it, and opens more.
fn connection_flood(attacker: &Attacker) -> Result<()> {
    const OPEN: usize = 1_000;
    let open = RefCell::new(VecDeque::with_capacity(OPEN));
    attacker.run_clients(4, async |_| {
        loop {
            attacker.tally.request();
            let stream = attacker.connect().await?;
            attacker.tally.response("open");
            let mut open = open.borrow_mut();
            open.push_back(stream);
            if open.len() > OPEN {
                open.pop_front();
            }
        }
    })
}

fn unread_responses(attacker: &Attacker) -> Result<()> {
    attacker.run_clients(20, async |_| {
        let client = attacker.connect_http2(UNREAD).await?;
        let mut unread = Vec::new();
        loop {
            while unread.len() < STREAMS {
                let response = query_over_http2(attacker, &client, INTROSPECTION).await?;
                let is_accepted = response.status() == 200;
                unread.push(response);
                if !is_accepted {
                    break;
                }
            }
            // Refused streams are given up, the others kept.
            unread.retain(|response| response.status() == 200);
            sleep(Duration::from_millis(100)).await;
        }
    })
}

fn unfinished_bodies(attacker: &Attacker) -> Result<()> {
    attacker.run_clients(8, async |_| {
        let client = attacker.connect_http2(USUAL_WINDOW).await?;
        let part = Bytes::from(vec![b' '; 16 << 10]);
        let mut unfinished = JoinSet::new();
        loop {
            while unfinished.len() < STREAMS {
                attacker.tally.request();
                let request = http2_request(attacker);
                let (response, mut sender) =
                    client.clone().ready().await.map_err(broken)?.send_request(request, false).map_err(broken)?;
                // One mebibyte is allowed.
                for _ in 0..62 {
                    sender.send_data(part.clone(), false).map_err(broken)?;
                }
                // The stream ends when the sender is dropped.
                unfinished.spawn_local(async move { (response.await, sender) });
            }
            if let Some(Ok((response, _))) = unfinished.join_next().await {
                attacker.count(&response.map_err(broken)?);
            }
        }
    })
}

fn wrong_passwords(attacker: &Attacker, user: impl Fn(u64) -> String) -> Result<()> {
    let number = Cell::new(0);
    let user = &user;
    attacker.run_clients(CONNECTIONS, async |_| {
        attacker
            .send_all(|| {
                number.set(number.get() + 1);
                token_request(&user(number.get()), "wrong", "")
            })
            .await
    })
}

fn queries(attacker: &Attacker, query: impl Fn(u64) -> String) -> Result<()> {
    let number = Cell::new(0);
    let query = &query;
    attacker.run_clients(CONNECTIONS, async |_| {
        attacker
            .send_all(|| {
                number.set(number.get() + 1);
                graphql_request(PATH, Some(&attacker.token), &query(number.get()), &json!({}))
            })
            .await
    })
}

/// All notes of an order, once or, for what a second alias costs, twice.
fn large_values(number: u64) -> String {
    let notes = |alias: &str, first: u8| {
        format!("{alias}: notes(first: {first}) {{ edges {{ node {{ noteInfo internalNote }} }} }}")
    };
    let order = if number.is_multiple_of(2) { "LARGE1" } else { "LARGE4" };
    let twice = if number.is_multiple_of(3) { notes("twice", 50) } else { String::new() };
    format!("{{ order(orderId: \"{order}\") {{ {} {twice} }} }}", notes("once", 100))
}

/// So many searches, each by a list of so many values.
fn list_query(searches: usize, values: usize) -> String {
    let mut query = "{".to_owned();
    for search in 0..searches {
        let values: Vec<_> = (0..values).map(|value| format!("LIST{search:02}X{value:03}")).collect();
        let _ = write!(query, " s{search}: orders(first: 1, query: \"orderId:{}\") {{", values.join(","));
        query.push_str(" edges { node { orderId } } }");
    }
    query + " }"
}

fn large_queries(attacker: &Attacker) -> Result<()> {
    let query = &list_query(76, 100);
    attacker.run_clients(5, async |_| {
        let client = &attacker.connect_http2(USUAL_WINDOW).await?;
        let streams = (0..84).map(|_| async move {
            loop {
                query_over_http2(attacker, client, query).await?;
            }
        });
        futures_util::future::try_join_all(streams).await.map(|_: Vec<()>| ())
    })
}

fn invalid_forms(attacker: &Attacker) -> Result<()> {
    let mut form = "facilityId=NONE".to_owned();
    for row in 0..500 {
        let _ = write!(
            form,
            "&rej_shipmentId_{row}=NONE{row}&rej_shipmentItemSeqId_{row}=00001&{row}_rej_rowSubmit_={row}"
        );
        let _ = write!(form, "&rej_rejectionReason_{row}=NOT_IN_STOCK");
    }
    let request = format!(
        "POST /api/updateOrder HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\n\r\n{form}",
        attacker.token,
        form.len()
    );
    let request = &request;
    attacker.run_clients(CONNECTIONS, async |_| attacker.send_all(|| request.clone().into_bytes()).await)
}

fn forged_cursor(number: u64) -> String {
    let cursor = BASE64_STANDARD.encode(format!("orders ORDER_DATE {number} 2026-05-01T00:00:00Z"));
    format!("{{ orders(first: 100, after: \"{cursor}\") {{ edges {{ node {{ orderId }} }} }} }}")
}

/// Queries that the server has never seen, with their hashes and a comment of so many bytes.
fn persisted_queries(attacker: &Attacker, bytes: usize) -> Result<()> {
    let (number, comment) = (Cell::new(0_u64), "x".repeat(bytes));
    attacker.run_clients(CONNECTIONS, async |_| {
        attacker
            .send_all(|| {
                number.set(number.get() + 1);
                let query = format!("{{__typename}}#{}{comment}", number.get());
                let hash = Sha256::digest(&query).iter().fold(String::new(), |hash, byte| format!("{hash}{byte:02x}"));
                let extensions = json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } });
                http1_body(attacker, "", &json!({ "query": query, "extensions": extensions }))
            })
            .await
    })
}

fn invalid_queries(attacker: &Attacker) -> Result<()> {
    let fields = (0..9_900).fold(String::new(), |fields, number| format!("{fields} unknown{number}"));
    let query = format!("{{ orders(first: 1) {{ edges {{ node {{ {fields} }} }} }} }}");
    let request = http1_body(attacker, "", &json!({ "query": query }));
    let request = &request;
    attacker.run_clients(200, async |_| attacker.send_all(|| request.clone()).await)
}

/// What a client that waits for credits and compressed responses sends.
const WAITING: &str = "Accept-Encoding: br\r\nPrefer: wait=5\r\n";

/// Queries of which one writes fifty megabytes for 100 credits, one as much as is allowed, and one is free.
fn free_leaves(attacker: &Attacker) -> Result<()> {
    let cursors = |count: usize, rows: usize| {
        let lists = (0..count).map(|list| format!("e{list}: edges {{ ...C }} ")).collect::<Vec<_>>().concat();
        let cursors = (0..1600).map(|alias| format!("a{alias}:cursor ")).collect::<Vec<_>>().concat();
        format!("{{ orders(first: {rows}) {{ {lists} }} }} fragment C on OrderEdge {{ {cursors} }}")
    };
    let schemas = (0..10).map(|alias| format!("s{alias}: __schema {{ ...S }} ")).collect::<Vec<_>>().concat();
    let fragment =
        "fragment S on __Schema { types { name description fields { name description args { name description } } } }";
    let queries = [cursors(6, 100), cursors(1, 25), format!("{{ {schemas} }} {fragment}")];
    let requests = &queries.map(|query| http1_body(attacker, WAITING, &json!({ "query": query })));
    let number = Cell::new(0);
    attacker.run_clients(CONNECTIONS, async |_| {
        attacker
            .send_all(|| {
                number.set(number.get() + 1);
                requests[number.get() % requests.len()].clone()
            })
            .await
    })
}

/// Variables that the query does not need, and that take many times their text as values.
fn heavy_variables(attacker: &Attacker) -> Result<()> {
    let request = |objects: usize| {
        let values = vec![json!({ "a": 1 }); objects];
        let query = "{ orders(first: 100) { edges { node { orderId } } } }";
        http1_body(attacker, WAITING, &json!({ "query": query, "variables": { "unused": values } }))
    };
    let (number, requests) = (Cell::new(0), &[request(4_990), request(116_000)]);
    attacker.run_clients(CONNECTIONS, async |_| {
        attacker
            .send_all(|| {
                number.set(number.get() + 1);
                requests[number.get() % requests.len()].clone()
            })
            .await
    })
}

fn http1_body(attacker: &Attacker, headers: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!(
        "POST {PATH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         {headers}Content-Length: {}\r\n\r\n{body}",
        attacker.token,
        body.len()
    )
    .into_bytes()
}

fn resets(attacker: &Attacker) -> Result<()> {
    let body = &Bytes::from(json!({ "query": list_query(4, 100) }).to_string());
    attacker.run_clients(4, async |_| {
        let client = attacker.connect_http2(USUAL_WINDOW).await?;
        loop {
            attacker.tally.request();
            let request = http2_request(attacker);
            let (_, mut sender) =
                client.clone().ready().await.map_err(broken)?.send_request(request, false).map_err(broken)?;
            sender.send_data(body.clone(), true).map_err(broken)?;
            tokio::task::yield_now().await;
            sender.send_reset(Reason::CANCEL);
        }
    })
}

fn http2_request(attacker: &Attacker) -> hyper::Request<()> {
    let mut request = hyper::Request::new(());
    *request.method_mut() = hyper::Method::POST;
    *request.uri_mut() = format!("http://{}{PATH}", attacker.address).parse().unwrap_or_default();
    let headers = request.headers_mut();
    for (name, value) in [
        ("authorization", format!("Bearer {}", attacker.token)),
        ("content-type", "application/json".to_owned()),
        ("accept", "application/graphql-response+json".to_owned()),
    ] {
        if let Ok(value) = value.parse() {
            headers.insert(name, value);
        }
    }
    request
}

/// Sends a query, and returns the response, of which the body is unread.
async fn query_over_http2(
    attacker: &Attacker,
    client: &h2::client::SendRequest<Bytes>,
    query: &str,
) -> Result<hyper::Response<h2::RecvStream>> {
    attacker.tally.request();
    let mut client = client.clone().ready().await.map_err(broken)?;
    let (response, mut sender) = client.send_request(http2_request(attacker), false).map_err(broken)?;
    sender.send_data(json!({ "query": query }).to_string().into(), true).map_err(broken)?;
    let response = response.await.map_err(broken)?;
    attacker.count(&response);
    Ok(response)
}
