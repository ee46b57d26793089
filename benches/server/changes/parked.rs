//! Requests that wait for changes: how soon all of them are answered after a commit, and what memory they take.

use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use orderql::database::connection::connect::connect;
use serde_json::{Value, json};
use tokio_postgres::Config;

use crate::client::{AsyncConnection, Connection, Endpoint, Status, graphql_request};
use crate::database::{Database, UNLIMITED_USER, url};
use crate::error::{BenchError, Result};
use crate::orderql::{PATH, sign_in, start_at};
use crate::process::{ServerProcess, free_address};
use crate::report::Report;
use crate::statistics::median;
use crate::usage::resident_mib;

const REQUESTS: usize = 1000;

/// Commits that are waited for.
const COMMITS: u32 = 5;

const QUERY: &str = "query($after: String) { orderChanges(first: 5, after: $after) {
    edges { node { orderId order { statusId grandTotal } } } pageInfo { hasNextPage endCursor } } }";

/// Measures a server on a copy of a sample.
pub fn measure(database: &Database, config: &Config, report: &mut Report) -> Result<()> {
    let admin = free_address()?;
    let (requests, admin_flag) = (REQUESTS.to_string(), admin.to_string());
    let flags = [
        "--parked-requests",
        &requests,
        "--queue-length",
        &requests,
        "--memory-budget",
        "256MiB",
        "--admin-listen",
        &admin_flag,
    ];
    let server = start_at(&url(config), &flags)?;
    let bearer = sign_in(&server, UNLIMITED_USER)?;
    let mut operator = Connection::open("orderql", admin)?;
    let before = memory(&server)?;
    let (mut times, mut idle, mut parked) = (Vec::new(), 0.0, 0.0_f64);
    database.block_on(async {
        let client = connect(config).await?;
        let mut connections = Vec::new();
        for _ in 0..REQUESTS {
            connections.push(AsyncConnection::open(&Endpoint::Http(server.address)).await?);
        }
        let mut after = Value::Null;
        for commit in 0..=COMMITS {
            let variables = json!({ "after": after });
            let mut request = graphql_request(PATH, Some(&bearer), QUERY, &variables);
            if commit == 0 {
                // All connections are used once before, and the statement is prepared.
                for connection in &mut connections {
                    send(connection, &request).await?;
                }
                idle = memory(&server)?;
            } else {
                let head = "Prefer: wait=30\r\n";
                let at = request.windows(2).position(|bytes| bytes == b"\r\n").unwrap_or_default() + 2;
                request.splice(at..at, head.bytes());
                let answered = try_join_all(connections.iter_mut().map(|connection| send(connection, &request)));
                let committed = async {
                    while waiting(&mut operator)? < REQUESTS {
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                    // Those that have just come look once more.
                    tokio::time::sleep(Duration::from_secs(2)).await;
                    parked = parked.max(memory(&server)?);
                    let insert = "INSERT INTO order_header (order_id, status_id) VALUES ($1, 'ORDER_APPROVED')";
                    client.execute(insert, &[&format!("PARKED{commit}")]).await?;
                    Ok(Instant::now())
                };
                let (_, committed) = tokio::try_join!(answered, committed)?;
                times.push(committed.elapsed().as_secs_f64());
            }
            let Some(connection) = connections.first() else { break };
            after = token(connection.response())?;
        }
        Ok::<_, BenchError>(())
    })?;
    let each = |mib: f64| mib * 1024.0 / REQUESTS as f64;
    let longest = times.iter().copied().fold(0.0, f64::max);
    report.table(
        "parked requests",
        vec![vec![
            ("requests", json!(REQUESTS)),
            ("seconds until all are answered, median", json!(median(times))),
            ("longest", json!(longest)),
            ("KiB of a connection", json!(each(idle - before))),
            ("of a parked request on it", json!(each(parked - idle))),
        ]],
    );
    report.at_most("seconds from a commit until all parked requests are answered", longest, 0.5);
    report.at_most("KiB of memory that a parked request takes, with its connection", each(parked - before), 32.0);
    Ok(())
}

async fn send(connection: &mut AsyncConnection, request: &[u8]) -> Result<()> {
    match connection.send(request).await? {
        Status::Ok => Ok(()),
        Status::Error(response) => Err(BenchError::Response { server: "orderql".to_owned(), response }),
    }
}

/// The token of a response.
fn token(response: &[u8]) -> Result<Value> {
    let text = String::from_utf8_lossy(response);
    let found = text.split_once("\"endCursor\":\"").and_then(|(_, rest)| rest.split_once('"'));
    let failed = || BenchError::Response { server: "orderql".to_owned(), response: text.to_string() };
    found.map(|(token, _)| json!(token)).ok_or_else(failed)
}

/// How many requests wait for changes.
fn waiting(operator: &mut Connection) -> Result<usize> {
    let (_, body) = operator.send(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
    let text = String::from_utf8_lossy(&body);
    let line = text.lines().find_map(|line| line.strip_prefix("orderql_parked_requests "));
    Ok(line.and_then(|count| count.trim().parse().ok()).unwrap_or(0))
}

fn memory(server: &ServerProcess) -> Result<f64> {
    resident_mib(server.id())
        .ok_or_else(|| BenchError::Data("the system does not say what memory a process has".to_owned()))
}
