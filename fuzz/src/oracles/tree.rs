//! What an operation selects (GraphQL specification, section 6.3.2, `CollectFields`).

use orderql::catalog::Catalog;
use orderql::catalog::binding::{Binding, EntityBinding, RootBinding};
use orderql::catalog::connection::{Connection, SortKey};
use orderql::catalog::schema::ArgumentRole;
use orderql::search::Comparator;
use orderql_generator::document::{Directive, Field, Selection, Value};
use orderql_generator::request::Generated;

/// A field of the response.
#[derive(Debug)]
pub struct Node<'g> {
    /// Its response key.
    pub key: &'g str,
    /// Its first occurrence. All occurrences have the same arguments.
    pub field: &'g Field,
    /// What is selected from it, by all of its occurrences.
    pub nodes: Vec<Node<'g>>,
}

/// What the operation of a request selects from the root.
pub fn tree(generated: &Generated) -> Vec<Node<'_>> {
    let selections = generated.operation().map_or(&[][..], |operation| &operation.selections);
    nodes(generated, &[selections])
}

fn nodes<'g>(generated: &'g Generated, sets: &[&'g [Selection]]) -> Vec<Node<'g>> {
    let (mut grouped, mut spread) = (Vec::new(), Vec::new());
    for set in sets {
        collect(generated, set, &mut spread, &mut grouped);
    }
    let node = |(key, fields): (&'g str, Vec<&'g Field>)| {
        let sets: Vec<_> = fields.iter().map(|field| field.selections.as_slice()).collect();
        Node { key, field: fields[0], nodes: nodes(generated, &sets) }
    };
    grouped.into_iter().map(node).collect()
}

fn collect<'g>(
    generated: &'g Generated,
    set: &'g [Selection],
    spread: &mut Vec<&'g str>,
    grouped: &mut Vec<(&'g str, Vec<&'g Field>)>,
) {
    for selection in set {
        if !is_included(generated, selection.directives()) {
            continue;
        }
        match selection {
            Selection::Field(field) => match grouped.iter_mut().find(|(key, _)| *key == field.key()) {
                Some((_, fields)) => fields.push(field),
                None => grouped.push((field.key(), vec![field])),
            },
            Selection::Inline(inline) => collect(generated, &inline.selections, spread, grouped),
            Selection::Spread(it) => {
                if !spread.contains(&it.name.as_str()) {
                    spread.push(&it.name);
                    let fragment = generated.document.fragment(&it.name).expect("a valid document has its fragments");
                    collect(generated, &fragment.selections, spread, grouped);
                }
            }
        }
    }
}

fn is_included(generated: &Generated, directives: &[Directive]) -> bool {
    directives.iter().all(|directive| {
        let condition = directive.arguments.first().and_then(|argument| generated.resolve(&argument.value));
        let Some(Value::Boolean(condition)) = condition else { panic!("{directive:?} without a condition") };
        *condition == (directive.name == "include")
    })
}

