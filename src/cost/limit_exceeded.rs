//! The error of a query that exceeds its caller's limits, and what would bring the query within them.
//!
//! The `extensions` of `DEPTH_EXCEEDED`: `depth`, `maxDepth`, and `paths`, the response keys of the fields that are one level
//! too deep (20 at most).
//!
//! The `extensions` of `RESPONSE_TOO_LARGE`: `responseBytes` and `maxResponseBytes`.
//!
//! The `extensions` of `COST_EXCEEDED`: `estimatedCost`, `maxCost`, `minimumCost` (one row in every page), `bucketSize` if the caller's
//! bucket is smaller than the caller's limit (then it is the `maxCost`, too), and
//! - `branches`, the five most expensive connections and lookups, the most expensive first: `path` (response keys), `total`
//!   (what it adds with everything inside it) and `share` (of the estimate). A branch may be inside another.
//! - `suggestions`, each a set of page sizes under which the same selection fits; empty if there is none. `shrinks` names the pages that
//!   become smaller (`outermost`, `nested`, `all`), `estimatedCost` is the price then, and `edits` lists all changes: `path` (response keys
//!   of the connection, or of the first of several that change together), `argument` (`first` or `last`, or `rows` of totals), `from`,
//!   `to`, and either `variable`, the variable that gets the value `to`, or `locations`, the locations of the fields with the argument.

use std::fmt;

use serde_json::{Value as Json, json};

use crate::cost::branches::{Branch, most_expensive, share};
use crate::cost::estimate::Estimate;
use crate::cost::limit_check::{CheckedGate, Gate, LimitCheck};
use crate::cost::lines::{Path, lines};
use crate::cost::pages::Pages;
use crate::cost::price::Cost;
use crate::cost::suggest::{Advice, Edit, Suggestion, advise};
use crate::error::code::ErrorCode;
use crate::error::diagnostic::{Diagnostic, ErrorExtensions};
use crate::error::graphql_error::{GraphqlError, GraphqlErrors, Location, MAX_ERRORS};
use crate::limits::Limits;
use crate::query::bind::selection::BoundOperation;

/// The error of an operation that is not admitted.
pub(super) fn errors(
    check: &LimitCheck,
    operation: &BoundOperation<'_>,
    estimate: &Estimate,
    limits: &Limits,
) -> Option<GraphqlErrors> {
    let rejected_by = check.rejected_by()?;
    let error = match rejected_by.gate {
        Gate::Depth => {
            let (paths, locations) = too_deep(operation, rejected_by.limit);
            let error = LimitExceeded::Depth { depth: rejected_by.measured, max_depth: rejected_by.limit, paths };
            GraphqlError::new(&error, locations)
        }
        // The query fails another check than this one.
        Gate::ResponseSize => return None,
        Gate::Cost => {
            let max_cost = rejected_by.limit;
            let pages = Pages::of(operation, estimate);
            let (branches, advice) = (most_expensive(&pages), advise(&pages, max_cost));
            let (estimated_cost, by_bucket) = (rejected_by.measured, !limits.bucket_covers_max_cost());
            GraphqlError::new(&LimitExceeded::Cost { estimated_cost, max_cost, by_bucket, branches, advice }, [])
        }
    };
    Some(GraphqlErrors::one(error))
}

/// The error of an operation whose response may be too large.
pub(crate) fn response_too_large(checked: &CheckedGate) -> GraphqlErrors {
    let error = LimitExceeded::ResponseSize { bytes: checked.measured, max_bytes: checked.limit };
    GraphqlErrors::one(GraphqlError::new(&error, []))
}

/// The error of an operation whose statement would have more columns than the database allows.
pub(crate) fn too_many_columns(columns: usize, max_columns: usize) -> GraphqlErrors {
    GraphqlErrors::one(GraphqlError::new(&LimitExceeded::Columns { columns, max_columns }, []))
}

/// A limit that a query exceeds: of the caller, or of the database.
#[derive(Debug)]
enum LimitExceeded<'a> {
    Depth {
        depth: u64,
        max_depth: u64,
        /// The fields that are one level too deep.
        paths: Vec<Path<'a>>,
    },
    Cost {
        estimated_cost: Cost,
        max_cost: Cost,
        /// Whether the limit is the size of the caller's bucket.
        by_bucket: bool,
        branches: Vec<Branch<'a>>,
        advice: Advice<'a>,
    },
    Columns {
        columns: usize,
        max_columns: usize,
    },
    ResponseSize {
        bytes: u64,
        max_bytes: u64,
    },
}

