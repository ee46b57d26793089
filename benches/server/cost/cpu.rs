//! The CPU time that a query takes of the server and of PostgreSQL: medians of several rounds.

use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::json;

use crate::client::{Connection, Status, graphql_request};
use crate::error::{BenchError, Result};
use crate::orderql::PATH;
use crate::rounds;
use crate::statistics::median;
use crate::usage::CpuTimes;

/// Requests before it counts: the first has the statements prepared, the second has them planned.
const WARM_UP: usize = 2;

/// How long a query is repeated, and how often at least.
const TIME: Duration = Duration::from_millis(50);
const MIN_REQUESTS: u32 = 3;

/// With one connection, a statement that is prepared for one query is prepared for all.
pub const ONE_CONNECTION: &str = "--pool-size=1";

/// CPU milliseconds of a request.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Cpu {
    pub server_ms: f64,
    pub postgresql_ms: f64,
}

impl Cpu {
    /// The sum of both.
    pub fn total_ms(self) -> f64 {
        self.server_ms + self.postgresql_ms
    }
}

/// What was measured of a query.
#[derive(Debug)]
pub struct Measured {
    /// The cost that was debited.
    pub estimated: u64,
    /// The cost of the rows that were returned.
    pub actual: u64,
    pub cpu: Cpu,
}

/// Sends queries and reads the CPU times of both processes.
pub struct Meter {
    /// The only connection to the server.
    pub connection: Connection,
    pub bearer: String,
    /// The process ids.
    pub server: u32,
    pub postmaster: u32,
}

impl Meter {
    /// Measures all queries.
    pub fn measure(&mut self, queries: &[&str], rounds: usize, seed: u64) -> Result<Vec<Measured>> {
        let request = |query: &&str| graphql_request(PATH, Some(&self.bearer), query, &json!({}));
        let requests: Vec<_> = queries.iter().map(request).collect();
        let failed = |index: usize| {
            let what = queries[index].to_owned();
            move |error: BenchError| BenchError::Measurement { what, source: error.into() }
        };
        let mut turns: Vec<_> =
            requests.iter().enumerate().map(|(index, request)| (index, request, Vec::new())).collect();
        let progress = ProgressBar::new((rounds * queries.len()) as u64);
        rounds::run(rounds, seed, &mut turns, |_, (index, request, samples)| {
            samples.push(self.sample(request).map_err(failed(*index))?);
            progress.inc(1);
            Ok(())
        })?;
        progress.finish_and_clear();
        let mut measured = Vec::new();
        for (index, request, samples) in turns {
            let (estimated, actual) = self.cost(request).map_err(failed(index))?;
            let cpu = Cpu {
                server_ms: median(samples.iter().map(|cpu: &Cpu| cpu.server_ms)),
                postgresql_ms: median(samples.iter().map(|cpu| cpu.postgresql_ms)),
            };
            measured.push(Measured { estimated, actual, cpu });
        }
        Ok(measured)
    }

    fn sample(&mut self, request: &[u8]) -> Result<Cpu> {
        for _ in 0..WARM_UP {
            self.connection.data(request)?;
        }
        let (server, postgresql) = self.look()?;
        let (started, mut requests) = (Instant::now(), 0);
        while requests < MIN_REQUESTS || started.elapsed() < TIME {
            if let (Status::Error(_), body) = self.connection.send(request)? {
                return Err(self.connection.unexpected(&body));
            }
            requests += 1;
        }
        let (server_now, postgresql_now) = self.look()?;
        let ms = |spent: Duration| spent.as_secs_f64() * 1000.0 / f64::from(requests);
        Ok(Cpu { server_ms: ms(server_now.since(&server)), postgresql_ms: ms(postgresql_now.since(&postgresql)) })
    }

    fn look(&self) -> Result<(CpuTimes, CpuTimes)> {
        let times = CpuTimes::of(self.server).zip(CpuTimes::of(self.postmaster));
        times.ok_or_else(|| BenchError::Data("the system does not report CPU times of threads".to_owned()))
    }

    /// The estimated and the actual cost that the response reports.
    fn cost(&mut self, request: &[u8]) -> Result<(u64, u64)> {
        let response = self.connection.json(request)?;
        let cost = &response["extensions"]["cost"];
        let costs = cost["requestedQueryCost"].as_u64().zip(cost["actualQueryCost"].as_u64());
        costs.ok_or_else(|| self.connection.unexpected(response.to_string().as_bytes()))
    }
}
