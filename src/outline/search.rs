//! The fields for some words, ranked, each with its path from a root, for clients without knowledge of the schema.

use serde::Serialize;
use serde_json::json;

use crate::outline::connection::unusual_arguments;
use crate::outline::examples;
use crate::outline::paths::{Question, Rated, Reached};
use crate::outline::short_sdl::key_names;
use crate::outline::{Outline, OutlineField, TypeKind};

/// The most fields that are listed of the first objects, and of the other objects, so that there is room for more of them.
const MAX_FIELDS: usize = 16;
const FEW_FIELDS: usize = 6;

/// The number of these first objects.
const FIRST_OBJECTS: usize = 2;

/// The most roots that are listed, and the most roots that are listed with their keys.
const MAX_ROOTS: usize = 8;
const DESCRIBED_ROOTS: usize = 4;

/// A second way to a phrase is listed with the best if it has as much of the phrase, about. A root that begins the best way to a phrase counts
/// for as much more of the phrase.
const AS_MUCH: f32 = 0.97;
const OF_PHRASE: f32 = 0.5;

/// How much more the ways of the best root count.
const OF_BEST_ROOT: f32 = 1.15;

/// The tenths of the bytes that roots may take.
const ROOTS_TENTHS: usize = 6;

/// The bytes of a summary.
const SUMMARY_BYTES: usize = 90;

/// The share of all words that a documented example adds to the roots that it begins with, if the example is like the words; and how like
/// them it must be to take the place of an example that is made.
const OF_EXAMPLE: f32 = 0.5;
const LIKE_EXAMPLE: f32 = 0.6;

/// The roots and objects that the words mean, the best first.
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
    /// If nothing was found: the words of the schema that are spelt most like them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
}

/// A field that queries begin with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundRoot {
    /// Its name, its arguments except the arguments that all connections have, and its type.
    pub field: String,
    /// The keys of the argument `query`. Keys with `>` take ranges, as in `key:>=value`, the others `key:value` and `key:a,b`.
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
    /// The name of its type.
    #[serde(rename = "type")]
    /// What it is.
    pub type_name: String,
    /// Its purpose, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Its fields without parts, with their types. The fields that were found come first.
    pub fields: Vec<String>,
}

/// The fields that the words mean, as JSON in as many bytes at most.
pub fn search(outline: &Outline, words: &str, max_bytes: usize) -> Found {
    let question = Question::new(outline, words);
    if !question.is_known() {
        return Found { nearest: outline.index.nearest(&question.words), ..Found::default() };
    }
    let Reached { mut objects, mut roots, of_phrases } = question.reached();
    let near = examples::nearest(outline, &question.words, question.weights());
    if let Some((example, likeness)) = near {
        let all: f32 = question.weights().iter().sum();
        for (root, score) in &mut roots {
            if example.roots.contains(&root.name) {
                *score += OF_EXAMPLE * likeness * all;
            }
        }
    }
    for best in of_phrases.iter().filter_map(|ways| ways.first()) {
        let ty = best.way.first().map(|root| root.object);
        for (root, score) in &mut roots {
            if Some(root.object) == ty {
                *score += OF_PHRASE * best.score;
            }
        }
    }
    roots.sort_by(|one, other| other.1.total_cmp(&one.1));
    objects.retain(|object| object.score > 0.0);
    let like = near.filter(|(_, likeness)| *likeness >= LIKE_EXAMPLE).map(|(example, _)| example.query.to_owned());
    let roots: Vec<_> = roots.into_iter().map(|(root, _)| root).collect();
    arrange(&mut objects, roots.first().copied());
    objects = with_phrases(of_phrases, objects);
    let example = like.or_else(|| made_example(outline, &question, &roots, &objects));

    let mut found = Found::default();
    let mut room = max_bytes.saturating_sub(json!(found).to_string().len());
    // With a comma.
    let take = |room: &mut usize, bytes: usize| room.checked_sub(bytes + 1).map(|rest| *room = rest).is_some();
    found.example = example.filter(|example| take(&mut room, json!({ "example": example }).to_string().len()));
    let mut of_roots = max_bytes / 10 * ROOTS_TENTHS;
    for (rank, root) in roots.iter().take(MAX_ROOTS).enumerate() {
        let root = describe(outline, root, rank < DESCRIBED_ROOTS);
        let bytes = json!(root).to_string().len();
        if take(&mut of_roots, bytes) && take(&mut room, bytes) {
            found.roots.push(root);
        }
    }
    for (index, Rated { way, .. }) in objects.iter().enumerate() {
        let listed = if index < FIRST_OBJECTS { MAX_FIELDS } else { FEW_FIELDS };
        let object = object(outline, &question, way, listed);
        if !take(&mut room, json!(object).to_string().len()) {
            break;
        }
        found.objects.push(object);
    }
    found
}

