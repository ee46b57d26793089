//! The nodes of one collection as lines of JSON, for an export.

use crate::plan::planner::{Planner, StepDraft};
use crate::plan::response_template::Op;
use crate::plan::sql::Alias;
use crate::query::bind::selection::{BoundConnectionField, BoundEdgeField, BoundRootField, BoundSelection, Selections};

impl<'a> Planner<'a> {
    /// The query root of an operation that selects one collection, which the request calls `root`. Other fields are not written.
    pub(super) fn root_of_lines(&mut self, root: &'a str, selections: &[BoundSelection<'a, BoundRootField<'a>>]) {
        for selection in selections {
            if let BoundRootField::Connection(connection) = &selection.field {
                self.response.enter_key(selection.key);
                let branch = self.connection(root, connection, None);
                self.roots.push(branch);
            }
        }
    }

    /// The page of that collection: a line for each node, and where the page ends.
    pub(super) fn page_of_lines(
        &mut self,
        draft: &mut StepDraft<'a>,
        selections: &[BoundSelection<'a, BoundConnectionField<'a>>],
    ) {
        for selection in selections {
            if let BoundConnectionField::Edges(edge) = &selection.field {
                self.response.enter_key(selection.key);
                let opening = self.response.reserve();
                let start = self.response.position();
                self.response.enter_list(draft.step);
                self.line(draft, edge);
                self.response.close(opening, |end| Op::FirstRow { end }, Op::NextRow { start, separator: None });
            }
        }
        self.response.push(Op::PageEnd);
    }

    fn line(&mut self, draft: &mut StepDraft<'a>, edge: &Selections<'a, BoundEdgeField<'a>>) {
        for selection in edge {
            if let BoundEdgeField::Node(node) = &selection.field {
                self.response.enter_key(selection.key);
                self.object(draft, Alias::Base, node);
                self.response.literal("\n");
            }
        }
    }
}
