//! A catalog for callers who see some rows only.
//!
//! A relation with limited rows gets another name. Only a statement that limits the rows defines this name: a statement that names
//! it without its limit fails. The relation's own name is left where the rows are limited otherwise: by the row of the parent, or
//! by search terms, which choose an index at the root and count the rows that they leave out.

use crate::catalog::binding::{EntityBinding, RootBinding};
use crate::catalog::column::Column;
use crate::catalog::connection::{Connection, Join, ScopeSearch};
use crate::catalog::scope_rules::{Rule, Scopes, Sight, canonical};
use crate::catalog::scoped_relation::{ScopeCondition, ScopedRelation};
use crate::catalog::search_key::{PairIndex, ScopeKey, SearchKey, SemiJoin};
use crate::catalog::type_system::Catalog;
use crate::search::Comparator;
use crate::value::ScalarType;

/// The relations whose rows are limited.
struct Limited<'s> {
    relations: Vec<ScopedRelation>,
    scopes: &'s Scopes,
    sight: Sight,
}

impl Catalog {
    /// The catalog for callers who are limited by some scopes, or lack grants.
    pub(crate) fn limited(mut self, scopes: &Scopes, sight: Sight) -> Self {
        let limited = Limited::new(scopes, sight);
        let relations: Vec<_> = self.entities.iter().map(|entity| entity.relation.clone()).collect();
        for (entity, relation) in self.entities.iter_mut().zip(&relations) {
            for binding in &mut entity.bindings {
                match binding {
                    EntityBinding::Column(_) => {}
                    EntityBinding::Aggregate(aggregate) => {
                        limited.rename_joined(&mut aggregate.relation, relation, &aggregate.join);
                    }
                    EntityBinding::One(one) => {
                        let target = &relations[usize::from(one.target.index)];
                        let is_seen = limited.is_implied(relation, target, &pairs(&one.join));
                        one.unlimited = is_seen.then(|| target.clone());
                    }
                    EntityBinding::Connection(connection) => {
                        limited.nested(connection, relation);
                    }
                }
            }
            limited.rename(&mut entity.relation);
        }
        for binding in &mut self.root {
            match binding {
                RootBinding::Lookup(lookup) => limited.rename(&mut lookup.relation),
                RootBinding::Connection(connection) => limited.root(connection),
                RootBinding::Totals(totals) => limited.root(&mut totals.connection),
                // A change tells of a row that it changed, whatever the row has. The row itself is joined to it.
                RootBinding::Changes(changes) => {
                    changes.connection.limited_by = scopes.scopes_of(&changes.relation, sight.limiting);
                }
                RootBinding::Schema | RootBinding::TypeByName => {}
            }
        }
        self.scoped = limited.relations;
        self
    }
}

impl<'s> Limited<'s> {
    fn new(scopes: &'s Scopes, sight: Sight) -> Self {
        let mut relations: Vec<ScopedRelation> = Vec::new();
        for relation in scopes.relations() {
            let conditions = scopes.rules(relation, sight).into_iter().filter_map(|rule| match rule {
                Rule::Values { scope, columns, is_copied } => {
                    Some(ScopeCondition::Values { scope: *scope, columns: columns.clone(), is_copied: *is_copied })
                }
                Rule::Row { by, optional: Some(optional), .. } if optional.is_hidden(sight.held) => {
                    Some(ScopeCondition::None { column: by.last()?.clone(), without: optional.without.clone() })
                }
                Rule::Row { relation: to, by, key, optional } => {
                    let of = relations.iter().position(|other| other.relation == *to)?;
                    let without = optional.as_ref().map(|optional| optional.without.clone());
                    let is_covered = without.is_none() && scopes.is_covered(relation, to, sight.limiting);
                    let (name, by, key) = (relations[of].name.clone(), by.clone(), key.clone());
                    Some(ScopeCondition::Row { of, name, by, key, is_covered, without })
                }
            });
            let all: Vec<_> = conditions.collect();
            let conditions = all.iter().filter(|condition| !is_implied_by_others(condition, &all, &relations));
            let conditions: Vec<_> = conditions.cloned().collect();
            if !conditions.is_empty() {
                // No dots, which would divide it, and a number, so that no two have one name.
                let name = format!("scope {} {}", relations.len(), relation.replace('.', " "));
                relations.push(ScopedRelation { relation: relation.to_owned(), name, conditions });
            }
        }
        Self { relations, scopes, sight }
    }

    fn index(&self, relation: &str) -> Option<usize> {
        self.relations.iter().position(|scoped| scoped.relation == canonical(relation))
    }

