//! A limit (a1): pgbench runs one statement that returns the finished JSON, prepared, over the socket, at the number of
//! clients that suits it best. Its orders are numbers and its places dates, drawn by pgbench itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::rc::Rc;

use orderql::database::session::reader_settings;
use serde_json::Value;

use crate::contestant::{Contestant, Figures, Name, Window};
use crate::keys::{Key, Keys};
use crate::measure::Fault;
use crate::measure::histogram::Histogram;
use crate::measure::process::Watch;
use crate::measure::store::Store;
use crate::workload::Workload;

/// The numbers of clients that are tried.
pub const CLIENTS: [usize; 5] = [2, 4, 8, 16, 32];

/// Seconds that each is tried for.
const TRIAL: u64 = 2;

/// Of so many transactions, one's latency is written down.
const SAMPLED: u32 = 10;

/// pgbench, and how it is started.
pub struct Pgbench {
    store: Rc<Store>,
    keys: Rc<Keys>,
    runtime: tokio::runtime::Handle,
    client: tokio_postgres::Client,
    /// Where scripts and logs are.
    folder: PathBuf,
    best: BTreeMap<Workload, usize>,
}

/// What a run came to.
struct Run {
    transactions: u64,
    per_second: f64,
    latencies: Histogram,
    postgresql_cpu_ms: Option<f64>,
}

impl Pgbench {
    /// Nothing where there is no pgbench.
    pub fn find(
        store: &Rc<Store>,
        keys: &Rc<Keys>,
        runtime: &tokio::runtime::Handle,
        folder: PathBuf,
    ) -> Result<Option<Self>, Fault> {
        let version = Command::new(store.program("pgbench")).arg("--version").stdout(Stdio::null()).status();
        if !version.is_ok_and(|status| status.success()) {
            return Ok(None);
        }
        fs::create_dir_all(&folder).map_err(Fault::system(format!("{} cannot be made", folder.display())))?;
        let client = runtime.block_on(store.connect())?;
        runtime.block_on(client.batch_execute("SET TimeZone = 'UTC'"))?;
        let (store, keys, runtime) = (Rc::clone(store), Rc::clone(keys), runtime.clone());
        Ok(Some(Self { store, keys, runtime, client, folder, best: BTreeMap::new() }))
    }

    fn run(&self, workload: Workload, clients: usize, seconds: u64) -> Result<Run, Fault> {
        let script = self.folder.join(workload.name()).with_extension("pgbench");
        fs::write(&script, self.script(workload))
            .map_err(Fault::system(format!("{} cannot be written", script.display())))?;
        let logs = self.folder.join(format!("{workload}.latencies"));
        let mut command = self.store.client("pgbench");
        command
            .env("PGOPTIONS", reader_settings(""))
            .args(["--no-vacuum", "--protocol=prepared", "--random-seed=1"])
            .args([format!("--client={clients}"), format!("--jobs={}", clients.min(2)), format!("--time={seconds}")])
            .args([format!("--sampling-rate={}", 1.0 / f64::from(SAMPLED)), "--log".to_owned()])
            .arg(format!("--log-prefix={}", logs.display()))
            .arg(format!("--file={}", script.display()));
        let mut of_postgresql = Watch::of(Some(self.store.postmaster));
        of_postgresql.look();
        let output = command.output().map_err(Fault::system("pgbench cannot be started"))?;
        of_postgresql.look();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let failed = || {
            let said = format!("{said}{}", String::from_utf8_lossy(&output.stderr));
            Fault::Program { program: "pgbench".to_owned(), said }
        };
        let latencies = self.latencies(&format!("{workload}.latencies."))?;
        let number = |key: &str| {
            let line = said.lines().find_map(|line| line.strip_prefix(key))?;
            line.split_whitespace().next()?.parse::<f64>().ok()
        };
        let transactions = number("number of transactions actually processed: ").filter(|_| output.status.success());
        let (Some(transactions), Some(per_second)) = (transactions, number("tps = ")) else { return Err(failed()) };
        if number("number of failed transactions: ").unwrap_or_default() > 0.0 {
            return Err(failed());
        }
        let transactions = transactions as u64;
        let postgresql_cpu_ms = of_postgresql.milliseconds_each(transactions);
        Ok(Run { transactions, per_second, latencies, postgresql_cpu_ms })
    }

