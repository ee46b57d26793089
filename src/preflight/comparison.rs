//! Compares the requirements of a catalog with a database.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::catalog::Catalog;
use crate::preflight::mismatch::Mismatch;
use crate::preflight::requirements::{
    ColumnName, ColumnRequirement, CoveringIndexRequirement, NonNullRequirement, Requirements, ScanRequirement,
    TextSearchRequirement,
};
use crate::relations::column::DescribedColumn;
use crate::relations::column_use::ColumnUse;
use crate::relations::description::DatabaseDescription;
use crate::relations::join_fault::JoinFault;
use crate::relations::key_fault::KeyFault;
use crate::relations::planner::ScanPlan;
use crate::relations::relation::DescribedRelation;
use crate::relations::type_compatibility::is_compatible;
use crate::value::{Enumeration, ScalarType};

/// The relations of the built-in schema, which migrations make.
static MIGRATED: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let catalog = Catalog::built_in();
    let relations = catalog.iter().flat_map(|catalog| Requirements::of(catalog).relations());
    relations.map(str::to_owned).collect()
});

/// The mismatches found so far.
pub(super) struct Comparison<'r, 'a> {
    requirements: &'r Requirements<'a>,
    database: &'r DatabaseDescription,
    pub(super) mismatches: Vec<Mismatch>,
}

impl<'r, 'a> Comparison<'r, 'a> {
    pub(super) fn new(requirements: &'r Requirements<'a>, database: &'r DatabaseDescription) -> Self {
        Self { requirements, database, mismatches: Vec::new() }
    }

    /// Finds an encoding in which bytes need not be characters: PostgreSQL then sends bytes that are no text.
    pub(super) fn encoding(&mut self) {
        if self.database.encoding == "SQL_ASCII" {
            self.mismatches.push(Mismatch::NoEncoding);
        }
    }

    /// Finds relations that are missing or that the role may not read.
    pub(super) fn relations(&mut self) {
        let mut seen = HashSet::new();
        for requirement in self.requirements.columns.iter().filter(|column| seen.insert(column.column.relation)) {
            let relation = requirement.column.relation.to_owned();
            let Some(found) = self.database.relation(&relation) else {
                let required_by = requirement.required_by.to_string();
                let is_migrated = MIGRATED.contains(&relation);
                self.mismatches.push(Mismatch::MissingRelation { relation, is_migrated, required_by });
                continue;
            };
            let role = self.database.role.clone();
            if !found.schema_is_usable {
                let schema = found.schema.clone();
                self.mismatches.push(Mismatch::MissingUsagePrivilege { schema, role: role.clone() });
            }
            let required = self.requirements.columns.iter().filter(|other| other.column.relation == relation);
            let mut columns = required.filter_map(|required| found.column(required.column.name));
            if !columns.all(|column| column.is_readable) {
                self.mismatches.push(Mismatch::MissingSelectPrivilege { relation, role });
            }
        }
    }

    /// Finds columns that are missing, or of a type that is not compatible with their use.
    pub(super) fn columns(&mut self) {
        let mut missing = HashSet::new();
        for requirement in &self.requirements.columns {
            let Some(relation) = self.database.relation(requirement.column.relation) else { continue };
            let required_by = || requirement.required_by.to_string();
            let relation_name = requirement.column.relation.to_owned();
            let column = requirement.column.name.to_owned();
            match relation.column(requirement.column.name) {
                None => {
                    if missing.insert(requirement.column) {
                        let required_by = required_by();
                        let is_migrated = MIGRATED.contains(&relation_name);
                        self.mismatches.push(Mismatch::MissingColumn {
                            relation: relation_name,
                            is_migrated,
                            column,
                            required_by,
                        });
                    }
                }
                Some(found) => {
                    if !is_compatible(requirement.column_use, found) {
                        self.mismatches.push(Mismatch::IncompatibleColumn {
                            relation: relation_name,
                            column,
                            ty: found.type_name.clone(),
                            column_use: requirement.column_use,
                            required_by: required_by(),
                        });
                    }
                }
            }
        }
    }

