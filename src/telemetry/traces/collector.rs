//! The HTTP client that sends spans to the collector, with TLS if its address begins with `https`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use async_trait::async_trait;
use bytes::Bytes;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use opentelemetry_http::hyper::HyperClient;
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tokio::runtime::Handle;

use crate::telemetry::error_chain::ErrorChain;
use crate::telemetry::traces::error::TracesError;
use crate::telemetry::traces::variables::exporter_variable;
use crate::tls::pem_files::{authorities, certificates, private_key};

/// Sends requests to the collector.
#[derive(Debug)]
pub(super) struct Collector {
    client: HyperClient<HttpsConnector<HttpConnector>>,
    /// The SDK sends from a thread of its own, outside of the runtime that the client needs.
    runtime: Handle,
    /// Why the last request got no response. The exporter's own error leaves that out.
    pub(super) failure: Arc<ArcSwapOption<String>>,
}

impl Collector {
    /// Must be called in a runtime.
    pub(super) fn new() -> Result<Self, TracesError> {
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls()?).https_or_http().enable_http1().build();
        let milliseconds = exporter_variable("TIMEOUT").and_then(|value| value.parse().ok());
        let timeout =
            milliseconds.map_or(opentelemetry_otlp::OTEL_EXPORTER_OTLP_TIMEOUT_DEFAULT, Duration::from_millis);
        Ok(Self {
            client: HyperClient::new(connector, timeout, None),
            runtime: Handle::current(),
            failure: Arc::default(),
        })
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        let sending = self.runtime.spawn(async move { client.send_bytes(request).await });
        let result = sending.await?;
        self.failure.store(result.as_ref().err().map(|error| Arc::new(ErrorChain(&**error).to_string())));
        result
    }
}

/// Whom the client trusts, and the certificate that it shows. The exporter leaves these variables to its client.
fn tls() -> Result<ClientConfig, TracesError> {
    let file = |name| exporter_variable(name).map(PathBuf::from);
    let is_encrypted = exporter_variable("ENDPOINT").is_some_and(|address| address.starts_with("https:"));
    let roots = if is_encrypted { authorities(file("CERTIFICATE").as_deref())? } else { RootCertStore::empty() };
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots);
    match (file("CLIENT_CERTIFICATE"), file("CLIENT_KEY")) {
        (Some(certificate), Some(key)) if is_encrypted => {
            Ok(builder.with_client_auth_cert(certificates(&certificate)?, private_key(&key)?)?)
        }
        _ => Ok(builder.with_no_client_auth()),
    }
}
