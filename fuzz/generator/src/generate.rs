//! Catalog and choices → a valid request.

use orderql::catalog::Catalog;
use orderql::limits::Limits;

use crate::choices::Choices;
use crate::document::{Definition, Document, Fragment, Operation, OperationKind, Selection, Value, visit_sets};
use crate::place::Place;
use crate::print::Layout;
use crate::request::{Generated, Variable};
use crate::response_keys::Keys;
use crate::values::Values;

/// How large a request may become.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Fields of the document.
    pub max_fields: usize,
    /// Levels of object nesting.
    pub max_levels: usize,
    /// Rows of a page.
    pub max_page: u32,
    /// Terms of a search string.
    pub max_terms: usize,
    /// Operations of the document.
    pub max_operations: usize,
    /// Whether `__schema` and `__type` are selected.
    pub introspection: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { max_fields: 40, max_levels: 6, max_page: 100, max_terms: 4, max_operations: 3, introspection: true }
    }
}

/// A valid request: with limits high enough, it compiles.
pub fn generate(catalog: &Catalog, values: &dyn Values, settings: Settings, choices: &mut Choices<'_>) -> Generated {
    let draft =
        Draft { catalog, values, settings, choices, fields: 0, fragments: Vec::new(), variables: Vec::new(), lists: 1 };
    draft.request()
}

/// A request that is being made.
pub(crate) struct Draft<'a, 'b> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) values: &'a dyn Values,
    pub(crate) settings: Settings,
    pub(crate) choices: &'a mut Choices<'b>,
    /// How many fields it has. They also number aliases.
    pub(crate) fields: usize,
    pub(crate) fragments: Vec<DraftFragment>,
    pub(crate) variables: Vec<Variable>,
    /// How many lists of introspection may be inside one another.
    pub(crate) lists: usize,
}

/// A fragment that is complete, and the response keys that it adds where it is spread.
pub(crate) struct DraftFragment {
    pub(crate) fragment: Fragment,
    pub(crate) keys: Vec<(String, Option<String>)>,
    /// Where it was made. Deeper, it would be too deep.
    pub(crate) place: Place,
}

impl Draft<'_, '_> {
    fn request(mut self) -> Generated {
        let several = if self.choices.chance(10) { self.choices.below(self.settings.max_operations) } else { 0 };
        let is_named = several > 0 || self.choices.chance(30);
        self.lists += usize::from(self.choices.chance(10));
        let mut operations = Vec::new();
        for number in 0..=several {
            let place = Place::root();
            let selections = self.selection_set(self.catalog.query(), place, &mut Keys::default());
            operations.push(Operation {
                kind: OperationKind::Query,
                name: is_named.then(|| format!("Q{number}")),
                variables: Vec::new(),
                directives: Vec::new(),
                selections,
            });
        }
        let chosen = self.choices.below(operations.len());
        let is_given = several > 0 || self.choices.chance(30);
        let operation_name = operations[chosen].name.clone().filter(|_| is_given);
        let operations = operations.into_iter().map(Definition::Operation);
        let fragments = std::mem::take(&mut self.fragments);
        let fragments = fragments.into_iter().map(|fragment| Definition::Fragment(fragment.fragment));
        let definitions: Vec<_> = if self.choices.chance(50) {
            operations.chain(fragments).collect()
        } else {
            fragments.rev().chain(operations).collect()
        };
        let mut document = Document { definitions };
        if self.choices.chance(2) {
            self.widen(&mut document);
        }
        let undeclared = if self.choices.chance(5) {
            vec![("nobodyUses".to_owned(), Value::Number("1".to_owned()))]
        } else {
            vec![]
        };
        let (limits, layout) = (self.limits(), self.choices.pick(&Layout::ALL).copied().unwrap_or_default());
        let variables = std::mem::take(&mut self.variables);
        let mut generated = Generated { document, variables, undeclared, operation_name, limits, layout };
        generated.declare();
        generated
    }

    fn limits(&mut self) -> Limits {
        match self.choices.below(4) {
            0 | 1 => Limits::DEFAULT,
            2 => Limits { max_page_size: 1_000_000, max_depth: 1000, ..Limits::UNLIMITED },
            _ => Limits {
                max_cost: u64::from(self.choices.between(0, 5000)),
                max_page_size: self.choices.between(1, 200),
                max_depth: self.choices.between(0, 8),
                bucket_size: u64::from(self.choices.between(0, 5000)),
                response_size: u64::from(self.choices.between(0, 5_000_000)),
            },
        }
    }

    /// Repeats a field hundreds of times. Merging them must not take long.
    fn widen(&mut self, document: &mut Document) {
        let is_leaf = |selection: &&Selection| matches!(selection, Selection::Field(field) if field.id.is_some() && field.selections.is_empty());
        let (mut leaves, chosen) = (0, self.choices.below(8));
        // More would be more tokens than a document may have.
        let times = usize::try_from(self.choices.between(100, 700)).unwrap_or_default();
        for operation in document.operations_mut() {
            visit_sets(&mut operation.selections, &mut |set| {
                if let Some(leaf) = set.iter().find(is_leaf).cloned() {
                    if leaves == chosen {
                        let mut again = leaf;
                        again.directives_mut().clear();
                        set.extend(std::iter::repeat_n(again, times));
                    }
                    leaves += 1;
                }
            });
        }
    }
}
