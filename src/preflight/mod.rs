//! Whether a database fits a catalog. The server checks this before the first request, so that the operator's log names
//! what is missing, and not a client's error.
//!
//! - `requirements`: what the catalog requires of a database
//! - `comparison`: compares it with the description of the database
//! - `encoding`: the characters of a database's encoding
//! - `foreign_tables`: reads the tables of other servers
//! - [`mismatch`]: what does not fit, and how to fix it
//! - `needless_bounds`: bounded lists that an index has in order
//! - `window_search`: searches that no index serves

mod comparison;
mod encoding;
pub(crate) mod foreign_tables;
pub mod mismatch;
pub(crate) mod needless_bounds;
mod requirements;
pub(crate) mod window_search;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use crate::catalog::Catalog;
use crate::catalog::result_type::ResultType;
use crate::catalog::stored_type::{StoredType, StoredTypes};
use crate::preflight::comparison::Comparison;
use crate::preflight::mismatch::Mismatch;
use crate::preflight::requirements::{ColumnName, Requirements};
use crate::relations::column::DescribedColumn;
use crate::relations::column_type::{ColumnType, ValueType};
use crate::relations::description::DatabaseDescription;
use crate::relations::relation::DescribedRelation;
use crate::relations::{planner, reader};

/// The treatment of a schema that promises more than the database's constraints guarantee: keys that identify rows, fields that are never
/// null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Constraints {
    /// It does not fit.
    Required,
    /// The promise is trusted, for tables that cannot be altered.
    Trusted,
}

/// What is known of a database, from one reading: the columns that were compared are those that are served, whatever the owner of the tables
/// changes meanwhile.
pub(crate) struct Inspection {
    /// What does not fit.
    pub(crate) mismatches: Vec<Mismatch>,
    /// How the columns are stored that the catalog names.
    pub(crate) stored: StoredTypes,
}

/// Checks a database against a catalog. Returns every mismatch once, in the order of publication. A mismatch hides mismatches that follow
/// from it: if a relation is missing, its columns are not reported.
///
/// Takes a few round trips and reads PostgreSQL's system catalogs only, so it takes no longer on a large database. The
/// connection must be outside a transaction. If the future is dropped, the connection must not be used again.
pub async fn check(client: &Client, catalog: &Catalog) -> Result<Vec<Mismatch>, Error> {
    Ok(inspect(client, catalog).await?.mismatches)
}

/// Checks a database, and reads how it stores the columns.
pub(crate) async fn inspect(client: &Client, catalog: &Catalog) -> Result<Inspection, Error> {
    let requirements = Requirements::of(catalog);
    let database = reader::read_named(client, &requirements.relations()).await?;
    let mut comparison = Comparison::new(&requirements, &database);
    comparison.encoding();
    comparison.relations();
    comparison.columns();
    comparison.enums();
    comparison.collations();
    comparison.joins();
    comparison.constraints();
    comparison.covering_indexes();
    comparison.text_searches();
    let scans = comparison.unknown_scans();
    let plans = planner::explain(client, &scans.iter().map(|scan| &scan.order).collect::<Vec<_>>()).await?;
    comparison.indexes(scans.into_iter().zip(plans));
    let mut mismatches = comparison.mismatches;
    let mut reported = HashSet::new();
    mismatches.retain(|mismatch| reported.insert(mismatch.to_string()));
    Ok(Inspection { mismatches, stored: types_of(client, &requirements, &database).await? })
}

/// The tables and views that a catalog names.
pub fn relations(catalog: &Catalog) -> BTreeSet<String> {
    Requirements::of(catalog).relations().into_iter().map(str::to_owned).collect()
}

/// The columns that a catalog names, by relation with its schema.
pub(crate) fn columns(catalog: &Catalog) -> BTreeMap<String, BTreeSet<String>> {
    let mut columns: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for ColumnName { relation, name } in Requirements::of(catalog).columns.iter().map(|requirement| requirement.column)
    {
        let relation = if relation.contains('.') { relation.to_owned() } else { format!("public.{relation}") };
        columns.entry(relation).or_default().insert(name.to_owned());
    }
    columns
}

