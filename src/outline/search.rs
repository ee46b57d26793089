//! The fields that some words mean, ranked, each with its path from a root: what somebody needs who does not know the schema.

use serde::Serialize;
use serde_json::json;

use crate::outline::connection::unusual_arguments;
use crate::outline::paths::{Question, Rated};
use crate::outline::short_sdl::key_names;
use crate::outline::{Outline, OutlineField, TypeKind};

/// As many fields of the first objects are listed at most, as many of the others, so that there is room for more of them, and as many in an
/// example.
const MAX_FIELDS: usize = 16;
const FEW_FIELDS: usize = 6;
const IN_EXAMPLE: usize = 6;

/// The first objects are as many.
const FIRST_OBJECTS: usize = 2;

/// As many roots are described at most.
const MAX_ROOTS: usize = 4;

/// The bytes of a summary.
const SUMMARY_BYTES: usize = 90;

/// The page sizes of examples: at the root, and one and two objects below. So they cost less than a caller may spend.
const PAGE_SIZES: [u8; 3] = [10, 5, 2];

/// What the words mean, the best first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    /// A query for what was found first. Its values are `?`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
    /// How queries may begin.
    pub roots: Vec<FoundRoot>,
    /// Objects with the fields that were found.
    pub objects: Vec<FoundObject>,
}

/// A field that queries begin with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundRoot {
    /// Its name, its arguments but those that all connections have, and its type.
    pub field: String,
    /// The keys of the argument `query`. Those with `>` take ranges, as in `key:>=value`, the others `key:value` and `key:a,b`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub search_keys: Vec<String>,
    /// The arguments that take one of some names, each with them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

/// An object with fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundObject {
    /// The beginning of a query, up to the object's fields.
    pub path: String,
    /// What it is.
    #[serde(rename = "type")]
    pub type_name: String,
    /// What it is for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Its fields without parts, with their types, those that were found first.
    pub fields: Vec<String>,
}

/// The fields that the words mean, as JSON in as many bytes at most.
pub fn search(outline: &Outline, words: &str, max_bytes: usize) -> Found {
    let question = Question::new(outline, words);
    let fields = question.fields();
    let mut objects: Vec<(&[&OutlineField], Vec<&Rated<'_>>)> = Vec::new();
    for rated in fields.iter().filter(|rated| rated.score > 0.0) {
        let is_same = |way: &[&OutlineField]| way.iter().zip(&rated.way).all(|(one, other)| std::ptr::eq(*one, *other));
        match objects.iter_mut().find(|(way, _)| way.len() == rated.way.len() && is_same(way)) {
            Some((_, fields)) => fields.push(rated),
            None => objects.push((&rated.way, vec![rated])),
        }
    }
    // The object that a query begins with comes second at least: it says what the query is about.
    let root = objects.first().and_then(|(way, _)| way.first().copied());
    let is_own = |way: &[&OutlineField]| matches!(way, [only] if root.is_some_and(|root| std::ptr::eq(*only, root)));
    if let Some(own @ 2..) = objects.iter().position(|(way, _)| is_own(way)) {
        let own = objects.remove(own);
        objects.insert(1, own);
    }
    let mut found = Found::default();
    let mut room = max_bytes.saturating_sub(json!(found).to_string().len());
    let mut add = |bytes: usize| {
        // With a comma.
        let rest = room.checked_sub(bytes + 1);
        room = rest.unwrap_or(room);
        rest.is_some()
    };
    if let Some((way, fields)) = objects.first() {
        let example = example(outline, &question, way, fields);
        if add(json!({ "example": example }).to_string().len()) {
            found.example = Some(example);
        }
    }
    for root in roots(&question, outline, &objects) {
        let root = describe(outline, root);
        if add(json!(root).to_string().len()) {
            found.roots.push(root);
        }
    }
    for (index, (way, fields)) in objects.iter().enumerate() {
        let listed = if index < FIRST_OBJECTS { MAX_FIELDS } else { FEW_FIELDS };
        let object = object(outline, &question, way, &fields[..listed.min(fields.len())]);
        if !add(json!(object).to_string().len()) {
            break;
        }
        found.objects.push(object);
    }
    found
}

/// The roots of the first objects, and the others of the same types.
fn roots<'a>(
    question: &Question<'_>,
    outline: &'a Outline,
    objects: &[(&[&'a OutlineField], Vec<&Rated<'a>>)],
) -> Vec<&'a OutlineField> {
    let mut roots: Vec<&OutlineField> = Vec::new();
    for root in objects.iter().filter_map(|(way, _)| way.first()) {
        let ty = outline.element_type(root);
        let mut same: Vec<_> = outline.roots().iter().filter(|other| outline.element_type(other) == ty).collect();
        same.sort_by(|one, other| question.root(other).total_cmp(&question.root(one)));
        same.retain(|root| !roots.iter().any(|known| std::ptr::eq(*known, *root)));
        // Of other types, the one that was found.
        same.truncate(if roots.is_empty() { 2 } else { 1 });
        roots.extend(same);
        if roots.len() >= MAX_ROOTS {
            break;
        }
    }
    roots.truncate(MAX_ROOTS);
    roots
}

