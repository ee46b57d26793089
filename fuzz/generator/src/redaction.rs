//! Schema files with grants, and what is left of one for a caller who holds some: a second computation of what orderql shows.
//!
//! It works on the syntax tree and its result is a schema file without grants, so that nothing of what is hidden can be in what
//! orderql makes of that.

use std::collections::{BTreeMap, BTreeSet};

use graphql_parser::Pos;
use graphql_parser::schema::{
    Definition, Directive, Document, Field, ObjectType, Type, TypeDefinition, Value, parse_schema,
};

use crate::choices::Choices;

type Object = ObjectType<'static, String>;
type Line = Field<'static, String>;
type Tag = Directive<'static, String>;

/// The names of the grants that [`decorated`] gives.
const NAMES: [&str; 4] = ["A", "B", "C", "D"];

/// The file without scopes, which change rows and not the schema. Panics if it is no SDL.
pub fn without_scopes(text: &str) -> String {
    let mut file = read(text);
    for object in objects(&mut file) {
        object.directives.retain(|tag| tag.name != "scope");
        let tags = object.fields.iter_mut().flat_map(|field| &mut field.directives);
        // The type whose scopes a key obeys.
        tags.filter(|tag| tag.name == "search").for_each(|tag| tag.arguments.retain(|(name, _)| name != "of"));
    }
    file.to_string()
}

/// The file with further grants, on types, fields and search keys, and without scopes. Panics if it is no SDL.
pub fn decorated(text: &str, choices: &mut Choices<'_>) -> String {
    let mut file = read(&without_scopes(text));
    for object in objects(&mut file) {
        let key: Vec<_> = object.directives.iter().flat_map(|tag| texts(tag, "key")).collect();
        if object.name != "Query" && choices.chance(8) {
            object.directives.retain(|tag| tag.name != "grant");
            object.directives.push(grant(choices));
        }
        for field in &mut object.fields {
            for search in field.directives.iter_mut().filter(|tag| tag.name == "search") {
                if choices.chance(8) {
                    search.arguments.retain(|(name, _)| name != "grant");
                    search.arguments.push(("grant".to_owned(), names(choices)));
                }
            }
            if choices.chance(8) && !column(field).is_some_and(|column| key.contains(&column)) {
                field.directives.retain(|tag| tag.name != "grant");
                field.directives.push(grant(choices));
            }
        }
    }
    file.to_string()
}

/// The file without what a caller does not see who holds the grants of `held`, and without its grants and scopes. `None` if no root is left. Panics
/// if it is no SDL.
pub fn redacted(file: &str, held: impl Fn(&str) -> bool) -> Option<String> {
    let mut file = read(file);
    drop_unreached(&mut file);
    let whole = Shown::of(&mut file);
    let sees = |names: Vec<String>| names.is_empty() || names.iter().any(|name| held(name));
    let sees_all = |tags: &[Tag]| tags.iter().filter(|tag| tag.name == "grant").all(|tag| sees(texts(tag, "to")));
    retain_objects(&mut file, |object| object.name == "Query" || sees_all(&object.directives));
    for object in objects(&mut file) {
        object.directives.retain(|tag| tag.name != "grant" && tag.name != "scope");
        object.fields.retain(|field| sees_all(&field.directives));
        for field in &mut object.fields {
            field.directives.retain(|tag| tag.name != "grant" && (tag.name != "search" || sees(texts(tag, "grant"))));
            for tag in &mut field.directives {
                tag.arguments.retain(|(name, _)| !(tag.name == "search" && name == "grant"));
            }
        }
    }
    loop {
        let length = file.to_string().len();
        let rest = Shown::of(&mut file);
        let gone = whole.without(&rest);
        for object in objects(&mut file) {
            let lists: BTreeMap<_, _> =
                object.fields.iter().map(|field| (field.name.clone(), named(&field.field_type))).collect();
            object.directives.retain(|tag| text(tag, "of").is_none_or(|whole| rest.types.contains(&whole)));
            let name = object.name.clone();
            object.fields.retain_mut(|field| {
                let is_left = gone.leaves(&name, field, &lists)
                    && tag(field, "changes")
                        .and_then(|tag| text(tag, "of"))
                        .is_none_or(|of| rest.types.contains(&of) && rest.whole.contains(&of));
                is_left && (tag(field, "totals").is_none() || rest.leaves_totals(field))
            });
        }
        retain_objects(&mut file, |object| object.name == "Query" || !object.fields.is_empty());
        drop_unreached(&mut file);
        if file.to_string().len() == length {
            break;
        }
    }
    let has_roots = objects(&mut file).any(|object| object.name == "Query" && !object.fields.is_empty());
    has_roots.then(|| file.to_string())
}