/// How a database stores the columns that a catalog names.
pub async fn stored_types(client: &Client, catalog: &Catalog) -> Result<StoredTypes, Error> {
    let requirements = Requirements::of(catalog);
    let database = reader::read_named(client, &requirements.relations()).await?;
    types_of(client, &requirements, &database).await
}

async fn types_of(
    client: &Client,
    requirements: &Requirements<'_>,
    database: &DatabaseDescription,
) -> Result<StoredTypes, Error> {
    let mut types = StoredTypes::default();
    for relation in requirements.relations() {
        let unique = database.relation(relation).into_iter().flat_map(DescribedRelation::unique_columns);
        unique.for_each(|columns| types.insert_unique(relation, columns.to_vec()));
    }
    types.characters = encoding::characters(client, &database.encoding).await?;
    for ColumnName { relation, name } in requirements.columns.iter().map(|requirement| requirement.column) {
        let found = database.column(relation, name);
        if found.is_some_and(DescribedColumn::is_long) {
            types.insert_long(relation, name);
        }
        types.insert_collation(relation, name, found.map(|found| found.collation).unwrap_or_default());
        match found.map(|found| &found.ty) {
            Some(ColumnType::Value(ValueType::BuiltIn(ty))) => add_built_in(&mut types, relation, name, ty),
            Some(ColumnType::Value(ValueType::Enum(labels))) => types.insert(relation, name, StoredType::Enum(*labels)),
            Some(ColumnType::Array(ValueType::BuiltIn(element))) => {
                types.insert_result(relation, name, ResultType::Array(element_result(element)));
            }
            Some(ColumnType::Array(_)) => types.insert_result(relation, name, ResultType::Array(&ResultType::Text)),
            Some(ColumnType::Value(ValueType::DomainOfEnum(_) | ValueType::Other)) | None => {}
        }
    }
    Ok(types)
}

/// Adds a column of a type that is built into PostgreSQL, if its scalar does not decide how it is stored.
fn add_built_in(types: &mut StoredTypes, relation: &str, name: &str, ty: &Type) {
    match *ty {
        Type::INT2 => types.insert(relation, name, StoredType::Int2),
        Type::INT4 => types.insert(relation, name, StoredType::Int4),
        Type::INT8 => types.insert(relation, name, StoredType::Int8),
        Type::NUMERIC => types.insert(relation, name, StoredType::Numeric),
        Type::UUID => types.insert(relation, name, StoredType::Uuid),
        Type::BPCHAR => types.insert(relation, name, StoredType::Char),
        Type::TEXT | Type::VARCHAR | Type::NAME => types.insert_result(relation, name, ResultType::Text),
        Type::FLOAT4 => types.insert(relation, name, StoredType::Float4),
        Type::FLOAT8 => types.insert(relation, name, StoredType::Float8),
        Type::DATE => types.insert(relation, name, StoredType::Date),
        _ => {}
    }
}

/// The type as which the elements of an array are returned.
fn element_result(element: &Type) -> &'static ResultType {
    match *element {
        Type::BPCHAR => &ResultType::Char,
        Type::INT2 | Type::INT4 | Type::INT8 => &ResultType::Int8,
        Type::NUMERIC => &ResultType::Numeric,
        Type::FLOAT4 => &ResultType::Float4,
        Type::FLOAT8 => &ResultType::Float8,
        Type::TIMESTAMP | Type::TIMESTAMPTZ => &ResultType::Timestamp,
        Type::DATE => &ResultType::Date,
        Type::TIME => &ResultType::Time,
        Type::INTERVAL => &ResultType::Interval,
        Type::BOOL => &ResultType::Boolean,
        Type::UUID => &ResultType::Uuid,
        Type::BYTEA => &ResultType::Bytes,
        Type::JSON | Type::JSONB => &ResultType::Json,
        _ => &ResultType::Text,
    }
}
