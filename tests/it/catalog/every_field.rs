//! Every root with everything beneath it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use orderql::catalog::Catalog;
use orderql::catalog::binding::Binding;
use orderql::catalog::ids::TypeId;
use orderql::query::Variables;
use serde_json::Value;

use crate::catalog::sample;
use crate::support::query_runner::QueryRunner;

/// Levels of objects beneath a root's own.
const DEPTH: usize = 3;

#[tokio::test]
async fn every_field_of_every_type_is_answered_from_every_root() {
    let database = sample().await;
    let client = database.connect().await;
    let runner = QueryRunner::new(&database);
    let catalog = runner.catalog();
    let mut seen = Seen::default();
    for root in &catalog.object(catalog.query()).unwrap().fields {
        let arguments = match &root.binding {
            Binding::Connection(_) => "first: 100".to_owned(),
            Binding::Lookup(point) => {
                let keys: Vec<_> = point.keys.iter().map(|key| key.name.as_str()).collect();
                let keys = if point.alternatives { &keys[..1] } else { &keys[..] };
                let (list, present) = (keys.join(", "), keys.join(" IS NOT NULL AND "));
                let sql = format!(
                    "SELECT {list} FROM {} WHERE {present} IS NOT NULL ORDER BY {list} LIMIT 1",
                    point.relation
                );
                let row = client.query_one(&sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
                let given = root.arguments.iter().zip(0..row.len());
                let given = given.map(|(argument, at)| format!("{}: {:?}", argument.name, row.get::<_, &str>(at)));
                given.collect::<Vec<_>>().join(", ")
            }
            other => panic!("{other:?} at the root"),
        };
        let mut query = format!("{{ {}({arguments}) ", root.name);
        select(catalog, root.ty.named(), &mut Vec::new(), &mut query);
        query.push('}');

        let answered = runner.run(&query, Variables::new()).await;
        assert_eq!(answered.nullability_violations, 0, "{query}");
        assert_eq!(
            answered.compiled.plan.steps().len(),
            query.matches("(first:").count() + usize::from(!arguments.starts_with("first"))
        );
        let data = answered.data();
        assert!(!data[&root.name].is_null(), "{query}");
        seen.gather(&data[&root.name]);
    }

    let declared = catalog.types().iter().filter_map(|ty| ty.as_object());
    let declared: BTreeSet<_> = declared
        .filter(|object| object.name != "Query")
        .flat_map(|object| object.fields.iter().map(|field| format!("{}.{}", object.name, field.name)))
        .collect();
    assert_eq!(declared.difference(&seen.asked).collect::<Vec<_>>(), Vec::<&String>::new(), "never asked");
    assert_eq!(declared.difference(&seen.answered).collect::<Vec<_>>(), Vec::<&String>::new(), "always null");
}

/// Selects every field of a type and of what is beneath it, but nothing of a type that it is itself beneath.
fn select(catalog: &Catalog, id: TypeId, above: &mut Vec<TypeId>, query: &mut String) {
    let object = catalog.object(id).unwrap();
    query.push_str("{ __typename ");
    above.push(id);
    for field in &object.fields {
        let target = field.ty.named();
        if catalog.object(target).is_none() {
            write!(query, "{} ", field.name).unwrap();
            continue;
        }
        let nodes = above.iter().filter(|id| catalog.entity(**id).is_some()).count();
        let is_machinery = matches!(field.binding, Binding::Edges | Binding::Node | Binding::PageInfo);
        if above.contains(&target) || !is_machinery && nodes > DEPTH {
            continue;
        }
        // What a connection holds is known only beneath it.
        if let Binding::Connection(connection) = &field.binding
            && above.contains(&connection.node)
        {
            continue;
        }
        let page = if matches!(field.binding, Binding::Connection(_)) { "(first: 10)" } else { "" };
        write!(query, "{}{page} ", field.name).unwrap();
        select(catalog, target, above, query);
    }
    above.pop();
    query.push_str("} ");
}

/// Fields as `Type.field`.
#[derive(Default)]
struct Seen {
    asked: BTreeSet<String>,
    /// Those that were not null somewhere.
    answered: BTreeSet<String>,
}

impl Seen {
    fn gather(&mut self, value: &Value) {
        match value {
            Value::Array(elements) => elements.iter().for_each(|element| self.gather(element)),
            Value::Object(fields) => {
                let ty = fields["__typename"].as_str().unwrap();
                for (name, value) in fields {
                    let name = format!("{ty}.{name}");
                    if !value.is_null() {
                        self.answered.insert(name.clone());
                    }
                    self.asked.insert(name);
                    self.gather(value);
                }
            }
            _ => {}
        }
    }
}