impl<'g> Node<'g> {
    /// What the field is bound to; `None` for `__typename`.
    pub fn binding<'c>(&self, catalog: &'c Catalog) -> Option<Binding<'c>> {
        self.field.id.map(|id| catalog.binding(id))
    }

    /// The connection that the field is.
    pub fn connection<'c>(&self, catalog: &'c Catalog) -> Option<&'c Connection> {
        self.binding(catalog)?.connection()
    }

    /// Whether it is a page of rows or, of totals, one of groups.
    pub fn has_page(&self, catalog: &Catalog) -> bool {
        let is_totals = matches!(self.binding(catalog), Some(Binding::Root(RootBinding::Totals(_))));
        is_totals || self.connection(catalog).is_some()
    }

    /// The value of the argument with that role; `None` if it has none, or null.
    pub fn argument(&self, catalog: &Catalog, generated: &'g Generated, role: ArgumentRole) -> Option<&'g Value> {
        let definition = catalog.field(self.field.id?).arguments.iter().find(|argument| argument.role == role)?;
        let argument = self.field.arguments.iter().find(|argument| argument.name == definition.name)?;
        generated.resolve(&argument.value).filter(|value| !matches!(value, Value::Null))
    }

    /// The sort key of the connection that the field is.
    pub fn sort_key<'c>(&self, catalog: &Catalog, generated: &'g Generated, connection: &'c Connection) -> &'c SortKey {
        match self.argument(catalog, generated, ArgumentRole::SortKey) {
            Some(Value::Enum(name)) => connection.sort_keys.iter().find(|key| key.name == *name).expect("a sort key"),
            _ => self.implied_sort_key(catalog, generated, connection).unwrap_or(&connection.sort_keys[0]),
        }
    }

    /// The sort key of totals without one: the first of whose column their search has a range.
    fn implied_sort_key<'c>(
        &self,
        catalog: &Catalog,
        generated: &'g Generated,
        connection: &'c Connection,
    ) -> Option<&'c SortKey> {
        let takes_rows =
            catalog.field(self.field.id?).arguments.iter().any(|argument| argument.role == ArgumentRole::Rows);
        let search = self.argument(catalog, generated, ArgumentRole::Query).filter(|_| takes_rows)?;
        let Value::Search(search) = search else { return None };
        let ranges = search.terms.iter().filter(|term| {
            !matches!(term.comparator, Comparator::Equals | Comparator::In | Comparator::Matches)
                && term.column.0 == connection.relation
        });
        let columns: Vec<_> = ranges.map(|term| &term.column.1).collect();
        connection.sort_keys.iter().find(|key| columns.contains(&&key.columns[0].name))
    }

    /// The page size of a connection, and whether the page is taken from the back.
    pub fn page(&self, catalog: &Catalog, generated: &'g Generated) -> (u32, bool) {
        let size = |role| match self.argument(catalog, generated, role) {
            Some(Value::Size(size)) => Some(*size),
            _ => None,
        };
        match (size(ArgumentRole::First), size(ArgumentRole::Last)) {
            (Some(first), None) => (first, false),
            (None, Some(last)) => (last, true),
            sizes => panic!("{sizes:?} of {}", self.key),
        }
    }
}

/// The nodes that are steps of a plan, connections and lookups, each before those inside it.
pub fn steps<'t, 'g>(catalog: &Catalog, nodes: &'t [Node<'g>]) -> Vec<&'t Node<'g>> {
    steps_below(catalog, nodes).into_iter().map(|(node, _)| node).collect()
}

/// The same, each with where it is.
pub fn steps_below<'t, 'g>(catalog: &Catalog, nodes: &'t [Node<'g>]) -> Vec<(&'t Node<'g>, Option<Above>)> {
    let mut steps = Vec::new();
    add_steps(catalog, nodes, None, &mut steps);
    steps
}

/// The row that a step's rows belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Above {
    /// The number of its step.
    pub step: usize,
    /// Whether it is a row of an object that is joined to the step's.
    pub is_joined: bool,
}

fn add_steps<'t, 'g>(
    catalog: &Catalog,
    nodes: &'t [Node<'g>],
    above: Option<Above>,
    steps: &mut Vec<(&'t Node<'g>, Option<Above>)>,
) {
    for node in nodes {
        let above_fields = match node.binding(catalog) {
            Some(
                Binding::Root(RootBinding::Lookup(_) | RootBinding::Connection(_) | RootBinding::Totals(_))
                | Binding::Entity(EntityBinding::Connection(_)),
            ) => {
                steps.push((node, above));
                Some(Above { step: steps.len() - 1, is_joined: false })
            }
            Some(Binding::Entity(EntityBinding::One(_))) => above.map(|above| Above { is_joined: true, ..above }),
            _ => above,
        };
        add_steps(catalog, &node.nodes, above_fields, steps);
    }
}
