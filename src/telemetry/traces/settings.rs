//! OpenTelemetry's environment variables.

use std::time::Duration;

use hyper::header::{HeaderName, HeaderValue};
use hyper::{HeaderMap, Uri};
use percent_encoding::percent_decode_str;

use crate::telemetry::traces::sampler::Sampler;

/// Where traces go, and which.
#[derive(Debug)]
pub(super) struct Settings {
    /// The collector's address for traces.
    pub(super) endpoint: Uri,
    /// Headers of each request to it.
    pub(super) headers: HeaderMap,
    /// How long a request to it may take.
    pub(super) timeout: Duration,
    /// How long spans wait for others.
    pub(super) delay: Duration,
    /// Which requests are recorded.
    pub(super) sampler: Sampler,
    /// What describes this server.
    pub(super) resource: Vec<(String, String)>,
}

/// A variable's value cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{variable} is {value:?}; expected {wanted}")]
pub(super) struct SettingsError {
    variable: &'static str,
    value: String,
    wanted: &'static str,
}

impl Settings {
    /// Reads the variables; `None` if no collector is named, or traces are switched off.
    pub(super) fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, SettingsError> {
        const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
        const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let is_off = variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
            || variable("OTEL_TRACES_EXPORTER").is_some_and(|value| value == "none");
        let (name, value, address) = match (variable(TRACES_ENDPOINT), variable(ENDPOINT)) {
            _ if is_off => return Ok(None),
            (Some(value), _) => (TRACES_ENDPOINT, value.clone(), value),
            (None, Some(value)) => {
                let address = format!("{}/v1/traces", value.trim_end_matches('/'));
                (ENDPOINT, value, address)
            }
            (None, None) => return Ok(None),
        };
        let is_usable = |uri: &Uri| uri.scheme_str() == Some("http") && uri.host().is_some();
        let endpoint = address.parse().ok().filter(is_usable).ok_or(SettingsError {
            variable: name,
            value,
            wanted: "the address of a collector that takes OTLP over HTTP without encryption, such as http://localhost:4318",
        })?;
        let headers = variable("OTEL_EXPORTER_OTLP_TRACES_HEADERS").or(variable("OTEL_EXPORTER_OTLP_HEADERS"));
        let headers = pairs(headers.as_deref().unwrap_or_default()).filter_map(|(name, value)| {
            let (name, value) = (HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?);
            Some((name, value))
        });
        let milliseconds = |name: &str, default| {
            Duration::from_millis(variable(name).and_then(|value| value.parse().ok()).unwrap_or(default))
        };
        let sampler = variable("OTEL_TRACES_SAMPLER").unwrap_or_else(|| "parentbased_always_on".to_owned());
        let argument = variable("OTEL_TRACES_SAMPLER_ARG");
        let mut resource: Vec<_> = pairs(&variable("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default()).collect();
        let name = variable("OTEL_SERVICE_NAME");
        if name.is_some() || resource.iter().all(|(name, _)| name != "service.name") {
            resource.retain(|(name, _)| name != "service.name");
            resource.push(("service.name".to_owned(), name.unwrap_or_else(|| "orderql".to_owned())));
        }
        Ok(Some(Self {
            endpoint,
            headers: headers.collect(),
            timeout: milliseconds("OTEL_EXPORTER_OTLP_TIMEOUT", 10_000),
            delay: milliseconds("OTEL_BSP_SCHEDULE_DELAY", 5_000),
            sampler: Sampler::parse(&sampler, argument.as_deref()).ok_or(SettingsError {
                variable: "OTEL_TRACES_SAMPLER",
                value: sampler,
                wanted: "always_on, always_off or traceidratio, each also after parentbased_, with a ratio from 0 to 1 in \
                         OTEL_TRACES_SAMPLER_ARG",
            })?,
            resource,
        }))
    }
}

/// `name=value` with commas between; values are percent-encoded.
fn pairs(text: &str) -> impl Iterator<Item = (String, String)> {
    text.split(',').filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
        Some((name.trim().to_owned(), value.into_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Option<Settings>, SettingsError> {
        Settings::read(|name| variables.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned()))
    }

    #[test]
    fn reads_opentelemetrys_variables() {
        assert!(read(&[]).unwrap().is_none());
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/");
        assert!(read(&[endpoint, ("OTEL_SDK_DISABLED", "true")]).unwrap().is_none());
        assert!(read(&[endpoint, ("OTEL_TRACES_EXPORTER", "none")]).unwrap().is_none());
        let settings = read(&[
            endpoint,
            ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, x=y"),
            ("OTEL_RESOURCE_ATTRIBUTES", "service.name=ignored,deployment.environment=test"),
            ("OTEL_SERVICE_NAME", "orders"),
        ]);
        let settings = settings.unwrap().unwrap();
        assert_eq!(settings.endpoint, "http://collector:4318/v1/traces");
        assert_eq!((settings.headers["api-key"].as_bytes(), settings.headers.len()), (&b"a b"[..], 2));
        let resource = [("deployment.environment", "test"), ("service.name", "orders")];
        assert_eq!(settings.resource, resource.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let traces = read(&[endpoint, ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://other:1/traces")]);
        assert_eq!(traces.unwrap().unwrap().endpoint, "http://other:1/traces");
        for (name, value) in
            [(endpoint.0, "https://collector"), (endpoint.0, "collector:4318"), ("OTEL_TRACES_SAMPLER", "x")]
        {
            let error = read(&[(name, value), endpoint]).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{name} is {value:?}; expected ")), "{error}");
        }
    }
}
