//! The parts that the fuzz targets in `fuzz/` need beside the public library: inner steps, as functions from bytes to plain data.
//!
//! The module belongs to the feature `fuzzing`, which only the fuzz crate enables. It is no part of the library's interface.
//!
//! - `document`: the tree of a parsed document
//! - `form`: bodies of order updates
//! - `head`: heads of requests
//! - `load`: the rows of data files
//! - `output`: PostgreSQL's binary values as JSON and as cursor keys
//! - `token`: tokens, and the keys that verify them

pub mod document;

#[cfg(feature = "server")]
pub mod form;
#[cfg(feature = "server")]
pub mod head;
#[cfg(feature = "tools")]
pub mod load;
#[cfg(feature = "server")]
pub mod output;
#[cfg(feature = "server")]
pub mod token;
