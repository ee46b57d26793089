//! A request while it is served, and its rest while the response is sent.

use std::sync::Arc;

use hyper::http::request::Parts as Head;

use crate::access::grants::{Artifact, Principal};
use crate::access::tokens::error::BadToken;
use crate::api::access_log::AccessLogEntry;
use crate::api::credentials;
use crate::api::errors::access_error::AccessError;
use crate::api::service::Service;
use crate::http::connection::InFlightRequest;
use crate::http::connection::outgoing_body::DeliveryRecord;
use crate::http::listener_kind::ListenerKind;
use crate::throttle::queues::Permit;

/// A request while it is served.
pub(crate) struct RequestContext {
    pub service: Arc<Service>,
    pub listener: ListenerKind,
    pub head: Head,
    pub(crate) in_flight: InFlightRequest,
    pub entry: Box<AccessLogEntry>,
    /// The right to run a query, until the response is delivered.
    pub(crate) permit: Option<Permit>,
}

impl RequestContext {
    /// The gates of token and grant. Returns the account of a good token as it is now, if it has the grant, and adds it
    /// to the log entry.
    pub(crate) fn authorize(&mut self, artifact: Artifact) -> Result<Arc<Principal>, AccessError> {
        let Service { tokens, grants, .. } = &*self.service;
        let token = tokens.verify(credentials::token(&self.head.headers)?).inspect_err(|error| {
            if let BadToken::NotAccepted(fault) = error {
                self.entry.token_fault = Some(*fault);
            }
        })?;
        let caller = grants.current().principal(&token.user_id).ok_or(AccessError::AccountClosed)?;
        if token.issued_at < caller.tokens_from {
            return Err(BadToken::Superseded.into());
        }
        self.entry.caller = Some(Arc::clone(&caller.user_id));
        if !caller.may(artifact) {
            return Err(AccessError::NotGranted { path: artifact.path() });
        }
        Ok(caller)
    }
}

/// The state of a request while its response is sent.
#[derive(Debug)]
pub(crate) struct SentRequest {
    pub entry: Box<AccessLogEntry>,
    pub(crate) _permit: Option<Permit>,
}

impl DeliveryRecord for SentRequest {
    fn end(&mut self, received: u64, sent: u64, is_complete: bool) {
        self.entry.bytes_in = received;
        self.entry.bytes_out = sent;
        self.entry.broken_off = !is_complete;
    }
}