    fn rename(&self, relation: &mut String) {
        if let Some(index) = self.index(relation) {
            relation.clone_from(&self.relations[index].name);
        }
    }

    /// Renames a relation unless every row that joins a row of the parent is seen.
    fn rename_joined(&self, relation: &mut String, parent: &str, join: &Join) {
        if !self.is_implied(parent, relation, &pairs(join)) {
            self.rename(relation);
        }
    }

    /// Whether a caller who sees a row of the parent sees every row of the relation that has the same values in these pairs of columns.
    fn is_implied(&self, parent: &str, relation: &str, pairs: &[(&str, &str)]) -> bool {
        self.open_conditions(parent, relation, pairs).is_some_and(|open| open.is_empty())
    }

    /// The conditions of the relation that such a row may fail; `None` if the relation is not limited.
    fn open_conditions(&self, parent: &str, relation: &str, pairs: &[(&str, &str)]) -> Option<Vec<&ScopeCondition>> {
        let index = self.index(relation)?;
        let parent_index = self.index(parent);
        let of_parent = parent_index.map_or(&[][..], |parent| &self.relations[parent].conditions);
        let equal = |by: &[String], to: &[String]| {
            by.len() == to.len() && by.iter().zip(to).all(|(by, to)| pairs.contains(&(by.as_str(), to.as_str())))
        };
        // The parent is seen because the row is, and no other row has its key.
        let leads_there = of_parent.iter().any(|condition| match condition {
            ScopeCondition::Row { of, by, key, without: None, .. } => *of == index && equal(by, key),
            _ => false,
        });
        if leads_there {
            return Some(Vec::new());
        }
        let leads_to_seen = |condition: &ScopeCondition| match condition {
            ScopeCondition::Row { of, by, key, .. } => {
                let is_parent = parent_index == Some(*of) && equal(key, by);
                is_parent
                    || of_parent.iter().any(|other| match other {
                        ScopeCondition::Row { of: other, by: own, key: same, without: None, .. } => {
                            other == of && same == key && equal(own, by)
                        }
                        _ => false,
                    })
            }
            ScopeCondition::Values { .. } | ScopeCondition::None { .. } => false,
        };
        let conditions = &self.relations[index].conditions;
        let copies_of_seen = conditions.iter().any(|condition| condition.is_covered() && leads_to_seen(condition));
        let is_open = |condition: &&ScopeCondition| match condition {
            ScopeCondition::Values { scope, columns, is_copied } => {
                let is_parents = of_parent.iter().any(|other| match other {
                    ScopeCondition::Values { scope: of, columns: own, .. } => of == scope && equal(own, columns),
                    ScopeCondition::Row { .. } | ScopeCondition::None { .. } => false,
                });
                !(is_parents || *is_copied && copies_of_seen)
            }
            ScopeCondition::Row { is_covered, .. } => !is_covered && !leads_to_seen(condition),
            ScopeCondition::None { .. } => true,
        };
        Some(conditions.iter().filter(is_open).collect())
    }

    /// Limits the rows of a root by search keys of their own, and what it searches in other relations.
    fn root(&self, connection: &mut Connection) {
        let own = connection.relation.clone();
        for key in &mut connection.search_keys {
            let Some(semi_join) = &mut key.semi_join else { continue };
            let joined: Vec<_> = semi_join.by.iter().map(|column| (column.as_str(), column.as_str())).collect();
            if self.index(&semi_join.relation).is_some() && !self.is_implied(&own, &semi_join.relation, &joined) {
                semi_join.unlimited = Some(semi_join.relation.clone());
                self.rename(&mut semi_join.relation);
            }
        }
        connection.limited_by = self.scopes.scopes_of(&own, self.sight.limiting);
        if let Some(index) = self.index(&own) {
            // Whether a word is rare among all rows would show which others there are.
            connection.search_keys.iter_mut().for_each(|key| key.lookup &= key.language.is_none());
            let conditions = self.relations[index].conditions.iter().filter(|condition| !condition.is_covered());
            self.search(connection, &conditions.collect::<Vec<_>>());
        }
    }

    /// Limits the rows below a row of the parent by search keys, unless the caller sees all of them. A parent may have any number of rows.
    fn nested(&self, connection: &mut Connection, parent: &str) {
        connection.limited_by = self.scopes.scopes_of(&connection.relation, self.sight.limiting);
        let open = self.open_conditions(parent, &connection.relation, &pairs(&connection.join));
        if let Some(open) = open.filter(|open| !open.is_empty()) {
            self.search(connection, &open);
            // The join has an index, and so the page a price.
            connection.search_keys.iter_mut().for_each(|key| key.indexed = true);
        }
    }

