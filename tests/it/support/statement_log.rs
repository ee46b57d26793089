//! The statements that PostgreSQL receives for one database, from the log of its server.

use std::collections::{BTreeMap, HashSet};
use std::fs;

use crate::support::cluster::server_log;
use crate::support::database::Database;

/// PostgreSQL writes a statement to the log before the client gets the result, so every statement whose result has arrived is
/// in the log.
pub struct StatementLog {
    database: String,
}

/// The prefix of each line of the log: database, application name and process id.
const LOG_PREFIX: &str = "%d %a [%p] ";

impl StatementLog {
    /// Logs every statement of later connections to the database.
    pub async fn start(database: &Database) -> Self {
        let client = database.connect().await;
        // The prefix is a setting of the whole cluster, which may have been running before this test.
        client.batch_execute(&format!("ALTER SYSTEM SET log_line_prefix = '{LOG_PREFIX}'")).await.unwrap();
        client.batch_execute("SELECT pg_reload_conf()").await.unwrap();
        let prefix = async || -> String {
            database.connect().await.query_one("SHOW log_line_prefix", &[]).await.unwrap().get(0)
        };
        while prefix().await != LOG_PREFIX {}
        // The first setting logs each execution before it begins, the second also logs parsing and binding.
        for setting in ["log_statement = 'all'", "log_min_duration_statement = 0"] {
            client.batch_execute(&format!("ALTER DATABASE {} SET {setting}", database.name())).await.unwrap();
        }
        Self { database: database.name().to_owned() }
    }

    /// The lines of all connections with that application name: each statement's parsing, binding and execution.
    pub fn lines(&self, application: &str) -> Vec<String> {
        self.read(application).into_iter().map(|(_, line)| line).collect()
    }

    /// The same by the number of the connection's process.
    pub fn lines_by_process(&self, application: &str) -> BTreeMap<String, Vec<String>> {
        let mut lines: BTreeMap<_, Vec<_>> = BTreeMap::new();
        self.read(application).into_iter().for_each(|(process, line)| lines.entry(process).or_default().push(line));
        lines
    }

    fn read(&self, application: &str) -> Vec<(String, String)> {
        let prefix = format!("{} {application} [", self.database);
        let log = fs::read(server_log()).unwrap();
        let log = String::from_utf8_lossy(&log);
        let lines = log.lines().filter_map(|line| line.strip_prefix(&prefix)?.split_once("] "));
        // A new connection is asked for its settings, whenever it is opened: a statement, and how long it took.
        let mut asked = HashSet::new();
        let mut is_check = |process: &str, text: &str| {
            if text.contains("statement: SELECT current_setting(") {
                return asked.insert(process.to_owned());
            }
            asked.remove(process) && text.starts_with("LOG:  duration: ")
        };
        let lines = lines.filter(|(process, text)| !is_check(process, text));
        lines.map(|(process, text)| (process.to_owned(), text.to_owned())).collect()
    }
}
