//! The index of a schema's fields and search keys by the words of their names, and the rank of each for a name.

use std::collections::BTreeMap;
use std::fmt;

use crate::words::synonyms::meanings;
use crate::words::{SHORTEST_BEGINNING, likeness, words};

/// The most places that are named.
const MAX_PLACES: usize = 3;

/// Longer names mean nothing. In bytes.
const MAX_LENGTH: usize = 64;

/// A word's share where it is found: in a name, on the way to it, and as one of the word's other meanings.
const IN_NAME: f32 = 1.0;
const ON_WAY: f32 = 0.6;
const OTHER_MEANING: f32 = 0.7;
const FOLLOWING_MEANING: f32 = 0.03;

/// The share that is lost with each word of a name that was not asked for, and with each object on the path.
const OTHER_WORD: f32 = 0.15;
const OBJECT: f32 = 0.05;

/// The fields and the search keys of a schema by the words of their names. They are searched each time that a query is rejected for an
/// unknown name.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pub(super) fields: Index,
    pub(super) searches: Index,
}

/// A field or a search key.
#[derive(Debug)]
struct NamePlace {
    /// The path, as it is shown.
    path: String,
    /// The words of its name, and the words of the names on the path to it.
    name: Vec<String>,
    way: Vec<String>,
    /// The types of the objects on the way.
    types: Vec<String>,
}

/// Places by the words of their names.
#[derive(Debug, Default)]
pub(super) struct Index {
    places: Vec<NamePlace>,
    by_word: BTreeMap<String, Vec<usize>>,
}

impl Places {
    /// Fields that a name may mean, as paths from a root without `edges` and `node`: `orders.shipGroups.shipToAddress`. Paths through
    /// objects of the type come first.
    pub(crate) fn fields(&self, name: &str, ty: &str) -> Vec<String> {
        self.fields.best(
            name,
            |place| if place.types.iter().any(|through| through == ty) { 0.3 } else { 0.0 },
            |_| true,
        )
    }

    /// Roots whose search a name may mean, each with the key: `parties(query: "lastName:…")`.
    pub(crate) fn searches(&self, name: &str, root: &str) -> Vec<String> {
        self.searches.best(name, |_| 0.0, |place| place.types.iter().all(|of| of != root))
    }
}

impl Index {
    pub(super) fn add(&mut self, path: String, name: &str, way: &[Object<'_>]) {
        let name = words(name);
        for word in &name {
            self.by_word.entry(word.clone()).or_default().push(self.places.len());
        }
        let types = way.iter().map(|object| object.ty.to_owned()).collect();
        let way = way.iter().flat_map(|object| words(object.field)).collect();
        self.places.push(NamePlace { path, name, way, types });
    }

    /// The places that fit a name best, with an addition for each.
    fn best(
        &self,
        name: &str,
        added: impl Fn(&NamePlace) -> f32,
        is_asked: impl Fn(&NamePlace) -> bool,
    ) -> Vec<String> {
        let Some(name) = Name::new(name) else { return Vec::new() };
        let mut found: Vec<usize> = name.0.iter().flatten().flat_map(|word| self.named_like(word)).collect();
        found.sort_unstable();
        found.dedup();
        let places = found.into_iter().map(|index| &self.places[index]).filter(|place| is_asked(place));
        let rated = places.filter_map(|place| Some((name.score(place)? + added(place), place)));
        let mut rated: Vec<_> = rated.collect();
        rated.sort_by(|one, other| other.0.total_cmp(&one.0));
        rated.into_iter().take(MAX_PLACES).map(|(_, place)| place.path.clone()).collect()
    }

    /// The places whose name has a word that is like this one.
    fn named_like(&self, word: &str) -> impl Iterator<Item = usize> {
        let beginning = word.char_indices().nth(SHORTEST_BEGINNING).map_or(word, |(end, _)| &word[..end]);
        let alike =
            self.by_word.range(beginning.to_owned()..).take_while(move |(other, _)| other.starts_with(beginning));
        alike.filter(move |(other, _)| likeness(word, other) > 0.0).flat_map(|(_, places)| places.iter().copied())
    }
}

/// Places as the end of a message.
pub(crate) fn named_elsewhere(places: &[String]) -> impl fmt::Display {
    fmt::from_fn(move |f| match places {
        [] => Ok(()),
        places => write!(f, "; elsewhere: {}", places.join(", ")),
    })
}

/// The words of a name, each with its other meanings.
struct Name(Vec<Vec<String>>);

impl Name {
    fn new(name: &str) -> Option<Self> {
        let words = if name.len() > MAX_LENGTH { Vec::new() } else { words(name) };
        let alternatives = |index: usize| {
            let others = meanings(&words, index).map(str::to_owned);
            [words[index].clone()].into_iter().chain(others).collect()
        };
        (!words.is_empty()).then(|| Self((0..words.len()).map(alternatives).collect()))
    }

    /// How well a place fits. `None` if a word is nowhere, or none is in the place's own name.
    fn score(&self, NamePlace { name: own, way: around, types, .. }: &NamePlace) -> Option<f32> {
        let mut is_named = false;
        let mut total = 0.0;
        for alternatives in &self.0 {
            let of = |words: &[String]| {
                let rated = (0_u8..).zip(alternatives).map(|(rank, meant)| {
                    let best = words.iter().map(|word| likeness(word, meant)).fold(0.0, f32::max);
                    best * if rank == 0 { 1.0 } else { OTHER_MEANING - FOLLOWING_MEANING * f32::from(rank) }
                });
                rated.fold(0.0, f32::max)
            };
            let (in_name, on_way) = (of(own) * IN_NAME, of(around) * ON_WAY);
            is_named |= in_name > 0.0;
            let score = in_name.max(on_way);
            if score == 0.0 {
                return None;
            }
            total += score;
        }
        let is_asked = |word: &&String| self.0.iter().flatten().any(|meant| likeness(word, meant) > 0.0);
        #[allow(clippy::cast_precision_loss, reason = "names have few words")]
        let (count, others, objects) =
            (self.0.len() as f32, own.iter().filter(|word| !is_asked(word)).count() as f32, types.len() as f32);
        is_named.then(|| total / count - OTHER_WORD * others - OBJECT * objects)
    }
}

/// An object on the way to a field.
#[derive(Debug, Clone, Copy)]
pub(super) struct Object<'a> {
    pub(super) field: &'a str,
    /// The type of the object, or of the rows of a list.
    pub(super) ty: &'a str,
}