    /// Finds columns that statements compare and whose collation is not deterministic. Texts that differ in their bytes are equal there: a
    /// cursor, a list of values and a joined key would each take them for different ones.
    pub(super) fn collations(&mut self) {
        let compares =
            |column_use| matches!(column_use, ColumnUse::Compared(_) | ColumnUse::ParentKey(_) | ColumnUse::ScopeValue);
        let columns = self.requirements.columns.iter().filter(|required| compares(required.column_use));
        let columns = columns.map(|required| (required.column, required.required_by));
        let keys = self.requirements.keys.iter().flat_map(|key| {
            let column = |name| ColumnName { relation: key.relation, name };
            key.columns.iter().map(move |name| (column(*name), key.required_by))
        });
        let joins = self.requirements.joins.iter();
        let joins = joins.flat_map(|join| [(join.left, join.required_by), (join.right, join.required_by)]);
        let mut reported = HashSet::new();
        for (column, required_by) in keys.chain(columns).chain(joins) {
            let collation = self.column(column).and_then(|found| found.collation.nondeterministic());
            let Some(collation) = collation.filter(|_| reported.insert(column)) else { continue };
            self.mismatches.push(Mismatch::NondeterministicCollation {
                relation: column.relation.to_owned(),
                column: column.name.to_owned(),
                collation: collation.to_owned(),
                required_by: required_by.to_string(),
            });
        }
    }

    /// Finds joined columns that PostgreSQL cannot compare by an index.
    pub(super) fn joins(&mut self) {
        for join in &self.requirements.joins {
            let (Some(left), Some(right)) = (self.column(join.left), self.column(join.right)) else { continue };
            if let Some(fault) = JoinFault::of((join.left.relation, left), (join.right.relation, right)) {
                let required_by = join.required_by.to_string();
                self.mismatches.push(Mismatch::IncomparableColumns { fault, required_by });
            }
        }
    }

    /// Finds keys that no unique index of the table guarantees or that may be null, and fields that the schema declares non-null although no
    /// constraint of the table does. What a view guarantees cannot be read from the system catalogs: it is trusted.
    pub(super) fn constraints(&mut self) {
        let mut nullable_keys = HashSet::new();
        for key in &self.requirements.keys {
            let relation = self.database.relation(key.relation).filter(|relation| relation.has_constraints());
            let Some(relation) = relation else { continue };
            if key.columns.iter().any(|name| relation.column(name).is_none()) {
                continue;
            }
            let nullable = key.columns.iter().filter(|name| relation.may_be_null(name));
            nullable_keys.extend(nullable.map(|name| ColumnName { relation: key.relation, name }));
            // Some columns of the key identify its rows and are never null.
            let is_identified = || {
                let mut unique = relation.unique_columns();
                unique.any(|columns| {
                    columns.iter().all(|name| key.columns.contains(&name.as_str()) && !relation.may_be_null(name))
                })
            };
            for fault in relation.key_faults(&key.columns) {
                let is_of_standing_table =
                    matches!(fault, KeyFault::Nullable(_)) && MIGRATED.contains(key.relation) && is_identified();
                let columns = key.columns.iter().map(|column| (*column).to_owned()).collect();
                let (relation, required_by) = (key.relation.to_owned(), key.required_by.to_string());
                self.mismatches.push(Mismatch::UnfitKey {
                    relation,
                    columns,
                    fault,
                    is_of_standing_table,
                    required_by,
                });
            }
        }
        for NonNullRequirement { column, required_by } in &self.requirements.non_nulls {
            let Some(relation) = self.database.relation(column.relation) else { continue };
            if relation.may_be_null(column.name) && !nullable_keys.contains(column) {
                self.mismatches.push(Mismatch::NullableColumn {
                    relation: column.relation.to_owned(),
                    is_migrated: MIGRATED.contains(column.relation),
                    column: column.name.to_owned(),
                    required_by: required_by.to_string(),
                });
            }
        }
    }

