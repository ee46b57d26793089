//! The privileges of the serving role in the database, beside reading the relations that the schema names.

use std::collections::{BTreeMap, BTreeSet};

use crate::orders;
use crate::orders::privileges::SEQUENCES;

/// The privileges that the role needs in the service's own tables, besides the privileges for order updates.
pub(crate) const PRIVILEGES: [(&str, &[&str]); 10] = [
    ("orderql.access_version", &["SELECT"]),
    ("orderql.artifact_grant", &["SELECT"]),
    ("orderql.artifact_group", &["SELECT"]),
    ("orderql.cursor_secret", &["SELECT"]),
    ("orderql.group_member", &["SELECT"]),
    ("orderql.group_scope", &["SELECT"]),
    (
        "orderql.user_account",
        &[
            "SELECT (user_id, password_hash, disabled, created_at, password_changed_at)",
            "UPDATE (password_hash, changed_at)",
        ],
    ),
    ("orderql.user_group", &["SELECT"]),
    ("orderql.user_profile", &["SELECT"]),
    ("orderql.audit_event", &["INSERT"]),
];

/// The functions that the role calls and that not everybody may call.
pub(crate) const FUNCTIONS: [&str; 2] =
    ["orderql.prune_audit_events(interval, bigint)", "orderql.prune_order_updates(interval, bigint)"];

/// The statements that give a role all that it needs: what the schema names, the service's tables, and order updates if the
/// database has orders. One statement for each privilege. `exists` says which tables, sequences and functions the
/// database has.
pub(crate) fn grants(
    role: &str,
    relations: &BTreeSet<String>,
    has_orders: bool,
    exists: impl Fn(&str) -> bool,
) -> String {
    let role = format!("\"{}\"", role.replace('"', "\"\""));
    let with_schema = |table: &str| if table.contains('.') { table.to_owned() } else { format!("public.{table}") };
    let mut tables: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    tables.entry("SELECT").or_default().extend(relations.iter().map(|relation| with_schema(relation)));
    let updates: &[_] = if has_orders { &orders::privileges::PRIVILEGES } else { &[] };
    for (table, privileges) in PRIVILEGES.iter().chain(updates) {
        for privilege in *privileges {
            tables.entry(privilege).or_default().insert(with_schema(table));
        }
    }
    let mut statements = vec![format!("GRANT USAGE ON SCHEMA orderql TO {role};")];
    for (privilege, tables) in tables {
        let tables: Vec<_> = tables.into_iter().filter(|table| exists(table)).collect();
        if !tables.is_empty() {
            statements.push(format!("GRANT {privilege} ON\n    {}\nTO {role};", tables.join(",\n    ")));
        }
    }
    let sequences: Vec<_> = SEQUENCES.into_iter().filter(|sequence| has_orders && exists(sequence)).collect();
    if !sequences.is_empty() {
        statements.push(format!("GRANT USAGE ON SEQUENCE {} TO {role};", sequences.join(", ")));
    }
    let functions: Vec<_> = FUNCTIONS.into_iter().filter(|function| exists(name_of(function))).collect();
    if !functions.is_empty() {
        statements.push(format!("GRANT EXECUTE ON FUNCTION {} TO {role};", functions.join(", ")));
    }
    statements.join("\n") + "\n"
}

/// The name of a function without the types of its parameters.
fn name_of(function: &str) -> &str {
    function.split('(').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_privilege_is_granted_once_on_what_exists() {
        let relations = BTreeSet::from(["order_header".to_owned(), "orderql.party".to_owned()]);
        let all = grants("a\"b", &relations, true, |table| table != "orderql.shipment_status_id");
        assert!(all.starts_with("GRANT USAGE ON SCHEMA orderql TO \"a\"\"b\";\nGRANT DELETE ON\n"), "{all}");
        for part in ["    public.order_header,\n", "    orderql.party,\n", "ON SEQUENCE orderql.entity_id TO"] {
            assert!(all.contains(part), "{part}: {all}");
        }
        assert_eq!(all.matches("GRANT SELECT ON").count(), 1);
        assert!(all.contains("GRANT UPDATE (password_hash, changed_at) ON\n    orderql.user_account\nTO"), "{all}");
        assert!(all.contains("GRANT EXECUTE ON FUNCTION orderql.prune_audit_events(interval, bigint), "), "{all}");
        let service = grants("a", &BTreeSet::new(), false, |table| table != "orderql.order_update");
        assert!(!service.contains("public.") && !service.contains("SEQUENCE"), "{service}");
    }
}
