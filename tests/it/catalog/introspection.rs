//! Introspection: equal to the published SDL, answered without the database.

use std::collections::{HashMap, HashSet};

use graphql_parser::schema as sdl;
use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::compile::explanation::explain;
use orderql::error::code::ErrorCode;
use orderql::error::graphql_error::GraphqlErrors;
use orderql::execute::constant;
use orderql::limits::Limits;
use orderql::query::Request;
use orderql::schema_file::BUILT_IN;
use serde_json::{Value, json};

/// A query for everything that introspection offers.
const EVERYTHING: &str = "
    { __schema { description queryType { ...Name } mutationType { ...Name } subscriptionType { ...Name }
        types { ...Type } directives(includeDeprecated: true) { name description isRepeatable locations isDeprecated
            deprecationReason args(includeDeprecated: true) { ...Input } } } }
    fragment Type on __Type { ...Name description specifiedByURL isOneOf
        fields(includeDeprecated: true) { name description args(includeDeprecated: true) { ...Input } type { ...Reference }
            isDeprecated deprecationReason }
        inputFields(includeDeprecated: true) { ...Input } interfaces { ...Name } possibleTypes { ...Name }
        enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason } }
    fragment Input on __InputValue { name description type { ...Reference } defaultValue isDeprecated deprecationReason }
    fragment Reference on __Type { ...Name ofType { ...Name ofType { ...Name ofType { ...Name ofType { ...Name } } } } }
    fragment Name on __Type { kind name }";

/// A schema with texts that need escapes, and with deprecations.
const ODD: &str = r#"
type Query {
  "quote \" and back\\slash, and é"
  order("the id" orderId: ID, externalId: String): Order @point @deprecated
  orders: [Order] @search(key: "orderId") @sort(key: "ORDER_ID") @deprecated(reason: "Use \"order\"\nnow")
}
"  indented\n\n  all  "
type Order @relation(name: "order_header", key: ["order_id"]) {
  "\n"
  orderId: ID!
  "trailing newline\n"
  a: String
  "triple \"\"\" quotes"
  b: String @deprecated(reason: "")
  "ends with backslash\\"
  c: String
  "ends with quote\""
  d: String
  ""
  e: DateTime @deprecated(reason: "x")
  "first\n  second\n\tthird\n\nfourth"
  f: Decimal
  "tab\there and\rthere"
  g: Int @column(name: "other")
  "   lead\nmargin"
  h: Int
}
"#;

fn query_with(catalog: &Catalog, query: &str, variables: &Value) -> Result<Value, GraphqlErrors> {
    query_text(catalog, query, variables).map(|data| serde_json::from_str(&data).unwrap())
}

/// The response's `data` as JSON text.
fn query_text(catalog: &Catalog, query: &str, variables: &Value) -> Result<String, GraphqlErrors> {
    let variables = variables.as_object().cloned().unwrap_or_default();
    let request = Request { query: query.to_owned(), variables, operation_name: None };
    // Introspection has no cost and no depth.
    let limits = Limits { max_cost: 0, max_depth: 0, ..Limits::DEFAULT };
    let compiled = compile(catalog, &request, &limits)?;
    assert_eq!((compiled.estimate.cost(), compiled.plan.needs_database()), (0, false));
    let mut data = Vec::new();
    constant(&compiled.plan).write(&mut data, usize::MAX).unwrap();
    Ok(String::from_utf8(data).unwrap())
}

fn query(query: &str) -> Value {
    query_with(&Catalog::built_in().unwrap(), query, &Value::Null).unwrap()
}

fn errors(query: &str, variables: &Value) -> GraphqlErrors {
    query_with(&Catalog::built_in().unwrap(), query, variables).unwrap_err()
}

/// The published SDL, in the form of an introspection response.
struct Published<'a> {
    document: &'a sdl::Document<'a, String>,
}

