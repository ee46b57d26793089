//! Servers that speak GraphQL over HTTP: orderql and the peers.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::rc::Rc;

use clap::ValueEnum;
use serde_json::{Value, json};

use super::figures::{Figures, Window, measure};
use super::{Context, Name, Target};
use crate::client::{Connection, Endpoint, graphql_request};
use crate::database::UNLIMITED_USER;
use crate::driver::Requests;
use crate::error::{BenchError, Result};
use crate::orderql;
use crate::process::ServerProcess;
use crate::workload::{Key, Workload};

/// A server, and how it is queried.
pub struct HttpTarget<'a> {
    name: Name,
    /// The process.
    pub server: ServerProcess,
    path: &'static str,
    /// The tokens that requests have in turn; none if the server takes requests without.
    bearers: Vec<String>,
    queries: BTreeMap<Workload, String>,
    /// Finds the cursor of the newest order at or before a date.
    seek: String,
    /// The value of the seek query's variable for a date.
    seek_value: fn(&str) -> String,
    context: &'a Context<'a>,
    requests: BTreeMap<Workload, Requests>,
}

impl<'a> HttpTarget<'a> {
    /// Starts orderql.
    pub fn orderql(context: &'a Context<'a>) -> Result<Self> {
        Self::orderql_at(context, &context.database.url(), context.server_flags)
    }

    /// Starts orderql with another address of the database.
    pub fn orderql_at(context: &'a Context<'a>, database: &str, flags: &[String]) -> Result<Self> {
        Self::of_server(context, orderql::start_at(database, flags)?)
    }

    /// A running orderql.
    pub fn of_server(context: &'a Context<'a>, server: ServerProcess) -> Result<Self> {
        let bearers = vec![orderql::sign_in(&server, UNLIMITED_USER)?];
        Ok(Self {
            name: Name::Orderql,
            server,
            path: orderql::PATH,
            bearers,
            queries: Workload::value_variants()
                .iter()
                .map(|workload| (*workload, workload.query().to_owned()))
                .collect(),
            seek: include_str!("../../queries/seek.graphql").to_owned(),
            seek_value: |date| format!("orderDate:<={date}"),
            context,
            requests: BTreeMap::new(),
        })
    }

    /// Starts another build of orderql with the same settings.
    pub fn other(context: &'a Context<'a>) -> Result<Self> {
        let none = || BenchError::Data("--other names no program".to_owned());
        let flags = ["--log", "warn"].into_iter().chain(context.server_flags.iter().map(String::as_str));
        let program = context.other.ok_or_else(none)?;
        let server = orderql::start_program(program, &context.database.url(), flags, "other.log")?;
        Ok(Self { name: Name::Other, ..Self::of_server(context, server)? })
    }

    /// A running peer, with the queries of its folder.
    pub fn peer(name: Name, server: ServerProcess, queries: &Path, context: &'a Context<'a>) -> Result<Self> {
        let read = |name: &str| {
            let path = queries.join(name).with_extension("graphql");
            fs::read_to_string(&path).map_err(BenchError::io(format!("read {}", path.display())))
        };
        let query = |workload: &Workload| Ok((*workload, read(workload.name())?));
        Ok(Self {
            name,
            server,
            path: "/graphql",
            bearers: Vec::new(),
            queries: Workload::value_variants().iter().map(query).collect::<Result<_>>()?,
            seek: read("seek")?,
            seek_value: str::to_owned,
            context,
            requests: BTreeMap::new(),
        })
    }

    /// Has requests sent by these users in turn.
    pub fn sign_in_as(&mut self, users: &[&str]) -> Result<()> {
        self.bearers = users.iter().map(|user| orderql::sign_in(&self.server, user)).collect::<Result<_>>()?;
        self.requests.clear();
        Ok(())
    }

    /// A connection.
    pub fn connect(&self) -> Result<Connection> {
        Connection::open(self.name.name(), self.server.address)
    }

    /// The request of a query.
    pub fn request(&self, query: &str, variables: &Value) -> Vec<u8> {
        self.request_in_turn(0, query, variables)
    }

    fn request_in_turn(&self, turn: usize, query: &str, variables: &Value) -> Vec<u8> {
        let bearer = self.bearers.get(turn % self.bearers.len().max(1));
        graphql_request(self.path, bearer.map(String::as_str), query, variables)
    }

    /// The server's cursor at a position.
    pub fn cursor(&self, connection: &mut Connection, key: &Key) -> Result<String> {
        let data = connection.data(&self.request(&self.seek, &json!({ "date": (self.seek_value)(&key.date) })))?;
        let cursor = data["orders"]["edges"][0]["cursor"].as_str().map(str::to_owned);
        cursor.ok_or_else(|| connection.unexpected(data.to_string().as_bytes()))
    }

    fn request_for(&self, turn: usize, connection: &mut Connection, workload: Workload, key: &Key) -> Result<Vec<u8>> {
        let cursor = if workload.is_single_order() { String::new() } else { self.cursor(connection, key)? };
        Ok(self.request_in_turn(turn, &self.queries[&workload], &workload.variables(key, &cursor)))
    }

    /// The requests of a workload for all keys.
    pub fn requests(&mut self, workload: Workload) -> Result<Requests> {
        if let Some(requests) = self.requests.get(&workload) {
            return Ok(Rc::clone(requests));
        }
        let requests = self.first_requests(workload, usize::MAX)?;
        Ok(Rc::clone(self.requests.entry(workload).or_insert(Rc::new(requests))))
    }

    /// The requests of a workload for so many of the keys.
    pub fn first_requests(&self, workload: Workload, count: usize) -> Result<Vec<Vec<u8>>> {
        let mut connection = self.connect()?;
        let keys = self.context.keys.of(workload).iter().take(count).enumerate();
        keys.map(|(turn, key)| self.request_for(turn, &mut connection, workload, key)).collect()
    }

    /// Measures requests over so many connections.
    pub fn load(&self, requests: &Requests, connections: usize, window: Window) -> Result<Figures> {
        let postmaster = Some(self.context.database.postmaster);
        measure(Endpoint::Http(self.server.address), requests, connections, window, Some(self.server.id()), postmaster)
    }
}

impl Target for HttpTarget<'_> {
    fn name(&self) -> Name {
        self.name
    }

    fn data(&mut self, workload: Workload, key: &Key) -> Result<Option<Value>> {
        let mut connection = self.connect()?;
        let request = self.request_for(0, &mut connection, workload, key)?;
        connection.data(&request).map(Some)
    }

    fn prepare(&mut self, workload: Workload) -> Result<()> {
        self.requests(workload).map(drop)
    }

    fn measure(&mut self, workload: Workload, connections: usize, window: Window) -> Result<Figures> {
        let requests = self.requests(workload)?;
        self.load(&requests, connections, window)
    }
}