/// The best way to each phrase, and a second one that is about as good, before the others.
fn with_phrases<'a>(of_phrases: Vec<Vec<Rated<'a>>>, others: Vec<Rated<'a>>) -> Vec<Rated<'a>> {
    let first = of_phrases.into_iter().flat_map(|ways| {
        let best = ways.first().map_or(0.0, |way| way.score);
        ways.into_iter().filter(move |way| way.score > 0.0 && way.score >= best * AS_MUCH)
    });
    let mut objects: Vec<Rated<'a>> = Vec::new();
    for object in first.chain(others) {
        let is_same = |known: &Rated<'_>| {
            known.way.len() == object.way.len()
                && known.way.iter().zip(&object.way).all(|(one, other)| std::ptr::eq(*one, *other))
        };
        if !objects.iter().any(is_same) {
            objects.push(object);
        }
    }
    objects
}

/// Puts the best path to each type before further paths, and paths of the best root before about equal paths of other roots. A type that
/// this root finds comes second at least, because the root is the subject of the query.
fn arrange(objects: &mut Vec<Rated<'_>>, best: Option<&OutlineField>) {
    let ty = |field: Option<&&OutlineField>| field.and_then(|field| field.object);
    let own = ty(best.as_ref());
    let score =
        |object: &Rated<'_>| if ty(object.way.first()) == own { object.score * OF_BEST_ROOT } else { object.score };
    objects.sort_by(|one, other| score(other).total_cmp(&score(one)));
    let mut seen = Vec::new();
    let mut further = Vec::new();
    for object in std::mem::take(objects) {
        let of = ty(object.way.last());
        if seen.contains(&of) {
            further.push(object);
        } else {
            seen.push(of);
            objects.push(object);
        }
    }
    objects.append(&mut further);
    let is_own = |object: &Rated<'_>| object.way.len() == 1 && ty(object.way.first()) == own;
    if let Some(place @ 2..) = objects.iter().position(is_own) {
        let object = objects.remove(place);
        objects.insert(1, object);
    }
}

