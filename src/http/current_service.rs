//! The service in force. A reload of the settings replaces it; requests that have begun keep theirs.

use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::http::service::Service;

/// The service in force.
#[derive(Debug)]
pub(crate) struct CurrentService(ArcSwap<Service>);

impl CurrentService {
    /// This service is in force.
    pub(crate) fn new(service: Service) -> Arc<Self> {
        Arc::new(Self(ArcSwap::from_pointee(service)))
    }

    /// The service for a new request.
    pub(crate) fn get(&self) -> Arc<Service> {
        self.0.load_full()
    }

    /// This service is in force from now on.
    pub(crate) fn replace(&self, service: Service) {
        self.0.store(Arc::new(service));
    }
}
