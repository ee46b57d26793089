//! The fields of the query root.

use crate::plan::planner::Planner;
use crate::query::bind::selection::{BoundRootField, BoundSelection};

impl<'a> Planner<'a> {
    pub(super) fn root(&mut self, selections: &[BoundSelection<'a, BoundRootField<'a>>]) {
        self.fields(selections, |planner, key, field| match field {
            BoundRootField::TypeName(object) => planner.type_name(*object),
            BoundRootField::Lookup(lookup) => planner.lookup(key, lookup),
            BoundRootField::Connection(connection) => {
                let branch = planner.connection(key, connection, None);
                planner.roots.push(branch);
            }
            BoundRootField::Totals(totals) => {
                let branch = planner.totals(key, totals);
                planner.roots.push(branch);
            }
            BoundRootField::Introspection(value) => planner.response.constant(value),
        });
    }
}
