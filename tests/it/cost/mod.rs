//! What queries cost, and who pays.

mod charging;
mod suggestions;
