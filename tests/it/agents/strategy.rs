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
            word.strip_suffix("ies").map_or_else(|| word.trim_end_matches('s').to_owned(), |word| format!("{word}y"))
        })
        .collect()
}

/// How well a name with its surroundings fits a phrase. A word of the name counts for it if it is in the phrase and its surroundings do not say it
/// already, and against it if it is not in the phrase. So do words of the phrase that are nowhere.
fn fitness(phrase: &str, name: &str, around: &str) -> i64 {
    let (phrase, name, around) = (words(phrase), words(name), words(around));
    let has = |words: &[String], word: &String| words.contains(word);
    let value = |word: &String| match (has(&phrase, word), has(&around, word)) {
        (true, false) => 7,
        (true, true) => -1,
        (false, _) => -4,
    };
    let named: i64 = name.iter().map(value).sum();
    let missing = phrase.iter().filter(|word| !has(&name, word) && !has(&around, word)).count();
    let extra = around.iter().filter(|word| !has(&phrase, word)).count();
    named - 4 * i64::try_from(missing).unwrap() - i64::try_from(extra).unwrap()
}

/// The best of some names for a phrase, if it has a word of it.
fn best<'a>(phrase: &str, names: impl IntoIterator<Item = &'a str>, around: &str) -> Option<(&'a str, i64)> {
    let rated = names.into_iter().map(|name| (name, fitness(phrase, name, around)));
    let shared = |name: &str| words(name).iter().any(|word| words(phrase).contains(word));
    rated.filter(|(name, _)| shared(name)).reduce(|one, other| if other.1 > one.1 { other } else { one })
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

    /// The arguments that say what is known, and how well they do. `None` if something cannot be said.
    fn arguments(&self, intent: &Intent) -> Option<(String, i64)> {
        let names = if self.is_connection { &self.keys } else { &self.arguments };
        let mut fits = fitness(&intent.words(), self.name, "");
        let mut said = Vec::new();
        for (phrase, value) in &intent.known {
            let (name, fit) = best(phrase, names.iter().copied(), &format!("{} {}", self.name, self.ty))?;
            // Part of the name would be something else.
            if !words(name).iter().all(|word| words(phrase).contains(word)) {
                return None;
            }
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
            let (key, _) = best(phrase, self.sort_keys.iter().copied(), "")?;
            let _ = write!(arguments, ", sortKey: {key}{}", if *is_descending { ", reverse: true" } else { "" });
        }
        Some((arguments, fits))
    }
}

/// The query that a reply of the search leads to. `None` if no root takes what is known.
pub fn compose(intent: &Intent, reply: &Value) -> Option<String> {
    let roots: Vec<_> = reply["roots"].as_array()?.iter().map(Root::read).collect();
    let usable = roots.iter().filter_map(|root| Some((root, root.arguments(intent)?)));
    let (root, (arguments, _)) = usable.reduce(|one, other| if other.1.1 > one.1.1 { other } else { one })?;
    // The objects below roots of the same type, each as a way with fields.
    let same: Vec<_> = roots.iter().filter(|other| other.ty == root.ty).map(|root| root.name).collect();
    let objects = reply["objects"].as_array()?.iter().filter_map(|object| {
        let path = object["path"].as_str()?.strip_prefix("{ ")?;
        let name = path.split(['(', ' ']).next()?;
        let inner = path.split_once(" {").map_or("", |(_, inner)| inner.trim_start());
        let inner = inner.strip_prefix("edges { node {").unwrap_or(inner).trim();
        let fields: Vec<_> =
            object["fields"].as_array()?.iter().filter_map(|field| field.as_str()?.split(':').next()).collect();
        same.contains(&name).then_some((inner, fields))
    });
    let objects: Vec<_> = objects.collect();
    let mut selected: Vec<(&str, Vec<&str>)> = Vec::new();
    for phrase in &intent.asked {
        let rated = objects.iter().filter_map(|(way, fields)| {
            let around = format!(
                "{} {}",
                root.ty,
                way.split('(').map(|part| part.rsplit(' ').next().unwrap_or("")).collect::<Vec<_>>().join(" ")
            );
            let way_names = way
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| !matches!(*word, "edges" | "node" | "first") && !word.starts_with(char::is_numeric));
            let around = format!("{around} {}", way_names.collect::<Vec<_>>().join(" "));
            let (field, fit) = best(phrase, fields.iter().copied(), &around)?;
            Some((*way, field, fit))
        });
        // Of two that fit alike, the nearer one.
        let rank = |(way, _, fit): &(&str, &str, i64)| (*fit, Reverse(way.matches('{').count()));
        let Some((way, field, _)) = rated.reduce(|one, other| if rank(&other) > rank(&one) { other } else { one })
        else {
            continue;
        };
        match selected.iter_mut().find(|(known, _)| *known == way) {
            Some((_, fields)) if !fields.contains(&field) => fields.push(field),
            Some(_) => {}
            None => selected.push((way, vec![field])),
        }
    }
    if selected.is_empty() {
        return None;
    }
    let inner = selected
        .iter()
        .map(|(way, fields)| format!("{way} {}{}", fields.join(" "), " }".repeat(way.matches('{').count())));
    let inner = inner.collect::<Vec<_>>().join(" ");
    let (open, close) = if root.is_connection { ("{ edges { node {", "} } }") } else { ("{", "}") };
    Some(format!("{{ {}({arguments}) {open} {inner} {close} }}", root.name))
}
