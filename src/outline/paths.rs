//! The objects and the roots of an outline, rated by what they have of a question.

use std::collections::HashMap;

use crate::outline::word_index::Shares;
use crate::outline::{Outline, OutlineField, ROOT};
use crate::words::synonyms::meanings;
use crate::words::{likeness, words};

/// The most objects between a root and a field, the root's included.
const MAX_OBJECTS: usize = 3;

/// The most ways to objects of the same type that are kept.
const MAX_WAYS: usize = 2;

/// The most words of a question that count, and the most of its phrases that are looked for by themselves.
const MAX_WORDS: usize = 24;
const MAX_PHRASES: usize = 8;

/// The number of paths that are kept for a phrase: two may fit equally, and only the caller can choose.
const WAYS_OF_PHRASE: usize = 2;

/// The part of a share that is left in the name of an object on the way.
const ON_WAY: f32 = 0.8;

/// The share of a score that is left with each object on the path, and for the types that a root leads to.
const PER_OBJECT: f32 = 0.93;
const PER_OBJECT_OF_ROOT: f32 = 0.8;

/// An object, and how to get there.
#[derive(Debug, Clone)]
pub(crate) struct Rated<'a> {
    /// The fields on the way, the root first.
    pub(crate) way: Vec<&'a OutlineField>,
    /// The share of the question that the best of its fields without parts has.
    pub(crate) score: f32,
}

/// The words of a question, and what each field has of them by itself. Many ways lead to the same field.
pub(crate) struct Question<'a> {
    outline: &'a Outline,
    pub(crate) words: Vec<String>,
    /// The phrases between commas, as indexes of words; none if there is no comma.
    phrases: Vec<Vec<usize>>,
    shares: Shares,
}

type Scores = Vec<f32>;

/// The way that is followed.
struct Way<'a> {
    /// The fields, the root first.
    fields: Vec<&'a OutlineField>,
    /// The types of the objects before the last one.
    types: Vec<&'a str>,
}

/// The best ways to objects of each type, and what each root leads to.
#[derive(Default)]
struct Best<'a> {
    ways: HashMap<&'a str, Vec<Rated<'a>>>,
    /// By phrase, the best first.
    of_phrases: Vec<Vec<Rated<'a>>>,
    reached: Scores,
}

/// The objects and roots that a question leads to.
pub(crate) struct Reached<'a> {
    /// All objects, the best first.
    pub(crate) objects: Vec<Rated<'a>>,
    /// All roots with how much of the question they and what they lead to have, in the order of the schema.
    pub(crate) roots: Vec<(&'a OutlineField, f32)>,
    /// The best ways to each phrase, the best first, rated by what they have of it.
    pub(crate) of_phrases: Vec<Vec<Rated<'a>>>,
}

impl<'a> Question<'a> {
    pub(crate) fn new(outline: &'a Outline, text: &str) -> Self {
        let mut words: Vec<String> = Vec::new();
        let mut phrases = Vec::new();
        for phrase in text.split(',') {
            let mut of_phrase = Vec::new();
            for word in self::words(phrase) {
                let known = words.iter().position(|known| *known == word);
                if known.is_none() && words.len() < MAX_WORDS {
                    words.push(word);
                    of_phrase.push(words.len() - 1);
                }
                of_phrase.extend(known.filter(|index| !of_phrase.contains(index)));
            }
            if !of_phrase.is_empty() && phrases.len() < MAX_PHRASES && !phrases.contains(&of_phrase) {
                phrases.push(of_phrase);
            }
        }
        if phrases.len() < 2 {
            phrases.clear();
        }
        let shares = outline.index.shares(&words);
        Self { outline, words, phrases, shares }
    }

    /// How much each word says.
    pub(crate) fn weights(&self) -> &[f32] {
        &self.shares.weights
    }

    /// Whether the schema has any of the words.
    pub(crate) fn is_known(&self) -> bool {
        self.shares.is_known.contains(&true)
    }

    fn own(&self, field: &OutlineField) -> impl Iterator<Item = f32> {
        let factor = if field.is_object() { ON_WAY } else { 1.0 };
        self.shares.of(field.id).iter().map(move |share| share * factor)
    }

    pub(crate) fn total(&self, scores: &[f32]) -> f32 {
        scores.iter().zip(&self.shares.weights).map(|(score, weight)| score * weight).sum()
    }

    /// How much of the question a field has by itself.
    pub(crate) fn field(&self, field: &OutlineField) -> f32 {
        self.total(self.shares.of(field.id))
    }

    /// How much of the question a name has.
    pub(crate) fn name(&self, name: &str) -> f32 {
        let found = words(name);
        self.total(&self.words.iter().map(|word| if found.contains(word) { 1.0 } else { 0.0 }).collect::<Scores>())
    }

    /// Whether a name has a word of the question, or one that it may mean.
    pub(crate) fn has(&self, name: &str) -> bool {
        let found = words(name);
        let is_there = |word: &str| found.iter().any(|other| likeness(other, word) > 0.0);
        (0..self.words.len()).any(|index| is_there(&self.words[index]) || meanings(&self.words, index).any(is_there))
    }

