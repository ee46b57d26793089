//! The endpoints, each in a file or folder of its own.

pub mod graphql;
pub mod health;
pub mod jwks;
pub mod sdl;
pub mod token;
pub mod update_order;
