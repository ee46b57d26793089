//! A flood of wrong logins: what it does to the latency of queries, and whether the time of a login shows which users exist.
//!
//! Every wrong login of the flood names another account and another address, so that none is rejected before its password
//! is hashed.

use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::order_requests;
use crate::client::{Connection, Endpoint};
use crate::database::{LIMITED_USER, UNLIMITED_USER};
use crate::driver::{Arrivals, Load, Recorded, run};
use crate::error::{BenchError, Result};
use crate::goals::Goal;
use crate::orderql::{start, token_request};
use crate::process::ServerProcess;
use crate::statistics::median;
use crate::targets::Context;

/// Connections of the flood.
const FLOOD: usize = 16;

/// Logins of the flood, more than any machine can hash in time.
const LOGINS: u32 = 100_000;

/// Logins of each kind whose times are compared.
const COMPARED: u32 = 200;

const QUERY: &str = "{ orders(first: 10) { edges { node { orderId orderName statusId } } } }";

/// Keeps accounts and addresses from being locked.
const FLAGS: [&str; 4] = ["--login-attempts", "1000000", "--trusted-proxies", "127.0.0.1"];

const WARM_UP: Duration = Duration::from_millis(500);

/// Median latencies in milliseconds.
#[derive(Debug, Serialize)]
pub struct Logins {
    /// Of a query, without and with the flood.
    quiet_query_ms: f64,
    flooded_query_ms: f64,
    /// Wrong logins a second during the flood.
    wrong_logins_per_second: f64,
    /// Of a login of a user who does not exist, and of one with a wrong password.
    unknown_user_ms: f64,
    wrong_password_ms: f64,
}

/// Measures a server of its own.
pub fn measure(context: &Context<'_>) -> Result<Logins> {
    eprintln!("queries during a flood of wrong logins");
    let server = start(context.database, &FLAGS)?;
    let queries = Load {
        endpoint: Endpoint::Http(server.address),
        requests: order_requests(context, &server, UNLIMITED_USER, QUERY)?,
        connections: 1,
        arrivals: Arrivals::Closed,
        warm_up: WARM_UP,
        time: context.time,
        tolerates_errors: false,
    };
    let quiet = run(&queries, || {})?;
    let (flooded, logins) = thread::scope(|scope| {
        let flood = scope.spawn(|| flood(&server, context.time + WARM_UP));
        let flooded = run(&queries, || {})?;
        let logins = flood.join().map_err(|_| BenchError::Data("the flood of logins ended early".to_owned()))??;
        Ok::<_, BenchError>((flooded, logins))
    })?;
    let mut connection = Connection::open("orderql", server.address)?;
    let mut login = |user: &str, number: u32| {
        let started = Instant::now();
        connection.send(&wrong_login(user, number))?;
        Ok::<_, BenchError>(started.elapsed().as_secs_f64() * 1000.0)
    };
    let (mut unknown, mut wrong) = (Vec::new(), Vec::new());
    // In turns, so that whatever else the machine does affects both alike.
    for number in 0..COMPARED {
        unknown.push(login("nobody", number)?);
        wrong.push(login(LIMITED_USER, number)?);
    }
    let hashed = logins.errors.iter().filter(|(error, _)| error.starts_with("401")).map(|(_, count)| count);
    Ok(Logins {
        quiet_query_ms: quiet.latencies.percentile_ms(50.0),
        flooded_query_ms: flooded.latencies.percentile_ms(50.0),
        // The others waited too long for their turn, and were rejected with 503.
        wrong_logins_per_second: logins.rate(hashed.sum()),
        unknown_user_ms: median(unknown),
        wrong_password_ms: median(wrong),
    })
}

fn flood(server: &ServerProcess, time: Duration) -> Result<Recorded> {
    let requests = (0..LOGINS).map(|number| wrong_login(&format!("user {number}"), number)).collect();
    let load = Load {
        endpoint: Endpoint::Http(server.address),
        requests: Rc::new(requests),
        connections: FLOOD,
        arrivals: Arrivals::Closed,
        warm_up: Duration::ZERO,
        time,
        tolerates_errors: true,
    };
    run(&load, || {})
}

/// A login with a wrong password, from an address of its own.
fn wrong_login(user: &str, number: u32) -> Vec<u8> {
    let [_, a, b, c] = number.to_be_bytes();
    token_request(user, "wrong", &format!("X-Forwarded-For: 10.{a}.{b}.{c}\r\n"))
}

impl Logins {
    /// The goal for queries.
    pub fn goal(&self) -> Goal {
        let ratio = self.flooded_query_ms / self.quiet_query_ms;
        Goal::at_most("median latency of a query, during a flood of wrong logins / quiet", ratio, 2.0)
    }

    /// Prints the figures.
    pub fn print(&self) {
        println!(
            "\nwrong logins: {:.0}/s, during which a query takes {:.2} ms, and {:.2} ms otherwise; \
             an unknown user's takes {:.2} ms, an existing one's {:.2} ms",
            self.wrong_logins_per_second,
            self.flooded_query_ms,
            self.quiet_query_ms,
            self.unknown_user_ms,
            self.wrong_password_ms
        );
    }
}
