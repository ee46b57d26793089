//! What a query takes: CPU time of the server and of PostgreSQL, each the middle of several rounds. In a round the queries
//! come in another order each time, so that whatever else the machine does falls on all alike.

use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use memchr::memmem;
use serde::Serialize;
use serde_json::{Value, json};

use crate::measure::Fault;
use crate::measure::exchange::{Line, request};
use crate::measure::process::Threads;
use crate::measure::random::Random;
use crate::measure::service::PATH;
use crate::measure::statistics::middle;
use crate::queries::Query;

/// Asked before it counts: the first prepares the statements, the second has them planned.
const WARM_UP: usize = 2;

/// A query is asked again and again for so long, and so often at least.
const TIME: Duration = Duration::from_millis(50);
const LEAST: u32 = 3;

/// What a query takes each time it is asked.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Cpu {
    /// CPU time of the server, in milliseconds.
    pub server_ms: f64,
    /// CPU time of PostgreSQL, in milliseconds.
    pub postgresql_ms: f64,
}

impl Cpu {
    /// Both.
    pub fn total(self) -> f64 {
        self.server_ms + self.postgresql_ms
    }
}

/// What the server says of a query, and what it takes.
#[derive(Debug)]
pub struct Measured {
    /// The cost that was debited.
    pub estimated: u64,
    /// The cost of the rows that came back.
    pub actual: u64,
    /// What it takes.
    pub cpu: Cpu,
}

/// Who is asked, and watched.
pub struct Watched {
    /// The server's only connection that is asked over.
    pub line: Line,
    /// The token.
    pub bearer: String,
    /// The server's process.
    pub server: u32,
    /// The first of PostgreSQL's processes.
    pub postmaster: u32,
}

/// Measures all queries, in so many rounds.
pub fn measure(watched: &mut Watched, queries: &[Query], rounds: usize, seed: u64) -> Result<Vec<Measured>, Fault> {
    let requests: Vec<_> =
        queries.iter().map(|query| request(PATH, Some(&watched.bearer), &query.text, &json!({}))).collect();
    let mut samples = vec![Vec::new(); queries.len()];
    let mut order: Vec<_> = (0..queries.len()).collect();
    let (mut random, bar) = (Random::new(seed), ProgressBar::new((rounds * queries.len()) as u64));
    for _ in 0..rounds {
        random.shuffle(&mut order);
        for place in &order {
            let sample = watched.sample(&requests[*place]).map_err(|fault| asking(&queries[*place], fault))?;
            samples[*place].push(sample);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let mut measured = Vec::new();
    for ((query, request), samples) in queries.iter().zip(&requests).zip(&samples) {
        let cost =
            watched.line.json(request).and_then(|answer| costs(&answer)).map_err(|fault| asking(query, fault))?;
        let of = |figure: fn(&Cpu) -> f64| middle(samples.iter().map(figure).collect());
        let cpu = Cpu { server_ms: of(|cpu| cpu.server_ms), postgresql_ms: of(|cpu| cpu.postgresql_ms) };
        measured.push(Measured { estimated: cost.0, actual: cost.1, cpu });
    }
    Ok(measured)
}

fn asking(query: &Query, fault: Fault) -> Fault {
    Fault::Measurement { who: "orderql".to_owned(), what: query.text.clone(), source: Box::new(fault) }
}

impl Watched {
    fn sample(&mut self, request: &[u8]) -> Result<Cpu, Fault> {
        for _ in 0..WARM_UP {
            self.line.data(request)?;
        }
        let (server, postgresql) = self.look()?;
        let (began, mut asked) = (Instant::now(), 0);
        while asked < LEAST || began.elapsed() < TIME {
            let body = self.line.body(request)?;
            if memmem::find(&body, b"\"errors\"").is_some() {
                let what = String::from_utf8_lossy(&body).into_owned();
                return Err(Fault::Answer { from: "orderql".to_owned(), what });
            }
            asked += 1;
        }
        let (server_now, postgresql_now) = self.look()?;
        let each = |spent: Duration| spent.as_secs_f64() * 1000.0 / f64::from(asked);
        Ok(Cpu { server_ms: each(server_now.since(&server)), postgresql_ms: each(postgresql_now.since(&postgresql)) })
    }

    fn look(&self) -> Result<(Threads, Threads), Fault> {
        let threads = |id| {
            Threads::of(id).ok_or_else(|| Fault::Data("the system does not tell the CPU time of threads".to_owned()))
        };
        Ok((threads(self.server)?, threads(self.postmaster)?))
    }
}

/// The estimated and the actual cost that an answer tells.
fn costs(answer: &Value) -> Result<(u64, u64), Fault> {
    let cost = &answer["extensions"]["cost"];
    let costs = cost["requestedQueryCost"].as_u64().zip(cost["actualQueryCost"].as_u64());
    costs
        .filter(|_| answer["errors"].is_null())
        .ok_or_else(|| Fault::Answer { from: "orderql".to_owned(), what: answer.to_string() })
}
