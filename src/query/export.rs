//! Operations that export a collection: page after page, a line for each node.
//!
//! Such an operation selects one collection, or a change feed, and nothing else of it is of interest than its nodes. It is changed so that all
//! exports have pages of the same form: `{"root": {"edges": [{"node": …}], "pageInfo": {"hasNextPage", "endCursor"}}}`, and
//! a variable for the cursor that the next page follows. Neither changes what it costs.

use std::mem;
use std::ops::RangeFrom;

use serde_json::Value as Json;

use crate::catalog::Catalog;
use crate::catalog::binding::{ConnectionField, EdgeField, PageInfoField};
use crate::catalog::ids::FieldId;
use crate::catalog::schema::{ArgumentRole, TypeRef};
use crate::error::code::ErrorCode;
use crate::error::diagnostic::Diagnostic;
use crate::error::graphql_error::{GraphqlError, GraphqlErrors, Location};
use crate::query::Variables;
use crate::query::operation::{Literal, Occurrence, Operation, Selection, SelectionId, Target, VariableDefinition};

/// The name of the variable for the cursor. No document can declare it.
const AFTER: &str = "@after";

/// An operation that exports a collection.
#[derive(Debug)]
pub struct ExportOperation {
    /// The operation of a page.
    pub operation: Operation,
    /// The cursor that the first page follows.
    pub first: FirstCursor,
    /// Whether the collection is a change feed.
    pub reads_changes: bool,
}

/// The cursor that the first page follows.
#[derive(Debug, PartialEq, Eq)]
pub struct FirstCursor {
    /// The variable that gives it.
    variable: Option<String>,
    /// The value if the variable is not given.
    default: Option<String>,
}

/// The operation cannot be exported.
#[derive(Debug, thiserror::Error)]
#[error(
    "an export takes a query for one collection of the root, from the front (`first:`), with `edges {{ node {{ … }} }}`; each \
     of them once, and without @skip, @include and `since:`"
)]
struct NotExportable;

impl Diagnostic for NotExportable {
    fn code(&self) -> ErrorCode {
        ErrorCode::BadUserInput
    }
}

/// The operation of a page, and the cursor that the first one follows. Fails if the operation selects anything else than the
/// nodes of one collection.
pub fn export(catalog: &Catalog, mut operation: Operation) -> Result<ExportOperation, GraphqlErrors> {
    let location = operation.selections.first().map_or(Location { line: 1, column: 1 }, |root| root.location);
    let failed = || GraphqlErrors::one(GraphqlError::new(&NotExportable, [location]));
    let [root] = operation.selections.as_mut_slice() else { return Err(failed()) };
    let variable = operation.variables.len();
    let mut ids = operation.selection_count..;
    let After { given, ty, reads_changes } = rewrite(catalog, root, variable, &mut ids).ok_or_else(failed)?;
    operation.selection_count = ids.start;
    let text = |literal| if let Literal::String(text) = literal { Some(text) } else { None };
    let first = match given {
        Some(Literal::Variable(index)) => {
            let VariableDefinition { name, default, .. } = &operation.variables[index];
            FirstCursor { variable: Some(name.clone()), default: default.clone().and_then(text) }
        }
        given => FirstCursor { variable: None, default: given.and_then(text) },
    };
    operation.variables.push(VariableDefinition { name: AFTER.to_owned(), ty, default: None, location });
    Ok(ExportOperation { operation, first, reads_changes })
}

impl FirstCursor {
    /// The variables of a page: the variables of the request, and the cursor that the page follows; of the first page, the cursor in the
    /// request.
    pub fn variables(&self, request: &Variables, after: Option<&str>) -> Variables {
        let given = || self.variable.as_ref().and_then(|name| request.get(name)).cloned();
        let default = || self.default.as_deref().map(Json::from);
        let after = after.map(Json::from).or_else(given).or_else(default);
        let mut variables = request.clone();
        // A value of another type is reported where the client's own variable is coerced.
        match after.filter(Json::is_string) {
            Some(after) => variables.insert(AFTER.to_owned(), after),
            None => variables.remove(AFTER),
        };
        variables
    }
}

/// The argument `after` of a collection.
struct After {
    given: Option<Literal>,
    ty: TypeRef,
    /// Whether it is a token of changes.
    reads_changes: bool,
}

/// Changes a collection of the root into one of an export. `None` if it cannot be.
fn rewrite(catalog: &Catalog, root: &mut Selection, variable: usize, ids: &mut RangeFrom<usize>) -> Option<After> {
    let Target::Field(FieldId { index, .. }) = root.target else { return None };
    let (field, binding) = catalog.root_field(index);
    let reads_changes = binding.changes().is_some();
    if !reads_changes && binding.connection().is_none() {
        return None;
    }
    let index = |role| field.arguments.iter().position(|argument| argument.role == role);
    // The argument of the other direction, and the argument of a beginning that no later page has.
    let unwanted = [index(ArgumentRole::Last), index(ArgumentRole::Since)];
    if root.arguments.iter().any(|(index, value)| unwanted.contains(&Some(*index)) && *value != Literal::Null) {
        return None;
    }
    let mut edges = only(root, ConnectionField::Edges as u16)?;
    let mut node = only(&mut edges, EdgeField::Node as u16)?;
    root.key = "root".into();
    edges.key = "edges".into();
    node.key = "node".into();
    edges.selections = vec![node];

    let page_info = FieldId { object: field.ty.named(), index: ConnectionField::PageInfo as u16 };
    let flags = catalog.field(page_info).ty.named();
    let location = root.location;
    let mut select = |key: &str, field: FieldId, selections: Vec<Selection>| {
        let occurrence = Occurrence { order: u32::MAX, conditions: Vec::new(), location };
        Some(Selection {
            id: SelectionId(ids.next()?),
            key: key.into(),
            target: Target::Field(field),
            arguments: Vec::new(),
            location,
            selections,
            occurrences: vec![occurrence],
            takes_arguments: false,
        })
    };
    let flag = |field: PageInfoField| FieldId { object: flags, index: field as u16 };
    let flags = vec![
        select("hasNextPage", flag(PageInfoField::HasNextPage), Vec::new())?,
        select("endCursor", flag(PageInfoField::EndCursor), Vec::new())?,
    ];
    root.selections = vec![edges, select("pageInfo", page_info, flags)?];

    let after = index(ArgumentRole::After)?;
    let given = root.arguments.iter().position(|(index, _)| *index == after);
    let given = given.map(|position| root.arguments.remove(position).1);
    root.arguments.push((after, Literal::Variable(variable)));
    is_unconditional(root).then(|| After { given, ty: field.arguments[after].ty.clone(), reads_changes })
}

/// The only selection of the field with this index, taken out of the selections around it. `None` if there are several, or conditions.
fn only(around: &mut Selection, index: u16) -> Option<Selection> {
    let is_wanted = |selection: &Selection| matches!(selection.target, Target::Field(id) if id.index == index);
    let mut wanted = mem::take(&mut around.selections).into_iter().filter(is_wanted);
    let first = wanted.next()?;
    (wanted.next().is_none() && is_unconditional(&first)).then_some(first)
}

fn is_unconditional(selection: &Selection) -> bool {
    selection.occurrences.iter().any(|occurrence| occurrence.conditions.is_empty())
}
