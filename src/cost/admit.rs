//! Whether an operation's depth and cost are within the caller's limits, and what would bring them within.
//!
//! The facts of `DEPTH_EXCEEDED`: `depth`, `maxDepth`, and `paths`, the response keys to the fields that first go too deep
//! (20 at most).
//!
//! The facts of `COST_EXCEEDED`: `estimatedCost`, `maxCost`, `minimumCost` (one row in every page), and
//! - `branches`, the five heaviest connections and point roots, the heaviest first: `path` (response keys), `total`
//!   (what it adds with all that is in it) and `share` (that, of the estimate). One within another is a part of it.
//! - `suggestions`, each a set of page sizes under which the same selection fits; empty where there is none. `shrinks` tells
//!   which pages become smaller (`outermost`, `nested`, `all`), `estimatedCost` the price then, and `edits` what to change,
//!   all of it: `path` (response keys to the connection, or to the first of several that change together), `argument`
//!   (`first` or `last`), `from`, `to`, and either `variable`, whose value is to be `to`, or `locations`, the places of the
//!   fields whose argument is to be `to`.

use std::fmt;

use serde_json::{Value as Json, json};

use crate::cost::Cost;
use crate::cost::branches::{Branch, heaviest, share};
use crate::cost::depth::depth;
use crate::cost::estimate::Estimate;
use crate::cost::pages::Pages;
use crate::cost::path::{Path, walk};
use crate::cost::suggest::{Advice, Edit, Suggestion, advise};
use crate::error::code::ErrorCode;
use crate::error::diagnostic::{Diagnostic, ErrorExtensions};
use crate::error::graphql_error::{GraphqlError, GraphqlErrors, MAX_ERRORS};
use crate::limits::Limits;
use crate::query::bind::{Bound, BoundOperation, StepId};

/// Holds depth, then cost, against the limits; returns the depth, in levels.
pub fn admit(estimate: &Estimate, operation: &BoundOperation<'_>, limits: &Limits) -> Result<u32, GraphqlErrors> {
    let depth = depth(operation, limits.max_depth);
    if depth.levels > limits.max_depth {
        let paths = too_deep(operation, limits.max_depth);
        let excess = Excess::Depth { depth: depth.levels, max_depth: limits.max_depth, paths };
        return Err(GraphqlErrors::one(GraphqlError::new(&excess, depth.beyond.into_iter().take(MAX_ERRORS))));
    }
    let cost = estimate.cost();
    if cost > limits.max_cost {
        let pages = Pages::of(operation, estimate.formula());
        let (branches, advice) = (heaviest(&pages), advise(&pages, limits.max_cost));
        let paths = paths(operation, &branches, &advice);
        let excess = Excess::Cost { estimated_cost: cost, max_cost: limits.max_cost, branches, advice, paths };
        return Err(GraphqlErrors::one(GraphqlError::new(&excess, [])));
    }
    Ok(depth.levels)
}

/// More than a caller may ask.
#[derive(Debug)]
enum Excess<'a> {
    Depth {
        depth: u32,
        max_depth: u32,
        /// To the fields that first go too deep.
        paths: Vec<Path<'a>>,
    },
    Cost {
        estimated_cost: Cost,
        max_cost: Cost,
        branches: Vec<Branch>,
        advice: Advice<'a>,
        /// To the steps that are told of, in their order.
        paths: Vec<(StepId, Path<'a>)>,
    },
}

/// The fields one level below what is allowed, in query order.
fn too_deep<'a>(operation: &'a BoundOperation<'a>, allowed: u32) -> Vec<Path<'a>> {
    let mut paths = Vec::new();
    walk(operation, &mut |_, path, level| {
        if level > allowed && paths.len() < MAX_ERRORS {
            paths.push(path.clone());
        }
        level <= allowed
    });
    paths
}

/// The paths to the steps that branches and suggestions name.
fn paths<'a>(operation: &'a BoundOperation<'a>, branches: &[Branch], advice: &Advice<'_>) -> Vec<(StepId, Path<'a>)> {
    let edits = advice.suggestions.iter().flat_map(|suggestion| &suggestion.edits);
    let mut named: Vec<_> = branches.iter().map(|branch| branch.step).chain(edits.map(|edit| edit.step)).collect();
    named.sort_unstable();
    named.dedup();
    let mut paths = Vec::with_capacity(named.len());
    walk(operation, &mut |kind, path, _| {
        let step = match kind {
            Bound::Connection(connection) => Some(connection.step),
            Bound::Lookup(point) => Some(point.step),
            _ => None,
        };
        if let Some(step) = step.filter(|step| named.binary_search(step).is_ok()) {
            paths.push((step, path.clone()));
        }
        paths.len() < named.len()
    });
    paths
}

impl fmt::Display for Excess<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Depth { depth, max_depth, .. } => {
                write!(f, "the query nests {depth} levels of objects; at most {max_depth} are allowed; split it")
            }
            Self::Cost { estimated_cost, max_cost, advice, .. } => {
                write!(f, "the query's estimated cost is {estimated_cost}; at most {max_cost} is allowed; ")?;
                if advice.minimum_cost > *max_cost {
                    let minimum_cost = advice.minimum_cost;
                    write!(
                        f,
                        "select fewer collections or fields: with one row in every page it would cost {minimum_cost}"
                    )
                } else {
                    f.write_str("reduce nested page sizes or select fewer nested collections")
                }
            }
        }
    }
}

impl Diagnostic for Excess<'_> {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Depth { .. } => ErrorCode::DepthExceeded,
            Self::Cost { .. } => ErrorCode::CostExceeded,
        }
    }

    fn extensions(&self) -> ErrorExtensions {
        let facts: Vec<(&str, Json)> = match self {
            Self::Depth { depth, max_depth, paths } => {
                vec![("depth", json!(depth)), ("maxDepth", json!(max_depth)), ("paths", json!(paths))]
            }
            Self::Cost { estimated_cost, max_cost, branches, advice, paths } => {
                let path =
                    |step: StepId| paths.binary_search_by_key(&step, |(step, _)| *step).map(|at| &paths[at].1).ok();
                let branch = |branch: &Branch| {
                    let share = share(branch.total, *estimated_cost);
                    json!({ "path": path(branch.step), "total": branch.total, "share": share })
                };
                let suggestion = |suggestion: &Suggestion<'_>| {
                    let edits = suggestion.edits.iter().map(|edit| self::edit(edit, path(edit.step)));
                    json!({
                        "shrinks": suggestion.shrinks.as_str(),
                        "edits": edits.collect::<Vec<_>>(),
                        "estimatedCost": suggestion.estimated_cost,
                    })
                };
                vec![
                    ("estimatedCost", json!(estimated_cost)),
                    ("maxCost", json!(max_cost)),
                    ("minimumCost", json!(advice.minimum_cost)),
                    ("branches", branches.iter().map(branch).collect()),
                    ("suggestions", advice.suggestions.iter().map(suggestion).collect()),
                ]
            }
        };
        facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect()
    }
}

fn edit(edit: &Edit<'_>, path: Option<&Path<'_>>) -> Json {
    let mut told = json!({ "path": path, "argument": edit.end.argument(), "from": edit.from, "to": edit.to });
    if let Some(variable) = edit.variable {
        told["variable"] = json!(variable);
    } else {
        let locations = edit.locations.iter().map(|at| json!({ "line": at.line, "column": at.column }));
        told["locations"] = locations.collect();
    }
    told
}
