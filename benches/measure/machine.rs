//! What the figures were taken on.

use std::fs;
use std::thread::available_parallelism;

use serde::Serialize;
use tokio_postgres::Client;

use super::Fault;

/// Facts without which figures say nothing.
#[derive(Debug, Clone, Serialize)]
pub struct Machine {
    /// Cores that programs may use.
    pub cores: usize,
    /// The processor's name.
    pub cpu: String,
    /// The system's release.
    pub kernel: String,
    /// Bytes of memory.
    pub memory: u64,
    /// What the database calls itself.
    pub postgresql: String,
}

impl Machine {
    /// Reads the facts.
    pub async fn read(client: &Client) -> Result<Self, Fault> {
        let of = |path: &str, key: &str| {
            let text = fs::read_to_string(path).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
            line.trim_start_matches([' ', '\t', ':']).trim().to_owned()
        };
        let memory = of("/proc/meminfo", "MemTotal").trim_end_matches(" kB").parse::<u64>();
        Ok(Self {
            cores: available_parallelism().map_or(1, usize::from),
            cpu: of("/proc/cpuinfo", "model name"),
            kernel: of("/proc/sys/kernel/osrelease", ""),
            memory: memory.unwrap_or_default() * 1024,
            postgresql: client.query_one("SHOW server_version", &[]).await?.try_get(0)?,
        })
    }
}