    /// Limits the rows of a connection by search keys of their own.
    fn search(&self, connection: &mut Connection, conditions: &[&ScopeCondition]) {
        let own = connection.relation.clone();
        self.rename(&mut connection.relation);
        let mut keys = Vec::new();
        for &condition in conditions {
            let mut of_condition = Vec::new();
            if !matches!(condition, ScopeCondition::Values { columns, .. } if columns.len() == 1) {
                of_condition.push(connection.search_keys.len());
                connection.search_keys.push(row_key(connection, condition.clone()));
            }
            if let ScopeCondition::Values { scope, columns, .. } = condition {
                of_condition.extend(columns.iter().map(|column| values_key(connection, *scope, column)));
            }
            keys.push(of_condition);
        }
        connection.scope = Some(ScopeSearch { relation: own, keys });
    }
}

/// Whether rows that fulfil the others fulfil a condition: they may belong to no row of another relation, and all that such a row has to
/// fulfil are conditions that they fulfil by the same values.
fn is_implied_by_others(condition: &ScopeCondition, all: &[ScopeCondition], relations: &[ScopedRelation]) -> bool {
    let ScopeCondition::Row { of, by, key, without: Some(_), .. } = condition else { return false };
    let same = |own: &String, other: &String| by.iter().zip(key).any(|(by, key)| by == own && key == other);
    relations[*of].conditions.iter().all(|needed| match needed {
        // The row that it is copied from is needed, too.
        ScopeCondition::Values { is_copied, .. } => *is_copied,
        ScopeCondition::Row { of: needed, by: theirs, key: to, .. } => all.iter().any(|own| match own {
            ScopeCondition::Row { of, by, key, without: None, .. } => {
                of == needed && key == to && by.iter().zip(theirs).all(|(own, other)| same(own, other))
            }
            _ => false,
        }),
        ScopeCondition::None { .. } => false,
    })
}

fn pairs(join: &Join) -> Vec<(&str, &str)> {
    join.by.iter().map(|column| column.name.as_str()).zip(join.to.iter().map(String::as_str)).collect()
}

/// Adds the search key on the column of a scope: as the key on it that requests name, if there is one, so that its indexes are used.
fn values_key(connection: &mut Connection, scope: usize, column: &str) -> usize {
    let index = connection.search_keys.len();
    let is_same = |key: &SearchKey| {
        key.scope.is_none() && key.compares(column) && matches!(key.column.scalar, ScalarType::Id | ScalarType::String)
    };
    let like = connection.search_keys.iter().position(is_same);
    let of_pairs = connection.pair_indexes.iter().filter_map(|pair| {
        let keys = pair.keys.map(|key| if Some(key) == like { index } else { key });
        (keys != pair.keys).then(|| PairIndex {
            keys,
            in_order_of: pair.in_order_of.clone(),
            include: pair.include.clone(),
        })
    });
    let of_pairs: Vec<_> = of_pairs.collect();
    connection.pair_indexes.extend(of_pairs);
    let blank = || scope_key(Column::new(column, ScalarType::Id), None);
    let key = like.map_or_else(blank, |like| connection.search_keys[like].clone());
    let name = format!("scope {column}");
    let comparators = vec![Comparator::Equals, Comparator::In];
    let key = SearchKey { name, comparators, vocabulary: None, scope: Some(ScopeKey::Values(scope)), ..key };
    connection.search_keys.push(key);
    index
}

/// The search key that looks at each row.
fn row_key(connection: &Connection, condition: ScopeCondition) -> SearchKey {
    let column = connection.primary_key().first().cloned().unwrap_or_else(|| Column::new("", ScalarType::Id));
    let by = condition.columns().to_vec();
    let semi_join = SemiJoin { relation: connection.relation.clone(), by, in_order_of: Vec::new(), unlimited: None };
    SearchKey { scope: Some(ScopeKey::Row(condition)), ..scope_key(column, Some(semi_join)) }
}

fn scope_key(column: Column, semi_join: Option<SemiJoin>) -> SearchKey {
    SearchKey {
        name: "scope".to_owned(),
        example: String::new(),
        column,
        comparators: vec![Comparator::In],
        indexed: false,
        is_computed: false,
        lookup: false,
        in_order_of: Vec::new(),
        include: Vec::new(),
        semi_join,
        vocabulary: None,
        normalization: None,
        language: None,
        scope: None,
    }
}
