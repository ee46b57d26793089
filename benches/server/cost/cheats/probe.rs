//! The time that a query takes on one connection, and the CPU time that it takes of PostgreSQL.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::{Connection, Status};
use crate::error::{BenchError, Result};
use crate::statistics::median;
use crate::usage::CpuTimes;

/// The server's deadline while queries that try to cheat are measured.
pub const DEADLINE: Duration = Duration::from_secs(3);

/// How often a query is measured, unless it takes so long.
const EXECUTIONS: usize = 7;
const ENOUGH: Duration = Duration::from_millis(300);

/// A query that takes longer is not sent a second time before it counts: planning is little of it.
const SLOW: Duration = Duration::from_millis(100);

/// What was measured of a query.
#[derive(Debug, Clone)]
pub enum Outcome {
    Measured(Timing),
    /// It ran into [`DEADLINE`].
    Deadline,
    /// The server rejected it: the HTTP status and the error's code.
    Rejected(String),
}

/// Times of a query in milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// The median from the first byte sent to the last received.
    pub latency: f64,
    /// The mean CPU time of PostgreSQL.
    pub postgresql: f64,
    /// The rows on the page.
    pub rows: usize,
}

/// Sends queries.
pub struct Probe {
    pub connection: Connection,
    /// PostgreSQL's first process.
    pub postmaster: u32,
}

impl Probe {
    /// Measures a query. The first two executions, which prepare and plan its statements, do not count.
    pub fn measure(&mut self, request: &[u8]) -> Result<Outcome> {
        let (first, outcome) = self.execute(request)?;
        let rows = match outcome {
            Ok(rows) => rows,
            Err(outcome) => return Ok(outcome),
        };
        if first < SLOW
            && let (_, Err(outcome)) = self.execute(request)?
        {
            return Ok(outcome);
        }
        let before = self.look()?;
        let (started, mut latencies) = (Instant::now(), Vec::new());
        while latencies.is_empty() || latencies.len() < EXECUTIONS && started.elapsed() < ENOUGH {
            match self.execute(request)? {
                (latency, Ok(_)) => latencies.push(latency.as_secs_f64() * 1000.0),
                (_, Err(outcome)) => return Ok(outcome),
            }
        }
        let spent = self.look()?.since(&before).as_secs_f64() * 1000.0;
        let postgresql = spent / latencies.len() as f64;
        Ok(Outcome::Measured(Timing { latency: median(latencies), postgresql, rows }))
    }

    /// The latency of one execution, and the rows on the page.
    fn execute(&mut self, request: &[u8]) -> Result<(Duration, Result<usize, Outcome>)> {
        let started = Instant::now();
        let (status, body) = self.connection.send(request)?;
        let latency = started.elapsed();
        let outcome = match status {
            Status::Ok => Ok(rows(&body)?),
            Status::Error(status) if status.ends_with("DEADLINE_EXCEEDED") => Err(Outcome::Deadline),
            Status::Error(status) => Err(Outcome::Rejected(status)),
        };
        Ok((latency, outcome))
    }

    fn look(&self) -> Result<CpuTimes> {
        let times = CpuTimes::of(self.postmaster);
        times.ok_or_else(|| BenchError::Data("the system does not report CPU times of threads".to_owned()))
    }
}

/// The edges of the response's only root field.
fn rows(body: &[u8]) -> Result<usize> {
    let response: Value = serde_json::from_slice(body)?;
    let roots = response["data"].as_object().into_iter().flat_map(|data| data.values());
    Ok(roots.filter_map(|root| root["edges"].as_array()).map(Vec::len).sum())
}
