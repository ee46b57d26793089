//! The fields of an outline, each with its way from a root, rated by the words that they have in common with a question.

use std::collections::HashMap;

use crate::outline::{Outline, OutlineField, ROOT, TypeKind};
use crate::words::{likeness, words};

/// As many objects are between a root and a field at most, the root's included.
const MAX_OBJECTS: usize = 3;

/// As many ways to the same field are kept at most.
const MAX_WAYS: usize = 2;

/// What a word counts where it is found: in a field's own name; in its summary; in the name of an object on the way to it; in that one's
/// summary; among the search keys and arguments of the root.
const IN_NAME: f32 = 1.0;
const IN_SUMMARY: f32 = 0.4;
const ON_WAY: f32 = 0.8;
const IN_SUMMARY_ON_WAY: f32 = 0.2;
const IN_KEYS: f32 = 0.5;

/// What is left of a score with every object on the way.
const PER_OBJECT: f32 = 0.93;

/// A field without parts, and how to get there.
#[derive(Debug, Clone)]
pub(crate) struct Rated<'a> {
    /// The fields on the way, the root first.
    pub(crate) way: Vec<&'a OutlineField>,
    pub(crate) field: &'a OutlineField,
    /// The field's place among those of its type.
    place: usize,
    pub(crate) score: f32,
}

/// The words of a question, and what each says.
pub(crate) struct Question<'a> {
    outline: &'a Outline,
    words: Vec<String>,
    /// Rare words say more.
    weights: Vec<f32>,
    /// What each field has of the question by itself. Many ways lead to the same field.
    own: HashMap<*const OutlineField, Scores>,
}

type Scores = Vec<f32>;

/// The best ways to each field of each type.
type Best<'a> = HashMap<(&'a str, &'a str), Vec<Rated<'a>>>;

impl<'a> Question<'a> {
    pub(crate) fn new(outline: &'a Outline, text: &str) -> Self {
        let mut words: Vec<String> = Vec::new();
        for word in self::words(text) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        let texts: Vec<_> = outline
            .types
            .iter()
            .flat_map(|ty| outline.fields(&ty.name))
            .map(|field| self::words(&format!("{} {}", field.name, field.summary)))
            .collect();
        #[allow(clippy::cast_precision_loss, reason = "there are some hundred fields")]
        let rarity = |word: &String| {
            let with = texts.iter().filter(|text| text.contains(word)).count();
            (texts.len() as f32 / (with as f32 + 1.0)).ln().max(0.2)
        };
        let weights = words.iter().map(rarity).collect();
        let mut question = Self { outline, words, weights, own: HashMap::new() };
        let fields = outline.types.iter().flat_map(|ty| outline.fields(&ty.name));
        question.own = fields.map(|field| (std::ptr::from_ref(field), question.own_scores(field))).collect();
        question
    }

    fn own_scores(&self, field: &OutlineField) -> Scores {
        let (in_name, in_summary) =
            if self.is_object(field) { (ON_WAY, IN_SUMMARY_ON_WAY) } else { (IN_NAME, IN_SUMMARY) };
        most(self.likeness(&field.name, in_name), &self.likeness(&field.summary, in_summary))
    }

    fn is_object(&self, field: &OutlineField) -> bool {
        matches!(self.outline.get(&field.ty.named).map(|ty| &ty.kind), Some(TypeKind::Object(_)))
    }

    /// How much of the question a text has, word by word.
    fn likeness(&self, text: &str, factor: f32) -> Scores {
        let found = words(text);
        let best = |word: &String| found.iter().map(|other| likeness(word, other)).fold(0.0, f32::max);
        self.words.iter().map(|word| factor * best(word)).collect()
    }

    fn total(&self, scores: &Scores) -> f32 {
        scores.iter().zip(&self.weights).map(|(score, weight)| score * weight).sum()
    }

    /// How much of the question a root has: in its name, its search keys and its arguments.
    pub(crate) fn root(&self, root: &OutlineField) -> f32 {
        self.total(&self.root_scores(root))
    }

    fn root_scores(&self, root: &OutlineField) -> Scores {
        let keys = root.search_keys.iter().map(|key| key.name.as_str());
        let arguments = root.arguments.iter().map(|argument| argument.name.as_str());
        let keys: Vec<_> = keys.chain(arguments).collect();
        let scores = most(self.likeness(&root.name, ON_WAY), &self.likeness(&root.summary, IN_SUMMARY_ON_WAY));
        most(scores, &self.likeness(&keys.join(" "), IN_KEYS))
    }

    /// How much of the question a name has.
    pub(crate) fn name(&self, name: &str) -> f32 {
        self.total(&self.likeness(name, IN_NAME))
    }

    /// All fields, the best first.
    pub(crate) fn fields(&self) -> Vec<Rated<'a>> {
        let mut best = Best::new();
        for root in self.best_roots() {
            let mut way = vec![root];
            self.visit(&mut way, &mut vec![ROOT], &self.root_scores(root), &mut best);
        }
        let mut rated: Vec<_> = best.into_values().flatten().collect();
        // The map has no order; equal ones are in that of their ways.
        rated.sort_by(|one, other| {
            let ways = one.way.iter().zip(&other.way).map(|(one, other)| one.name.cmp(&other.name));
            let ways = ways.fold(one.way.len().cmp(&other.way.len()), std::cmp::Ordering::then);
            other.score.total_cmp(&one.score).then(ways).then(one.place.cmp(&other.place))
        });
        rated
    }

    /// The best root of each type, since the ways below roots of the same type are the same.
    fn best_roots(&self) -> Vec<&'a OutlineField> {
        let mut best: Vec<(&str, f32, &OutlineField)> = Vec::new();
        for root in self.outline.roots() {
            let (ty, score) = (self.outline.element_type(root), self.root(root));
            match best.iter_mut().find(|(known, _, _)| *known == ty) {
                Some(known) if score > known.1 => *known = (ty, score, root),
                Some(_) => {}
                None => best.push((ty, score, root)),
            }
        }
        best.into_iter().map(|(_, _, root)| root).collect()
    }

    /// Rates the fields below a way, whose objects are of these types.
    fn visit(&self, way: &mut Vec<&'a OutlineField>, types: &mut Vec<&'a str>, reached: &Scores, best: &mut Best<'a>) {
        let Some(last) = way.last() else { return };
        let ty = self.outline.element_type(last);
        if types.contains(&ty) {
            return;
        }
        types.push(ty);
        for (place, field) in self.outline.fields(ty).iter().enumerate() {
            let own = self.own.get(&std::ptr::from_ref(field)).cloned().unwrap_or_default();
            let scores = most(own, reached);
            if self.is_object(field) {
                if way.len() < MAX_OBJECTS && field.ty.named != "PageInfo" {
                    way.push(field);
                    self.visit(way, types, &scores, best);
                    way.pop();
                }
                continue;
            }
            let objects = i32::try_from(way.len()).unwrap_or(i32::MAX);
            let score = self.total(&scores) * PER_OBJECT.powi(objects);
            let ways = best.entry((ty, &field.name)).or_default();
            let rank = ways.iter().position(|other| other.score < score).unwrap_or(ways.len());
            if rank < MAX_WAYS {
                ways.insert(rank, Rated { way: way.clone(), field, place, score });
                ways.truncate(MAX_WAYS);
            }
        }
        types.pop();
    }
}

fn most(mut one: Scores, other: &Scores) -> Scores {
    for (one, other) in one.iter_mut().zip(other) {
        *one = one.max(*other);
    }
    one
}
