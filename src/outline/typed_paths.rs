//! The paths of a response where a query selects text of people outside, such as names, notes and ids, and the paths of its
//! pages. Times, numbers and the names of enums have types of their own.

use std::collections::BTreeSet;

use graphql_parser::query::{
    Definition, Document, Field, FragmentDefinition, OperationDefinition, Selection, SelectionSet, TypeCondition,
    Value as Literal, parse_query,
};
use serde_json::{Map, Value};

use crate::outline::{Outline, OutlineField, ROOT};

/// The types that may have text.
const TEXT: [&str; 3] = ["String", "ID", "JSON"];

/// The most fields and fragments that are looked at, and their greatest depth; the service accepts no query with more.
const MAX_VISITS: usize = 20_000;
const MAX_DEPTH: usize = 64;

/// A path in the data of a response: the keys of its objects, and `*` for the elements of a list.
pub type DataPath = Vec<String>;

/// The paths and pages that a query selects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SelectedPaths {
    /// The paths of all text, but cursors.
    pub texts: BTreeSet<DataPath>,
    /// The pages of lists.
    pub pages: Vec<SelectedPage>,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedPage {
    /// The path of the connection.
    pub path: DataPath,
    /// The number of rows that are asked for.
    pub size: u64,
    /// Whether `pageInfo` says if there are more.
    pub says_more: bool,
}

/// The selection of a query with the values of its variables. `None` if the text is no query.
pub fn selected(outline: &Outline, query: &str, variables: &Map<String, Value>) -> Option<SelectedPaths> {
    let document = parse_query::<String>(query).ok()?;
    let mut reader = Reader {
        outline,
        document: &document,
        variables,
        visits: 0,
        path: DataPath::new(),
        found: SelectedPaths::default(),
    };
    for definition in &document.definitions {
        if let Definition::Operation(operation) = definition {
            let selection = match operation {
                OperationDefinition::SelectionSet(selection) => selection,
                OperationDefinition::Query(query) => &query.selection_set,
                OperationDefinition::Mutation(_) | OperationDefinition::Subscription(_) => continue,
            };
            reader.selection(selection, ROOT, 0);
        }
    }
    Some(reader.found)
}

struct Reader<'a> {
    outline: &'a Outline,
    document: &'a Document<'a, String>,
    variables: &'a Map<String, Value>,
    visits: usize,
    /// The path of the selection that is read.
    path: DataPath,
    found: SelectedPaths,
}

impl Reader<'_> {
    fn selection(&mut self, selection: &SelectionSet<'_, String>, ty: &str, depth: usize) {
        for item in &selection.items {
            self.visits += 1;
            if self.visits > MAX_VISITS || depth > MAX_DEPTH {
                return;
            }
            match item {
                Selection::Field(field) => {
                    let Some(known) = self.outline.field(ty, &field.name) else { continue };
                    let length = self.path.len();
                    self.path.push(field.alias.as_ref().unwrap_or(&field.name).clone());
                    if known.ty.text.starts_with('[') {
                        self.path.push("*".to_owned());
                    }
                    if TEXT.contains(&known.ty.named.as_str()) && !is_cursor(self.outline, ty, known) {
                        self.found.texts.insert(self.path.clone());
                    }
                    if self.outline.node_type(&known.ty.named).is_some() {
                        self.add_page(field);
                    }
                    self.selection(&field.selection_set, &known.ty.named, depth + 1);
                    self.path.truncate(length);
                }
                Selection::InlineFragment(inline) => {
                    let on = inline.type_condition.as_ref().map_or(ty, |TypeCondition::On(on)| on);
                    self.selection(&inline.selection_set, on, depth + 1);
                }
                Selection::FragmentSpread(spread) => {
                    let document = self.document;
                    if let Some(fragment) = fragment(document, &spread.fragment_name) {
                        let TypeCondition::On(on) = &fragment.type_condition;
                        self.selection(&fragment.selection_set, on, depth + 1);
                    }
                }
            }
        }
    }
}