    fn column(&self, column: ColumnName<'_>) -> Option<&'r DescribedColumn> {
        self.database.column(column.relation, column.name)
    }

    /// Finds look-ups for which no index has all columns. Which index a view would use cannot be read from the system catalogs.
    pub(super) fn covering_indexes(&mut self) {
        for CoveringIndexRequirement { relation, first, include, required_by } in &self.requirements.covering_indexes {
            let Some(found) = self.database.relation(relation).filter(|found| found.has_indexes()) else { continue };
            let mut columns = first.iter().chain(include);
            if columns.any(|column| found.column(column).is_none()) {
                continue;
            }
            if !found.indexes.iter().any(|index| index.covers(first, include)) {
                let owned = |columns: &[&str]| columns.iter().map(|column| (*column).to_owned()).collect();
                self.mismatches.push(Mismatch::NoCoveringIndex {
                    relation: (*relation).to_owned(),
                    is_migrated: MIGRATED.contains(*relation),
                    columns: owned(first),
                    include: owned(include),
                    required_by: required_by.to_string(),
                });
            }
        }
    }

    /// Finds enums that the database has with other values.
    pub(super) fn enums(&mut self) {
        let mut compared = HashSet::new();
        for ColumnRequirement { column, column_use, required_by } in &self.requirements.columns {
            let (ColumnUse::Output(scalar) | ColumnUse::OutputList(scalar) | ColumnUse::Compared(scalar)) = *column_use
            else {
                continue;
            };
            let found = self.column(*column).and_then(|found| found.ty.value().labels());
            let (ScalarType::Enum(declared), Some(labels)) = (scalar, found) else { continue };
            // The first part of the schema that has it stands for all.
            if !compared.insert((declared, labels)) {
                continue;
            }
            let lacking = |texts: Enumeration, other: Enumeration| -> Vec<String> {
                let lacks = |text: &&str| other.values().all(|(_, known)| known != *text);
                texts.values().map(|(_, text)| text).filter(lacks).map(str::to_owned).collect()
            };
            let (missing, undeclared) = (lacking(declared, labels), lacking(labels, declared));
            let names = || (declared.name().to_owned(), labels.name().to_owned(), required_by.to_string());
            if !missing.is_empty() {
                let (enumeration, ty, required_by) = names();
                self.mismatches.push(Mismatch::MissingLabels { enumeration, ty, labels: missing, required_by });
            }
            if !undeclared.is_empty() {
                let (enumeration, ty, required_by) = names();
                self.mismatches.push(Mismatch::UndeclaredLabels { enumeration, ty, labels: undeclared, required_by });
            }
        }
    }

    /// Finds searches in text without an index or a configuration. Which index a view would use cannot be read from the system catalogs.
    pub(super) fn text_searches(&mut self) {
        for TextSearchRequirement { column, language, required_by } in &self.requirements.text_searches {
            let required_by = required_by.to_string();
            if !self.database.languages.contains(*language) {
                let (language, required_by) = ((*language).to_owned(), required_by.clone());
                self.mismatches.push(Mismatch::NoTextSearchConfiguration { language, required_by });
            }
            let Some(found) = self.database.relation(column.relation).filter(|found| found.has_indexes()) else {
                continue;
            };
            let is_text = found.column(column.name).is_some_and(|column| is_compatible(ColumnUse::Searched, column));
            if is_text && !found.has_text_index(column.name) {
                let (relation, column) = (column.relation.to_owned(), column.name.to_owned());
                self.mismatches.push(Mismatch::NoTextIndex { relation, column, required_by });
            }
        }
    }

    /// The scans of which PostgreSQL has to say whether an index serves them. Their columns exist and can be read, so that it can plan them.
    pub(super) fn unknown_scans(&self) -> Vec<&'r ScanRequirement<'a>> {
        self.requirements.scans.iter().filter(|scan| self.is_readable(scan) && !self.has_index_for(scan)).collect()
    }

    fn has_index_for(&self, scan: &ScanRequirement<'_>) -> bool {
        self.database.relation(scan.order.relation).is_some_and(|relation| {
            scan.is_of_one && relation.are_unique(&scan.order.equal) || relation.has_index_for(&scan.order)
        })
    }

    fn is_readable(&self, scan: &ScanRequirement<'_>) -> bool {
        self.database.relation(scan.order.relation).is_some_and(|relation| {
            relation.schema_is_usable
                && scan
                    .order
                    .columns()
                    .chain(scan.order.where_null)
                    .all(|column| relation.readable_column(column).is_some())
        })
    }

    /// Finds scans that no index serves.
    pub(super) fn indexes(&mut self, plans: impl Iterator<Item = (&'r ScanRequirement<'a>, ScanPlan)>)
    where
        'a: 'r,
    {
        for (ScanRequirement { order, required_by, .. }, plan) in plans {
            let (relation, required_by) = (order.relation.to_owned(), required_by.to_string());
            match plan {
                ScanPlan::Indexed => {}
                ScanPlan::Unindexed => {
                    let is_migrated = MIGRATED.contains(&relation);
                    let columns = order.columns().map(str::to_owned).collect();
                    let is_first_descending = order.is_first_descending;
                    let where_null = order.where_null.map(str::to_owned);
                    let has_indexes = self.database.relation(&relation).is_some_and(DescribedRelation::has_indexes);
                    self.mismatches.push(if has_indexes {
                        Mismatch::MissingIndex {
                            relation,
                            is_migrated,
                            columns,
                            is_first_descending,
                            where_null,
                            required_by,
                        }
                    } else {
                        Mismatch::MissingIndexOfView {
                            relation,
                            is_migrated,
                            columns,
                            is_first_descending,
                            where_null,
                            required_by,
                        }
                    });
                }
                ScanPlan::Failed(message) => {
                    self.mismatches.push(Mismatch::Unreadable { relation, required_by, message });
                }
            }
        }
    }
}
