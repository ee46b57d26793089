//! The number of a step.

/// The index of a step in the plan, in the cost formula and in the row counts. A step fetches the rows of a connection or
/// of a lookup. Steps are numbered in the order of the response, so a step comes after the one whose rows are its parents.
pub type StepId = usize;
