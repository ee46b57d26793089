//! Our own limits on the size of documents, which the GraphQL specification does not have.

use graphql_parser::query::{Selection, SelectionSet};

use crate::query::document_limits::{MAX_DIRECTIVES, MAX_FIELDS, MAX_INTROSPECTION_LISTS, MAX_LEVELS, MAX_ROOT_FIELDS};
use crate::query::parse::document::location;
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

/// Limits the directives at one location.
pub(super) fn check_directives(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    for (_, directives) in index.directives.iter().filter(|(_, directives)| directives.len() > MAX_DIRECTIVES) {
        violations.add(&Violation::TooManyDirectives, [location(directives[0].position)]);
    }
}

/// Limits fields and levels of a document whose fragments are spread. The document must have no fragment cycles.
pub(super) fn check_expansion(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    let mut sizes = vec![None; index.definitions.len()];
    let mut total = ExpandedSize::default();
    for (number, operation) in index.operations() {
        let before = total;
        total = total.plus(measure(index, number, &mut sizes));
        let is_first_beyond = |exceeds: fn(&ExpandedSize) -> bool| !exceeds(&before) && exceeds(&total);
        if is_first_beyond(|size| size.top_level_fields > MAX_ROOT_FIELDS) {
            violations.add(&Violation::TooManyRootFields, [operation.location]);
        }
        if is_first_beyond(|size| size.fields > MAX_FIELDS) {
            violations.add(&Violation::TooManyFields, [operation.location]);
        }
        if is_first_beyond(|size| size.levels > MAX_LEVELS) {
            violations.add(&Violation::TooManyLevels, [operation.location]);
        }
    }
}

/// Limits nested lists in introspection. The document must have no fragment cycles.
pub(super) fn check_introspection(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    let is_introspection = |name: &str| matches!(name, "__schema" | "__type");
    let mut roots = index.fields.iter().map(|selected| selected.field).filter(|field| is_introspection(field.name));
    let Some(first) = roots.next() else { return };
    let mut sizes = vec![None; index.definitions.len()];
    for definition in 0..index.definitions.len() {
        measure(index, definition, &mut sizes);
    }
    for field in std::iter::once(first).chain(roots) {
        if selection_set_size(index, &field.selection_set, &sizes).nested_lists > MAX_INTROSPECTION_LISTS {
            violations.add(&Violation::TooManyIntrospectionLists, [location(field.position)]);
        }
    }
}

/// The size of a selection set whose fragments are spread.
#[derive(Debug, Clone, Copy, Default)]
struct ExpandedSize {
    /// The fields of the first level.
    top_level_fields: u64,
    /// The fields of all levels.
    fields: u64,
    /// The levels of fields. Whatever follows fragment spreads recurses as deep.
    levels: usize,
    /// The longest chain of nested introspection lists.
    nested_lists: usize,
}

impl ExpandedSize {
    /// The size of two selection sets side by side.
    fn plus(self, other: Self) -> Self {
        Self {
            top_level_fields: self.top_level_fields.saturating_add(other.top_level_fields),
            fields: self.fields.saturating_add(other.fields),
            levels: self.levels.max(other.levels),
            nested_lists: self.nested_lists.max(other.nested_lists),
        }
    }
}

/// Measures a definition after the definitions that it spreads, each once. Has a stack of its own, because chains of fragments can be long.
fn measure(index: &DocumentIndex<'_, '_>, definition: usize, sizes: &mut [Option<ExpandedSize>]) -> ExpandedSize {
    let mut stack = vec![(definition, index.definitions[definition].fragment_spreads.clone())];
    while let Some((current, spreads)) = stack.last_mut() {
        let Some(spread) = spreads.next().map(|number| &index.fragment_spreads[number]) else {
            sizes[*current] = Some(selection_set_size(index, index.definitions[*current].selection_set, sizes));
            stack.pop();
            continue;
        };
        if let Some(target) = spread.target.filter(|target| sizes[*target].is_none()) {
            stack.push((target, index.definitions[target].fragment_spreads.clone()));
        }
    }
    sizes[definition].unwrap_or_default()
}

fn selection_set_size<'a>(
    index: &DocumentIndex<'_, 'a>,
    set: &SelectionSet<'a, &'a str>,
    sizes: &[Option<ExpandedSize>],
) -> ExpandedSize {
    let mut sum = ExpandedSize::default();
    for selection in &set.items {
        sum = sum.plus(match selection {
            Selection::Field(field) => {
                let inner = selection_set_size(index, &field.selection_set, sizes);
                let is_list = matches!(field.name, "fields" | "interfaces" | "possibleTypes" | "inputFields");
                ExpandedSize {
                    top_level_fields: 1,
                    fields: inner.fields.saturating_add(1),
                    levels: inner.levels.saturating_add(1),
                    nested_lists: inner.nested_lists + usize::from(is_list),
                }
            }
            Selection::InlineFragment(fragment) => selection_set_size(index, &fragment.selection_set, sizes),
            Selection::FragmentSpread(spread) => {
                index.fragment(spread.fragment_name).and_then(|target| sizes[target]).unwrap_or_default()
            }
        });
    }
    sum
}
