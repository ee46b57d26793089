//! Which fields have a word: in their names and descriptions, their search keys, and the values of enumerations.

use std::collections::BTreeMap;

use crate::nearest::{clearly_meant, closest_first};
use crate::words::synonyms::meanings;
use crate::words::{SHORTEST_BEGINNING, likeness, words};

/// The share of a word's weight for another meaning of the word (the likeliest one and the following), and for another spelling.
const OTHER_MEANING: f32 = 0.8;
const FOLLOWING_MEANING: f32 = 0.06;
const LEAST_MEANING: f32 = 0.5;
const OTHER_SPELLING: f32 = 0.6;

/// The part of the smaller one of two meanings' shares that is added to the other.
const FURTHER_MEANING: f32 = 0.15;

/// A field counts for the rarity of a word if the word describes it to this degree.
const TELLING: f32 = 0.4;

/// The most words of the schema that are named for a text that has none of its words.
const MAX_NEAREST: usize = 5;

/// The most words of a question that are compared with all others by their spelling.
const MAX_SPELT: usize = 4;

/// The fields of each word, by their ids.
#[derive(Debug, Clone, Default)]
pub(super) struct WordIndex {
    fields: BTreeMap<String, Vec<(usize, f32)>>,
    field_count: usize,
}

/// The shares of the fields in a question, word by word.
pub(super) struct Shares {
    /// How many words there are.
    words: usize,
    /// How much each word says: rare ones more.
    pub(super) weights: Vec<f32>,
    /// By field, then by word.
    of_fields: Vec<f32>,
    /// Whether each word is found anywhere.
    pub(super) is_known: Vec<bool>,
}

impl Shares {
    /// How much each word describes the field with this id.
    pub(super) fn of(&self, field: usize) -> &[f32] {
        self.of_fields.get(field * self.words..(field + 1) * self.words).unwrap_or_default()
    }
}

impl WordIndex {
    /// The index of some texts of fields, each with the field's id and what its words count there.
    pub(super) fn new(field_count: usize, texts: impl IntoIterator<Item = (usize, String, f32)>) -> Self {
        let mut index = Self { field_count, ..Self::default() };
        for (field, text, share) in texts {
            index.add(field, &text, share);
        }
        index
    }

    fn add(&mut self, field: usize, text: &str, share: f32) {
        for word in words(text) {
            let fields = self.fields.entry(word).or_default();
            match fields.last_mut() {
                Some((last, known)) if *last == field => *known = known.max(share),
                _ => fields.push((field, share)),
            }
        }
    }

    /// The shares of the fields in some words.
    pub(super) fn shares(&self, question: &[String]) -> Shares {
        let mut shares = Shares {
            words: question.len(),
            weights: question.iter().map(|word| self.weight(word)).collect(),
            of_fields: vec![0.0; self.field_count * question.len()],
            is_known: vec![false; question.len()],
        };
        let mut spelt = 0;
        for (index, word) in question.iter().enumerate() {
            self.add_shares(word, 1.0, index, &mut shares);
            for (rank, meaning) in (0_u8..).zip(meanings(question, index)) {
                let factor = (OTHER_MEANING - FOLLOWING_MEANING * f32::from(rank)).max(LEAST_MEANING);
                self.add_shares(meaning, factor, index, &mut shares);
            }
            if !shares.is_known[index] && word.len() > SHORTEST_BEGINNING && spelt < MAX_SPELT {
                spelt += 1;
                if let Some(meant) = clearly_meant(word, self.fields.keys().map(String::as_str)) {
                    self.add_shares(meant, OTHER_SPELLING, index, &mut shares);
                }
            }
        }
        shares
    }

    fn add_shares(&self, word: &str, factor: f32, index: usize, shares: &mut Shares) {
        let beginning = word.char_indices().nth(SHORTEST_BEGINNING).map_or(word, |(end, _)| &word[..end]);
        let alike = self.fields.range(beginning.to_owned()..).take_while(|(other, _)| other.starts_with(beginning));
        for (other, fields) in alike {
            let likeness = likeness(word, other) * factor;
            if likeness > 0.0 {
                shares.is_known[index] = true;
                for (field, share) in fields {
                    let known = &mut shares.of_fields[field * shares.words + index];
                    let share = share * likeness;
                    // A field of several meanings is likelier than one of a single one.
                    let further = if factor < 1.0 { known.min(share) * FURTHER_MEANING } else { 0.0 };
                    *known = known.max(share) + further;
                }
            }
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "there are some hundred fields")]
    fn weight(&self, word: &str) -> f32 {
        let with =
            self.fields.get(word).map_or(0, |fields| fields.iter().filter(|(_, share)| *share >= TELLING).count());
        (self.field_count as f32 / (with as f32 + 4.0)).ln().max(0.2)
    }

    /// The words of the schema with the spelling most like the words of a question.
    pub(super) fn nearest(&self, question: &[String]) -> Vec<String> {
        let known = || self.fields.keys().map(String::as_str);
        let near = question
            .iter()
            .take(MAX_SPELT)
            .flat_map(|word| closest_first(word, known(), MAX_NEAREST / question.len().clamp(1, MAX_NEAREST)));
        near.take(MAX_NEAREST).map(str::to_owned).collect()
    }
}
