//! A plan template from a bound operation: one pass that appends the response template and gathers what each step has to
//! read. A file for each group of levels; `page` says how the rows of a connection are found.

mod changes;
mod connection;
mod lines;
mod object;
pub mod output;
mod page;
mod page_fields;
mod planner;
mod root;
mod search;
mod totals;

use crate::catalog::Catalog;
use crate::error::graphql_error::GraphqlErrors;
use crate::plan::build::output::Output;
use crate::plan::build::planner::Planner;
use crate::plan::template::PlanTemplate;
use crate::query::bind::selection::BoundOperation;
use crate::query::bind::shape::TermShapes;

/// Plans an operation with search terms of these shapes. Fails if its statement has more columns than PostgreSQL allows; the types
/// of a bound operation rule out every other error.
pub fn template<'a>(
    catalog: &'a Catalog,
    operation: &BoundOperation<'a>,
    terms: &'a TermShapes,
    output: Output<'a>,
) -> Result<PlanTemplate, GraphqlErrors> {
    let mut planner = Planner::new(catalog, operation.steps.len(), terms, output);
    match output {
        Output::Data => planner.root(&operation.selections),
        Output::Lines { root } => planner.root_of_lines(root, &operation.selections),
    }
    planner.finish()
}

#[cfg(test)]
mod tests {
    use crate::catalog::Catalog;
    use crate::compile::compile;
    use crate::error::code::ErrorCode;
    use crate::limits::Limits;
    use crate::query::Request;

    #[test]
    fn rejects_a_statement_of_more_columns_than_postgresql_allows() {
        let columns = (0..200).map(|number| format!("c{number}: String ")).collect::<Vec<_>>().concat();
        let schema = format!(
            "type Query {{ thing(thingId: ID): Thing @point }} type Thing @relation(name: \"thing\", key: [\"thing_id\"]) {{ \
             thingId: ID! {columns} next: Thing @one(by: [\"c0\"], to: [\"thing_id\"]) }}"
        );
        let catalog = Catalog::parse(&schema).unwrap();
        let fields = (0..200).map(|number| format!("c{number} ")).collect::<Vec<_>>().concat();
        let compile = |levels: usize| {
            let query = format!("{{ thing(thingId: 1) {}{}", format!("{{ {fields} next ").repeat(levels), "{ c0 }");
            let query = format!("{query}{} }}", " }".repeat(levels));
            compile(&catalog, &Request { query, ..Request::default() }, &Limits::UNLIMITED)
        };
        // Of each level its columns and whether it is there, and a column of the last.
        let columns = compile(8).unwrap().plan.columns().types().len();
        assert_eq!(columns, 8 * 201 + 1);
        let errors = compile(9).unwrap_err();
        let error = errors.first();
        assert_eq!(error.code, ErrorCode::CostExceeded);
        assert_eq!((&error.extensions["columns"], &error.extensions["maxColumns"]), (&1811.into(), &1664.into()));
        assert!(error.message.contains("reads 1811 columns at once; the database allows 1664"), "{}", error.message);
    }
}
