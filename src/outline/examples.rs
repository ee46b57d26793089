//! The questions of the documentation, each with a query that answers it.

use std::sync::LazyLock;

use graphql_parser::query::{
    Definition, Document, OperationDefinition, Selection, SelectionSet, TypeCondition, parse_query,
};

use crate::outline::{Outline, ROOT};
use crate::words::synonyms::meanings;
use crate::words::{likeness, words};

const PAGE: &str = include_str!("../../docs/examples.md");

/// The part of a word's share that is left if the example has only another meaning of the word.
const OTHER_MEANING: f32 = 0.7;

/// A question that a query answers.
#[derive(Debug)]
pub struct Example {
    /// Its number in the documentation.
    pub number: &'static str,
    /// The question, as people ask it.
    pub question: &'static str,
    /// The query that answers it.
    pub query: &'static str,
    words: Vec<String>,
    /// The roots that the query begins with.
    pub(super) roots: Vec<String>,
}

static EXAMPLES: LazyLock<Vec<Example>> = LazyLock::new(|| {
    let sections = PAGE.split("\n## ").skip(1);
    let examples = sections.filter_map(|section| {
        let (number, rest) = section.split_once(". ")?;
        let (question, rest) = rest.split_once('\n')?;
        let query = rest.split_once("```graphql\n")?.1.split_once("\n```")?.0;
        let roots = roots(&parse_query::<String>(query).ok()?);
        Some(Example { number, question, query, words: words(question), roots })
    });
    examples.collect()
});

/// All of them.
pub fn examples() -> &'static [Example] {
    &EXAMPLES
}

/// The example with the question that is most like some words, and how much of the words it has: from 0 to 1. Each word counts by its
/// weight.
pub(super) fn nearest(outline: &Outline, question: &[String], weights: &[f32]) -> Option<(&'static Example, f32)> {
    let rated = examples().iter().map(|example| (example, example.likeness(question, weights)));
    let mut rated: Vec<_> = rated.filter(|(_, likeness)| *likeness > 0.0).collect();
    rated.sort_by(|one, other| other.1.total_cmp(&one.1));
    rated.into_iter().find(|(example, _)| example.is_of(outline))
}

impl Example {
    /// The share of the words that the example's question has, less for what else it asks.
    fn likeness(&self, question: &[String], weights: &[f32]) -> f32 {
        let has = |word: &str| self.words.iter().map(|own| likeness(own, word)).fold(0.0, f32::max);
        let share = |index: usize| {
            let other = meanings(question, index).map(has).fold(0.0, f32::max) * OTHER_MEANING;
            has(&question[index]).max(other)
        };
        let shares: Vec<_> = (0..question.len()).map(share).collect();
        let found: f32 = shares.iter().zip(weights).map(|(share, weight)| share * weight).sum();
        let all: f32 = weights.iter().sum();
        let asked = |own: &&String| question.iter().any(|word| likeness(own, word) > 0.0);
        #[allow(clippy::cast_precision_loss, reason = "questions have few words")]
        let own = self.words.iter().filter(asked).count() as f32 / self.words.len().max(1) as f32;
        if all > 0.0 { found / all * (0.3 + 0.7 * own) } else { 0.0 }
    }

    /// Whether a schema has all fields of the query.
    fn is_of(&self, outline: &Outline) -> bool {
        parse_query::<String>(self.query).is_ok_and(|document| {
            document.definitions.iter().all(|definition| match definition {
                Definition::Operation(operation) => has(outline, ROOT, selection(operation)),
                Definition::Fragment(fragment) => {
                    let TypeCondition::On(on) = &fragment.type_condition;
                    has(outline, on, Some(&fragment.selection_set))
                }
            })
        })
    }
}

fn selection<'d, 'a>(operation: &'d OperationDefinition<'a, String>) -> Option<&'d SelectionSet<'a, String>> {
    match operation {
        OperationDefinition::SelectionSet(selection) => Some(selection),
        OperationDefinition::Query(query) => Some(&query.selection_set),
        OperationDefinition::Mutation(_) | OperationDefinition::Subscription(_) => None,
    }
}

fn roots(document: &Document<'_, String>) -> Vec<String> {
    let operations = document.definitions.iter().filter_map(|definition| match definition {
        Definition::Operation(operation) => selection(operation),
        Definition::Fragment(_) => None,
    });
    let roots = operations.flat_map(|selection| &selection.items).filter_map(|item| match item {
        Selection::Field(field) => Some(field.name.clone()),
        Selection::FragmentSpread(_) | Selection::InlineFragment(_) => None,
    });
    roots.collect()
}

/// Whether a type has the fields of a selection, with their arguments.
fn has(outline: &Outline, ty: &str, selection: Option<&SelectionSet<'_, String>>) -> bool {
    selection.is_some_and(|selection| {
        selection.items.iter().all(|item| match item {
            Selection::Field(field) => outline.field(ty, &field.name).is_some_and(|known| {
                let has_arguments = field.arguments.iter().all(|(name, _)| known.argument(name).is_some());
                has_arguments && has(outline, &known.ty.named, Some(&field.selection_set))
            }),
            Selection::InlineFragment(inline) => {
                let on = inline.type_condition.as_ref().map_or(ty, |TypeCondition::On(on)| on);
                has(outline, on, Some(&inline.selection_set))
            }
            // The fragment is looked at by itself.
            Selection::FragmentSpread(_) => true,
        })
    })
}
