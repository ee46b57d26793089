//! Loads the XML data files of OFBiz (`entity-engine-xml`) and Moqui (`entity-facade-xml`) into tables, as a stream.
//!
//! ```text
//! input ─▶ xml_reader     bytes → rows with line numbers               pure
//!   └▶ file_state         a row → its table and inherited keys         pure
//!        └▶ mapping       a row → a table's columns and values         pure
//!        └▶ queue         records → batches, dependencies first        pure
//!             └▶ table_writer   a batch → a statement                  one transaction per file
//! finish                  totals and links, after the last file
//! ```
//!
//! A separate thread reads the file, at most some hundreds of rows ahead of the database, so memory does not depend on the file's size. A
//! row of Moqui's format is read with all rows inside it. The database's catalogs define the entities and fields: an entity is a table of
//! schema `public`, a field one of its columns, named by OFBiz's rule.
//!
//! - [`loader`]: loads one file through these steps; [`input`]: the files
//! - `xml_reader`, `xml_element`, `row_element`, `entity_name`, `line_counter`: from bytes to rows; `data_format`, `row`: what they read
//! - `file_state`, `ancestors`: the rows around a row of Moqui's format, and which keys it inherits
//! - `tables`, `target_type`: the tables of the database
//! - `mapping`, `value`, `date_time`: from rows to values that PostgreSQL takes
//! - `queue`, `record`: batches of records; `table_writer`, `statement`: write a batch
//! - [`finish`]: totals and links, after the last file
//! - [`report`], [`error`]: what was loaded, and what could not be
//!
//! ## Differences from OFBiz
//!
//! - **`changeOrderPaymentStatus`**, the rule that adds an `OrderStatus` row for each new `OrderPaymentPreference`, does
//!   not run. Its key would come from a sequence and its time from the clock, so each load of the same file would add
//!   another row. A file that needs the row contains it. The rules that total inventory details do run, because their
//!   result depends on the rows alone ([`finish`]).
//! - OFBiz takes a missing key from a sequence. Here such a row is reported as bad, for the same reason.
//! - `create-dummy-fk`: missing parent rows are not created.
//! - Placeholders such as `${…}` are loaded as written, as OFBiz does without values for them.
//! - Java moves a day that does not exist, such as 30 February, to the next month. Here it is an error.
//! - `entity-engine-transform-xml`: the template is not applied, and the file is skipped.
//!
//! ## Differences from Moqui
//!
//! - The names of relationships are not known, because the tables do not have them. A row inside another is found by its
//!   entity's name, and inherits what its table's columns and foreign keys say (`ancestors`). One that is named by a
//!   relationship's alias is skipped.
//! - Missing keys, `fromDate` among them, are reported as bad; services are not called; changes of a status are not checked.

pub mod error;
mod record;
pub(crate) mod data_format;
pub(crate) mod row;
pub(crate) mod target_type;

pub mod input;
mod line_counter;
pub(crate) mod xml_reader;
mod xml_element;
mod entity_name;
mod row_element;

mod tables;
pub(crate) mod value;
mod date_time;
mod ancestors;
mod mapping;
mod queue;
mod statement;
pub mod report;
mod table_writer;
mod file_state;
pub mod loader;
pub mod finish;
