//! PostgreSQL's own parser: every SQL text is one statement of its grammar, and reads the tables that the catalog allows.

use std::collections::BTreeSet;

use pg_query::NodeRef;

/// Checks an SQL text with so many parameters.
pub fn check(sql: &str, relations: &BTreeSet<String>, parameters: usize) {
    let parsed = pg_query::parse(sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
    assert_eq!(parsed.protobuf.stmts.len(), 1, "several statements: {sql}");
    assert_eq!(parsed.statement_types(), ["SelectStmt"], "{sql}");
    let found: BTreeSet<_> = parsed.tables().into_iter().collect();
    assert_eq!(found, *relations, "{sql}");
    let mut highest = 0;
    for (node, ..) in parsed.protobuf.nodes() {
        if let NodeRef::ParamRef(parameter) = node {
            highest = highest.max(usize::try_from(parameter.number).unwrap_or(usize::MAX));
        }
    }
    assert!(highest <= parameters, "${highest} of {parameters}: {sql}");
}
