//! Row-level security that equals the scopes of a schema file: policies on tables, and views in the place of views, whose owner no policy
//! limits.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use graphql_parser::schema::{Definition, Directive, ObjectType, TypeDefinition, Value, parse_schema};

use crate::support::database::Database;

/// The role that the policies limit. Its values are in the settings `scopes.NAME`, with commas between them, or `*`.
pub const ROLE: &str = "row_security";

type Object = ObjectType<'static, String>;
type Tag = Directive<'static, String>;

/// Makes the role see the rows that the scopes of a schema file show.
pub async fn protect(database: &Database, schema: &str) {
    let types = types(schema);
    let mut rules_of: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for object in types.values() {
        for relation in relations(&types, object) {
            let alias = relation.rsplit('.').next().unwrap().to_owned();
            rules_of.entry(relation).or_default().extend(rules(&types, object, &alias));
        }
    }
    for (relation, rule) in searched(&types) {
        rules_of.entry(relation).or_default().insert(rule);
    }
    let client = database.connect().await;
    let mut sql = format!(
        "DO $$ BEGIN CREATE ROLE {ROLE} LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
         GRANT USAGE ON SCHEMA public, orderql TO {ROLE};
         GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA orderql TO {ROLE};"
    );
    for (relation, rules) in rules_of.iter().filter(|(_, rules)| !rules.is_empty()) {
        let rule = rules.iter().cloned().collect::<Vec<_>>().join(" AND ");
        let (schema, name) = relation.split_once('.').unwrap_or(("public", relation));
        let kind = "SELECT relkind::text FROM pg_class WHERE oid = $1::text::regclass";
        let kind: String = client.query_one(kind, &[&format!("{schema}.{name}")]).await.unwrap().get(0);
        let _ = if kind == "v" {
            write!(
                sql,
                "ALTER VIEW {schema}.{name} RENAME TO {name}_of_all;
                 CREATE VIEW {schema}.{name} AS SELECT * FROM {schema}.{name}_of_all AS {name} WHERE {rule};"
            )
        } else {
            write!(
                sql,
                "ALTER TABLE {schema}.{name} ENABLE ROW LEVEL SECURITY;
                 CREATE POLICY scopes ON {schema}.{name} FOR SELECT TO {ROLE} USING ({rule});"
            )
        };
    }
    let sql = format!("{sql} GRANT SELECT ON ALL TABLES IN SCHEMA public, orderql TO {ROLE};");
    client.batch_execute(&sql).await.unwrap_or_else(|error| panic!("{error:?}\n{sql}"));
}

fn types(schema: &str) -> BTreeMap<String, Object> {
    let file = parse_schema::<String>(schema).unwrap().into_static();
    let objects = file.definitions.into_iter().filter_map(|definition| match definition {
        Definition::TypeDefinition(TypeDefinition::Object(object)) => Some((object.name.clone(), object)),
        _ => None,
    });
    objects.collect()
}

/// The relations that rows of a type are read from.
fn relations(types: &BTreeMap<String, Object>, object: &Object) -> BTreeSet<String> {
    let own = tag(&object.directives, "relation").and_then(|tag| text(tag, "name"));
    let fields = types.values().flat_map(|ty| &ty.fields);
    let fields = fields.filter(|field| field.field_type.to_string().trim_matches(['[', ']', '!']) == object.name);
    let through = fields.flat_map(|field| &field.directives).filter(|tag| tag.name == "many" || tag.name == "point");
    own.into_iter().chain(through.filter_map(|tag| text(tag, "through"))).collect()
}

/// The tables in which rows are found by the key of a type, and what their rows fulfil.
fn searched(types: &BTreeMap<String, Object>) -> Vec<(String, String)> {
    let fields = types.values().flat_map(|ty| &ty.fields);
    let keys = fields.flat_map(|field| &field.directives).filter(|tag| tag.name == "search");
    let rule = |key: &Tag| {
        let (of, within) = (text(key, "of")?, text(key, "within")?);
        let relation = tag(&types[&of].directives, "relation")?;
        let column = texts(relation, "key");
        let rule = row_rule(types, &types[&of], (&column, &column), "", &within);
        Some((within, rule))
    };
    keys.filter_map(rule).collect()
}

