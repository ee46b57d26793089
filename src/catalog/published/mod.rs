//! A catalog as clients see it.
//!
//! - `schema_description`: the description of the schema itself
//! - `sdl_writer`: the published SDL
//! - `introspection`: resolves introspection

pub(crate) mod introspection;
mod schema_description;
mod sdl_writer;

use crate::catalog::type_system::Catalog;

impl Catalog {
    /// The catalog with its description and its SDL, which begins with the description.
    pub(crate) fn published(mut self) -> Self {
        self.description = schema_description::write(&self);
        self.sdl = sdl_writer::write(&self);
        self
    }
}
