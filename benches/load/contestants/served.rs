//! Contestants that are asked over HTTP/1.1, on connections that are kept.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::contestant::{Contestant, Figures, Name, Window};
use crate::keys::{Key, Keys};
use crate::measure::Fault;
use crate::measure::driver::{Door, Load, Requests, run};
use crate::measure::exchange::{Line, request};
use crate::measure::process::Watch;
use crate::measure::service::{PATH, sign_in, start};
use crate::measure::spawned::Spawned;
use crate::measure::store::{Store, UNLIMITED_USER};
use crate::workload::Workload;

/// Connections that ask, of every server alike.
pub const CONNECTIONS: usize = 32;

/// A server, and how to ask it.
pub struct Served {
    name: Name,
    server: Spawned,
    path: &'static str,
    bearer: Option<String>,
    queries: BTreeMap<Workload, String>,
    seek: String,
    /// What the variable of the seek query holds for a date.
    seek_variable: fn(&str) -> String,
    keys: Rc<Keys>,
    postmaster: u32,
    requests: BTreeMap<Workload, Requests>,
}

/// Starts ourselves: the complete service as it is delivered, but for the log, where a line a request would be written
/// that no peer writes.
pub fn orderql(store: &Store, keys: &Rc<Keys>, folder: &Path, flags: &[String]) -> Result<Served, Fault> {
    let server = start(store, folder, flags)?;
    let bearer = sign_in(&server, UNLIMITED_USER)?;
    Ok(Served {
        name: Name::Orderql,
        server,
        path: PATH,
        bearer: Some(bearer),
        queries: Workload::ALL.map(|workload| (workload, workload.query().to_owned())).into(),
        seek: include_str!("../../queries/seek.graphql").to_owned(),
        seek_variable: |date| format!("orderDate:<={date}"),
        keys: Rc::clone(keys),
        postmaster: store.postmaster,
        requests: BTreeMap::new(),
    })
}

/// A peer that runs, with the queries of its folder.
pub fn peer(name: Name, server: Spawned, queries: &Path, store: &Store, keys: &Rc<Keys>) -> Result<Served, Fault> {
    let read = |name: &str| {
        let path = queries.join(name).with_extension("graphql");
        fs::read_to_string(&path).map_err(Fault::system(format!("{} cannot be read", path.display())))
    };
    let query = |workload: Workload| Ok((workload, read(workload.name())?));
    Ok(Served {
        name,
        server,
        path: "/graphql",
        bearer: None,
        queries: Workload::ALL.into_iter().map(query).collect::<Result<_, Fault>>()?,
        seek: read("seek")?,
        seek_variable: str::to_owned,
        keys: Rc::clone(keys),
        postmaster: store.postmaster,
        requests: BTreeMap::new(),
    })
}

impl Served {
    /// What it is called in errors.
    pub fn label(&self) -> &'static str {
        self.name.name()
    }

    /// The server.
    pub fn server(&self) -> &Spawned {
        &self.server
    }

    /// The request that asks a query.
    pub fn request(&self, query: &str, variables: &Value) -> Vec<u8> {
        request(self.path, self.bearer.as_deref(), query, variables)
    }

    /// A connection to the server.
    pub fn line(&self) -> Result<Line, Fault> {
        Line::to(self.name.name(), self.server.address)
    }

    /// The cursor of the first order of that date, newest first.
    pub fn cursor(&self, line: &mut Line, key: &Key) -> Result<String, Fault> {
        let date = (self.seek_variable)(&key.date()?);
        let data = line.data(&self.request(&self.seek, &json!({ "date": date })))?;
        let cursor = data["orders"]["edges"][0]["cursor"].as_str();
        cursor.map(str::to_owned).ok_or_else(|| Fault::Answer { from: self.name.to_string(), what: data.to_string() })
    }

    /// The request of a workload for a key.
    pub fn keyed(&self, line: &mut Line, workload: Workload, key: &Key) -> Result<Vec<u8>, Fault> {
        let cursor = if workload.is_of_one_order() { String::new() } else { self.cursor(line, key)? };
        Ok(self.request(&self.queries[&workload], &workload.variables(key, &cursor)))
    }

    /// All requests of a workload.
    pub fn requests(&mut self, workload: Workload) -> Result<Requests, Fault> {
        if let Some(known) = self.requests.get(&workload) {
            return Ok(Rc::clone(known));
        }
        let mut line = self.line()?;
        let keys = if workload.is_of_one_order() { &self.keys.orders } else { &self.keys.places };
        let made = keys.iter().map(|key| self.keyed(&mut line, workload, key)).collect::<Result<Vec<_>, _>>()?;
        Ok(Rc::clone(self.requests.entry(workload).or_insert(Rc::new(made))))
    }
}

impl Contestant for Served {
    fn name(&self) -> Name {
        self.name
    }

    fn answer(&mut self, workload: Workload, key: &Key) -> Result<Option<Value>, Fault> {
        let mut line = self.line()?;
        let request = self.keyed(&mut line, workload, key)?;
        line.data(&request).map(Some)
    }

    fn prepare(&mut self, workload: Workload) -> Result<(), Fault> {
        self.requests(workload).map(drop)
    }

    fn measure(&mut self, workload: Workload, window: Window) -> Result<Figures, Fault> {
        let requests = self.requests(workload)?;
        load(&self.server, requests, window, Some(self.postmaster), CONNECTIONS)
    }
}

/// Measures a server over HTTP.
pub fn load(
    server: &Spawned,
    requests: Requests,
    window: Window,
    postmaster: Option<u32>,
    connections: usize,
) -> Result<Figures, Fault> {
    let door = Door::Http(server.address);
    let load =
        Load { door: &door, requests, connections, warm_up: window.warm_up, time: window.time, bears_bad: false };
    let (mut of_server, mut of_postgresql) = (Watch::of(Some(server.id())), Watch::of(postmaster));
    let outcome = run(&load, || {
        of_server.look();
        of_postgresql.look();
    })?;
    let answers = outcome.latencies.count();
    Ok(Figures {
        per_second: outcome.per_second(),
        p50_ms: outcome.latencies.percentile(50.0).as_secs_f64() * 1000.0,
        p99_ms: outcome.latencies.percentile(99.0).as_secs_f64() * 1000.0,
        server_cpu_ms: of_server.milliseconds_each(answers),
        postgresql_cpu_ms: of_postgresql.milliseconds_each(answers),
        resident_mib: of_server.last().map(|usage| mebibytes(usage.resident)),
        answer_bytes: (answers > 0).then(|| outcome.bytes as f64 / answers as f64),
        clients: connections,
    })
}

/// Bytes in MiB.
pub fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
