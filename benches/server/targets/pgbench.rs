//! The limit (a1): pgbench runs one prepared statement that returns the finished JSON, over the socket, with the number of
//! clients that is fastest. It draws numbers of orders and dates by itself.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;
use std::time::Duration;

use orderql::database::connection::session::reader_settings;
use serde_json::Value;
use tokio_postgres::Client;

use super::figures::{Figures, Window};
use super::{Context, Name, TRIED_CONNECTIONS, Target};
use crate::driver::Latencies;
use crate::error::{BenchError, Result};
use crate::output;
use crate::usage::CpuMeter;
use crate::workload::{Key, Workload};

/// How long each number of clients is tried.
const TRIAL: Duration = Duration::from_secs(2);

/// The share of transactions whose latency pgbench logs.
const SAMPLED: f64 = 0.1;

/// pgbench, and what its scripts are made of.
pub struct Pgbench<'a> {
    context: &'a Context<'a>,
    client: Client,
    /// An expression for the id of order number `:n`, and the range of `n`.
    order_id: String,
    orders: (u64, u64),
    /// The range of dates, in seconds since 1970.
    dates: (i64, i64),
    best_clients: BTreeMap<Workload, usize>,
}

impl<'a> Pgbench<'a> {
    /// Finds pgbench.
    pub fn find(context: &'a Context<'a>) -> Result<Self> {
        let database = context.database;
        let version = database.client_program("pgbench").arg("--version").stdout(Stdio::null()).status();
        if !version.is_ok_and(|status| status.success()) {
            return Err(BenchError::NotInstalled("pgbench"));
        }
        let client = database.connect()?;
        let sql = "SELECT min(order_id)::text, max(order_id)::text, count(*), min(length(order_id)),
                          extract(epoch FROM min(order_date))::int8, extract(epoch FROM max(order_date))::int8
                   FROM order_header";
        let row = database.block_on(client.query_one(sql, &[]))?;
        let (lowest, highest): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        let prefix = lowest.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = |id: &str| id.strip_prefix(prefix)?.parse::<u64>().ok();
        let (Some(first), Some(last)) = (number(&lowest), number(&highest)) else { return Err(irregular()) };
        let (count, shortest): (i64, i32) = (row.try_get(2)?, row.try_get(3)?);
        if i64::try_from(last - first).ok() != Some(count - 1) || usize::try_from(shortest).ok() != Some(highest.len())
        {
            return Err(irregular());
        }
        let digits = lowest.len() - prefix.len();
        Ok(Self {
            order_id: format!("('{}' || lpad(:n::text, {digits}, '0'))", prefix.replace('\'', "''")),
            orders: (first, last),
            dates: (row.try_get(4)?, row.try_get(5)?),
            context,
            client,
            best_clients: BTreeMap::new(),
        })
    }

    fn script(&self, workload: Workload) -> String {
        let (variable, (first, last), order, date) = if workload.is_single_order() {
            ("n", (self.orders.0.cast_signed(), self.orders.1.cast_signed()), self.order_id.as_str(), "")
        } else {
            ("s", self.dates, "''", "to_timestamp(:s)")
        };
        let sql = workload.sql().replace("{order}", order).replace("{date}", date);
        format!("\\set {variable} random({first}, {last})\n{};\n", sql.trim())
    }

