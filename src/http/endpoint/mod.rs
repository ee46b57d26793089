//! The endpoints, a file each.

pub mod graphql;
pub mod health;
pub mod jwks;
pub mod sdl;
pub mod token;
pub mod update_order;
