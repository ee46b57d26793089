//! The endpoints, each in a file or folder of its own.

pub(crate) mod console;
pub(crate) mod graphql;
pub(crate) mod health;
pub(crate) mod jwks;
pub(crate) mod metrics;
pub(crate) mod sdl;
pub(crate) mod settings;
pub(crate) mod token;
pub(crate) mod update_order;
pub(crate) mod update_response;