/// A query for the best root: totals, or the best object that its rows lead to. A list is better than one row, because only the caller has
/// the row's key.
fn made_example<'a>(
    outline: &'a Outline,
    question: &Question<'a>,
    roots: &[&'a OutlineField],
    objects: &[Rated<'a>],
) -> Option<String> {
    let best = roots.first()?;
    if let Some(totals) = question.totals(outline, best) {
        return Some(totals);
    }
    let Rated { way, .. } = objects.first()?;
    let first = *way.first()?;
    let same = |root: &&&OutlineField| root.object == first.object;
    let is_asked = best.arguments.iter().any(|argument| argument.ty.text.ends_with('!'));
    let list = roots.iter().filter(same).find(|root| outline.node_type(&root.ty.named).is_some());
    let root = if same(&best) && is_asked { best } else { list.unwrap_or(&first) };
    let way: Vec<_> = [*root].into_iter().chain(way[1..].iter().copied()).collect();
    Some(question.example(outline, &way))
}

fn describe(outline: &Outline, root: &OutlineField, with_keys: bool) -> FoundRoot {
    let is_connection = outline.node_type(&root.ty.named).is_some();
    let arguments = if is_connection { unusual_arguments(root) } else { root.arguments.iter().collect() };
    let values = arguments.iter().filter_map(|argument| match &outline.get(&argument.ty.named)?.kind {
        TypeKind::Enum(values) => Some(format!("{}: {}", argument.name, values.join(" "))),
        TypeKind::Scalar | TypeKind::Object(_) => None,
    });
    let texts: Vec<_> = arguments.iter().map(|argument| format!("{}: {}", argument.name, argument.ty.text)).collect();
    let arguments = if texts.is_empty() { String::new() } else { format!("({})", texts.join(", ")) };
    FoundRoot {
        field: if with_keys {
            format!("{}{arguments}: {}", root.name, root.ty.text)
        } else {
            format!("{}: {}", root.name, root.ty.text)
        },
        search_keys: if with_keys { key_names(root) } else { Vec::new() },
        values: values.filter(|_| with_keys).collect(),
    }
}

fn object<'a>(outline: &Outline, question: &Question<'a>, way: &[&'a OutlineField], listed: usize) -> FoundObject {
    let last = way.last();
    let about = last.map_or("", |field| &field.summary);
    let end = (0..=about.len().min(SUMMARY_BYTES)).rev().find(|end| about.is_char_boundary(*end)).unwrap_or(0);
    let fields = question.fields(way, listed).into_iter();
    FoundObject {
        path: question.path(outline, way),
        type_name: last.map_or("", |field| outline.element_type(field)).to_owned(),
        about: about[..end].to_owned(),
        fields: fields.map(|field| format!("{}: {}", field.name, field.ty.text)).collect(),
    }
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
        let summary = |ty: &str| outline.fields(ty).first().map_or("", |field| &*field.summary);
        let texts = outline.types.iter().map(|ty| format!("{} {}", ty.name, summary(&ty.name)));
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

    /// Questions of people, each with roots; the search has to list one of these.
    const SEARCHES: &str = include_str!("../../tests/agents/searches.txt");

    #[test]
    fn the_roots_that_answer_a_question_are_listed() {
        let outline = Outline::parse(Catalog::built_in().unwrap().sdl()).unwrap();
        let (mut asked, mut missed) = (0, Vec::new());
        for line in SEARCHES.lines().filter(|line| !line.starts_with('#')) {
            let [_, words, roots] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
            let found = search(&outline, words, MAX_BYTES);
            assert!(json!(found).to_string().len() <= MAX_BYTES, "{words}");
            let is_listed =
                |name: &str| found.roots.iter().any(|root| root.field.split(['(', ':']).next() == Some(name));
            asked += 1;
            if !roots.split(' ').any(is_listed) {
                missed.push(line);
            }
        }
        println!("{} of {asked} have a root that answers them", asked - missed.len());
        assert!(asked >= 140 && missed.len() * 25 <= asked, "{missed:#?}");
    }

    #[test]
    fn an_example_answers_what_the_words_ask() {
        for (words, part) in [
            ("revenue per day", "groupBy: [DAY]"),
            ("sales by product", "groupBy: [PRODUCT_ID"),
            ("best sellers", "orderBy: QUANTITY"),
            ("RMA", "returns(first: 10)"),
            ("UPC", "idValue"),
            ("order notes", "noteInfo"),
            ("revenue", "currencyUomId"),
            ("ship group address city, ship group address postal code, order id", "Address { postalCode city"),
        ] {
            let example = found(words).example.unwrap();
            assert!(example.contains(part), "{words}: {example}");
        }
    }

    /// Each phrase has its object, however much of the other phrases another object has.
    #[test]
    fn every_phrase_between_commas_has_its_object() {
        for (words, path, field) in [
            (
                "shipment route segments packages tracking code, shipment status description",
                "{ shipments(first: 10) { edges { node { status {",
                "description",
            ),
            (
                "order item quantity, order item product id, order item status id",
                "{ orderItems(first: 10) { edges { node {",
                "quantity",
            ),
            (
                "facility contact postal address city, facility id",
                "{ facilities(first: 10) { edges { node { contactMechs(first: 5) { edges { node { postalAddress {",
                "city",
            ),
        ] {
            let found = found(words);
            let is_there = |object: &FoundObject| {
                object.path == path && object.fields.iter().any(|other| other.starts_with(&format!("{field}:")))
            };
            assert!(found.objects.iter().any(is_there), "{words}: {found:#?}");
        }
    }

    #[test]
    fn what_the_schema_does_not_have_is_answered_with_the_nearest_words() {
        let found = found("qualtity onn");
        assert!(found.example.is_some() || found.nearest.contains(&"quantity".to_owned()), "{found:?}");
        let nothing =
            super::search(&Outline::parse(Catalog::built_in().unwrap().sdl()).unwrap(), "xqzzt wqxx", MAX_BYTES);
        assert!(nothing.roots.is_empty() && !nothing.nearest.is_empty(), "{nothing:?}");
    }
}
