//! The paths of a response where a query selects text: what people outside wrote, such as names and notes. Ids, times, numbers and the
//! names of enums have types of their own.

use std::collections::BTreeSet;

use graphql_parser::query::{
    Definition, Document, OperationDefinition, Selection, SelectionSet, TypeCondition, parse_query,
};

use crate::outline::{Outline, OutlineField, ROOT};

/// The type of text.
const TEXT: &str = "String";

/// As many fields and fragments are looked at at most, and as deep; the service accepts no query with more.
const MAX_VISITS: usize = 20_000;
const MAX_DEPTH: usize = 64;

/// A path in the data of a response: the keys of its objects, and `*` for the elements of a list.
pub type DataPath = Vec<String>;

/// The paths of all text that a query selects, but cursors. `None` if the query is none.
pub fn texts(outline: &Outline, query: &str) -> Option<BTreeSet<DataPath>> {
    let document = parse_query::<String>(query).ok()?;
    let mut found = BTreeSet::new();
    for definition in &document.definitions {
        if let Definition::Operation(operation) = definition {
            let selection = match operation {
                OperationDefinition::SelectionSet(selection) => selection,
                OperationDefinition::Query(query) => &query.selection_set,
                OperationDefinition::Mutation(_) | OperationDefinition::Subscription(_) => continue,
            };
            let mut reader = Reader { outline, document: &document, visits: 0, found: BTreeSet::new() };
            reader.selection(selection, ROOT, &mut Vec::new(), 0);
            found.append(&mut reader.found);
        }
    }
    Some(found)
}

struct Reader<'a> {
    outline: &'a Outline,
    document: &'a Document<'a, String>,
    visits: usize,
    found: BTreeSet<DataPath>,
}

impl Reader<'_> {
    fn selection(&mut self, selection: &SelectionSet<'_, String>, ty: &str, path: &mut DataPath, depth: usize) {
        for item in &selection.items {
            self.visits += 1;
            if self.visits > MAX_VISITS || depth > MAX_DEPTH {
                return;
            }
            match item {
                Selection::Field(field) => {
                    let Some(known) = self.outline.field(ty, &field.name) else { continue };
                    let length = path.len();
                    path.push(field.alias.as_ref().unwrap_or(&field.name).clone());
                    if known.ty.text.starts_with('[') {
                        path.push("*".to_owned());
                    }
                    if known.ty.named == TEXT && !is_cursor(self.outline, ty, known) {
                        self.found.insert(path.clone());
                    }
                    self.selection(&field.selection_set, &known.ty.named, path, depth + 1);
                    path.truncate(length);
                }
                Selection::InlineFragment(inline) => {
                    let on = inline.type_condition.as_ref().map_or(ty, |TypeCondition::On(on)| on);
                    self.selection(&inline.selection_set, on, path, depth + 1);
                }
                Selection::FragmentSpread(spread) => {
                    let fragment = self.document.definitions.iter().find_map(|definition| match definition {
                        Definition::Fragment(fragment) if fragment.name == spread.fragment_name => Some(fragment),
                        _ => None,
                    });
                    if let Some(fragment) = fragment {
                        let TypeCondition::On(on) = &fragment.type_condition;
                        self.selection(&fragment.selection_set, on, path, depth + 1);
                    }
                }
            }
        }
    }
}

/// Whether a field is a position in a list, which the service made: of a page, an edge or totals.
fn is_cursor(outline: &Outline, ty: &str, field: &OutlineField) -> bool {
    let has = |name: &str| outline.field(ty, name).is_some();
    match field.name.as_str() {
        "startCursor" => ty == "PageInfo",
        "endCursor" => ty == "PageInfo" || ty.ends_with("Totals") && has("groups") && has("groupCount"),
        "cursor" => ty.ends_with("Edge") && has("node"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn a_column_that_is_called_cursor_is_text() {
        let sdl = "type Query { pen: Pen } type Pen { cursor: String endCursor: String precursor: String }";
        let found = texts(&Outline::parse(sdl).unwrap(), "{ pen { cursor endCursor precursor } }").unwrap();
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn text_is_found_under_aliases_in_lists_and_in_fragments() {
        let outline = Outline::parse(Catalog::built_in().unwrap().sdl()).unwrap();
        let query = "query A { a: order(orderId: \"1\") { orderId b: orderName grandTotal ... on Order { externalId } notes(first: 1) {
            edges { cursor node { ...Note __typename } } pageInfo { endCursor } } } }
            fragment Note on OrderNote { noteInfo noteDateTime }";
        let found = texts(&outline, query).unwrap();
        let found: Vec<_> = found.iter().map(|path| path.join("/")).collect();
        assert_eq!(found, ["a/b", "a/externalId", "a/notes/edges/*/node/noteInfo"]);
        let totals = texts(&outline, "{ orderTotals(first: 1) { endCursor groups { statusId } } }").unwrap();
        assert_eq!(totals, BTreeSet::new());
        assert_eq!(texts(&outline, "{"), None);
        assert_eq!(texts(&outline, "fragment A on Order { ...A } { order { ...A } nothing }"), Some(BTreeSet::new()));
    }
}