/// What a file shows.
#[derive(Default)]
struct Shown {
    types: BTreeSet<String>,
    /// The types that have parts.
    whole: BTreeSet<String>,
    /// The fields of types, with their types.
    fields: BTreeMap<(String, String), String>,
    /// The columns of types.
    of_types: BTreeSet<(String, String)>,
    /// The columns of relations.
    of_relations: BTreeSet<(String, String)>,
    /// The columns of relations that are aggregated by a type.
    aggregated: BTreeSet<(String, String, String)>,
}

impl Shown {
    fn of(file: &mut Document<'static, String>) -> Self {
        let mut shown = Self::default();
        for object in objects(file) {
            let relation = object.directives.iter().find_map(|tag| text(tag, "name"));
            for field in &object.fields {
                shown.fields.insert((object.name.clone(), field.name.clone()), named(&field.field_type));
                if let Some(column) = column(field) {
                    shown.of_relations.extend(relation.clone().map(|relation| (relation, column.clone())));
                    shown.of_types.insert((object.name.clone(), column));
                }
                if let Some(aggregate) = tag(field, "aggregate")
                    && let Some(within) = text(aggregate, "within")
                {
                    shown.aggregated.insert((object.name.clone(), within, aggregated(aggregate)));
                }
            }
            shown.whole.extend(object.directives.iter().filter_map(|tag| text(tag, "of")));
            shown.types.insert(object.name.clone());
        }
        shown
    }

    fn without(&self, rest: &Self) -> Self {
        Self {
            types: &self.types - &rest.types,
            whole: BTreeSet::new(),
            fields: BTreeMap::new(),
            of_types: &self.of_types - &rest.of_types,
            of_relations: &self.of_relations - &rest.of_relations,
            aggregated: &self.aggregated - &rest.aggregated,
        }
    }

    /// Whether one of the columns of a type is shown.
    fn has_one(&self, ty: &str, columns: &[String]) -> bool {
        columns.iter().any(|column| self.of_types.contains(&(ty.to_owned(), column.clone())))
    }

    /// The same of a relation.
    fn has_one_in(&self, relation: Option<&str>, columns: &[String]) -> bool {
        relation.is_some_and(|relation| {
            columns.iter().any(|column| self.of_relations.contains(&(relation.to_owned(), column.clone())))
        })
    }

