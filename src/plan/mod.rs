//! How to fetch what an operation asks for: a statement for each connection and point root, and the shape of the answer.
//!
//! - [`step`]: a statement with its parameters, and where its parents' keys come from
//! - [`select`]: the columns, joins and aggregates that a step reads
//! - [`keyset`]: which part of a walk a page lies in
//! - [`filter`]: search terms as conditions
//! - [`sql`]: the writer of SQL text; the only one of the read side
//! - [`statement`]: a statement's text from its parts
//! - [`shape`]: the answer's bytes around the values, as a flat program
//! - [`introspection`]: answers that are constants
//! - [`build`]: all of these from a bound operation

pub mod build;
pub mod filter;
pub mod introspection;
pub mod keyset;
pub mod select;
pub mod shape;
pub mod sql;
pub mod statement;
pub mod step;

use shape::Shape;
use step::Step;

/// How to fetch and write the answer to one operation.
#[derive(Debug)]
pub struct Plan {
    /// The statements. A step's parents come before it.
    pub steps: Vec<Step>,
    /// The answer's shape.
    pub shape: Shape,
}

impl Plan {
    /// Whether anything has to be asked of the database at all.
    pub fn needs_database(&self) -> bool {
        !self.steps.is_empty()
    }
}
