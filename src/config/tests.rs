//! The table of settings, and where values come from.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use std::{env, fs, process, thread};

use clap::{Args, FromArgMatches};

use crate::access::caller_limits::CallerLimits;
use crate::config::error::ConfigError;
use crate::config::flags::Flags;
use crate::config::layers;
use crate::config::settings::{Config, SETTINGS};
use crate::config::values::SettingValues;
use crate::limits::{Limits, Profile};
use crate::throttle::bucket::Rate;

fn flags(arguments: &[&str]) -> Result<Flags, clap::Error> {
    let command = Flags::augment_args(clap::Command::new("serve"));
    command.try_get_matches_from([&["serve"], arguments].concat()).and_then(|m| Flags::from_arg_matches(&m))
}

fn gather(arguments: &[&str], environment: &[(&str, &str)]) -> Result<SettingValues, ConfigError> {
    let look = |name: &str| environment.iter().find(|pair| pair.0 == name).map(|pair| OsString::from(pair.1));
    layers::gather(&flags(arguments).unwrap(), look)
}

fn read(arguments: &[&str], environment: &[(&str, &str)]) -> Result<Config, ConfigError> {
    Config::read(&gather(arguments, environment)?)
}

/// A configuration file, which is removed at the test's end.
struct ConfigFile(PathBuf);

