//! A fixed strategy in place of a language model. It knows the syntax of GraphQL and what the tools return, and no schema: names are compared by
//! their words.

use std::cmp::Reverse;
use std::fmt::Write as _;

use serde_json::Value;

/// What somebody takes from a question.
#[derive(Debug)]
pub struct Intent {
    pub number: usize,
    /// What is asked for, in words.
    pub asked: Vec<String>,
    /// What is known, in words, with values.
    pub known: Vec<(String, String)>,
    /// The order, in words, and whether it is descending.
    pub order: Option<(String, bool)>,
    /// The fields of the documented answer that have to be found. The strategy does not use them.
    pub judged: Vec<String>,
}

impl Intent {
    /// The words to search for.
    pub fn words(&self) -> String {
        let known = self.known.iter().map(|(words, _)| words.as_str());
        self.asked.iter().map(String::as_str).chain(known).collect::<Vec<_>>().join(", ")
    }
}

/// The words of a text or name, without endings of the plural.
fn words(text: &str) -> Vec<String> {
    let mut spaced = String::new();
    let mut after_lower_case = false;
    for c in text.chars() {
        if c.is_uppercase() && after_lower_case {
            spaced.push(' ');
        }
        after_lower_case = c.is_lowercase();
        spaced.extend(c.to_lowercase());
    }
    let words = spaced.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words
        .map(|word| {
            let word = if word.ends_with("ses") { word.trim_end_matches("es") } else { word };
            word.strip_suffix("ies").map_or_else(|| word.trim_end_matches('s').to_owned(), |word| format!("{word}y"))
        })
        .collect()
}

/// What abbreviations in names stand for.
const ABBREVIATIONS: [(&str, &str); 4] =
    [("ref", "reference"), ("num", "number"), ("seq", "sequence"), ("qty", "quantity")];

/// Words of names that people leave out.
const LEFT_OUT: [&str; 3] = ["id", "uom", "enum"];

/// Words of ways that people leave out as well: the name of a type is a name of the thing.
const LEFT_OUT_OF_WAYS: [&str; 4] = ["type", "mech", "to", "from"];

/// The words of a name, written in full.
fn spelt_out(name: &str) -> Vec<String> {
    let full = |word: String| {
        let known = ABBREVIATIONS.iter().find(|(short, _)| *short == word);
        known.map_or(word, |(_, full)| (*full).to_owned())
    };
    words(name).into_iter().map(full).collect()
}

fn is_left_out(word: &str) -> bool {
    LEFT_OUT.contains(&word)
}

/// The words of a text that people say.
fn said(text: &str) -> Vec<String> {
    spelt_out(text).into_iter().filter(|word| !is_left_out(word)).collect()
}

/// How well a name with its surroundings fits a phrase. A word of the name counts for it if it is in the phrase and its surroundings do not say it
/// already, and against it if it is not in the phrase. So do words of the phrase that are nowhere.
fn fitness(phrase: &str, name: &str, around: &str) -> i64 {
    let (phrase, name, around) = (spelt_out(phrase), spelt_out(name), spelt_out(around));
    let value = |word: &String| match (phrase.contains(word), around.contains(word)) {
        (true, false) => 7,
        (true, true) => -1,
        (false, _) if is_left_out(word) => 0,
        (false, _) => -4,
    };
    let named: i64 = name.iter().map(value).sum();
    let missing = phrase.iter().filter(|word| !name.contains(word) && !around.contains(word)).count();
    let extra = around.iter().filter(|word| !phrase.contains(word)).count();
    named - 4 * i64::try_from(missing).unwrap() - i64::try_from(extra).unwrap()
}

/// A root that a reply describes.
struct Root<'a> {
    name: &'a str,
    /// The type of its objects.
    ty: &'a str,
    /// Its arguments, if it finds one object.
    arguments: Vec<&'a str>,
    keys: Vec<&'a str>,
    sort_keys: Vec<&'a str>,
    is_connection: bool,
}

