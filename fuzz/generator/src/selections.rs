//! Valid selection sets.

use orderql::catalog::binding::{Binding, EntityBinding, RootBinding};
use orderql::catalog::ids::{FieldId, TypeId};
use orderql::catalog::schema::TypeRef;

use crate::document::{Field, Fragment, Inline, Selection, Spread};
use crate::generate::{Draft, DraftFragment};
use crate::place::Place;
use crate::response_keys::Keys;

/// What is inside a field.
enum Inside {
    /// Nothing: it is a scalar.
    Nothing,
    /// A selection set.
    Selections(Place),
}

const MAX_META_LEVELS: usize = 5;

impl Draft<'_, '_> {
    /// What is selected from an object. Never empty.
    pub(crate) fn selection_set(&mut self, object: TypeId, place: Place, keys: &mut Keys) -> Vec<Selection> {
        let mut selections = Vec::new();
        for _ in 0..=self.choices.below(5) {
            self.selection(object, place, keys, &mut selections);
        }
        if selections.is_empty() {
            keys.add("__typename", Some("__typename"));
            selections.push(Selection::Field(Field::type_name()));
        }
        selections
    }

    fn selection(&mut self, object: TypeId, place: Place, keys: &mut Keys, selections: &mut Vec<Selection>) {
        if self.fields < self.settings.max_fields && self.choices.chance(15) {
            selections.extend(self.fragment(object, place, keys));
            return;
        }
        if self.choices.chance(6) {
            if let Some(Selection::Field(field)) = self.choices.pick(selections) {
                let again = field.clone();
                selections.push(Selection::Field(self.part(again)));
            }
            return;
        }
        if self.choices.chance(6) {
            if keys.accepts("__typename", Some("__typename")) {
                keys.add("__typename", Some("__typename"));
                selections.push(Selection::Field(Field::type_name()));
            }
            return;
        }
        let Some(definition) = self.catalog.object(object) else { return };
        let is_meta = self.settings.introspection && !definition.meta_fields.is_empty() && self.choices.chance(4);
        let index = if is_meta {
            definition.fields.len() + self.choices.below(definition.meta_fields.len())
        } else {
            self.choices.below(definition.fields.len())
        };
        let Ok(index) = u16::try_from(index) else { return };
        selections.extend(self.field(FieldId { object, index }, place, keys).map(Selection::Field));
    }

    /// An inline fragment, a new fragment or one that is there already.
    fn fragment(&mut self, object: TypeId, place: Place, keys: &mut Keys) -> Option<Selection> {
        let type_name = self.catalog.get(object).name();
        let directives = self.guards();
        // Fragments of other places may have cursors.
        if !place.is_below_lookup && self.choices.chance(30) {
            let fits = |(index, known): (usize, &DraftFragment)| {
                let is_mergeable = keys.spread.contains(&index)
                    || known.keys.iter().all(|(key, repeatable)| keys.accepts(key, repeatable.as_deref()));
                (known.fragment.on == type_name && is_mergeable && place.is_within(known.place)).then_some(index)
            };
            let fitting: Vec<_> = self.fragments.iter().enumerate().filter_map(fits).collect();
            let index = *self.choices.pick(&fitting)?;
            let known = &self.fragments[index];
            for (key, repeatable) in &known.keys {
                keys.add(key, repeatable.as_deref());
            }
            keys.spread.push(index);
            return Some(Selection::Spread(Spread { name: known.fragment.name.clone(), directives }));
        }
        let start = keys.log.len();
        let mut selections = Vec::new();
        for _ in 0..=self.choices.below(3) {
            self.selection(object, place, keys, &mut selections);
        }
        if selections.is_empty() {
            return None;
        }
        if self.choices.chance(50) {
            let on = self.choices.chance(50).then(|| type_name.to_owned());
            return Some(Selection::Inline(Inline { on, directives, selections }));
        }
        let name = format!("F{}", self.fragments.len());
        let fragment = Fragment { name: name.clone(), on: type_name.to_owned(), directives: Vec::new(), selections };
        keys.spread.push(self.fragments.len());
        self.fragments.push(DraftFragment { fragment, keys: keys.log[start..].to_vec(), place });
        Some(Selection::Spread(Spread { name, directives }))
    }

