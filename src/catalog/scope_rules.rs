//! The scopes of a schema: which rows of each relation callers see who are limited by some of them.
//!
//! Scopes belong to relations, not to types: types of one relation have each other's scopes, so that no type shows rows that
//! another one hides.

use std::collections::BTreeMap;

use crate::catalog::grant_set::GrantSet;
use crate::catalog::scope::ScopeSet;
use crate::catalog::scoped_relation::Without;

/// A condition of rows that callers see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rule {
    /// One of the columns has a value of the scope. A copied column has the value of the row that another rule leads to.
    Values { scope: usize, columns: Vec<String>, is_copied: bool },
    /// The row is seen if the caller sees the row of another relation: its columns `key` have the values of the columns `by`. If `optional`
    /// is set, a row whose last column `by` is without a value is seen, too. A caller without one of the grants that show the other
    /// relation's type sees no other rows.
    Row { relation: String, by: Vec<String>, key: Vec<String>, optional: Option<Optional> },
}

/// How rows are recognized that belong to no row of another relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Optional {
    pub(crate) without: Without,
    /// One of these shows the type of the other relation. Empty if everybody sees it.
    pub(crate) shown_by: GrantSet,
}

impl Optional {
    /// Whether callers with these grants see no row of the other relation.
    pub(crate) fn is_hidden(&self, held: GrantSet) -> bool {
        !self.shown_by.is_empty() && !held.meets(self.shown_by)
    }
}

/// The limits of a catalog's callers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sight {
    /// The scopes that limit them.
    pub(crate) limiting: ScopeSet,
    /// The grants that they hold.
    pub(crate) held: GrantSet,
}

/// The scopes of a schema file.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    /// Their names, sorted.
    pub(crate) names: Vec<String>,
    /// The rules of each relation that has some. Rules that lead to other rows are not in a circle.
    relations: BTreeMap<String, Vec<Rule>>,
}

impl Scopes {
    /// Scopes with these names, sorted, and no rules.
    pub(crate) fn new(names: Vec<String>) -> Self {
        Self { names, relations: BTreeMap::new() }
    }

    /// Adds a rule of a relation, unless the relation has it.
    pub(crate) fn add_rule(&mut self, relation: &str, rule: Rule) {
        let known = self.relations.entry(relation.to_owned()).or_default();
        if !known.contains(&rule) {
            known.push(rule);
        }
    }

    /// Whether a relation has rules.
    pub(crate) fn has_rules(&self, relation: &str) -> bool {
        self.relations.contains_key(canonical(relation))
    }

    /// The rules of a relation for callers who are limited by these alone.
    pub(crate) fn rules(&self, relation: &str, sight: Sight) -> Vec<&Rule> {
        let rules = self.relations.get(canonical(relation)).into_iter().flatten();
        rules
            .filter(|rule| match rule {
                Rule::Values { scope, .. } => sight.limiting.has(*scope),
                Rule::Row { relation, optional, .. } => {
                    let is_hidden = optional.as_ref().is_some_and(|optional| optional.is_hidden(sight.held));
                    is_hidden || !self.rules(relation, sight).is_empty()
                }
            })
            .collect()
    }

    /// Whether these limit the rows of a relation.
    pub(crate) fn limits(&self, sight: Sight) -> bool {
        self.relations.keys().any(|relation| !self.rules(relation, sight).is_empty())
    }

    /// Whether rows of a relation that fulfil its other rules are seen by callers who are limited by these scopes, whatever row of `of` they
    /// lead to: copied columns say of each of these scopes what that row has.
    pub(crate) fn is_covered(&self, relation: &str, of: &str, limiting: ScopeSet) -> bool {
        let rules = self.relations.get(canonical(relation)).into_iter().flatten();
        let copied = rules.fold(ScopeSet::default(), |set, rule| match rule {
            Rule::Values { scope, is_copied: true, .. } => set.and(ScopeSet::of(*scope)),
            Rule::Values { .. } | Rule::Row { .. } => set,
        });
        let needed = self.scopes_of(of, limiting);
        copied.and(needed) == copied
    }

    /// The conditions of rows of a relation, in words.
    pub(crate) fn describe(&self, relation: &str) -> String {
        let rules = self.relations.get(canonical(relation)).into_iter().flatten().map(|rule| match rule {
            Rule::Values { scope, columns, .. } => format!("{} in {}", columns.join(" or "), self.names[*scope]),
            Rule::Row { relation, by, key, optional } => {
                let none = if optional.is_some() { ", or none" } else { "" };
                format!("{} = {} of {relation}{none}", by.join(", "), key.join(", "))
            }
        });
        rules.collect::<Vec<_>>().join("; ")
    }

    /// The scopes that rows of a relation are in, among the scopes that limit a caller.
    pub(crate) fn scopes_of(&self, relation: &str, limiting: ScopeSet) -> ScopeSet {
        let rules = self.relations.get(canonical(relation)).into_iter().flatten();
        rules.fold(ScopeSet::default(), |set, rule| match rule {
            Rule::Values { scope, .. } if limiting.has(*scope) => set.and(ScopeSet::of(*scope)),
            Rule::Values { .. } => set,
            Rule::Row { relation, .. } => set.and(self.scopes_of(relation, limiting)),
        })
    }

    /// The relations with rules. A relation comes before the relations that lead to it.
    pub(crate) fn relations(&self) -> Vec<&str> {
        let mut ordered: Vec<&str> = Vec::new();
        for relation in self.relations.keys() {
            self.add(relation, &mut ordered);
        }
        ordered
    }

    fn add<'s>(&'s self, relation: &'s str, ordered: &mut Vec<&'s str>) {
        if ordered.contains(&relation) {
            return;
        }
        for rule in self.relations.get(relation).into_iter().flatten() {
            if let Rule::Row { relation, .. } = rule {
                self.add(relation, ordered);
            }
        }
        ordered.push(relation);
    }

    /// The sight of callers without grants whom all scopes limit: nobody sees less.
    pub(crate) fn most(&self) -> Sight {
        Sight { limiting: self.all(), held: GrantSet::default() }
    }

    /// All scopes of a file.
    pub(crate) fn all(&self) -> ScopeSet {
        (0..self.names.len()).fold(ScopeSet::default(), |set, scope| set.and(ScopeSet::of(scope)))
    }
}

/// The one of its names by which a relation is known here: it is in the schema `public` unless its name has another.
pub(crate) fn canonical(relation: &str) -> &str {
    relation.strip_prefix("public.").unwrap_or(relation)
}
