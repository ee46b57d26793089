//! The fields of the query root.

use crate::plan::build::planner::Planner;
use crate::plan::introspection::constant;
use crate::query::bind::selection::{BoundRootField, BoundSelection};

impl<'a> Planner<'a> {
    pub(super) fn root(&mut self, selections: &[BoundSelection<'a, BoundRootField<'a>>]) {
        self.response.open_object();
        for (index, selection) in selections.iter().enumerate() {
            self.response.key(selection.key, index == 0);
            match &selection.field {
                BoundRootField::TypeName(object) => self.type_name(*object),
                BoundRootField::Lookup(lookup) => self.lookup(lookup),
                BoundRootField::Connection(connection) => {
                    let branch = self.connection(selection.key, connection, None);
                    self.roots.push(branch);
                }
                BoundRootField::Introspection(value) => constant(value, &mut self.response),
            }
        }
        self.response.close_object();
    }
}
