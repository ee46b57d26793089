//! Reads the scopes of a schema file. A file has to decide about rows that belong to rows in a scope, or it is refused.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::catalog::grant_set::GrantSet;
use crate::catalog::scope::MAX_SCOPES;
use crate::catalog::scope_rules::{Optional, Rule, Scopes, canonical};
use crate::schema_file::definition::{
    BindingDefinition, FieldDefinition, ManyDefinition, RelationDefinition, SchemaDefinition, ScopeDefinition,
    ScopedRows, TypeDefinition,
};
use crate::schema_file::error::{SchemaError, SchemaErrorKind};

/// Fails if the file leaves a row open that belongs to one in a scope, or contradicts itself.
pub(super) fn read(schema: &SchemaDefinition, grants: &[String]) -> Result<Scopes, SchemaError> {
    let types = Types::of(schema);
    let names: BTreeSet<_> = schema.types.iter().flat_map(|ty| &ty.scopes).filter_map(name).cloned().collect();
    if names.len() > MAX_SCOPES {
        return Err(SchemaError::new(SchemaError::START, SchemaErrorKind::TooManyScopes));
    }
    let mut scopes = Scopes::new(names.into_iter().collect());
    for ty in schema.types.iter().filter(|ty| !ty.scopes.is_empty()) {
        types.check(ty)?;
        for relation in types.relations_of(&ty.name) {
            let rules: Vec<_> = ty.scopes.iter().filter_map(|scope| types.rule(&scopes.names, grants, scope)).collect();
            for rule in rules {
                scopes.add_rule(relation, rule);
            }
        }
    }
    for (relation, rule) in types.searched()? {
        scopes.add_rule(&relation, rule);
    }
    types.check_related(&scopes)?;
    types.check_nulls(&scopes)?;
    types.check_vocabularies(&scopes)?;
    Ok(scopes)
}

fn name(scope: &ScopeDefinition) -> Option<&String> {
    match &scope.rows {
        ScopedRows::Values { scope, .. } | ScopedRows::Open { scope } => Some(scope),
        ScopedRows::Through { .. } => None,
    }
}