    fn run(&self, workload: Workload, clients: usize, time: Duration) -> Result<Figures> {
        let script = output::file(&format!("pgbench/{workload}.sql"))?;
        fs::write(&script, self.script(workload)).map_err(BenchError::io(format!("write {}", script.display())))?;
        let log = script.with_extension("latencies");
        let seconds = time.as_secs_f64().ceil().max(1.0);
        let mut command = self.context.database.client_program("pgbench");
        command
            .env("PGOPTIONS", reader_settings(""))
            .args(["--no-vacuum", "--protocol=prepared", "--random-seed=1", "--log"])
            .args([format!("--client={clients}"), format!("--jobs={}", clients.min(2)), format!("--time={seconds}")])
            .args([format!("--sampling-rate={SAMPLED}"), format!("--log-prefix={}", log.display())])
            .arg(format!("--file={}", script.display()));
        let mut postgresql_cpu = CpuMeter::new(Some(self.context.database.postmaster));
        postgresql_cpu.look();
        let output = command.output().map_err(BenchError::io("start pgbench"))?;
        postgresql_cpu.look();
        let latencies = Self::latencies(workload)?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let number = |key: &str| {
            let line = printed.lines().find_map(|line| line.strip_prefix(key))?;
            line.split_whitespace().next()?.parse::<f64>().ok()
        };
        let transactions = number("number of transactions actually processed: ").filter(|count| *count > 0.0);
        let failed = number("number of failed transactions: ").is_some_and(|count| count > 0.0);
        match (transactions, number("tps = ")) {
            (Some(transactions), Some(per_second)) if output.status.success() && !failed => Ok(Figures {
                per_second,
                p50_ms: latencies.percentile_ms(50.0),
                p99_ms: latencies.percentile_ms(99.0),
                server_cpu_ms: None,
                postgresql_cpu_ms: postgresql_cpu.ms_per_request(transactions as u64),
                resident_mib: None,
                response_bytes: None,
                connections: clients,
            }),
            _ => {
                let output = format!("{printed}{}", String::from_utf8_lossy(&output.stderr));
                Err(BenchError::Program { program: "pgbench".to_owned(), output })
            }
        }
    }

    /// Reads the logged latencies, and removes the logs.
    fn latencies(workload: Workload) -> Result<Latencies> {
        let (mut latencies, folder) = (Latencies::new()?, output::file("pgbench")?);
        let files = fs::read_dir(&folder).map_err(BenchError::io(format!("read {}", folder.display())))?;
        for file in files.flatten() {
            if file.file_name().to_string_lossy().starts_with(&format!("{workload}.latencies.")) {
                let text = fs::read_to_string(file.path()).unwrap_or_default();
                // The client, the transaction, the latency in microseconds, and more.
                let micros = text.lines().filter_map(|line| line.split(' ').nth(2)?.parse().ok());
                micros.for_each(|micros| latencies.record(Duration::from_micros(micros)));
                let _ = fs::remove_file(file.path());
            }
        }
        Ok(latencies)
    }

    /// The number of clients with the highest throughput.
    fn best_clients(&mut self, workload: Workload) -> Result<usize> {
        if let Some(known) = self.best_clients.get(&workload) {
            return Ok(*known);
        }
        let mut best = (0.0, 0);
        for clients in TRIED_CONNECTIONS {
            let per_second = self.run(workload, clients, TRIAL)?.per_second;
            if per_second > best.0 {
                best = (per_second, clients);
            }
        }
        self.best_clients.insert(workload, best.1);
        Ok(best.1)
    }
}

fn irregular() -> BenchError {
    BenchError::Data("order ids are not a prefix and numbers without gaps, which pgbench needs".to_owned())
}

impl Target for Pgbench<'_> {
    fn name(&self) -> Name {
        Name::A1
    }

    fn data(&mut self, workload: Workload, key: &Key) -> Result<Option<Value>> {
        let order = format!("'{}'", key.order_id.replace('\'', "''"));
        let sql = workload.sql().replace("{order}", &order).replace("{date}", &format!("'{}'::timestamptz", key.date));
        let sql = format!("SELECT ({})::text", sql.trim());
        let text: String = self.context.database.block_on(self.client.query_one(&sql, &[]))?.try_get(0)?;
        Ok(Some(serde_json::from_str(&text)?))
    }

    fn prepare(&mut self, workload: Workload) -> Result<()> {
        self.best_clients(workload).map(drop)
    }

    fn measure(&mut self, workload: Workload, _: usize, window: Window) -> Result<Figures> {
        let clients = self.best_clients(workload)?;
        self.run(workload, clients, window.warm_up + window.time)
    }
}