impl Reader<'_> {
    fn add_page(&mut self, field: &Field<'_, String>) {
        let size = field.arguments.iter().find_map(|(name, value)| match (name.as_str(), value) {
            ("first" | "last", Literal::Int(size)) => u64::try_from(size.as_i64()?).ok(),
            ("first" | "last", Literal::Variable(name)) => self.variables.get(name)?.as_u64(),
            _ => None,
        });
        let says_more = self.selects(&field.selection_set, "hasNextPage", 0)
            || self.selects(&field.selection_set, "hasPreviousPage", 0);
        self.found.pages.extend(size.map(|size| SelectedPage { path: self.path.clone(), size, says_more }));
    }

    /// Whether a connection's selection, or its `pageInfo`, selects a field.
    fn selects(&self, selection: &SelectionSet<'_, String>, name: &str, depth: usize) -> bool {
        depth < MAX_DEPTH
            && selection.items.iter().any(|item| match item {
                Selection::Field(field) if field.name == "pageInfo" => {
                    self.selects(&field.selection_set, name, depth + 1)
                }
                Selection::Field(field) => field.name == name,
                Selection::InlineFragment(inline) => self.selects(&inline.selection_set, name, depth + 1),
                Selection::FragmentSpread(spread) => fragment(self.document, &spread.fragment_name)
                    .is_some_and(|fragment| self.selects(&fragment.selection_set, name, depth + 1)),
            })
    }
}

fn fragment<'d, 'a>(document: &'d Document<'a, String>, name: &str) -> Option<&'d FragmentDefinition<'a, String>> {
    document.definitions.iter().find_map(|definition| match definition {
        Definition::Fragment(fragment) if fragment.name == name => Some(fragment),
        _ => None,
    })
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
    use serde_json::json;

    use super::*;
    use crate::catalog::Catalog;

    fn of(outline: &Outline, query: &str) -> Option<SelectedPaths> {
        selected(outline, query, &Map::from_iter([("n".to_owned(), json!(7))]))
    }

    fn built_in() -> Outline {
        Outline::parse(Catalog::built_in().unwrap().sdl()).unwrap()
    }

    #[test]
    fn a_column_that_is_called_cursor_is_text_as_json_and_ids_are() {
        let sdl = "type Query { pen: Pen } type Pen { cursor: String endCursor: String id: ID j: JSON n: Int }";
        let found = of(&Outline::parse(sdl).unwrap(), "{ pen { cursor endCursor id j n } }").unwrap();
        assert_eq!(found.texts.len(), 4);
    }

    #[test]
    fn text_is_found_under_aliases_in_lists_and_in_fragments() {
        let outline = built_in();
        let query =
            "query A { a: order(orderId: \"1\") { b: orderName grandTotal ... on Order { externalId } notes(first: 1) {
            edges { cursor node { ...Note __typename } } pageInfo { endCursor } } } }
            fragment Note on OrderNote { noteInfo noteDateTime }";
        let found = of(&outline, query).unwrap();
        let texts: Vec<_> = found.texts.iter().map(|path| path.join("/")).collect();
        assert_eq!(texts, ["a/b", "a/externalId", "a/notes/edges/*/node/noteInfo"]);
        let totals = of(&outline, "{ orderTotals(first: 1) { endCursor groups { day } } }").unwrap();
        assert_eq!(totals.texts, BTreeSet::new());
        assert_eq!(of(&outline, "{"), None);
        let cycle = of(&outline, "fragment A on Order { ...A } { order { ...A } nothing }");
        assert_eq!(cycle, Some(SelectedPaths::default()));
    }

    #[test]
    fn pages_have_their_sizes_and_say_whether_they_know_of_more() {
        let query =
            "query($n: Int) { orders(first: $n) { ...P edges { node { notes(last: 3) { edges { cursor } } } } } }
            fragment P on OrderConnection { pageInfo { hasNextPage } }";
        let found = of(&built_in(), query).unwrap().pages;
        let found: Vec<_> = found.iter().map(|page| (page.path.join("/"), page.size, page.says_more)).collect();
        assert_eq!(found, [("orders".to_owned(), 7, true), ("orders/edges/*/node/notes".to_owned(), 3, false)]);
    }
}