    /// Reads the latencies that were written down, and removes them.
    fn latencies(&self, prefix: &str) -> Result<Histogram, Fault> {
        let mut histogram = Histogram::default();
        let folder = fs::read_dir(&self.folder);
        for file in folder.map_err(Fault::system(format!("{} cannot be read", self.folder.display())))?.flatten() {
            if !file.file_name().to_string_lossy().starts_with(prefix) {
                continue;
            }
            let text = fs::read_to_string(file.path()).unwrap_or_default();
            // Client, transaction, latency in microseconds, and more.
            for micros in text.lines().filter_map(|line| line.split(' ').nth(2)?.parse().ok()) {
                histogram.add(std::time::Duration::from_micros(micros));
            }
            let _ = fs::remove_file(file.path());
        }
        Ok(histogram)
    }

    fn script(&self, workload: Workload) -> String {
        let ((from, to), numbering) = (self.keys.dates, &self.keys.numbering);
        let (variable, statement) = if workload.is_of_one_order() {
            let order = numbering.expression("n");
            (format!("n random({}, {})", numbering.first, numbering.last), workload.sql().replace("{order}", &order))
        } else {
            let place = workload.sql().replace("{date}", "to_timestamp(:s)").replace("{order}", "''");
            (format!("s random({from}, {to})"), place)
        };
        format!("\\set {variable}\n{};\n", statement.trim())
    }

    /// The number of clients with which it does most.
    fn best(&mut self, workload: Workload) -> Result<usize, Fault> {
        if let Some(known) = self.best.get(&workload) {
            return Ok(*known);
        }
        let mut best = (CLIENTS[0], 0.0);
        for clients in CLIENTS {
            let run = self.run(workload, clients, TRIAL)?;
            if run.per_second > best.1 {
                best = (clients, run.per_second);
            }
        }
        self.best.insert(workload, best.0);
        Ok(best.0)
    }
}

impl Contestant for Pgbench {
    fn name(&self) -> Name {
        Name::A1
    }

    fn answer(&mut self, workload: Workload, key: &Key) -> Result<Option<Value>, Fault> {
        let order = format!("'{}'", key.order.replace('\'', "''"));
        let date = format!("'{}'::timestamptz", key.date()?);
        let sql = workload.sql().replace("{order}", &order).replace("{date}", &date);
        let sql = format!("SELECT ({})::text", sql.trim());
        let text: String = self.runtime.block_on(self.client.query_one(&sql, &[]))?.try_get(0)?;
        let answer = serde_json::from_str(&text);
        answer.map(Some).map_err(|error| Fault::Answer { from: "a1".to_owned(), what: format!("{error}: {text}") })
    }

    fn prepare(&mut self, workload: Workload) -> Result<(), Fault> {
        self.best(workload).map(drop)
    }

    fn measure(&mut self, workload: Workload, window: Window) -> Result<Figures, Fault> {
        let clients = self.best(workload)?;
        let seconds = (window.warm_up + window.time).as_secs_f64().ceil() as u64;
        let run = self.run(workload, clients, seconds.max(1))?;
        if run.transactions == 0 {
            return Err(Fault::Data(format!("pgbench ran nothing of {workload}")));
        }
        Ok(Figures {
            per_second: run.per_second,
            p50_ms: run.latencies.percentile(50.0).as_secs_f64() * 1000.0,
            p99_ms: run.latencies.percentile(99.0).as_secs_f64() * 1000.0,
            server_cpu_ms: None,
            postgresql_cpu_ms: run.postgresql_cpu_ms,
            resident_mib: None,
            answer_bytes: None,
            clients,
        })
    }
}
