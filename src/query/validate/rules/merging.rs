//! All selections of one response key in one place can be merged: they are of one field, with the same arguments, and
//! what is selected from them can be merged in turn. (Section 5.3.2, Field Selection Merging)
//!
//! Selections are compared as sets, not by pairs: all that stand under one key in one place are held against the first,
//! and what they select is one set at the next level. So the time is in proportion to the document with its fragments
//! spread, which [`super::bounds`] keeps small, along with the depth of the recursion. As every type with fields is an
//! object, what is selected in one place is of one parent type, and the specification's two cases are one. Arguments are
//! the same where graphql-js takes them to be: a string, as its value is, however that is escaped, but `"a"` is not
//! `"""a"""`; and a number, as it is written, so that `0` is not `-0`. No argument takes more than one such value.

use std::collections::{HashMap, HashSet};

use graphql_parser::query::{Field, Selection, SelectionSet};

use crate::query::parse::document::location;
use crate::query::parse::lexer::{Token, TokenKind};
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::names::ByName;
use crate::query::validate::violation::{Findings, Violation};

pub(super) fn check(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    let mut merger = Merger { survey, findings, arguments: HashMap::new(), numbers: HashMap::new() };
    for (_, operation) in survey.operations() {
        merger.place(&[operation.selections]);
    }
}

struct Merger<'s, 'd, 'a> {
    survey: &'s DocumentIndex<'d, 'a>,
    findings: &'s mut Findings,
    /// A number for each list of arguments, so that lists are compared once and numbers ever after.
    arguments: HashMap<Vec<(&'a str, String, &'d str)>, usize>,
    /// The number of each field's arguments, by the field's address.
    numbers: HashMap<*const Field<'a, &'a str>, usize>,
}

/// A field that is selected in one place of the response.
struct Found<'d, 'a> {
    field: &'d Field<'a, &'a str>,
    /// The number of its response key among those of the place.
    key: usize,
}

impl<'d, 'a> Merger<'_, 'd, 'a> {
    /// Checks what is selected in one place of the response, by these selection sets together.
    fn place(&mut self, sets: &[&'d SelectionSet<'a, &'a str>]) {
        if self.findings.is_full() {
            return;
        }
        if sets.iter().all(|set| set.items.is_empty()) {
            return;
        }
        for alike in self.fields(sets).chunk_by(|one, other| one.key == other.key) {
            let Some((first, others)) = alike.split_first() else { continue };
            if others.is_empty() {
                self.place(&[&first.field.selection_set]);
                continue;
            }
            let mut inner = vec![&first.field.selection_set];
            for other in others {
                match self.conflict(first.field, other.field) {
                    Some(conflict) => {
                        self.findings.add(&conflict, [other.field.position, first.field.position].map(location));
                    }
                    None => inner.push(&other.field.selection_set),
                }
            }
            self.place(&inner);
        }
    }

    /// The selected fields: those of one response key together, in document order, and so the keys.
    fn fields(&self, sets: &[&'d SelectionSet<'a, &'a str>]) -> Vec<Found<'d, 'a>> {
        let usual = sets.iter().map(|set| set.items.len()).sum();
        let (mut fields, mut keys) = (Vec::with_capacity(usual), ByName::with_capacity(usual));
        let mut seen = HashSet::new();
        // Selection sets that are still to be looked at, the next last.
        let mut pending: Vec<_> = sets.iter().rev().map(|set| set.items.iter()).collect();
        while let Some(items) = pending.last_mut() {
            match items.next() {
                None => {
                    pending.pop();
                }
                Some(Selection::Field(field)) => {
                    let next = keys.len();
                    let key = *keys.entry(field.alias.unwrap_or(field.name), || next);
                    fields.push(Found { field, key });
                }
                Some(Selection::InlineFragment(fragment)) => pending.push(fragment.selection_set.items.iter()),
                Some(Selection::FragmentSpread(spread)) => {
                    let target = self.survey.fragment(spread.fragment_name).filter(|target| seen.insert(*target));
                    pending.extend(target.map(|target| self.survey.definitions[target].selections.items.iter()));
                }
            }
        }
        fields.sort_by_key(|found| found.key);
        fields
    }

    fn conflict(&mut self, first: &'d Field<'a, &'a str>, second: &'d Field<'a, &'a str>) -> Option<Violation> {
        let key = first.alias.unwrap_or(first.name);
        if first.name != second.name {
            let (first, second) = (first.name.into(), second.name.into());
            return Some(Violation::DifferentFields { key: key.into(), first, second });
        }
        (self.number(first) != self.number(second)).then(|| Violation::DifferentArguments { key: key.into() })
    }

    /// A number that is the same for the same arguments, in whatever order.
    fn number(&mut self, field: &'d Field<'a, &'a str>) -> usize {
        let Self { survey, arguments, numbers, .. } = self;
        *numbers.entry(std::ptr::from_ref(field)).or_insert_with(|| {
            let tokens = survey.document.value_tokens(field.position);
            let mut list: Vec<_> = field
                .arguments
                .iter()
                .zip(tokens)
                .map(|((name, value), token)| (*name, format!("{value:?}"), form(token)))
                .collect();
            list.sort_unstable();
            let next = arguments.len();
            *arguments.entry(list).or_insert(next)
        })
    }
}

/// What tells literals apart that are of one value.
fn form<'t>(token: &'t Token<'_>) -> &'t str {
    match token.kind {
        TokenKind::Int | TokenKind::Float => token.text,
        TokenKind::BlockString => "block",
        _ => "",
    }
}
