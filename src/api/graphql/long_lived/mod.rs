//! Requests that last: exports, which are sent page by page, and requests that wait for changes.
//!
//! - `export`: an export of a collection
//! - `export_lines`: the lines of an export
//! - `export_log`: what the log says of an export
//! - `export_run`: what every export has between its pages
//! - `feed_export`: an export of a change feed
//! - `idle_place`: a place of an export between two pages
//! - `parked_query`: a query that waits for changes
//! - `parking`: the places and turns of requests that wait

pub(crate) mod export;
pub(crate) mod export_lines;
pub(crate) mod export_log;
pub(crate) mod export_run;
pub(crate) mod feed_export;
pub(crate) mod idle_place;
pub(crate) mod parked_query;
pub(crate) mod parking;
