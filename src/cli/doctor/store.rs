//! Checks the store that nodes share, if there is one.

use crate::cli::doctor::finding::Finding;
use crate::config::settings::Config;
use crate::shared_store::examination::{StoreReport, examine};
use crate::telemetry::error_chain::ErrorChain;

/// The oldest version that is supported.
const OLDEST_VERSION: u32 = 7;

/// Checks the store.
pub(super) async fn check(config: &Config) -> Vec<Finding> {
    let Some(address) = &config.bucket_url else { return Vec::new() };
    let warning = |text: String, remedy: &str| Finding::warning("store", text, remedy);
    let report = match examine(address).await {
        Ok(report) => report,
        Err(error) => {
            let text = format!("{address} cannot be used: {}", ErrorChain(&error));
            return vec![warning(text, "correct bucket-url, or start the store; until then bucket-away is in force")];
        }
    };
    let StoreReport { version, major, evicts, is_primary, round_trip } = report;
    let mut findings = Vec::new();
    if major < OLDEST_VERSION {
        findings.push(Finding::failure("store", format!("it is {version}"), "Valkey, or Redis from version 7 on"));
    }
    if !is_primary {
        findings.push(Finding::failure("store", format!("{address} is a replica"), "name the primary in bucket-url"));
    }
    if evicts {
        let text = "it may forget buckets when memory gets short: they are full then".to_owned();
        findings.push(warning(text, "maxmemory-policy noeviction"));
    }
    if findings.is_empty() {
        let micros = round_trip.as_micros();
        findings.push(Finding::ok("store", format!("{version} at {address}; a round trip takes {micros} µs")));
    }
    findings
}
