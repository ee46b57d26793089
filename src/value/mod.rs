//! The scalar types, and values parsed from text.
//!
//! A [`Value`] comes from a client: an argument, a search term, a key in a cursor. Values from the database never
//! become one; they are converted from PostgreSQL's binary format to JSON directly. A cursor contains a value of the
//! database, so a [`Value`] can be any that PostgreSQL can store.
//!
//! - `scalar_type`: the types, and what text is a value of each
//! - `any_value`: a value of any of them
//! - `date`, `float`, `interval`, `numeric`, `time_of_day`, `timestamp`, `uuid`: values as PostgreSQL stores them
//! - `era`: years without four digits
//! - `enumeration`: enums of column values
//! - `error`: why a text is no value

mod any_value;
mod date;
mod enumeration;
mod era;
mod error;
mod float;
mod interval;
mod numeric;
mod scalar_type;
mod time_of_day;
mod timestamp;
mod uuid;

/// The bytes of the longest value of the database that a response can have.
pub const MAX_VALUE_BYTES: usize = 1 << 20;

pub use any_value::Value;
pub use date::Date;
pub use enumeration::Enumeration;
pub use error::ParseValueError;
pub use float::Float;
pub use interval::Interval;
pub use numeric::Numeric;
pub use scalar_type::ScalarType;
pub use time_of_day::TimeOfDay;
pub use timestamp::Timestamp;
pub use uuid::Uuid;