fn describe(outline: &Outline, root: &OutlineField) -> FoundRoot {
    let is_connection = outline.node_type(&root.ty.named).is_some();
    let arguments = if is_connection { unusual_arguments(root) } else { root.arguments.iter().collect() };
    let values = arguments.iter().filter_map(|argument| match &outline.get(&argument.ty.named)?.kind {
        TypeKind::Enum(values) => Some(format!("{}: {}", argument.name, values.join(" "))),
        TypeKind::Scalar | TypeKind::Object(_) => None,
    });
    let texts: Vec<_> = arguments.iter().map(|argument| format!("{}: {}", argument.name, argument.ty.text)).collect();
    let arguments = if texts.is_empty() { String::new() } else { format!("({})", texts.join(", ")) };
    FoundRoot {
        field: format!("{}{arguments}: {}", root.name, root.ty.text),
        search_keys: key_names(root),
        values: values.collect(),
    }
}

fn object(outline: &Outline, question: &Question<'_>, way: &[&OutlineField], fields: &[&Rated<'_>]) -> FoundObject {
    let last = way.last();
    let about = last.map_or("", |field| &field.summary);
    let end = (0..=about.len().min(SUMMARY_BYTES)).rev().find(|end| about.is_char_boundary(*end)).unwrap_or(0);
    let listed = fields.iter().map(|rated| format!("{}: {}", rated.field.name, rated.field.ty.text));
    FoundObject {
        path: path(outline, question, way),
        type_name: last.map_or("", |field| outline.element_type(field)).to_owned(),
        about: about[..end].to_owned(),
        fields: listed.collect(),
    }
}

/// The beginning of a query, up to the fields of the last object.
fn path(outline: &Outline, question: &Question<'_>, way: &[&OutlineField]) -> String {
    let steps = way.iter().zip(PAGE_SIZES).map(|(field, size)| {
        let inner = if outline.node_type(&field.ty.named).is_some() { " { edges { node { " } else { " { " };
        format!("{}{}{inner}", field.name, arguments(question, field, size))
    });
    format!("{{ {}", steps.collect::<String>().trim_end())
}

/// The arguments without which a field is an error: a page size, what is required, and one of those that a lookup may take.
fn arguments(question: &Question<'_>, field: &OutlineField, page_size: u8) -> String {
    let mut given = Vec::new();
    for argument in &field.arguments {
        match argument.name.as_str() {
            "first" => given.push(format!("first: {page_size}")),
            name if argument.ty.text.ends_with('!') => given.push(format!("{name}: \"?\"")),
            _ => {}
        }
    }
    let best = field
        .arguments
        .iter()
        .reduce(|one, other| if question.name(&other.name) > question.name(&one.name) { other } else { one });
    if let (true, Some(best)) = (given.is_empty(), best) {
        given.push(format!("{}: \"?\"", best.name));
    }
    if given.is_empty() { String::new() } else { format!("({})", given.join(", ")) }
}

fn example(outline: &Outline, question: &Question<'_>, way: &[&OutlineField], fields: &[&Rated<'_>]) -> String {
    let path = path(outline, question, way);
    let names: Vec<_> = fields.iter().take(IN_EXAMPLE).map(|rated| rated.field.name.as_str()).collect();
    format!("{path} {}{}", names.join(" "), " }".repeat(path.matches('{').count()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::compile::compile;
    use crate::limits::Limits;
    use crate::query::Request;

    const MAX_BYTES: usize = 4096;

    fn found(words: &str) -> Found {
        search(&Outline::parse(Catalog::built_in().unwrap().sdl()).unwrap(), words, MAX_BYTES)
    }

    #[test]
    fn finds_what_the_words_mean() {
        for (words, path, field) in [
            ("notes of an order", "notes", "noteInfo"),
            ("tracking number of a shipment", "routeSegments", "trackingIdNumber"),
            ("order grand total", "order", "grandTotal"),
            ("products in stock, available to promise", "inventoryLevels", "availableToPromise"),
            ("refund of a return item", "return", "returnPrice"),
        ] {
            let found = found(words);
            let is_there = |object: &FoundObject| {
                object.path.contains(path) && object.fields.iter().any(|other| other.starts_with(&format!("{field}:")))
            };
            assert!(found.objects.iter().take(4).any(is_there), "{words}: {found:#?}");
        }
    }

    #[test]
    fn describes_the_roots_with_their_keys() {
        let found = found("orders by email address and date");
        let orders = found.roots.iter().find(|root| root.field.starts_with("orders(")).unwrap();
        assert!(orders.search_keys.contains(&"emailAddress".to_owned()), "{orders:?}");
        assert!(orders.search_keys.contains(&"orderDate>".to_owned()), "{orders:?}");
        assert!(orders.values[0].starts_with("sortKey: ") && orders.values[0].contains("ORDER_DATE"), "{orders:?}");
        assert!(found.roots.iter().any(|root| root.field == "order(orderId: ID, externalId: String): Order"));
    }

    #[test]
    fn every_example_is_a_valid_query_and_every_answer_is_small() {
        let catalog = Catalog::built_in().unwrap();
        let outline = Outline::parse(catalog.sdl()).unwrap();
        let texts = outline.types.iter().map(|ty| format!("{} {}", ty.name, ty.summary));
        for words in texts.chain(["order".into(), "\u{1F600} what?".into(), "x".repeat(10_000)]) {
            let found = search(&outline, &words, MAX_BYTES);
            assert!(json!(found).to_string().len() <= MAX_BYTES, "{words}");
            let Some(query) = found.example else { continue };
            let request = Request { query: query.clone(), ..Request::default() };
            assert!(compile(&catalog, &request, &Limits::DEFAULT).is_ok(), "{words}: {query}");
        }
        assert_eq!(found("the of"), Found::default());
        assert!(json!(search(&outline, "order", 50)).to_string().len() <= 50);
    }

    #[test]
    fn the_same_words_have_the_same_answer() {
        assert_eq!(found("customer of an order"), found("customer of an order"));
    }
}