impl ConfigFile {
    fn new(name: &str, text: &str) -> Self {
        let path = env::temp_dir().join(format!("orderql-config-{}-{name}.toml", process::id()));
        fs::write(&path, text).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for ConfigFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn settings_have_regular_names_and_valid_defaults() {
    let names: HashSet<_> = SETTINGS.iter().map(|setting| setting.name).collect();
    assert_eq!(names.len(), SETTINGS.len());
    for setting in SETTINGS {
        assert_eq!(setting.variable, format!("ORDERQL_{}", setting.name.to_uppercase().replace('-', "_")));
        assert!((setting.accepts)(setting.default), "{}", setting.name);
    }
    let config = read(&[], &[]).unwrap();
    let limits = config.limits.without_profile();
    assert_eq!(limits.query, Limits::default());
    let rate = Rate { capacity: limits.query.bucket_size, restore_per_second: limits.restore_rate };
    assert_eq!(rate, Rate::default());
    assert_eq!(config.body_limit, 1 << 20);
}

#[test]
fn flags_override_variables_override_the_file_overrides_the_defaults() {
    let file = ConfigFile::new("order", "pool-size = 3\ndeadline = '3s'\nmax-cost = 3\n");
    let config =
        read(&["--config", file.path(), "--pool-size", "1"], &[("ORDERQL_POOL_SIZE", "2"), ("ORDERQL_DEADLINE", "2s")])
            .unwrap();
    assert_eq!((config.pool_size, config.limits.without_profile().deadline), (Some(1), Duration::from_secs(2)));
    assert_eq!(
        (config.limits.without_profile().query.max_cost, config.limits.without_profile().query.max_depth),
        (3, 6)
    );
    assert_eq!(read(&[], &[("ORDERQL_CONFIG", file.path())]).unwrap().limits.without_profile().query.max_cost, 3);
}

#[test]
fn a_limit_of_a_profile_replaces_the_default() {
    let default = read(&["--max-cost", "5"], &[]).unwrap().limits;
    let profile = Profile { max_depth: Some(30), restore_rate: Some(7), deadline_ms: Some(60), ..Profile::DEFAULT };
    let limits = CallerLimits::new(&profile, &default);
    assert_eq!(limits.query, Limits { max_cost: 5, max_depth: 30, ..Limits::DEFAULT });
    assert_eq!(limits.rate(), Rate { restore_per_second: 7, ..Rate::default() });
    assert_eq!(limits.deadline, Duration::from_millis(60));
}

#[test]
fn a_number_out_of_range_counts_as_the_default() {
    let default = read(&[], &[]).unwrap().limits;
    let profile = Profile {
        max_cost: Some(-1),
        max_page_size: Some(i64::MAX),
        deadline_ms: Some(0),
        concurrent_queries: Some(-1),
        ..Profile::DEFAULT
    };
    let limits = CallerLimits::new(&profile, &default);
    let default = default.without_profile();
    assert_eq!((limits.query, limits.deadline), (default.query, default.deadline));
    assert_eq!(limits.concurrent_queries, default.concurrent_queries);
}

#[test]
fn the_pool_has_two_connections_for_each_core_and_one_more_by_default() {
    let size = |arguments: &[&str]| read(arguments, &[]).unwrap().pool((&tokio_postgres::Config::new()).into()).size;
    let cores = thread::available_parallelism().unwrap().get();
    assert_eq!((size(&[]), size(&["--pool-size", "4"])), (cores + cores + 1, 4));
}

#[test]
fn an_invalid_value_is_reported_with_its_origin_and_what_is_valid() {
    let error = read(&[], &[("ORDERQL_DEADLINE", "soon")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "deadline is \"soon\", as the variable ORDERQL_DEADLINE says; expected a time above zero, such as 500ms, \
         10s, 5m or 1h"
    );
    let error = flags(&["--listen", "localhost"]).unwrap_err().to_string();
    assert!(error.contains("'--listen <ADDRESS>': expected an IP address and a port"), "{error}");
    let listen = read(&["--listen", "localhost:8105"], &[]).unwrap().listen;
    assert_eq!(listen.to_string(), "127.0.0.1:8105");
}

#[test]
fn a_cost_above_the_bucket_is_rejected_with_both_numbers() {
    for (arguments, max_cost, bucket_size) in [
        (&["--max-cost", "1001"][..], 1001, 1000),
        (&["--bucket-size", "999"], 1000, 999),
        (&["--max-cost", "20", "--bucket-size", "7"], 20, 7),
    ] {
        let error = read(arguments, &[]).unwrap_err().to_string();
        let numbers = format!("max-cost is {max_cost} and bucket-size is {bucket_size}; ");
        let change = format!("raise bucket-size to {max_cost} or more, or lower max-cost to {bucket_size} or less");
        assert!(error.starts_with(&numbers) && error.ends_with(&change), "{error}");
    }
    assert!(read(&["--max-cost", "7", "--bucket-size", "7"], &[]).is_ok());
    let error = read(&["--max-cost", "0"], &[]).unwrap_err().to_string();
    assert_eq!(error, "max-cost is 0, so that no query could read a row; give 1 or more");
}

#[test]
fn a_shared_store_counts_buckets_up_to_nine_billion_credits() {
    let store = ["--bucket-url", "redis://:geheim@store.example"];
    let with = |size| read(&[&store[..], &["--bucket-size", size]].concat(), &[]);
    assert_eq!(with("9000000000").unwrap().bucket_url.unwrap().to_string(), "store.example:6379");
    assert!(matches!(with("9000000001"), Err(ConfigError::BucketTooLarge { bucket_size: 9_000_000_001, .. })));
    assert!(read(&["--bucket-size", "9000000001"], &[]).is_ok());
    let error = read(&[], &[("ORDERQL_BUCKET_URL", "http://:geheim@store.example")]).unwrap_err().to_string();
    assert!(!error.contains("geheim") && error.contains("redis://"), "{error}");
}

#[test]
fn an_unknown_key_is_rejected_with_the_nearest_name() {
    let file = ConfigFile::new("unknown", "pool_sise = 3");
    let error = read(&["--config", file.path()], &[]).unwrap_err().to_string();
    assert!(error.ends_with("there is no setting `pool_sise`; did you mean `pool-size`?"), "{error}");
    let file = ConfigFile::new("list", "pool-size = [3]");
    let error = read(&["--config", file.path()], &[]).unwrap_err().to_string();
    assert!(error.ends_with("`pool-size` is of the type array; expected a whole number from 1 to 1000000"), "{error}");
    let file = ConfigFile::new("broken", "pool-size == 3");
    assert!(matches!(read(&["--config", file.path()], &[]), Err(ConfigError::NotToml { line: 1, .. })));
    assert!(matches!(read(&["--config", "/nowhere/at.toml"], &[]), Err(ConfigError::Unreadable(..))));
}

#[test]
fn a_database_is_required_and_its_password_is_not_shown() {
    let error = read(&[], &[("ORDERQL_DATABASE_URL", "postgresql://me:geheim@host:port/x")]).unwrap_err();
    assert!(!error.to_string().contains("geheim") && error.to_string().contains("expected a URL"), "{error}");
    let error = read(&[], &[]).unwrap().database().unwrap_err().to_string();
    assert!(error.contains("--database-url") && error.contains("ORDERQL_DATABASE_URL"), "{error}");
}

#[test]
fn help_contains_flags_and_variables() {
    let help = Flags::augment_args(clap::Command::new("serve").term_width(200)).render_long_help().to_string();
    for setting in SETTINGS {
        assert!(help.contains(&format!("--{} <{}>", setting.name, setting.placeholder)), "{help}");
        assert!(help.contains(&format!("[env: {}]", setting.variable)), "{help}");
    }
}

#[test]
fn bodies_fit_twice_into_the_memory_budget() {
    assert!(matches!(read(&["--body-limit", "64MiB"], &[]), Err(ConfigError::BodyAboveBudget { .. })));
    assert!(read(&["--body-limit", "64MiB", "--memory-budget", "128MiB"], &[]).is_ok());
}
