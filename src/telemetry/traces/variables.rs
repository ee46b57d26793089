//! OpenTelemetry's variables that the SDK leaves to the program.

use std::env;

/// Whether the environment names no collector, or switches traces off.
pub(super) fn are_off() -> bool {
    exporter_variable("ENDPOINT").is_none()
        || variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
        || variable("OTEL_TRACES_EXPORTER").is_some_and(|value| value == "none")
}

/// A variable of the exporter: the one for traces, or the one for everything that is exported.
pub(super) fn exporter_variable(name: &str) -> Option<String> {
    variable(&format!("OTEL_EXPORTER_OTLP_TRACES_{name}")).or_else(|| variable(&format!("OTEL_EXPORTER_OTLP_{name}")))
}

/// A variable of the environment. An empty one counts as none.
pub(super) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
