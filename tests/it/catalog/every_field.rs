//! Every field of every type, from every root.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use orderql::catalog::Catalog;
use orderql::catalog::binding::{Binding, ConnectionField, EdgeField, RootBinding};
use orderql::catalog::ids::TypeId;
use orderql::catalog::schema::ObjectKind;
use orderql::query::Variables;
use serde_json::Value;

use crate::catalog::sample;
use crate::support::query_runner::QueryRunner;

/// The depth of objects below the root's object.
const DEPTH: usize = 3;

#[tokio::test]
async fn every_field_of_every_type_has_a_value_somewhere() {
    let database = sample().await;
    let client = database.connect().await;
    let runner = QueryRunner::new(&database);
    let catalog = runner.catalog();
    let mut seen = Seen::default();
    for (root, binding) in catalog.fields_of(catalog.object(catalog.query()).unwrap()) {
        let arguments = match binding {
            Binding::Root(RootBinding::Connection(_)) => "first: 100, countUpTo: 1000".to_owned(),
            Binding::Root(RootBinding::Totals(totals)) => {
                let keys: Vec<_> = totals.keys.iter().map(|key| key.value.as_str()).collect();
                format!("first: 100, rows: 40, groupBy: [{}]", keys.join(", "))
            }
            Binding::Root(RootBinding::Lookup(lookup)) => {
                let keys: Vec<_> = lookup.keys.iter().map(|key| key.name.as_str()).collect();
                let keys = if lookup.alternatives { &keys[..1] } else { &keys[..] };
                let (list, present) = (keys.join(", "), keys.join(" IS NOT NULL AND "));
                let sql = format!(
                    "SELECT {list} FROM {} WHERE {present} IS NOT NULL ORDER BY {list} LIMIT 1",
                    lookup.relation
                );
                let row = client.query_one(&sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
                let given = root.arguments.iter().zip(0..row.len());
                let given =
                    given.map(|(argument, column)| format!("{}: {:?}", argument.name, row.get::<_, &str>(column)));
                given.collect::<Vec<_>>().join(", ")
            }
            // Nothing changed.
            Binding::Root(RootBinding::Changes(_)) => continue,
            other => panic!("{other:?} at the root"),
        };
        let mut query = format!("{{ {}({arguments}) ", root.name);
        select(catalog, root.ty.named(), &mut Vec::new(), &mut query);
        query.push('}');

        let result = runner.run(&query, Variables::new()).await;
        assert_eq!(result.nullability_violations, 0, "{query}");
        assert_eq!(
            result.compiled.plan.steps().len(),
            query.matches("(first:").count() + usize::from(!arguments.starts_with("first"))
        );
        let data = result.data();
        assert!(!data[&root.name].is_null(), "{query}");
        seen.collect(&data[&root.name]);
        if arguments.contains("rows: 40") {
            // Not complete, so that there is a cursor.
            let data = runner.run(&query.replace("rows: 40", "rows: 1"), Variables::new()).await.data();
            seen.collect(&data[&root.name]);
        }
    }

    let declared = catalog.types().iter().filter_map(|ty| ty.as_object());
    let declared: BTreeSet<_> = declared
        .filter(|object| object.name != "Query" && !is_of_changes(&object.name))
        .flat_map(|object| object.fields.iter().map(|field| format!("{}.{}", object.name, field.name)))
        .collect();
    assert_eq!(declared.difference(&seen.selected).collect::<Vec<_>>(), Vec::<&String>::new(), "never selected");
    assert_eq!(declared.difference(&seen.non_null).collect::<Vec<_>>(), Vec::<&String>::new(), "always null");
}

/// Whether a type is of the changes since a token, which these queries do not have.
fn is_of_changes(name: &str) -> bool {
    ["OrderChange", "InventoryItemChange"].iter().any(|changes| name.starts_with(changes))
}

/// Selects every field of a type and of its descendants, but no type inside itself.
fn select(catalog: &Catalog, id: TypeId, above: &mut Vec<TypeId>, query: &mut String) {
    let object = catalog.object(id).unwrap();
    query.push_str("{ __typename ");
    above.push(id);
    for (field, binding) in catalog.fields_of(object) {
        let target = field.ty.named();
        if catalog.object(target).is_none() {
            write!(query, "{} ", field.name).unwrap();
            continue;
        }
        let nodes = above.iter().filter(|id| is_entity(catalog, **id)).count();
        let is_wrapper = matches!(
            binding,
            Binding::Connection(ConnectionField::Edges | ConnectionField::PageInfo) | Binding::Edge(EdgeField::Node)
        );
        if above.contains(&target) || !is_wrapper && nodes > DEPTH {
            // Such as the more general type of a facility's type.
            if target == id {
                write!(query, "{} {{ __typename }} ", field.name).unwrap();
            }
            continue;
        }
        // A connection's own type is not the node's type, so the check above does not find these.
        let connection = binding.connection();
        if let Some(connection) = connection
            && above.contains(&connection.node.ty())
        {
            // Such as the variants of a product.
            if connection.node.ty() == id {
                write!(query, "{}(first: 10) {{ __typename edges {{ __typename }} }} ", field.name).unwrap();
            }
            continue;
        }
        let page = if connection.is_some() { "(first: 10)" } else { "" };
        write!(query, "{}{page} ", field.name).unwrap();
        select(catalog, target, above, query);
    }
    above.pop();
    query.push_str("} ");
}

fn is_entity(catalog: &Catalog, id: TypeId) -> bool {
    matches!(catalog.object(id).unwrap().kind, ObjectKind::Entity(_))
}

/// Field names such as `Order.orderId`.
#[derive(Default)]
struct Seen {
    selected: BTreeSet<String>,
    /// The fields that were not null in some row.
    non_null: BTreeSet<String>,
}

impl Seen {
    fn collect(&mut self, value: &Value) {
        match value {
            Value::Array(elements) => elements.iter().for_each(|element| self.collect(element)),
            Value::Object(fields) => {
                let ty = fields["__typename"].as_str().unwrap();
                for (name, value) in fields {
                    let name = format!("{ty}.{name}");
                    if !value.is_null() {
                        self.non_null.insert(name.clone());
                    }
                    self.selected.insert(name);
                    self.collect(value);
                }
            }
            _ => {}
        }
    }
}
