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

use crate::query::parse::location;
use crate::query::tokens::{Kind, Token};
use crate::query::validate::survey::Survey;
use crate::query::validate::violation::{Findings, Violation};

pub(super) fn check(survey: &Survey<'_, '_>, findings: &mut Findings) {
    let mut merger = Merger { survey, findings, arguments: HashMap::new(), numbers: HashMap::new() };
    for (_, operation) in survey.operations() {
        merger.place(&[operation.selections]);
    }
}

struct Merger<'s, 'd, 'a> {
    survey: &'s Survey<'d, 'a>,
    findings: &'s mut Findings,
    /// A number for each list of arguments, so that lists are compared once and numbers ever after.
    arguments: HashMap<Vec<(&'a str, String, &'d str)>, usize>,
    /// The number of each field's arguments, by the field's address.
    numbers: HashMap<*const Field<'a, &'a str>, usize>,
}

/// The fields of one response key, in document order.
type Group<'d, 'a> = (&'a str, Vec<&'d Field<'a, &'a str>>);

impl<'d, 'a> Merger<'_, 'd, 'a> {
    /// Checks what is selected in one place of the response, by these selection sets together.
    fn place(&mut self, sets: &[&'d SelectionSet<'a, &'a str>]) {
        if self.findings.is_full() {
            return;
        }
        for (key, fields) in self.groups(sets) {
            let Some((first, others)) = fields.split_first() else { continue };
            let mut inner = vec![&first.selection_set];
            for other in others {
                match self.conflict(key, first, other) {
                    Some(conflict) => {
                        self.findings.add(&conflict, [other.position, first.position].map(location));
                    }
                    None => inner.push(&other.selection_set),
                }
            }
            self.place(&inner);
        }
    }

    fn groups(&self, sets: &[&'d SelectionSet<'a, &'a str>]) -> Vec<Group<'d, 'a>> {
        let mut groups: Vec<Group<'d, 'a>> = Vec::new();
        let mut places = HashMap::new();
        let mut seen = HashSet::new();
        // Selections that are still to be looked at, the next last.
        let mut waiting: Vec<_> = sets.iter().rev().flat_map(|set| set.items.iter().rev()).collect();
        while let Some(selection) = waiting.pop() {
            match selection {
                Selection::Field(field) => {
                    let key = field.alias.unwrap_or(field.name);
                    let place = *places.entry(key).or_insert(groups.len());
                    if place == groups.len() {
                        groups.push((key, Vec::new()));
                    }
                    groups[place].1.push(field);
                }
                Selection::InlineFragment(fragment) => waiting.extend(fragment.selection_set.items.iter().rev()),
                Selection::FragmentSpread(spread) => {
                    let target = self.survey.fragment(spread.fragment_name).filter(|target| seen.insert(*target));
                    if let Some(target) = target {
                        waiting.extend(self.survey.definitions[target].selections.items.iter().rev());
                    }
                }
            }
        }
        groups
    }

    fn conflict(
        &mut self,
        key: &'a str,
        first: &'d Field<'a, &'a str>,
        second: &'d Field<'a, &'a str>,
    ) -> Option<Violation> {
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
            let tokens = survey.document.argument_values(field.position);
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
        Kind::Int | Kind::Float => token.text,
        Kind::BlockString => "block",
        _ => "",
    }
}
