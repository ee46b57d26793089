//! Everything in the published schema has a description, and what descriptions say works.

use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::execute::constant;
use orderql::limits::Limits;
use orderql::query::Request;
use serde_json::Value;

const DESCRIBED: &str = "{ __schema { description
    types { name kind description fields(includeDeprecated: true) { name description args { name description } }
        enumValues(includeDeprecated: true) { name description } }
    directives { name description args { name description } } } }";

fn schema() -> Value {
    let request = Request { query: DESCRIBED.to_owned(), ..Request::default() };
    let compiled = compile(&Catalog::built_in().unwrap(), &request, &Limits::default()).unwrap();
    let mut data = Vec::new();
    constant(&compiled.plan).write(&mut data, usize::MAX).unwrap();
    serde_json::from_slice::<Value>(&data).unwrap()["__schema"].take()
}

/// Every element of the schema that can have a description: its path and the description.
fn elements<'a>(element: &'a Value, path: &str, found: &mut Vec<(String, Option<&'a str>)>) {
    let path = format!("{path}.{}", element["name"].as_str().unwrap_or_default());
    found.push((path.clone(), element["description"].as_str()));
    for children in ["types", "directives", "fields", "args", "enumValues"] {
        for child in element[children].as_array().into_iter().flatten() {
            elements(child, &path, found);
        }
    }
}

#[test]
fn every_type_field_argument_and_enum_value_has_a_description() {
    let schema = schema();
    let mut found = Vec::new();
    elements(&schema, "", &mut found);
    assert!(found.len() > 900, "{}", found.len());
    let is_sentence = |text: &str| {
        let begins = text.starts_with(|c: char| c.is_ascii_uppercase() || c == '`');
        begins && (text.ends_with(['.', '`']) || text.ends_with(')'))
    };
    let bad: Vec<_> = found.iter().filter(|(_, description)| !description.is_some_and(is_sentence)).collect();
    assert!(bad.is_empty(), "{bad:#?}");
    // A description of one field that stands at another is a mistake of copying.
    let fields = found.iter().filter(|(path, _)| path.matches('.').count() == 3 && !path.contains(".__"));
    let long =
        fields.filter_map(|(path, description)| description.filter(|text| text.len() > 90).map(|text| (text, path)));
    let mut seen = std::collections::HashMap::new();
    for (text, path) in long {
        if let Some(before) = seen.insert(text, path) {
            let name = |path: &str| path.rsplit('.').next().unwrap().to_owned();
            assert_eq!(name(before), name(path), "{before} and {path}: {text}");
        }
    }
}

/// The text between backquotes, wherever there is some.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn the_description_of_the_schema_states_the_limits_and_its_examples_work() {
    let schema = schema();
    let text = schema["description"].as_str().unwrap();
    let Limits { max_cost, max_page_size, max_depth, bucket_size, response_size: _ } = Limits::DEFAULT;
    for part in [
        format!("a page has {max_page_size} rows"),
        format!("nests {max_depth} levels"),
        format!("costs {max_cost} credits"),
        format!("a bucket of {bucket_size} credits"),
        "regains 50 a second".to_owned(),
        "`POST /api/updateOrder`".to_owned(),
        "2026-05-01T08:30:00Z".to_owned(),
    ] {
        assert!(text.contains(&part), "{part}: {text}");
    }
    let catalog = Catalog::built_in().unwrap();
    assert!(catalog.sdl().starts_with("\"\"\"\nOrder management"), "the SDL begins with the description");
    assert_eq!(catalog.description(), text);
    let examples: Vec<_> = quoted(text).filter(|code| code.contains("(first:")).collect();
    assert_eq!(examples.len(), 4, "{examples:?}");
    for example in examples {
        let selection = if example.ends_with('}') { "" } else { " { edges { cursor } }" };
        let request = Request { query: format!("{{ {example}{selection} }}"), ..Request::default() };
        compile(&catalog, &request, &Limits::default()).unwrap_or_else(|errors| panic!("{example}: {errors}"));
    }
}

#[test]
fn the_argument_of_searches_lists_every_key_with_an_example_that_works() {
    let catalog = Catalog::built_in().unwrap();
    let mut keys = 0;
    for (object, field, binding) in catalog.fields() {
        let Some(connection) = binding.connection() else { continue };
        let argument = |name: &str| field.arguments.iter().find(|argument| argument.name == name);
        let Some(query) = argument("query") else { continue };
        assert_eq!(object.name, "Query");
        let description = query.description.as_deref().unwrap();
        let listed: Vec<_> = quoted(description).collect();
        for key in &connection.search_keys {
            assert!(listed.contains(&key.name.as_str()) && listed.contains(&key.example.as_str()), "{description}");
            let text = serde_json::to_string(&key.example).unwrap();
            let query = format!("{{ {}(first: 1, query: {text}) {{ edges {{ cursor }} }} }}", field.name);
            let compiled = compile(&catalog, &Request { query, ..Request::default() }, &Limits::default());
            let cost = compiled.unwrap_or_else(|errors| panic!("{}: {errors}", key.example)).estimate.cost();
            let line = description.lines().find(|line| line.contains(&key.example)).unwrap();
            assert_eq!(line.contains("costs 50 more"), cost == 51, "{line}: {cost}");
            for sort_key in connection.sort_keys.iter().filter(|_| cost == 51) {
                let query = format!(
                    "{{ {}(first: 1, sortKey: {}, query: {text}) {{ edges {{ cursor }} }} }}",
                    field.name, sort_key.name
                );
                let compiled = compile(&catalog, &Request { query, ..Request::default() }, &Limits::default()).unwrap();
                let full = line.split_once("but not by ").map_or("", |(_, full)| full.trim_end_matches(')'));
                let may_come_short =
                    line.contains("may come short") && !full.split(", ").any(|name| name == sort_key.name);
                let path = &compiled.plan.steps()[0].access_path;
                assert_eq!(may_come_short, path.window().is_some(), "{line} {}", sort_key.name);
            }
            keys += 1;
        }
        let sort = argument("sortKey").unwrap().description.as_deref().unwrap();
        assert!(connection.sort_keys.iter().all(|key| sort.contains(&key.name)), "{sort}");
    }
    assert!(keys > 60, "{keys}");
}

#[test]
fn a_key_whose_rows_join_many_rows_costs_more_unless_declared_otherwise() {
    let schema = |arguments: &str| {
        format!(
            r#"
            type Query {{
              things: [Thing] @sort(key: "THING_ID")
                @search(key: "tagId", within: "tag", by: ["thing_id"])
                @search(key: "boxId", within: "box", by: ["thing_id", "part_id"])
                @search(key: "shelfId", {arguments} within: "box", by: ["part_id"])
            }}
            type Thing @relation(name: "thing", key: ["thing_id", "part_id"]) {{ thingId: ID! partId: ID! }}
            "#
        )
    };
    let costs = |arguments: &str| {
        let catalog = Catalog::parse(&schema(arguments)).unwrap();
        ["tagId", "boxId", "shelfId"].map(|key| {
            let query = format!("{{ things(first: 1, query: \"{key}:1\") {{ edges {{ cursor }} }} }}");
            let compiled = compile(&catalog, &Request { query, ..Request::default() }, &Limits::default());
            let plan = compiled.unwrap();
            assert_eq!(plan.plan.steps()[0].access_path.lookups().len(), 1);
            plan.estimate.cost()
        })
    };
    assert_eq!(costs(""), [51, 1, 51]);
    assert_eq!(costs("indexed: true,"), [51, 1, 1]);
}
