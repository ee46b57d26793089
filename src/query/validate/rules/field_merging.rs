//! The fields of one response key can be merged: they are the same field with the same arguments, and their selection
//! sets can be merged in turn.
//!
//! GraphQL specification, section 5.3.2 (Field Selection Merging).
//!
//! This rule compares sets of fields, not pairs: all fields of one response key are compared with the first of them,
//! and their selection sets are one set on the next level. The time it takes is therefore proportional to the size of
//! the document with its fragments spread, which [`super::document_size`] limits along with the depth of the recursion.
//! All types with fields are objects, so the fields of one response key have the same parent type, and the
//! specification's two cases are one.
//!
//! Arguments are the same if graphql-js considers them the same. Strings are compared by value, whatever escape
//! sequences they have, but `"a"` differs from `"""a"""`. Numbers are compared as written: `0` differs from `-0`. No
//! argument takes more than one such value.

use std::collections::{HashMap, HashSet};

use graphql_parser::query::{Field, Selection, SelectionSet};

use crate::query::parse::document::location;
use crate::query::parse::lexer::{Token, TokenKind};
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::name_map::NameMap;
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    let mut checker = MergeChecker { index, violations, argument_ids: HashMap::new(), field_arguments: HashMap::new() };
    for (_, operation) in index.operations() {
        checker.check_selection_sets(&[operation.selection_set]);
    }
}

/// The arguments of a field, sorted: name, value, and what distinguishes literals of the same value.
type ComparableArguments<'d, 'a> = Vec<(&'a str, String, &'d str)>;

struct MergeChecker<'s, 'd, 'a> {
    index: &'s DocumentIndex<'d, 'a>,
    violations: &'s mut Violations,
    /// An id for each distinct list of arguments, so that lists are compared once and ids afterwards.
    argument_ids: HashMap<ComparableArguments<'d, 'a>, usize>,
    /// The id of each field's arguments, by the address of the field.
    field_arguments: HashMap<*const Field<'a, &'a str>, usize>,
}

struct CollectedField<'d, 'a> {
    field: &'d Field<'a, &'a str>,
    /// The index of the field's response key.
    key: usize,
}

impl<'d, 'a> MergeChecker<'_, 'd, 'a> {
    /// Checks selection sets that the response merges.
    fn check_selection_sets(&mut self, sets: &[&'d SelectionSet<'a, &'a str>]) {
        if self.violations.is_full() || self.index.work.is_too_much() || sets.iter().all(|set| set.items.is_empty()) {
            return;
        }
        for same_key in self.collect_fields(sets).chunk_by(|one, other| one.key == other.key) {
            let Some((first, others)) = same_key.split_first() else { continue };
            if others.is_empty() {
                self.check_selection_sets(&[&first.field.selection_set]);
                continue;
            }
            let mut inner = vec![&first.field.selection_set];
            for other in others {
                match self.conflict(first.field, other.field) {
                    Some(conflict) => {
                        self.violations.add(&conflict, [other.field.position, first.field.position].map(location));
                    }
                    None => inner.push(&other.field.selection_set),
                }
            }
            self.check_selection_sets(&inner);
        }
    }

    /// The fields of selection sets. Response keys are in document order, the fields of one key together.
    fn collect_fields(&self, sets: &[&'d SelectionSet<'a, &'a str>]) -> Vec<CollectedField<'d, 'a>> {
        let usual = sets.iter().map(|set| set.items.len()).sum();
        let (mut fields, mut keys) = (Vec::with_capacity(usual), NameMap::with_capacity(usual));
        let mut visited = HashSet::new();
        // The selection sets that remain to be read, the next one last.
        let mut pending: Vec<_> = sets.iter().rev().map(|set| set.items.iter()).collect();
        while let Some(items) = pending.last_mut() {
            if !self.index.work.add(1) {
                break;
            }
            match items.next() {
                None => {
                    pending.pop();
                }
                Some(Selection::Field(field)) => {
                    let next = keys.len();
                    let key = *keys.get_or_insert_with(field.alias.unwrap_or(field.name), || next);
                    fields.push(CollectedField { field, key });
                }
                Some(Selection::InlineFragment(fragment)) => pending.push(fragment.selection_set.items.iter()),
                Some(Selection::FragmentSpread(spread)) => {
                    let target = self.index.fragment(spread.fragment_name).filter(|target| visited.insert(*target));
                    pending.extend(target.map(|target| self.index.definitions[target].selection_set.items.iter()));
                }
            }
        }
        fields.sort_by_key(|field| field.key);
        fields
    }

    fn conflict(&mut self, first: &'d Field<'a, &'a str>, second: &'d Field<'a, &'a str>) -> Option<Violation> {
        // Each field is compared once. Comparing all pairs would show here.
        self.index.work.add(1);
        let key = first.alias.unwrap_or(first.name);
        if first.name != second.name {
            let (first, second) = (first.name.into(), second.name.into());
            return Some(Violation::DifferentFields { key: key.into(), first, second });
        }
        let is_same = self.arguments_id(first) == self.arguments_id(second);
        (!is_same).then(|| Violation::DifferentArguments { key: key.into() })
    }

    /// An id that is the same for the same arguments, in whatever order.
    fn arguments_id(&mut self, field: &'d Field<'a, &'a str>) -> usize {
        let Self { index, argument_ids, field_arguments, .. } = self;
        *field_arguments.entry(std::ptr::from_ref(field)).or_insert_with(|| {
            let tokens = index.document.value_tokens(field.position);
            let mut arguments: Vec<_> = field
                .arguments
                .iter()
                .zip(tokens)
                .map(|((name, value), token)| (*name, format!("{value:?}"), notation(token)))
                .collect();
            arguments.sort_unstable();
            let next = argument_ids.len();
            *argument_ids.entry(arguments).or_insert(next)
        })
    }
}

/// The notation that distinguishes a literal from other literals of the same value.
fn notation<'t>(token: &'t Token<'_>) -> &'t str {
    match token.kind {
        TokenKind::Int | TokenKind::Float => token.text,
        TokenKind::BlockString => "block",
        TokenKind::Punctuator | TokenKind::Name | TokenKind::String => "",
    }
}