impl<'a> Root<'a> {
    fn read(root: &'a Value) -> Self {
        let field = root["field"].as_str().unwrap();
        let (head, ty) = field.rsplit_once(": ").unwrap();
        let (name, arguments) = head.split_once('(').unwrap_or((head, ""));
        let arguments = arguments.trim_end_matches(')').split(", ").filter_map(|argument| argument.split(':').next());
        let keys = root["searchKeys"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let values = root["values"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let sort_keys = values.filter_map(|values| values.strip_prefix("sortKey: "));
        let ty = ty.trim_end_matches('!');
        Self {
            name,
            ty: ty.strip_suffix("Connection").unwrap_or(ty),
            arguments: arguments.collect(),
            keys: keys.map(|key| key.trim_end_matches('>')).collect(),
            sort_keys: sort_keys.flat_map(|keys| keys.split(' ')).collect(),
            is_connection: ty.ends_with("Connection"),
        }
    }

    /// The one of some names that says a phrase, and how well: all its words are in the phrase, and those of the phrase in it or in the root's
    /// name. If there is none, the only one that has what the phrase says beside the root's name, and at most one word more. A name that only resembles
    /// the phrase would ask for something else.
    fn name_for(&self, phrase: &str, names: &[&'a str]) -> Option<(&'a str, i64)> {
        let around = format!("{} {}", self.name, self.ty);
        let (own, of_phrase) = (spelt_out(&around), said(phrase));
        let fit = |name: &&'a str| (*name, fitness(phrase, name, &around));
        let is_whole = |name: &&&'a str| {
            let words = said(name);
            let is_there = |word: &String| words.contains(word) || own.contains(word);
            !words.is_empty() && words.iter().all(|word| of_phrase.contains(word)) && of_phrase.iter().all(is_there)
        };
        let whole = names.iter().filter(is_whole).map(fit);
        if let Some(best) = whole.reduce(|one, other| if other.1 > one.1 { other } else { one }) {
            return Some(best);
        }
        let rest: Vec<_> = of_phrase.iter().filter(|word| !own.contains(word)).collect();
        let has_rest = |name: &&&'a str| {
            let words = said(name);
            !rest.is_empty() && rest.iter().all(|word| words.contains(word)) && words.len() <= rest.len() + 1
        };
        let mut with_rest = names.iter().filter(has_rest).map(fit);
        let (name, fit) = with_rest.next()?;
        with_rest.next().is_none().then_some((name, fit - 10))
    }

    /// The arguments that say what is known, and how well they do. `None` if something cannot be said.
    fn arguments(&self, intent: &Intent) -> Option<(String, i64)> {
        let names = if self.is_connection { &self.keys } else { &self.arguments };
        let mut fits = fitness(&intent.words(), self.name, "");
        let mut said = Vec::new();
        for (phrase, value) in &intent.known {
            let (name, fit) = self.name_for(phrase, names)?;
            fits += fit;
            let quoted =
                if value.contains(' ') && !value.contains('\'') { format!("'{value}'") } else { value.clone() };
            said.push(if self.is_connection { format!("{name}:{quoted}") } else { format!("{name}: \"{value}\"") });
        }
        if !self.is_connection {
            let is_one = intent.known.len() == said.len() && !said.is_empty() && intent.order.is_none();
            return is_one.then(|| (said.join(", "), fits + 2));
        }
        let mut arguments = "first: 10".to_owned();
        if !said.is_empty() {
            let _ = write!(arguments, ", query: {}", Value::from(said.join(" ")));
        }
        if let Some((phrase, is_descending)) = &intent.order {
            let (key, _) = self.name_for(phrase, &self.sort_keys)?;
            let _ = write!(arguments, ", sortKey: {key}{}", if *is_descending { ", reverse: true" } else { "" });
        }
        Some((arguments, fits))
    }
}

/// An object below a root: the way to it from the root's objects, its type, and its fields.
struct Object<'a> {
    way: &'a str,
    ty: &'a str,
    fields: Vec<&'a str>,
}

impl<'a> Object<'a> {
    /// The root that a path of a reply begins with, and the object.
    fn read(object: &'a Value) -> Option<(&'a str, Self)> {
        let path = object["path"].as_str()?.strip_prefix("{ ")?;
        let inner = path.split_once(" {").map_or("", |(_, inner)| inner.trim_start());
        let way = inner.strip_prefix("edges { node {").unwrap_or(inner).trim();
        let fields = object["fields"].as_array()?.iter().filter_map(|field| field.as_str()?.split(':').next());
        Some((path.split(['(', ' ']).next()?, Self { way, ty: object["type"].as_str()?, fields: fields.collect() }))
    }

    /// The names of the fields on the way.
    fn names(&self) -> String {
        let names = self.way.split(|c: char| !c.is_alphanumeric());
        let names = names.filter(|name| !matches!(*name, "" | "edges" | "node" | "first"));
        names.filter(|name| !name.starts_with(char::is_numeric)).collect::<Vec<_>>().join(" ")
    }