    /// The same field with some of its selections, which can be merged with it.
    fn part(&mut self, mut field: Field) -> Field {
        while field.selections.len() > 1 && self.choices.chance(40) {
            let index = self.choices.below(field.selections.len());
            field.selections.remove(index);
        }
        field.directives = self.guards();
        self.fields += 1;
        field
    }

    fn field(&mut self, id: FieldId, place: Place, keys: &mut Keys) -> Option<Field> {
        let definition = self.catalog.field(id);
        let inside = self.inside(id, place)?;
        let is_leaf = matches!(inside, Inside::Nothing) && definition.arguments.is_empty();
        self.fields += 1;
        let alias = self.choices.chance(25).then(|| self.alias(id.object));
        let key = alias.as_deref().unwrap_or(&definition.name);
        let repeatable = is_leaf.then_some(definition.name.as_str());
        if !keys.accepts(key, repeatable) {
            return None;
        }
        keys.add(key, repeatable);
        let arguments = self.arguments(id, place);
        let directives = self.guards();
        let selections = match inside {
            Inside::Selections(place) => self.selection_set(definition.ty.named(), place, &mut Keys::default()),
            Inside::Nothing => Vec::new(),
        };
        Some(Field { alias, name: definition.name.clone(), id: Some(id), arguments, directives, selections })
    }

    /// What is inside a field; `None` if that is too deep.
    fn inside(&self, id: FieldId, place: Place) -> Option<Inside> {
        let field = self.catalog.field(id);
        if self.catalog.object(field.ty.named()).is_none() {
            return Some(Inside::Nothing);
        }
        let Place { level, meta, .. } = place;
        let inside = match self.catalog.binding(id) {
            Binding::Root(RootBinding::Schema | RootBinding::TypeByName) | Binding::Introspection => {
                let (levels, lists) = meta.unwrap_or_default();
                let lists = lists + usize::from(is_list(&field.ty));
                if levels == MAX_META_LEVELS || lists > self.lists {
                    return None;
                }
                Place { level, meta: Some((levels + 1, lists)), is_below_lookup: false }
            }
            // What changed is not to be seen in the tables that answers are compared with.
            Binding::Root(RootBinding::Changes(_)) => return None,
            binding @ (Binding::Root(RootBinding::Lookup(_) | RootBinding::Connection(_) | RootBinding::Totals(_))
            | Binding::Entity(EntityBinding::One(_) | EntityBinding::Connection(_))) => {
                if level > self.settings.max_levels || self.fields >= self.settings.max_fields {
                    return None;
                }
                let is_below_lookup = matches!(binding, Binding::Root(RootBinding::Lookup(_)));
                Place { level: level + 1, meta, is_below_lookup }
            }
            Binding::Entity(EntityBinding::Column(_) | EntityBinding::Aggregate(_))
            | Binding::Connection(_)
            | Binding::Edge(_)
            | Binding::Totals(_)
            | Binding::Group(_)
            | Binding::PageInfo(_) => place,
        };
        Some(Inside::Selections(inside))
    }

    /// A new name, or that of another field of the type.
    fn alias(&mut self, object: TypeId) -> String {
        let fields = self.catalog.object(object).map_or(&[][..], |object| &object.fields);
        match self.choices.pick(fields).filter(|_| self.choices.chance(10)) {
            Some(other) => other.name.clone(),
            None => format!("a{}", self.fields),
        }
    }
}

fn is_list(ty: &TypeRef) -> bool {
    match ty {
        TypeRef::List(_) => true,
        TypeRef::NonNull(inner) => is_list(inner),
        TypeRef::Named(_) => false,
    }
}
