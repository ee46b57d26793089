//! Whether a new connection has the settings that results depend on. A pooler between, or somebody's `ALTER ROLE`, may have
//! replaced them, and nobody would notice: rows would come in another order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use deadpool_postgres::{ClientWrapper, Hook, HookError};
use tokio_postgres::{Error, SimpleQueryMessage};

use crate::database::connection::lock_waits::LockWatch;
use crate::database::connection::session::{
    ISOLATION, READ_ONLY_DEFAULT, READER_DEFAULTS, READER_REQUIRED, SessionSetting, WRITER_REQUIRED,
};
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// What the settings of a new connection are compared with.
#[derive(Debug, Clone)]
pub(in crate::database) struct SessionCheck {
    required: Vec<SessionSetting>,
    /// Only the time that statements take depends on these.
    planning: &'static [SessionSetting],
    /// Whether the operator was warned of those.
    is_warned: Arc<AtomicBool>,
    /// What has to know the processes that serve the connections.
    locks: Option<LockWatch>,
}

impl SessionCheck {
    /// For connections that read. Without startup options each transaction says by itself which snapshot it has, and that it is read-only.
    pub(in crate::database) fn of_reader(startup_options: bool) -> Self {
        let of_transactions: &[SessionSetting] = if startup_options { &[ISOLATION, READ_ONLY_DEFAULT] } else { &[] };
        // With startup options, what differs is what the operator's address says.
        let planning: &[SessionSetting] = if startup_options { &[] } else { &READER_DEFAULTS };
        Self::new([of_transactions, &READER_REQUIRED].concat(), planning)
    }

    /// For connections that write.
    pub(in crate::database) fn of_writer() -> Self {
        Self::new(WRITER_REQUIRED.to_vec(), &[])
    }

    fn new(required: Vec<SessionSetting>, planning: &'static [SessionSetting]) -> Self {
        Self { required, planning, is_warned: Arc::default(), locks: None }
    }

    /// Tells the pool's watch which process serves a connection.
    pub(in crate::database) fn with_locks(self, locks: LockWatch) -> Self {
        Self { locks: Some(locks), ..self }
    }

    /// What a pool does with new connections: `prepare`, if it is given, and the check.
    pub(in crate::database) fn hook(self, prepare: Option<&'static str>) -> Hook {
        Hook::async_fn(move |client, _| {
            let check = self.clone();
            Box::pin(async move {
                if let Some(prepare) = prepare {
                    client.batch_execute(prepare).await.map_err(HookError::Backend)?;
                }
                let lost = check.run(client).await.map_err(HookError::Backend)?;
                if lost.is_empty() {
                    return Ok(());
                }
                Err(HookError::message(format!(
                    "the connection has lost settings that results depend on: {lost}; with a pooler between, set startup-options \
                     to off, and give the role what `orderql migrate --print-role-settings` prints"
                )))
            })
        })
    }

    /// Asks for the settings. Returns those that make a connection unusable, and warns once of the others.
    async fn run(&self, client: &ClientWrapper) -> Result<String, Error> {
        let names = self.required.iter().chain(self.planning).map(|(name, _)| format!("current_setting('{name}')"));
        let names: Vec<_> = names.chain(["pg_backend_pid()".to_owned()]).collect();
        let select = format!("SELECT {}", names.join(", "));
        let rows = client.simple_query(&select).await?;
        let row = rows.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let found = |at: usize| row.and_then(|row| row.get(at)).unwrap_or_default();
        if let (Some(locks), Ok(process)) = (&self.locks, found(names.len() - 1).parse()) {
            locks.insert(&client.statement_cache, process);
        }
        let lost = differences(&self.required, found);
        let planning = differences(self.planning, |at| found(self.required.len() + at));
        if !planning.is_empty() && !self.is_warned.swap(true, Ordering::Relaxed) {
            emit(&Event::PlanningSettingsLost { settings: &planning });
        }
        Ok(lost)
    }
}

/// The settings whose values differ, and how; empty if there are none.
fn differences<'a>(settings: &[SessionSetting], found: impl Fn(usize) -> &'a str) -> String {
    let found = settings.iter().enumerate().map(|(at, setting)| (setting, found(at)));
    let differing =
        found.filter(|((name, value), found)| found != value && !(*name == "TimeZone" && *found == "Etc/UTC"));
    let described = differing.map(|((name, value), found)| format!("{name} is {found:?} instead of {value:?}"));
    described.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_each_setting_that_differs() {
        let found = ["0", "Etc/UTC", "\"$user\", public"];
        let text = differences(&READER_REQUIRED, |at| found[at]);
        assert_eq!(text, r#"search_path is "\"$user\", public" instead of "public""#);
        assert_eq!(differences(&READER_REQUIRED, |at| ["0", "UTC", "public"][at]), "");
    }
}