    /// Whether a field is left where this is gone; it loses what names that. `lists` has the types of the object's fields.
    fn leaves(&self, object: &str, field: &mut Line, lists: &BTreeMap<String, String>) -> bool {
        let target = named(&field.field_type);
        if self.types.contains(&target) {
            return false;
        }
        if let Some(join) = tag(field, "one").or(tag(field, "many")) {
            let by = texts(join, "by");
            let to = if argument(join, "to").is_some() { texts(join, "to") } else { by.clone() };
            if self.has_one(object, &by)
                || self.has_one(&target, &to)
                || self.has_one_in(text(join, "through").as_deref(), &to)
            {
                return false;
            }
        }
        if let Some(aggregate) = tag(field, "aggregate") {
            let column = [aggregated(aggregate)];
            let is_left = match text(aggregate, "over") {
                Some(over) if argument(aggregate, "within").is_none() => {
                    lists.get(&over).is_some_and(|node| !self.has_one(node, &column))
                }
                _ => {
                    !self.has_one(object, &texts(aggregate, "by"))
                        && !self.has_one_in(text(aggregate, "within").as_deref(), &column)
                }
            };
            if !is_left {
                return false;
            }
        }
        if let Some(lookup) = tag(field, "point") {
            let through = text(lookup, "through");
            let before = field.arguments.len();
            field.arguments.retain(|argument| {
                let column = argument.directives.iter().find_map(|tag| text(tag, "name"));
                let column = [column.unwrap_or_else(|| snake_case(&argument.name))];
                !self.has_one(&target, &column) && !self.has_one_in(through.as_deref(), &column)
            });
            let is_required = |argument: &graphql_parser::schema::InputValue<'_, String>| {
                matches!(argument.value_type, Type::NonNullType(_))
            };
            let left = field.arguments.len();
            return left == before || left > 0 && !field.arguments.iter().any(is_required);
        }
        self.leaves_keys(&target, field)
    }

    /// Whether a root with totals of what is shown is left; it loses keys and sums of what is not.
    fn leaves_totals(&self, field: &mut Line) -> bool {
        let node = named(&field.field_type);
        let leads = |path: &str| {
            let mut ty = Some(node.clone());
            for name in path.split('.') {
                ty = ty.and_then(|ty| self.fields.get(&(ty, name.to_owned())).cloned());
            }
            ty.is_some()
        };
        let Some(totals) = field.directives.iter_mut().find(|tag| tag.name == "totals") else { return true };
        if !text(totals, "of").is_some_and(|of| self.fields.contains_key(&("Query".to_owned(), of))) {
            return false;
        }
        let has_currency = text(totals, "currency").is_some_and(|path| leads(&path));
        if !has_currency {
            totals.arguments.retain(|(name, _)| name != "currency");
        }
        field.directives.retain(|tag| {
            let shows = || text(tag, "field").or(text(tag, "key")).is_some_and(|path| leads(&path));
            match tag.name.as_str() {
                "group" => shows(),
                "sum" => {
                    let is_money = matches!(argument(tag, "money"), Some(Value::Boolean(true)));
                    shows() && text(tag, "times").is_none_or(|path| leads(&path)) && (has_currency || !is_money)
                }
                _ => true,
            }
        });
        has_currency || tag(field, "group").is_some()
    }

    /// The same of a field with keys.
    fn leaves_keys(&self, node: &str, field: &mut Line) -> bool {
        let is_sort = |tag: &&Tag| tag.name == "sort";
        let before = field.directives.iter().filter(is_sort).count();
        field.directives.retain(|tag| match tag.name.as_str() {
            "sort" => {
                let key = text(tag, "key").unwrap_or_default();
                !self.has_one(node, &[text(tag, "column").unwrap_or_else(|| key.to_ascii_lowercase())])
            }
            "search" => {
                let column = search_column(tag);
                let within = text(tag, "within");
                let is_aggregated =
                    |within: String| self.aggregated.contains(&(node.to_owned(), within, column.clone()));
                !self.has_one(node, std::slice::from_ref(&column))
                    && !self.has_one_in(within.as_deref(), std::slice::from_ref(&column))
                    && !within.is_some_and(|within| self.has_one(node, &texts(tag, "by")) || is_aggregated(within))
            }
            _ => true,
        });
        let keys = |name: &str| -> Vec<String> {
            let tags = field.directives.iter().filter(|tag| tag.name == name);
            tags.filter_map(|tag| text(tag, "key")).collect()
        };
        let (sorts, searches) = (keys("sort"), keys("search"));
        for tag in field.directives.iter_mut().filter(|tag| tag.name == "search" || tag.name == "index") {
            let orders = texts(tag, "inOrderOf");
            let left: Vec<_> = orders.iter().filter(|order| sorts.contains(order)).cloned().collect();
            if left.len() < orders.len() {
                tag.arguments.retain(|(name, _)| name != "inOrderOf");
                if !left.is_empty() {
                    tag.arguments.push(("inOrderOf".to_owned(), list(&left)));
                } else if tag.name == "index" {
                    tag.arguments.clear();
                } else if argument(tag, "lookup").is_none() {
                    tag.arguments.push(("lookup".to_owned(), Value::Boolean(true)));
                }
            }
            if tag.name == "search" && self.has_one_in(text(tag, "vocabulary").as_deref(), &[search_column(tag)]) {
                tag.arguments.retain(|(name, _)| name != "vocabulary");
            }
        }
        field.directives.retain(|tag| {
            let is_left = || !tag.arguments.is_empty() && texts(tag, "keys").iter().all(|key| searches.contains(key));
            tag.name != "index" || is_left()
        });
        before == 0 || !sorts.is_empty()
    }
}

