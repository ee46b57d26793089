//! Large responses: when their first byte arrives, how long they take, and the memory that they take of the server, streamed and
//! gathered.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::graphql_request;
use crate::database::UNLIMITED_USER;
use crate::error::{BenchError, Result};
use crate::orderql::{PATH, sign_in, start};
use crate::process::ServerProcess;
use crate::report::Report;
use crate::statistics::median;
use crate::targets::Context;
use crate::usage::{peak_mib, resident_mib};

/// Servers that stream large responses, and that do not: half of their connections may be used for streams.
const SERVERS: [(&str, &str); 2] = [("streamed", "--pool-size=16"), ("gathered", "--pool-size=1")];

/// With some 50,000 rows, on three levels, and on one.
const QUERIES: [(&str, &str); 2] = [
    (
        "orders with items and ship groups",
        "{ orders(first: 9000) { edges { node { orderId orderDate grandTotal
           orderItems(first: 50) { edges { node { orderItemSeqId productId quantity unitPrice } } }
           shipGroups(first: 5) { edges { node { shipGroupSeqId shippingMethod { shipmentMethodTypeId } } } } } } } }",
    ),
    (
        "order items",
        "{ orderItems(first: 50000) { edges { node { orderId orderItemSeqId productId quantity unitPrice } } } }",
    ),
];

/// Clients that do not read.
const UNREAD: usize = 8;

/// How long a server may go on with responses that nobody reads before its memory is read.
const SETTLE: Duration = Duration::from_secs(2);

/// A response that was read to its end.
struct Response {
    bytes: usize,
    first_byte: Duration,
    time: Duration,
}

/// Measures fresh servers.
pub fn run(context: &Context<'_>, report: &mut Report) -> Result<()> {
    let mut rows = Vec::new();
    for (name, query) in QUERIES {
        for (kind, pool_size) in SERVERS {
            eprintln!("{name}, {kind}");
            let mut flags =
                vec![pool_size.to_owned(), "--max-page-size=50000".to_owned(), "--write-timeout=1h".to_owned()];
            flags.extend(context.server_flags.iter().cloned());
            let server = start(context.database, &flags)?;
            let request = graphql_request(PATH, Some(&sign_in(&server, UNLIMITED_USER)?), query, &json!({}));
            let idle = resident_mib(server.id());
            // The first one prepares the statements.
            read(&server, &request)?;
            let peak = peak_mib(server.id());
            let responses = (0..=context.rounds).map(|_| read(&server, &request)).collect::<Result<Vec<_>>>()?;
            let before = resident_mib(server.id());
            let clients = (0..UNREAD).map(|_| send(&server, &request)).collect::<Result<Vec<_>>>()?;
            thread::sleep(SETTLE);
            let unread = resident_mib(server.id());
            drop(clients);
            let ms = |of: fn(&Response) -> Duration| median(responses.iter().map(|one| of(one).as_secs_f64() * 1000.0));
            let (first_byte, time) = (ms(|one| one.first_byte), ms(|one| one.time));
            let growth = |to: Option<f64>, from: Option<f64>| Some(to? - from?);
            let per_reader = growth(unread, before).map(|all| all / UNREAD as f64);
            if kind == "streamed" {
                report.at_most(&format!("first byte of {name} / the whole response"), first_byte / time, 0.15);
            }
            rows.push(vec![
                ("response", json!(name)),
                ("is", json!(kind)),
                ("mib", json!(responses.first().map(|one| one.bytes as f64 / f64::from(1 << 20)))),
                ("first_byte_ms", json!(first_byte)),
                ("ms", json!(time)),
                ("peak_mib", json!(growth(peak, idle))),
                ("unread_mib", json!(per_reader)),
            ]);
        }
    }
    report.table("large responses", rows);
    Ok(())
}

/// Sends the request on a connection of its own.
fn send(server: &ServerProcess, request: &[u8]) -> Result<TcpStream> {
    let failed = || BenchError::io("send a query");
    let mut stream = TcpStream::connect(server.address).map_err(failed())?;
    stream.write_all(request).map_err(failed())?;
    Ok(stream)
}

fn read(server: &ServerProcess, request: &[u8]) -> Result<Response> {
    let failed = || BenchError::io("read a response");
    let began = Instant::now();
    let mut stream = send(server, request)?;
    let (mut part, mut last) = (vec![0; 1 << 18], Vec::new());
    let (mut bytes, mut first_byte) = (0, None);
    while !last.ends_with(b"0\r\n\r\n") {
        let count = stream.read(&mut part).map_err(failed())?;
        first_byte.get_or_insert_with(|| began.elapsed());
        let read = &part[..count];
        if count == 0 || (bytes == 0 && !read.starts_with(b"HTTP/1.1 200 ")) {
            let response = String::from_utf8_lossy(read).into_owned();
            return Err(BenchError::Response { server: "orderql".to_owned(), response });
        }
        bytes += count;
        last.extend_from_slice(&read[count.saturating_sub(5)..]);
        last.drain(..last.len().saturating_sub(5));
    }
    Ok(Response { bytes, first_byte: first_byte.unwrap_or_default(), time: began.elapsed() })
}