/// The types of a schema file.
struct Types<'a> {
    schema: &'a SchemaDefinition,
    /// The relations that rows of a type are read from, by the type's name.
    relations: HashMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Types<'a> {
    fn of(schema: &'a SchemaDefinition) -> Self {
        let mut relations = HashMap::<_, BTreeSet<_>>::new();
        for ty in &schema.types {
            let own = ty.relation.iter().map(|relation| (ty.name.as_str(), relation.name.as_str()));
            let through = ty.fields.iter().filter_map(|field| match &field.binding {
                Some(
                    BindingDefinition::Many(ManyDefinition { through, .. }) | BindingDefinition::Lookup { through },
                ) => Some((field.ty.as_str(), through.as_deref()?)),
                _ => None,
            });
            for (ty, relation) in own.chain(through) {
                relations.entry(ty).or_default().insert(canonical(relation));
            }
        }
        Self { schema, relations }
    }

    fn named(&self, name: &str) -> Option<(&'a TypeDefinition, &'a RelationDefinition)> {
        let ty = self.schema.types.iter().find(|ty| ty.name == name)?;
        Some((ty, ty.relation.as_ref()?))
    }

    /// Fails if a scope of a type cannot be in force.
    fn check(&self, ty: &'a TypeDefinition) -> Result<(), SchemaError> {
        let is_of_changes = |field: &FieldDefinition| {
            matches!(field.binding, Some(BindingDefinition::Changes { .. })) && field.ty == ty.name
        };
        let mut fields = self.schema.types.iter().flat_map(|ty| &ty.fields);
        if ty.is_query() || fields.any(is_of_changes) {
            return Err(SchemaError::new(ty.position, SchemaErrorKind::ScopeOutsideRows(ty.name.clone())));
        }
        let is_through = |scope: &ScopeDefinition| matches!(scope.rows, ScopedRows::Through { .. });
        for scope in &ty.scopes {
            let error = |kind| SchemaError::new(scope.position, kind);
            if matches!(scope.rows, ScopedRows::Values { is_copied: true, .. }) && !ty.scopes.iter().any(is_through) {
                return Err(error(SchemaErrorKind::BadScope));
            }
            let ScopedRows::Through { ty: through, by, to, without } = &scope.rows else { continue };
            let Some((through_type, relation)) = self.named(through) else {
                return Err(error(SchemaErrorKind::UnknownType(through.clone())));
            };
            if by.len() != if to.is_empty() { relation.key.len() } else { to.len() } {
                return Err(error(SchemaErrorKind::UnpairedScope { ty: through.clone() }));
            }
            let leads_back = self.relations_of(&ty.name).any(|own| self.leads(through, own, self.schema.types.len()));
            let needs_grant = without.is_some() && !through_type.grants.is_empty();
            if leads_back || !(needs_grant || self.is_limited(through, self.schema.types.len())) {
                return Err(error(SchemaErrorKind::ScopeThroughNothing { ty: through.clone() }));
            }
        }
        Ok(())
    }

    /// Whether rows of a type are limited, by a scope of the type or of a type that it leads to through at most this many others.
    fn is_limited(&self, ty: &str, steps: usize) -> bool {
        let scopes = self.named(ty).map_or(&[][..], |(ty, _)| &ty.scopes);
        scopes.iter().any(|scope| match &scope.rows {
            ScopedRows::Values { .. } => true,
            ScopedRows::Through { ty, .. } => steps > 0 && self.is_limited(ty, steps - 1),
            ScopedRows::Open { .. } => false,
        })
    }

    /// Whether a type is of a relation, or leads to such a type through at most this many others. More would be a circle.
    fn leads(&self, ty: &str, to: &str, steps: usize) -> bool {
        let Some((_, relation)) = self.named(ty) else { return false };
        let own = canonical(&relation.name);
        // All types of the relation: their rules are one.
        let same = self.schema.types.iter().filter(|other| self.relations_of(&other.name).any(|name| name == own));
        own == to
            || same.flat_map(|ty| &ty.scopes).any(|scope| match &scope.rows {
                ScopedRows::Through { ty, .. } => steps == 0 || self.leads(ty, to, steps - 1),
                ScopedRows::Values { .. } | ScopedRows::Open { .. } => false,
            })
    }

    /// The relations that rows of a type are read from.
    fn relations_of(&self, ty: &str) -> impl Iterator<Item = &'a str> {
        self.relations.get(ty).into_iter().flatten().copied()
    }

    fn rule(&self, names: &[String], grants: &[String], scope: &ScopeDefinition) -> Option<Rule> {
        match &scope.rows {
            ScopedRows::Open { .. } => None,
            ScopedRows::Values { scope, columns, is_copied } => {
                let scope = names.binary_search(scope).ok()?;
                Some(Rule::Values { scope, columns: columns.clone(), is_copied: *is_copied })
            }
            ScopedRows::Through { ty, by, to, without } => {
                let (ty, relation) = self.named(ty)?;
                let relation_name = canonical(&relation.name).to_owned();
                let key = if to.is_empty() { relation.key.clone() } else { to.clone() };
                let optional = without.clone().map(|without| Optional {
                    without,
                    shown_by: GrantSet::of(grants, |grant| ty.grants.iter().any(|name| name == grant)),
                });
                Some(Rule::Row { relation: relation_name, by: by.clone(), key, optional })
            }
        }
    }

    /// The relations in which search keys find rows by the key of a type, and their rules: a caller finds them by the rows of this type that
    /// the caller sees.
    fn searched(&self) -> Result<Vec<(String, Rule)>, SchemaError> {
        let mut searched = Vec::new();
        for field in self.schema.types.iter().flat_map(|ty| &ty.fields) {
            for key in &field.search_keys {
                let (Some(of), Some((within, _))) = (&key.of, &key.within) else { continue };
                let error = |kind| SchemaError::new(field.position, kind);
                let Some((_, relation)) = self.named(of) else {
                    return Err(error(SchemaErrorKind::UnknownType(of.clone())));
                };
                if relation.key.len() != 1 || canonical(&relation.name) == canonical(within) {
                    return Err(error(SchemaErrorKind::BadSearchedType(key.name.clone())));
                }
                let (to, by) = (canonical(&relation.name).to_owned(), vec![key.column.clone()]);
                let rule = Rule::Row { relation: to, by, key: relation.key.clone(), optional: None };
                searched.push((canonical(within).to_owned(), rule));
            }
        }
        Ok(searched)
    }

    /// Fails if rows of a type belong to rows in a scope, and the type does not declare which of them callers see.
    fn check_related(&self, scopes: &Scopes) -> Result<(), SchemaError> {
        for (of, ty) in self.related() {
            let (Some(owner), Some(own)) = (self.named(of), ty.relation.as_ref()) else { continue };
            let (needed, all) = (scopes.scopes_of(&owner.1.name, scopes.all()), scopes.all());
            let has = scopes.scopes_of(&own.name, all);
            let is_open =
                |name: &String| ty.scopes.iter().any(|scope| scope.rows == ScopedRows::Open { scope: name.clone() });
            let mut undecided = scopes.names.iter().enumerate();
            let undecided = undecided.find(|(scope, name)| needed.has(*scope) && !has.has(*scope) && !is_open(name));
            if let Some((_, scope)) = undecided {
                let (ty_name, of, scope) = (ty.name.clone(), of.to_owned(), scope.clone());
                return Err(SchemaError::new(ty.position, SchemaErrorKind::UndecidedScope { ty: ty_name, of, scope }));
            }
        }
        Ok(())
    }

    /// The pairs of types in which the rows of the second type belong to rows of the first: its parts, the rows of its lists, and the rows
    /// that lead to it by its key. Rows of changes are left out: they name a row that changed, whatever the row has.
    fn related(&self) -> Vec<(&'a str, &'a TypeDefinition)> {
        let SchemaDefinition { types, .. } = self.schema;
        let named: HashMap<_, _> = types.iter().map(|ty| (ty.name.as_str(), ty)).collect();
        let fields = types.iter().flat_map(|ty| &ty.fields);
        let changes = fields.filter(|field| matches!(field.binding, Some(BindingDefinition::Changes { .. })));
        let changes: HashSet<_> = changes.map(|field| field.ty.as_str()).collect();
        let mut pairs = Vec::new();
        for ty in types.iter().filter(|ty| !ty.is_query()) {
            pairs.extend(ty.parts.iter().map(|part| (part.of.as_str(), ty)));
            pairs.extend(ty.fields.iter().filter_map(|field| match &field.binding {
                Some(BindingDefinition::Many(_)) => Some((ty.name.as_str(), *named.get(field.ty.as_str())?)),
                Some(BindingDefinition::One(pairs)) => {
                    let key = &named.get(field.ty.as_str())?.relation.as_ref()?.key;
                    key.iter().all(|column| pairs.to.contains(column)).then_some((field.ty.as_str(), ty))
                }
                _ => None,
            }));
        }
        pairs.retain(|(_, ty)| !changes.contains(ty.name.as_str()));
        pairs
    }

    /// Fails if a field can be null where its type says that it is not: a row that callers do not see is.
    fn check_nulls(&self, scopes: &Scopes) -> Result<(), SchemaError> {
        for field in self.schema.types.iter().flat_map(|ty| &ty.fields) {
            let is_joined = matches!(field.binding, Some(BindingDefinition::One(_))) && field.is_non_null;
            let target = self.named(&field.ty).filter(|_| is_joined);
            if target.is_some_and(|(_, relation)| !scopes.rules(&relation.name, scopes.most()).is_empty()) {
                let kind = SchemaErrorKind::ScopedNonNull { field: field.name.clone(), ty: field.ty.clone() };
                return Err(SchemaError::new(field.position, kind));
            }
        }
        Ok(())
    }

    /// Fails if the known values of a search key come from rows that not everybody sees.
    fn check_vocabularies(&self, scopes: &Scopes) -> Result<(), SchemaError> {
        for field in self.schema.types.iter().flat_map(|ty| &ty.fields) {
            for key in &field.search_keys {
                if let Some(relation) = key.vocabulary.as_ref().filter(|relation| scopes.has_rules(relation)) {
                    let kind = SchemaErrorKind::ScopedVocabulary { key: key.name.clone(), relation: relation.clone() };
                    return Err(SchemaError::new(field.position, kind));
                }
            }
        }
        Ok(())
    }
}