/// That the row of a type is seen whose columns `key` have what `by` has.
fn row_rule(
    types: &BTreeMap<String, Object>,
    of: &Object,
    (by, key): (&[String], &[String]),
    none: &str,
    alias: &str,
) -> String {
    let relation = tag(&of.directives, "relation").unwrap();
    let (name, inner) = (text(relation, "name").unwrap(), format!("{alias}_x"));
    let joined = key.iter().zip(by).map(|(key, by)| format!("{inner}.{key} = {alias}.{by}"));
    let joined: Vec<_> = joined.chain(rules(types, of, &inner)).collect();
    let all = names(types, of).into_iter().map(|name| format!("{} = '*'", setting(&name)));
    let all = all.collect::<Vec<_>>().join(" AND ");
    format!("({all} OR {none}EXISTS (SELECT FROM {name} AS {inner} WHERE {}))", joined.join(" AND "))
}

/// What rows of a type fulfil, as SQL on an alias.
fn rules(types: &BTreeMap<String, Object>, object: &Object, alias: &str) -> Vec<String> {
    let scopes = object.directives.iter().filter(|tag| tag.name == "scope");
    let mut rules = Vec::new();
    for scope in scopes {
        let by = texts(scope, "by");
        if let (Some(name), false) = (text(scope, "name"), by.is_empty()) {
            let is_one = |column: &String| format!("{alias}.{column} = ANY (string_to_array({}, ','))", setting(&name));
            let columns: Vec<_> = by.iter().map(is_one).collect();
            rules.push(format!("({} = '*' OR {})", setting(&name), columns.join(" OR ")));
        } else if let Some(through) = text(scope, "through") {
            let parent = &types[&through];
            let of_key = || texts(tag(&parent.directives, "relation").unwrap(), "key");
            let key = Some(texts(scope, "to")).filter(|to| !to.is_empty()).unwrap_or_else(of_key);
            let none = if scope.arguments.iter().any(|(name, _)| name == "optional") {
                let (column, text) = (by.last().unwrap(), text(scope, "none").unwrap_or_default());
                format!("coalesce(nullif({alias}.{column}, '{text}'), '') = '' OR ")
            } else {
                String::new()
            };
            rules.push(row_rule(types, parent, (&by, &key), &none, alias));
        }
    }
    rules
}

/// What the role has in a scope. Nothing limits others.
fn setting(scope: &str) -> String {
    format!("coalesce(current_setting('scopes.{scope}', true), '*')")
}

/// The scopes that a type is in, itself or through others.
fn names(types: &BTreeMap<String, Object>, object: &Object) -> BTreeSet<String> {
    let scopes = object.directives.iter().filter(|tag| tag.name == "scope");
    let names = scopes.flat_map(|scope| match (text(scope, "name"), text(scope, "through")) {
        (Some(name), _) if !texts(scope, "by").is_empty() => BTreeSet::from([name]),
        (_, Some(through)) => names(types, &types[&through]),
        _ => BTreeSet::new(),
    });
    names.collect()
}

fn tag<'a>(tags: &'a [Tag], name: &str) -> Option<&'a Tag> {
    tags.iter().find(|tag| tag.name == name)
}

fn text(tag: &Tag, name: &str) -> Option<String> {
    match tag.arguments.iter().find(|(other, _)| other == name)? {
        (_, Value::String(text)) => Some(text.clone()),
        _ => None,
    }
}

/// A list of texts, or one alone.
fn texts(tag: &Tag, name: &str) -> Vec<String> {
    let found = tag.arguments.iter().find(|(other, _)| other == name);
    let Some((_, Value::List(values))) = found else { return text(tag, name).into_iter().collect() };
    values.iter().filter_map(|value| if let Value::String(text) = value { Some(text.clone()) } else { None }).collect()
}