impl Published<'_> {
    fn types(&self) -> HashMap<String, Value> {
        let mut types = HashMap::new();
        for definition in &self.document.definitions {
            let sdl::Definition::TypeDefinition(ty) = definition else { continue };
            let described = match ty {
                sdl::TypeDefinition::Object(object) => {
                    let fields = object.fields.iter().map(|field| self.field(field)).collect();
                    self.ty(&object.name, object.description.as_ref(), "fields", fields)
                }
                sdl::TypeDefinition::Enum(enumeration) => {
                    let value = |value: &sdl::EnumValue<'_, String>| {
                        let deprecation = deprecation(&value.directives);
                        json!({"name": value.name, "description": value.description,
                            "isDeprecated": deprecation.is_some(), "deprecationReason": deprecation})
                    };
                    let values = enumeration.values.iter().map(value).collect();
                    self.ty(&enumeration.name, enumeration.description.as_ref(), "enumValues", values)
                }
                sdl::TypeDefinition::Scalar(scalar) => {
                    let mut described =
                        self.ty(&scalar.name, scalar.description.as_ref(), "specifiedByURL", Value::Null);
                    let url = scalar.directives.iter().find(|directive| directive.name == "specifiedBy");
                    described["specifiedByURL"] = url.map_or(Value::Null, |directive| argument(directive, "url"));
                    described
                }
                other => panic!("{other:?}"),
            };
            types.insert(described["name"].as_str().unwrap().to_owned(), described);
        }
        types
    }

    fn ty(&self, name: &str, description: Option<&String>, part: &str, parts: Value) -> Value {
        let kind = self.kind(name);
        let mut described = json!({"kind": kind, "name": name, "description": description, "specifiedByURL": null,
            "isOneOf": null, "fields": null, "inputFields": null, "interfaces": null, "possibleTypes": null,
            "enumValues": null});
        if kind == "OBJECT" {
            described["interfaces"] = json!([]);
        }
        described[part] = parts;
        described
    }

    fn kind(&self, name: &str) -> &'static str {
        let types = self.document.definitions.iter();
        let mut found = types.filter_map(|definition| match definition {
            sdl::Definition::TypeDefinition(sdl::TypeDefinition::Object(object)) => Some((&object.name, "OBJECT")),
            sdl::Definition::TypeDefinition(sdl::TypeDefinition::Enum(enumeration)) => {
                Some((&enumeration.name, "ENUM"))
            }
            _ => None,
        });
        found.find(|(other, _)| *other == name).map_or("SCALAR", |(_, kind)| kind)
    }

    fn field(&self, field: &sdl::Field<'_, String>) -> Value {
        let deprecation = deprecation(&field.directives);
        json!({"name": field.name, "description": field.description, "type": self.reference(&field.field_type),
            "args": field.arguments.iter().map(|argument| self.input(argument)).collect::<Vec<_>>(),
            "isDeprecated": deprecation.is_some(), "deprecationReason": deprecation})
    }

    fn input(&self, input: &sdl::InputValue<'_, String>) -> Value {
        json!({"name": input.name, "description": input.description, "type": self.reference(&input.value_type),
            "defaultValue": input.default_value.as_ref().map(ToString::to_string),
            "isDeprecated": false, "deprecationReason": null})
    }

    fn reference(&self, ty: &sdl::Type<'_, String>) -> Value {
        match ty {
            sdl::Type::NamedType(name) => json!({"kind": self.kind(name), "name": name, "ofType": null}),
            sdl::Type::ListType(inner) => json!({"kind": "LIST", "name": null, "ofType": self.reference(inner)}),
            sdl::Type::NonNullType(inner) => json!({"kind": "NON_NULL", "name": null, "ofType": self.reference(inner)}),
        }
    }

    fn directives(&self) -> Vec<Value> {
        let directives = self.document.definitions.iter().filter_map(|definition| match definition {
            sdl::Definition::DirectiveDefinition(directive) => Some(json!({
                "name": directive.name,
                "description": directive.description,
                "isRepeatable": directive.repeatable,
                "locations": directive.locations.iter().map(sdl::DirectiveLocation::as_str).collect::<Vec<_>>(),
                "args": directive.arguments.iter().map(|argument| self.input(argument)).collect::<Vec<_>>(),
                "isDeprecated": false,
                "deprecationReason": null,
            })),
            _ => None,
        });
        directives.collect()
    }
}