    /// Some of the fields without parts of an object's type, up to a number. The field that adds most of the question to the fields before
    /// it comes first, so that a short list has something for each of its words; then the fields that have most of it by themselves.
    pub(crate) fn fields(&self, way: &[&'a OutlineField], listed: usize) -> Vec<&'a OutlineField> {
        let fields = way.last().map_or(&[][..], |last| self.outline.fields(self.outline.element_type(last)));
        let mut rest: Vec<_> = fields.iter().filter(|field| !field.is_object()).collect();
        rest.sort_by(|one, other| self.field(other).total_cmp(&self.field(one)));
        let (mut ordered, mut reached): (Vec<&'a OutlineField>, Scores) = (Vec::new(), vec![0.0; self.words.len()]);
        while ordered.len() < listed {
            let known = self.total(&reached);
            let added = |field: &OutlineField| self.total(&most(reached.clone(), self.shares.of(field.id))) - known;
            let gains = rest.iter().map(|field| added(field)).enumerate();
            // The first, if several add as much.
            let best = gains.reduce(|one, other| if other.1 > one.1 { other } else { one });
            let Some((index, _)) = best.filter(|(_, gain)| *gain > 0.0) else { break };
            let field = rest.remove(index);
            reached = most(reached, self.shares.of(field.id));
            ordered.push(field);
        }
        rest.truncate(listed - ordered.len());
        ordered.append(&mut rest);
        ordered
    }

    /// The objects and roots that the question leads to.
    pub(crate) fn reached(&self) -> Reached<'a> {
        let mut best = Best { of_phrases: vec![Vec::new(); self.phrases.len()], ..Best::default() };
        let mut of_types: HashMap<&str, (&OutlineField, Scores)> = HashMap::new();
        let roots = self.outline.roots();
        for root in roots {
            let ty = self.outline.element_type(root);
            match of_types.get(ty) {
                Some((known, _)) if self.field(known) >= self.field(root) => {}
                _ => drop(of_types.insert(ty, (root, Scores::new()))),
            }
        }
        let mut rated_roots = Vec::new();
        for root in roots {
            let ty = self.outline.element_type(root);
            let Some((first, reached)) = of_types.get_mut(ty) else { continue };
            if reached.is_empty() {
                best.reached = vec![0.0; self.words.len()];
                let mut way = Way { fields: vec![*first], types: vec![ROOT] };
                self.visit(&mut way, &self.own(first).collect(), &mut best);
                *reached = std::mem::take(&mut best.reached);
            }
            let own = self.shares.of(root.id).to_vec();
            rated_roots.push((root, self.total(&most(own, reached))));
        }
        let mut rated: Vec<_> = best.ways.into_values().flatten().collect();
        // The map has no order; equal paths are in the order of their texts.
        rated.sort_by(|one, other| {
            let ways = one.way.iter().zip(&other.way).map(|(one, other)| one.name.cmp(&other.name));
            let ways = ways.fold(one.way.len().cmp(&other.way.len()), std::cmp::Ordering::then);
            other.score.total_cmp(&one.score).then(ways)
        });
        Reached { objects: rated, roots: rated_roots, of_phrases: best.of_phrases }
    }

    /// How much of a phrase some scores have.
    fn of_phrase(&self, scores: &[f32], phrase: &[usize]) -> f32 {
        phrase.iter().map(|word| scores[*word] * self.shares.weights[*word]).sum()
    }

    /// Rates the objects at the end of a way and below.
    fn visit(&self, way: &mut Way<'a>, on_way: &Scores, best: &mut Best<'a>) {
        let Some(last) = way.fields.last().copied() else { return };
        let ty = self.outline.element_type(last);
        if way.types.contains(&ty) {
            return;
        }
        way.types.push(ty);
        let objects = i32::try_from(way.fields.len()).unwrap_or(i32::MAX);
        let (left, left_of_root) = (PER_OBJECT.powi(objects), PER_OBJECT_OF_ROOT.powi(objects));
        let mut score: f32 = 0.0;
        let mut of_phrases = vec![0.0_f32; self.phrases.len()];
        let mut scores = Scores::with_capacity(self.words.len());
        for field in last.object.map_or(&[][..], |place| self.outline.types[place].fields()) {
            for (reached, own) in best.reached.iter_mut().zip(self.own(field)) {
                *reached = reached.max(own * left_of_root);
            }
            scores.clear();
            scores.extend(self.own(field).zip(on_way).map(|(own, on_way)| own.max(*on_way)));
            if !field.is_object() {
                score = score.max(self.total(&scores) * left);
                for (score, phrase) in of_phrases.iter_mut().zip(&self.phrases) {
                    *score = score.max(self.of_phrase(&scores, phrase) * left);
                }
            } else if way.fields.len() < MAX_OBJECTS && field.ty.named != "PageInfo" {
                way.fields.push(field);
                self.visit(way, &scores, best);
                way.fields.pop();
            }
        }
        keep(best.ways.entry(ty).or_default(), MAX_WAYS, &way.fields, score);
        for (ways, score) in best.of_phrases.iter_mut().zip(of_phrases) {
            keep(ways, WAYS_OF_PHRASE, &way.fields, score);
        }
        way.types.pop();
    }
}

/// Puts a path among the best of some, the best first, up to a number.
fn keep<'a>(ways: &mut Vec<Rated<'a>>, most: usize, way: &[&'a OutlineField], score: f32) {
    let rank = ways.iter().position(|other| other.score < score).unwrap_or(ways.len());
    if rank < most {
        ways.insert(rank, Rated { way: way.to_vec(), score });
        ways.truncate(most);
    }
}

fn most(mut one: Scores, other: &[f32]) -> Scores {
    for (one, other) in one.iter_mut().zip(other) {
        *one = one.max(*other);
    }
    one
}
