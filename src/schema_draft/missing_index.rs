//! The statements that make the indexes that a draft lacks.

use crate::plan::sql::{Identifier, List, Relation as Quoted};
use crate::relations::relation::{DescribedRelation, RelationKind};

/// The note about an index on another server.
const UNKNOWN_INDEXES: &str = "whether the other server has one is not known";

/// The statement that makes an index on the words of a column, or what else it takes.
pub(super) fn create_text_index(relation: &DescribedRelation, column: &str) -> String {
    match relation.kind {
        RelationKind::View => format!("declare the search where the table of the column has one ({column})"),
        RelationKind::Foreign => UNKNOWN_INDEXES.to_owned(),
        RelationKind::Table | RelationKind::MaterializedView => {
            let (relation, column) = (relation.path(), Identifier(column));
            format!("CREATE INDEX CONCURRENTLY ON {} USING gin ({column});", Quoted(&relation))
        }
    }
}

/// The statement that makes an index on these columns, or what else it takes.
pub(super) fn create_index<'a>(relation: &DescribedRelation, columns: impl Iterator<Item = &'a str>) -> String {
    let mut distinct: Vec<&str> = Vec::new();
    for column in columns {
        if !distinct.contains(&column) {
            distinct.push(column);
        }
    }
    match relation.kind {
        RelationKind::View => return format!("an index on the table of its columns ({})", distinct.join(", ")),
        RelationKind::Foreign => return UNKNOWN_INDEXES.to_owned(),
        RelationKind::Table | RelationKind::MaterializedView => {}
    }
    let columns = List(distinct.into_iter().map(Identifier));
    format!("CREATE INDEX CONCURRENTLY ON {} ({columns});", Quoted(&relation.path()))
}