/// The fields one level below the deepest level that is allowed, in query order: paths and locations.
fn too_deep<'a>(operation: &'a BoundOperation<'a>, max_depth: u64) -> (Vec<Path<'a>>, Vec<Location>) {
    let lines = lines(operation);
    let too_deep = lines.iter().filter(|line| line.is_object() && u64::from(line.level) == max_depth + 1);
    too_deep.take(MAX_ERRORS).map(|line| (line.path(&lines), line.location)).unzip()
}

impl fmt::Display for LimitExceeded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Depth { depth, max_depth, .. } => {
                write!(f, "the query nests {depth} levels of objects; at most {max_depth} are allowed; split it")
            }
            Self::Cost { estimated_cost, max_cost, by_bucket, advice, .. } => {
                write!(f, "the query's estimated cost is {estimated_cost}; ")?;
                if *by_bucket {
                    write!(f, "your bucket never holds more than {max_cost} credits; ")?;
                } else {
                    write!(f, "at most {max_cost} is allowed; ")?;
                }
                if advice.minimum_cost > *max_cost {
                    let minimum_cost = advice.minimum_cost;
                    write!(
                        f,
                        "select fewer collections or fields: with one row in every page it would cost {minimum_cost}"
                    )
                } else if advice.suggestions.iter().flat_map(|it| &it.edits).any(|edit| edit.argument == "rows") {
                    f.write_str("reduce the `rows` of totals, or page sizes")
                } else {
                    f.write_str("reduce nested page sizes or select fewer nested collections")
                }
            }
            Self::Columns { columns, max_columns } => write!(
                f,
                "the query reads {columns} columns at once; the database allows {max_columns}; select fewer fields, or split it"
            ),
            Self::ResponseSize { bytes, max_bytes } => write!(
                f,
                "the response may have {bytes} bytes; at most {max_bytes} are allowed; select cursors, `__typename` and aliases \
                 of them less often, or take smaller pages"
            ),
        }
    }
}

impl Diagnostic for LimitExceeded<'_> {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Depth { .. } => ErrorCode::DepthExceeded,
            Self::Cost { .. } | Self::Columns { .. } => ErrorCode::CostExceeded,
            Self::ResponseSize { .. } => ErrorCode::ResponseTooLarge,
        }
    }

    fn extensions(&self) -> ErrorExtensions {
        let extensions: Vec<(&str, Json)> = match self {
            Self::Depth { depth, max_depth, paths } => {
                vec![("depth", json!(depth)), ("maxDepth", json!(max_depth)), ("paths", json!(paths))]
            }
            Self::Cost { estimated_cost, max_cost, by_bucket, branches, advice } => {
                let branch = |Branch { path, total }: &Branch<'_>| json!({ "path": path, "total": total, "share": share(*total, *estimated_cost) });
                let suggestion = |suggestion: &Suggestion<'_>| {
                    let edits = suggestion.edits.iter().map(edit);
                    json!({
                        "shrinks": suggestion.shrinks.as_str(),
                        "edits": edits.collect::<Vec<_>>(),
                        "estimatedCost": suggestion.estimated_cost,
                    })
                };
                let mut extensions = vec![
                    ("estimatedCost", json!(estimated_cost)),
                    ("maxCost", json!(max_cost)),
                    ("minimumCost", json!(advice.minimum_cost)),
                    ("branches", branches.iter().map(branch).collect()),
                    ("suggestions", advice.suggestions.iter().map(suggestion).collect()),
                ];
                extensions.extend(by_bucket.then(|| ("bucketSize", json!(max_cost))));
                extensions
            }
            Self::Columns { columns, max_columns } => {
                vec![("columns", json!(columns)), ("maxColumns", json!(max_columns))]
            }
            Self::ResponseSize { bytes, max_bytes } => {
                vec![("responseBytes", json!(bytes)), ("maxResponseBytes", json!(max_bytes))]
            }
        };
        extensions.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

fn edit(edit: &Edit<'_>) -> Json {
    let mut json = json!({ "path": edit.path, "argument": edit.argument, "from": edit.from, "to": edit.to });
    if let Some(variable) = edit.variable {
        json["variable"] = json!(variable);
    } else {
        let locations = edit.locations.iter().map(|at| json!({ "line": at.line, "column": at.column }));
        json["locations"] = locations.collect();
    }
    json
}
