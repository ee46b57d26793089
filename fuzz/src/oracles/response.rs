//! The response's shape: what it is if every list has one row and every value is null.

use orderql::catalog::Catalog;
use orderql::catalog::binding::{Binding, ConnectionField, EdgeField, EntityBinding, RootBinding};
use orderql::catalog::ids::TypeId;
use orderql::catalog::totals::TotalsField;
use orderql::plan::response_template::{Op, ResponseTemplate};

use crate::oracles::tree::Node;

/// The response that a template writes if every list has one row and every value is null.
pub fn written(template: &ResponseTemplate) -> String {
    let mut text = Vec::new();
    for op in &template.ops {
        match op {
            Op::Literal(bytes) => text.extend_from_slice(bytes),
            Op::Column { before, .. } => {
                text.extend_from_slice(before);
                text.extend_from_slice(b"null");
            }
            Op::Cursor
            | Op::StartCursor
            | Op::EndCursor
            | Op::HasNextPage
            | Op::HasPreviousPage
            | Op::OfPage { .. }
            | Op::LocalTime { .. }
            | Op::Count => {
                text.extend_from_slice(b"null");
            }
            Op::PageEnd => panic!("the end of a page of lines"),
            Op::Object { .. }
            | Op::EndObject
            | Op::Lookup { .. }
            | Op::EndLookup
            | Op::Connection { .. }
            | Op::BoundedList { .. }
            | Op::EndConnection
            | Op::FirstRow { .. }
            | Op::NextRow { .. } => {}
        }
    }
    String::from_utf8(text).expect("a response is text")
}

/// The same from what is selected; `None` with introspection, whose results are not known here.
pub fn expected(catalog: &Catalog, object: TypeId, nodes: &[Node<'_>]) -> Option<String> {
    let mut fields = Vec::new();
    for node in nodes {
        let value = match node.field.id {
            None => format!("\"{}\"", catalog.get(object).name()),
            Some(id) => {
                let inside = || expected(catalog, catalog.field(id).ty.named(), &node.nodes);
                match catalog.binding(id) {
                    Binding::Root(RootBinding::Changes(_) | RootBinding::Schema | RootBinding::TypeByName)
                    | Binding::Introspection => {
                        return None;
                    }
                    Binding::Connection(ConnectionField::Edges) | Binding::Totals(TotalsField::Groups) => {
                        format!("[{}]", inside()?)
                    }
                    Binding::Root(RootBinding::Lookup(_) | RootBinding::Connection(_) | RootBinding::Totals(_))
                    | Binding::Entity(EntityBinding::One(_) | EntityBinding::Connection(_))
                    | Binding::Connection(ConnectionField::PageInfo)
                    | Binding::Edge(EdgeField::Node) => inside()?,
                    Binding::Entity(EntityBinding::Column(_) | EntityBinding::Aggregate(_))
                    | Binding::Connection(ConnectionField::Count)
                    | Binding::Edge(EdgeField::Cursor)
                    | Binding::Totals(_)
                    | Binding::Group(_)
                    | Binding::PageInfo(_) => "null".to_owned(),
                }
            }
        };
        fields.push(format!("\"{}\":{value}", node.key));
    }
    Some(format!("{{{}}}", fields.join(",")))
}
