//! Whether a database fits a catalog: asked before the first request, so that what is missing is named by an operator's
//! log and not by a caller's error.
//!
//! - `needs`: what the catalog reads, compares and walks
//! - `standing`: what the database has of that
//! - [`fit`]: whether a column's type is fit for its use
//! - `walk`: whether an index gives rows in an order
//! - [`mismatch`]: what does not fit, and what to do about it

pub mod fit;
pub mod mismatch;
mod requirements;
mod database_schema;
mod pagination;

use std::collections::HashSet;

use tokio_postgres::{Client, Error};

use crate::catalog::Catalog;
use crate::preflight::database_schema::DatabaseSchema;
use crate::preflight::mismatch::Mismatch;
use crate::preflight::pagination::Verdict;
use crate::preflight::requirements::{Join, Pagination, Requirements};

/// Holds a catalog against a database. Nothing is returned where it fits; what hides something else comes alone: of a
/// relation that is missing, the columns are not told.
///
/// A few round trips, and nothing is read but PostgreSQL's own tables, so it takes no longer on a full database. Requirements a
/// connection outside a transaction; one whose check was dropped midway is not to be used again.
pub async fn check(client: &Client, catalog: &Catalog) -> Result<Vec<Mismatch>, Error> {
    let needs = Requirements::of(catalog);
    let standing = DatabaseSchema::read(client, &needs).await?;
    let mut mismatches = Vec::new();
    relations(&needs, &standing, &mut mismatches);
    columns(&needs, &standing, &mut mismatches);
    joins(&needs.joins, &standing, &mut mismatches);
    let walks: Vec<_> = needs.walks.iter().filter(|walk| is_there(walk, &standing)).collect();
    let verdicts = pagination::explain(client, &walks).await?;
    indexes(walks.into_iter().zip(verdicts), &standing, &mut mismatches);
    let mut told = HashSet::new();
    mismatches.retain(|mismatch| told.insert(mismatch.to_string()));
    Ok(mismatches)
}

/// Relations that are missing or may not be read.
fn relations(needs: &Requirements<'_>, standing: &DatabaseSchema, mismatches: &mut Vec<Mismatch>) {
    let mut seen = HashSet::new();
    for need in needs.columns.iter().filter(|need| seen.insert(need.column.relation)) {
        let relation = need.column.relation.to_owned();
        let Some(found) = standing.relation(&relation) else {
            mismatches.push(Mismatch::MissingRelation { relation, place: need.place.to_string() });
            continue;
        };
        let role = standing.role.clone();
        if !found.schema_is_open {
            mismatches.push(Mismatch::ClosedSchema { schema: found.schema.clone(), role: role.clone() });
        }
        let needed = needs.columns.iter().filter(|need| need.column.relation == relation);
        let mut found = needed.filter_map(|need| found.columns.get(need.column.name));
        if !found.all(|column| column.is_readable) {
            mismatches.push(Mismatch::ClosedRelation { relation, role });
        }
    }
}

/// Columns that are missing, or of a type that is not fit for what they are used for.
fn columns(needs: &Requirements<'_>, standing: &DatabaseSchema, mismatches: &mut Vec<Mismatch>) {
    let mut missing = HashSet::new();
    for need in &needs.columns {
        let Some(relation) = standing.relation(need.column.relation) else { continue };
        let place = || need.place.to_string();
        let (relation_name, column) = (need.column.relation.to_owned(), need.column.name.to_owned());
        match relation.columns.get(need.column.name) {
            None if missing.insert(need.column) => {
                mismatches.push(Mismatch::MissingColumn { relation: relation_name, column, place: place() });
            }
            None => {}
            Some(found) if fit::is_fit(need.used, found.ty.as_ref()) => {}
            Some(found) => mismatches.push(Mismatch::UnfitColumn {
                relation: relation_name,
                column,
                ty: found.type_name.clone(),
                used: need.used,
                place: place(),
            }),
        }
    }
}

/// Pairs of columns that a statement holds equal and PostgreSQL cannot compare.
fn joins(joins: &[Join<'_>], standing: &DatabaseSchema, mismatches: &mut Vec<Mismatch>) {
    for join in joins {
        let (Some(left), Some(right)) = (standing.column(join.left), standing.column(join.right)) else { continue };
        if !fit::are_comparable(left, right) {
            mismatches.push(Mismatch::Incomparable {
                left: join.left.to_string(),
                left_type: left.type_name.clone(),
                right: join.right.to_string(),
                right_type: right.type_name.clone(),
                place: join.place.to_string(),
            });
        }
    }
}

/// Orders that no index serves.
fn indexes<'a>(
    explained: impl Iterator<Item = (&'a Pagination<'a>, Verdict)>,
    standing: &DatabaseSchema,
    mismatches: &mut Vec<Mismatch>,
) {
    for (walk, verdict) in explained {
        let (relation, place) = (walk.relation.to_owned(), walk.place.to_string());
        match verdict {
            Verdict::Served => {}
            Verdict::Unserved => mismatches.push(Mismatch::MissingIndex {
                is_table: standing.relation(walk.relation).is_some_and(|relation| relation.is_table),
                relation,
                columns: walk.columns().map(str::to_owned).collect(),
                place,
            }),
            Verdict::Refused(reason) => mismatches.push(Mismatch::Unreadable { relation, place, reason }),
        }
    }
}

/// Whether all that a walk names can be read, so that PostgreSQL can be asked about it.
fn is_there(walk: &Pagination<'_>, standing: &DatabaseSchema) -> bool {
    standing.relation(walk.relation).is_some_and(|relation| {
        let mut columns = walk.columns().map(|column| relation.columns.get(column));
        relation.schema_is_open && columns.all(|column| column.is_some_and(|column| column.is_readable))
    })
}