    /// How well one of its fields fits a phrase. `None` if it could be something else: a word of the phrase is nowhere, or the way has words that
    /// the phrase has not, unless the field's name alone says all of it.
    fn fits(&self, root: &Root<'_>, phrase: &str, field: &str) -> Option<i64> {
        let (of_phrase, name, way) = (said(phrase), said(field), said(&self.names()));
        let own = [spelt_out(root.ty), spelt_out(root.name)].concat();
        let around = [spelt_out(self.ty), own.clone(), way.clone()].concat();
        let is_there = |word: &String| name.contains(word) || around.contains(word);
        let in_full = spelt_out(phrase);
        let is_shared = name.iter().any(|word| of_phrase.contains(word))
            || spelt_out(field).iter().all(|word| in_full.contains(word));
        let is_said =
            |word: &String| of_phrase.contains(word) || own.contains(word) || LEFT_OUT_OF_WAYS.contains(&word.as_str());
        let is_whole = name.len() == of_phrase.len() && name.iter().all(|word| of_phrase.contains(word));
        let is_sure = is_shared && of_phrase.iter().all(is_there) && (is_whole || way.iter().all(is_said));
        is_sure.then(|| fitness(phrase, field, &format!("{} {}", root.ty, self.names())))
    }
}

/// A query that is composed of what replies have, and the phrases that it does not answer.
pub struct Composed {
    pub root: String,
    pub query: String,
    pub missing: Vec<String>,
}

/// Roots that fit so much less than the best one are taken as well as it.
const ALIKE: i64 = 2;

/// The query that replies of the search lead to. `None` if no root takes what is known.
pub fn compose(intent: &Intent, replies: &[Value]) -> Option<Composed> {
    let described = |root: &Root<'_>| root.keys.len() + root.arguments.len();
    let mut roots: Vec<Root<'_>> = Vec::new();
    for root in replies.iter().filter_map(|reply| reply["roots"].as_array()).flatten().map(Root::read) {
        match roots.iter_mut().find(|known| known.name == root.name) {
            Some(known) if described(&root) > described(known) => *known = root,
            Some(_) => {}
            None => roots.push(root),
        }
    }
    let objects: Vec<_> = replies.iter().filter_map(|reply| reply["objects"].as_array()).flatten().collect();
    let objects: Vec<_> = objects.into_iter().filter_map(Object::read).collect();
    let mut usable: Vec<_> = roots.iter().filter_map(|root| Some((root, root.arguments(intent)?))).collect();
    usable.sort_by_key(|(_, (_, fits))| Reverse(*fits));
    let best = usable.first().map(|(_, (_, fits))| *fits)?;
    let alike = usable.into_iter().take_while(|(_, (_, fits))| *fits >= best - ALIKE);
    let composed = alike.map(|(root, (arguments, _))| {
        // The objects below roots of the same type.
        let same = |name: &str| roots.iter().any(|other| other.name == name && other.ty == root.ty);
        let own = objects.iter().filter(|(name, _)| same(name)).map(|(_, object)| object);
        select(intent, root, &arguments, &own.collect::<Vec<_>>())
    });
    // Of two that answer as much, the root that says best what is known.
    composed.reduce(|one, other| if other.missing.len() < one.missing.len() { other } else { one })
}

fn select(intent: &Intent, root: &Root<'_>, arguments: &str, objects: &[&Object<'_>]) -> Composed {
    let mut selected: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut missing = Vec::new();
    for phrase in &intent.asked {
        let fields = objects.iter().flat_map(|object| object.fields.iter().map(move |field| (*object, *field)));
        let rated = fields.filter_map(|(object, field)| Some((object.way, field, object.fits(root, phrase, field)?)));
        // The nearest ones of the best: several that fit alike are all shown.
        let rank = |(way, _, fit): &(&str, &str, i64)| (*fit, Reverse(way.matches('{').count()));
        let rated: Vec<_> = rated.collect();
        let Some(best) = rated.iter().map(rank).max() else {
            missing.push(phrase.clone());
            continue;
        };
        for (way, field, _) in rated.iter().filter(|rated| rank(rated) == best) {
            match selected.iter_mut().find(|(known, _)| known == way) {
                Some((_, fields)) if !fields.contains(field) => fields.push(field),
                Some(_) => {}
                None => selected.push((way, vec![field])),
            }
        }
    }
    let inner = selected
        .iter()
        .map(|(way, fields)| format!("{way} {}{}", fields.join(" "), " }".repeat(way.matches('{').count())));
    let inner = inner.collect::<Vec<_>>().join(" ");
    let (open, close) = if root.is_connection { ("{ edges { node {", "} } }") } else { ("{", "}") };
    let query = format!("{{ {}({arguments}) {open} {inner} {close} }}", root.name);
    Composed { root: root.name.to_owned(), query, missing }
}