fn argument(directive: &sdl::Directive<'_, String>, name: &str) -> Value {
    let found = directive.arguments.iter().find(|(argument, _)| argument == name);
    found.map_or(Value::Null, |(_, value)| match value {
        sdl::Value::String(text) => json!(text),
        other => panic!("{other}"),
    })
}

fn deprecation(directives: &[sdl::Directive<'_, String>]) -> Option<Value> {
    directives.iter().find(|directive| directive.name == "deprecated").map(|directive| argument(directive, "reason"))
}

#[test]
fn introspection_equals_the_published_sdl() {
    for schema in [BUILT_IN, ODD] {
        let catalog = Catalog::parse(schema).unwrap();
        // The parser takes a description of types alone.
        let text = catalog.sdl().replacen("\nschema {\n", "\ntype TheSchema {\n", 1);
        let document = sdl::parse_schema::<String>(&text).unwrap();
        let published = Published { document: &document };
        let data = query_with(&catalog, EVERYTHING, &Value::Null).unwrap();
        let schema = &data["__schema"];

        let mut types = published.types();
        let described = types.remove("TheSchema").unwrap();
        assert_eq!(described["description"], schema["description"]);
        let mut built_in = HashSet::new();
        for ty in schema["types"].as_array().unwrap() {
            let name = ty["name"].as_str().unwrap();
            match types.remove(name) {
                // The descriptions are equal too, so the SDL escapes them correctly.
                Some(published) => assert_similar(ty, &published),
                None => assert!(built_in.insert(name), "{name}"),
            }
        }
        assert!(types.is_empty(), "{:?}", types.keys());
        let meta = ["Schema", "Type", "TypeKind", "Field", "InputValue", "EnumValue", "Directive", "DirectiveLocation"];
        let meta = meta.map(|name| format!("__{name}"));
        let expected = ["ID", "String", "Int", "Boolean"].into_iter().chain(meta.iter().map(String::as_str));
        assert_eq!(built_in, expected.collect());

        let directives = schema["directives"].as_array().unwrap();
        let names: Vec<_> = directives.iter().map(|directive| directive["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["include", "skip", "deprecated", "specifiedBy", "oneOf", "search"]);
        assert_eq!(directives[5..], published.directives());
        assert_eq!(schema["description"], catalog.description());
        assert_eq!(schema["queryType"], json!({"kind": "OBJECT", "name": "Query"}));
        assert_eq!((&schema["mutationType"], &schema["subscriptionType"]), (&Value::Null, &Value::Null));
    }
}

/// Panics unless both are equal, except that the query selects `ofType` only to a certain depth.
fn assert_similar(introspected: &Value, published: &Value) {
    match (introspected, published) {
        (Value::Object(introspected), Value::Object(published)) => {
            for (key, published) in published {
                match introspected.get(key) {
                    Some(introspected) => assert_similar(introspected, published),
                    None => assert!(key == "ofType" && published.is_null(), "{key}: {introspected:?}"),
                }
            }
            assert!(introspected.keys().all(|key| published.contains_key(key)), "{introspected:?} {published:?}");
        }
        (Value::Array(introspected), Value::Array(published)) => {
            assert_eq!(introspected.len(), published.len(), "{introspected:?} {published:?}");
            introspected.iter().zip(published).for_each(|(a, b)| assert_similar(a, b));
        }
        _ => assert_eq!(introspected, published),
    }
}

#[test]
fn the_listed_directives_are_those_that_validation_accepts() {
    let data = query("{ __schema { directives { name locations args { name type { kind ofType { name } } } } } }");
    let directives = data["__schema"]["directives"].as_array().unwrap();
    let if_argument = json!([{"name": "if", "type": {"kind": "NON_NULL", "ofType": {"name": "Boolean"}}}]);
    for directive in directives {
        let name = directive["name"].as_str().unwrap();
        let is_valid = |document: &str| {
            let query = document.replace("@it", &format!("@{name}(if: true)"));
            query_with(&Catalog::built_in().unwrap(), &query, &Value::Null).is_ok()
        };
        let locations = json!(["FIELD", "FRAGMENT_SPREAD", "INLINE_FRAGMENT"]);
        let is_condition = directive["locations"] == locations;
        assert_eq!(is_condition, directive["args"] == if_argument, "{name}");
        for document in
            ["{ __typename @it }", "{ ... @it { __typename } }", "{ ...F @it } fragment F on Query { __typename }"]
        {
            assert_eq!(is_valid(document), is_condition, "{name}: {document}");
        }
        assert!(!is_valid("query @it { __typename }"), "{name}");
        // An unknown directive would have another message.
        let misplaced = errors(&format!("query @{name} {{ __typename }}"), &Value::Null).to_string();
        assert!(misplaced.contains("may not stand on an operation"), "{misplaced}");
    }
}

#[test]
fn finds_a_type_by_its_name() {
    let data = query(
        r#"{ a: __type(name: "PageInfo") { kind name } b: __type(name: "Nothing") { name }
        c: __type(name: "__TypeKind") { enumValues { name } }
        d: __type(name: "String") { name kind fields { name } description ofType { name } }
        e: __type(name: "") { name } __typename }"#,
    );
    let kinds = ["SCALAR", "OBJECT", "INTERFACE", "UNION", "ENUM", "INPUT_OBJECT", "LIST", "NON_NULL"];
    assert_eq!(
        data,
        json!({
            "a": {"kind": "OBJECT", "name": "PageInfo"},
            "b": null,
            "c": {"enumValues": kinds.map(|name| json!({"name": name}))},
            "d": {"name": "String", "kind": "SCALAR", "fields": null, "description": "Text in Unicode.", "ofType": null},
            "e": null,
            "__typename": "Query",
        })
    );
    // `__schema` and `__type` are not listed as fields of `Query`, and no other type has them.
    let fields = query(r#"{ __type(name: "Query") { fields { name } } }"#);
    assert!(!fields["__type"].to_string().contains("__"), "{fields}");
    let unknown = errors("{ order(orderId: 1) { __schema { queryType { name } } } }", &Value::Null);
    assert!(unknown.to_string().contains("Type \"Order\" has no field \"__schema\""), "{unknown}");
    let unknown = errors("{ __shema { queryType { name } } }", &Value::Null);
    assert!(unknown.to_string().contains("did you mean \"__schema\"?"), "{unknown}");
}

#[test]
fn supports_aliases_fragments_conditions_and_type_names() {
    let query = r"query ($name: String!, $no: Boolean!) {
        t: __type(name: $name) { ... on __Type { second: name, ...F @skip(if: $no) } __typename n: name name
            fields(includeDeprecated: $no) { ...Field name @include(if: $no) } }
    }
    fragment F on __Type { kind }
    fragment Field on __Field { __typename type { k: kind ofType { __typename name } } }";
    let catalog = Catalog::parse(
        "type Query { t(a: ID!): T @point } type T @relation(name: \"t\", key: [\"a\"]) { a: ID! b: ID @deprecated }",
    )
    .unwrap();
    let response = |no: bool| query_text(&catalog, query, &json!({"name": "T", "no": no})).unwrap();
    let a = r#"{"__typename":"__Field","type":{"k":"NON_NULL","ofType":{"__typename":"__Type","name":"ID"}}"#;
    let b = r#"{"__typename":"__Field","type":{"k":"SCALAR","ofType":null}"#;
    let begin = r#"{"t":{"second":"T","#;
    assert_eq!(
        response(true),
        format!(r#"{begin}"__typename":"__Type","n":"T","name":"T","fields":[{a},"name":"a"}},{b},"name":"b"}}]}}}}"#)
    );
    assert_eq!(
        response(false),
        format!(r#"{begin}"kind":"OBJECT","__typename":"__Type","n":"T","name":"T","fields":[{a}}}]}}}}"#)
    );
    // Deprecated fields still work.
    let b = Request { query: "{ t(a: 1) { b } }".into(), ..Request::default() };
    assert_eq!(compile(&catalog, &b, &Limits::default()).unwrap().estimate.cost(), 2);
}

#[test]
fn checks_arguments_against_their_types() {
    for (query, part) in [
        ("{ __type { name } }", "is required by field \"Query.__type\""),
        ("{ __type(name: null) { name } }", "cannot be null"),
        ("{ __type(name: T) { name } }", "takes a string"),
        ("{ __schema(a: 1) { queryType { name } } }", "Unknown argument"),
        ("{ __schema }", "needs a selection"),
        ("{ __schema { types { name { a } } } }", "has no fields to select"),
        ("{ __schema { types } }", "needs a selection"),
        ("{ __schema { directives(includeDeprecated: null) { name } } }", "cannot be null"),
        ("{ __schema { types { fields(includeDeprecated: 1) { name } } } }", "takes true or false"),
        ("query ($a: Int) { __schema { directives(includeDeprecated: $a) { name } } }", "is used where"),
        ("{ a: __type(name: \"A\") { name } a: __type(name: \"B\") { name } }", "different arguments"),
        ("{ __schema { ... on __Type { name } } }", "cannot be spread"),
    ] {
        let errors = errors(query, &Value::Null);
        assert_eq!(errors.first().code, ErrorCode::GraphqlValidationFailed, "{query}");
        assert!(errors.to_string().contains(part), "{query}: {errors}");
    }
    // An argument with a default value accepts an omitted variable, but no null.
    let query = "query ($a: Boolean) { __schema { directives(includeDeprecated: $a) { name } } }";
    let catalog = Catalog::built_in().unwrap();
    for variables in [json!({}), json!({"a": true})] {
        assert!(query_with(&catalog, query, &variables).is_ok(), "{variables}");
    }
    let name = "query ($n: String = \"Query\") { __type(name: $n) { name } }";
    assert_eq!(query_with(&catalog, name, &Value::Null).unwrap(), json!({"__type": {"name": "Query"}}));
    for (query, variables) in [(query, json!({"a": null})), (name, json!({"n": null}))] {
        let errors = errors(query, &variables);
        assert_eq!(errors.first().code, ErrorCode::BadUserInput);
        assert!(errors.to_string().contains("expects a value that is not null"), "{errors}");
    }
}

#[test]
fn limits_the_nesting_of_lists() {
    let nested = |inner: &str| format!("{{ __schema {{ types {{ name fields {{ type {{ {inner} }} }} }} }} }}");
    assert!(query(&nested("fields { name }")).is_object());
    // Enum values and arguments do not count as nesting.
    assert!(query(&nested("fields { args { name } type { enumValues { name } } }")).is_object());
    let spread = format!("{} fragment F on __Type {{ interfaces {{ name }} }}", nested("fields { type { ...F } }"));
    for query in [
        nested("fields { type { fields { name } } }"),
        nested("inputFields { type { ... { possibleTypes { name } } } }"),
        "{ __type(name: \"Order\") { fields { type { fields { type { ofType { fields { name } } } } } } } }".to_owned(),
        spread,
    ] {
        let errors = errors(&query, &Value::Null);
        let first = errors.first();
        assert_eq!(
            (first.code, &first.extensions["maxLists"]),
            (ErrorCode::GraphqlValidationFailed, &json!(2)),
            "{query}"
        );
        assert_eq!((first.locations[0].line, first.locations[0].column), (1, 3), "{query}");
    }
    // Fields of the catalog's types do not count.
    let beside = "{ order(orderId: 1) { orderId } __schema { types { fields { name } } } }";
    let request = Request { query: beside.into(), ..Request::default() };
    assert_eq!(compile(&Catalog::built_in().unwrap(), &request, &Limits::default()).unwrap().estimate.cost(), 2);
}

#[test]
fn limits_the_bytes_of_an_introspection_response() {
    let catalog = Catalog::built_in().unwrap();
    let whole = query(EVERYTHING).to_string().len();
    let bound = (catalog.sdl().len() * 16).max(1 << 20);
    assert!(whole * 2 < bound, "a complete introspection fits twice: {whole} {bound}");
    let copies = |count: usize| {
        let copy = "t: __schema { types { name fields { name description type { name } args { name description } } } }";
        let copies: Vec<_> = (0..count).map(|number| format!("c{number}{copy}")).collect();
        format!("{{ {} }}", copies.join(" "))
    };
    let one = query(&copies(1)).to_string().len();
    let many = bound / one + 2;
    assert!(query(&copies(many * 2 / 3)).is_object());
    let errors = errors(&copies(many), &Value::Null);
    let first = errors.first();
    assert_eq!(
        (first.code, &first.extensions),
        (ErrorCode::GraphqlValidationFailed, json!({"maxBytes": bound}).as_object().unwrap())
    );
    assert_eq!(errors.iter().count(), 1);
    // Nested lists stay below the limit.
    let nested = "{ __schema { types { fields { type { ofType { fields { name description args { name description } } } } } } }
        a: __schema { types { fields { type { ofType { fields { name description args { name description } } } } } } }
        b: __schema { types { fields { type { ofType { ofType { ofType { fields { name args { name description } } } } } } } } } }";
    let nested = query_with(&catalog, nested, &Value::Null).map(|data| data.to_string().len());
    assert!(nested.is_ok_and(|bytes| bytes < bound));
}

#[test]
fn introspection_adds_no_cost_to_other_fields() {
    let catalog = Catalog::built_in().unwrap();
    let query = r#"{ s: __schema { queryType { name } } orders(first: 2) { edges { node { orderId } } }
        t: __type(name: "Order") { name } }"#;
    let request = Request { query: query.into(), ..Request::default() };
    let compiled = compile(&catalog, &request, &Limits::default()).unwrap();
    assert_eq!((compiled.estimate.cost(), compiled.plan.steps().len()), (4, 1));
    let explanation = explain(&catalog, &request, &Limits::default()).unwrap();
    let lines: Vec<_> = explanation.cost.iter().map(|line| (line.key.as_str(), line.total)).collect();
    assert_eq!((lines, explanation.depth), (vec![("orders", 4)], 1));
}

#[test]
fn rejects_a_schema_file_with_names_of_introspection() {
    for (schema, name) in [
        ("type Query { __schema: T @point } type T @relation(name: \"t\", key: [\"a\"]) { a: ID! }", "__schema"),
        ("type Query { t(__a: ID!): T @point } type T @relation(name: \"t\", key: [\"a\"]) { a: ID! }", "__a"),
        ("type Query { t(a: ID!): __T @point } type __T @relation(name: \"t\", key: [\"a\"]) { a: ID! }", "__T"),
        (
            "type Query { t(a: ID!): T @point } type T @relation(name: \"t\", key: [\"a\"]) { __typename: ID! }",
            "__typename",
        ),
    ] {
        let error = Catalog::parse(schema).unwrap_err().to_string();
        assert!(error.contains(&format!("`{name}` is no name that can be published")), "{error}");
    }
}
