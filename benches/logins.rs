//! What a flood of wrong logins does to queries, and whether the time of an answer tells an unknown user from a wrong
//! password. `cargo bench --bench logins`.
//!
//! Both are ratios within one run, so that they mean something on any machine. Every wrong login of the flood names another
//! account and comes from another address: none is refused before its password is hashed.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

#[path = "../tests/it/support/mod.rs"]
#[allow(dead_code, unreachable_pub, clippy::panic, reason = "a bench uses a part of it")]
mod support;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use orderql::access::accounts::{Profile, User, ensure_user};
use orderql::access::password::Passwords;
use support::database::fresh_database;
use support::server::Server;

const QUIET: Duration = Duration::from_secs(5);
const FLOOD: Duration = Duration::from_secs(10);

/// Connections that send wrong logins.
const FLOODING: u64 = 16;

/// Logins of either kind whose times are compared.
const COMPARED: usize = 300;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let database = runtime.block_on(async {
        let database = fresh_database().await;
        let profile =
            Profile { bucket_size: Some(1_000_000_000), restore_rate: Some(1_000_000_000), ..Profile::DEFAULT };
        let user = User { user_id: "demo", password: "demo", groups: &["API"], profile };
        ensure_user(&mut database.connect().await, &Passwords::new(1).unwrap(), &user).await.unwrap();
        database
    });
    let flags = ["--login-attempts", "1000000", "--trusted-proxies", "127.0.0.1"];
    let server = Server::start(&database, &flags);
    let token = server.token("demo");

    let quiet = median(query_for(&server, &token, QUIET));
    let (stop, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    let flooded = thread::scope(|scope| {
        for worker in 0..FLOODING {
            let (server, stop, answered) = (&server, &stop, &answered);
            scope.spawn(move || {
                let mut number = worker;
                while !stop.load(Ordering::Relaxed) {
                    let status = sign_in(server, &format!("user {number}"), number).0;
                    // Those that wait too long for their turn are sent away.
                    assert!(status == 401 || status == 503, "{status}");
                    answered.fetch_add(u64::from(status == 401), Ordering::Relaxed);
                    number += FLOODING;
                }
            });
        }
        let times = query_for(&server, &token, FLOOD);
        stop.store(true, Ordering::Relaxed);
        median(times)
    });
    let hashed = answered.load(Ordering::Relaxed);
    println!("median of a query, quiet:                {quiet:>10.2?}");
    println!("median of a query, {hashed:>5} wrong logins:    {flooded:>10.2?}");
    println!("ratio (at most 2 is wanted):             {:>10.2}", flooded.as_secs_f64() / quiet.as_secs_f64());

    // In turns, so that whatever else the machine does falls on both alike.
    let (mut unknown, mut wrong) = (Vec::new(), Vec::new());
    for number in 0..COMPARED as u64 {
        unknown.push(sign_in(&server, "nobody", number).1);
        wrong.push(sign_in(&server, "demo", number).1);
    }
    let spread = quartile(wrong.clone(), 3).saturating_sub(quartile(wrong.clone(), 1));
    let (unknown, wrong) = (median(unknown), median(wrong));
    println!("median of a login, unknown user:         {unknown:>10.2?}");
    println!("median of a login, wrong password:       {wrong:>10.2?}");
    println!("difference (within the spread {spread:.2?}): {:>10.2?}", unknown.abs_diff(wrong));
    drop(server);
    // Its end drops the database on a runtime of its own.
    drop(database);
}

/// Asks one query after the other; their times.
fn query_for(server: &Server, token: &str, time: Duration) -> Vec<Duration> {
    let body = r#"{"query":"{ orders(first: 10) { edges { node { orderId orderName statusId } } } }"}"#;
    let request = format!(
        "POST /rest/s1/graphql HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let (began, mut times) = (Instant::now(), Vec::new());
    while began.elapsed() < time {
        let asked = Instant::now();
        let answer = server.exchange(&request).remove(0);
        times.push(asked.elapsed());
        assert!(answer.status == 200 && answer.json()["errors"].is_null(), "{answer:?}");
    }
    times
}

/// Signs in with a wrong password from an address of one's own; the status, and how long it took.
fn sign_in(server: &Server, user_id: &str, number: u64) -> (u16, Duration) {
    let credentials = BASE64_STANDARD.encode(format!("{user_id}:wrong"));
    let [.., a, b, c] = number.to_be_bytes();
    let request = format!(
        "POST /auth/token HTTP/1.1\r\nHost: a\r\nAuthorization: Basic {credentials}\r\n\
         X-Forwarded-For: 10.{a}.{b}.{c}\r\nConnection: close\r\n\r\n"
    );
    let asked = Instant::now();
    let answer = server.exchange(request).remove(0);
    (answer.status, asked.elapsed())
}

fn median(times: Vec<Duration>) -> Duration {
    quartile(times, 2)
}

fn quartile(mut times: Vec<Duration>, number: usize) -> Duration {
    times.sort();
    times[times.len() * number / 4]
}