fn read(text: &str) -> Document<'static, String> {
    parse_schema::<String>(text).unwrap_or_else(|error| panic!("{error}")).into_static()
}

fn objects<'a>(file: &'a mut Document<'static, String>) -> impl Iterator<Item = &'a mut Object> {
    file.definitions.iter_mut().filter_map(|definition| match definition {
        Definition::TypeDefinition(TypeDefinition::Object(object)) => Some(object),
        _ => None,
    })
}

fn retain_objects(file: &mut Document<'static, String>, is_kept: impl Fn(&Object) -> bool) {
    file.definitions.retain(|definition| match definition {
        Definition::TypeDefinition(TypeDefinition::Object(object)) => is_kept(object),
        _ => true,
    });
}

/// Drops the types that the query root does not lead to.
fn drop_unreached(file: &mut Document<'static, String>) {
    let mut reached = BTreeSet::from(["Query".to_owned()]);
    loop {
        let before = reached.len();
        for object in objects(file) {
            if reached.contains(&object.name) {
                reached.extend(object.fields.iter().map(|field| named(&field.field_type)));
            }
        }
        if reached.len() == before {
            break;
        }
    }
    retain_objects(file, |object| reached.contains(&object.name));
}

fn tag<'a>(field: &'a Line, name: &str) -> Option<&'a Tag> {
    field.directives.iter().find(|tag| tag.name == name)
}

fn argument<'a>(tag: &'a Tag, name: &str) -> Option<&'a Value<'static, String>> {
    tag.arguments.iter().find(|(other, _)| other == name).map(|(_, value)| value)
}

fn text(tag: &Tag, name: &str) -> Option<String> {
    match argument(tag, name)? {
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// A list of texts; empty if there is none.
fn texts(tag: &Tag, name: &str) -> Vec<String> {
    let Some(Value::List(values)) = argument(tag, name) else { return Vec::new() };
    values.iter().filter_map(|value| if let Value::String(text) = value { Some(text.clone()) } else { None }).collect()
}

fn list(texts: &[String]) -> Value<'static, String> {
    Value::List(texts.iter().cloned().map(Value::String).collect())
}

/// The column that a field is bound to; `None` if it is bound to anything else.
fn column(field: &Line) -> Option<String> {
    let is_bound = ["one", "many", "aggregate", "point"].iter().any(|binding| tag(field, binding).is_some());
    if is_bound || is_list(&field.field_type) {
        return None;
    }
    Some(tag(field, "column").and_then(|tag| text(tag, "name")).unwrap_or_else(|| snake_case(&field.name)))
}

fn search_column(tag: &Tag) -> String {
    text(tag, "column").unwrap_or_else(|| snake_case(&text(tag, "key").unwrap_or_default()))
}

fn aggregated(tag: &Tag) -> String {
    text(tag, "lowest").or(text(tag, "countDistinct")).unwrap_or_default()
}

fn is_list(ty: &Type<'_, String>) -> bool {
    match ty {
        Type::NamedType(_) => false,
        Type::ListType(_) => true,
        Type::NonNullType(inner) => is_list(inner),
    }
}

fn named(ty: &Type<'_, String>) -> String {
    match ty {
        Type::NamedType(name) => name.clone(),
        Type::ListType(inner) | Type::NonNullType(inner) => named(inner),
    }
}

fn snake_case(name: &str) -> String {
    name.chars()
        .flat_map(|c| c.is_ascii_uppercase().then_some('_').into_iter().chain(Some(c.to_ascii_lowercase())))
        .collect()
}

fn grant(choices: &mut Choices<'_>) -> Tag {
    Directive { position: Pos::default(), name: "grant".to_owned(), arguments: vec![("to".to_owned(), names(choices))] }
}

/// One grant, or two.
fn names(choices: &mut Choices<'_>) -> Value<'static, String> {
    let count = if choices.chance(25) { 2 } else { 1 };
    let names: Vec<_> = (0..count).filter_map(|_| choices.pick(&NAMES)).map(|name| (*name).to_owned()).collect();
    list(&names)
}
