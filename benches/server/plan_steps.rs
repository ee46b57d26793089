//! Runs the steps of a plan one after the other, outside the server.

use std::collections::BTreeMap;

use orderql::database::parameter::{RawValue, SqlParam};
use orderql::plan::request_plan::{Parameter, Plan};
use orderql::plan::step::{Parents, Step};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

use crate::error::{BenchError, Result};

/// The parameters of a step; the keys of its parents come from the rows of the steps before it.
pub fn parameters<'a>(plan: &'a Plan, step: usize, fetched: &'a [Vec<Row>]) -> Result<Vec<SqlParam<'a>>> {
    let parents = &plan.steps()[step].parents;
    plan.parameters(step).map(|parameter| encode(parameter, parents, fetched)).collect()
}

/// The rows of a step; none if no other step needs them.
pub async fn rows(
    client: &Client,
    plan: &Plan,
    step: usize,
    statement: &Statement,
    parameters: &[SqlParam<'_>],
) -> Result<Vec<Row>> {
    let is_child = |child: &Step| matches!(&child.parents, Parents::Rows { step: parent, .. } if *parent == step);
    if !plan.steps().iter().any(is_child) {
        return Ok(Vec::new());
    }
    let parameters: Vec<_> = parameters.iter().map(|parameter| parameter as &(dyn ToSql + Sync)).collect();
    page(&plan.steps()[step], plan.size(step), client.query(statement, &parameters).await?)
}

fn encode<'a>(parameter: Parameter<'a>, parents: &Parents, fetched: &'a [Vec<Row>]) -> Result<SqlParam<'a>> {
    Ok(match parameter {
        Parameter::Value(value) => SqlParam::Value(value),
        Parameter::Values(values) => SqlParam::values(values),
        Parameter::Limit(rows) => SqlParam::Limit(rows),
        Parameter::ParentKeys(key) => {
            let Parents::Rows { step, columns } = parents else { return Err(BenchError::Plan) };
            let column = *columns.get(key).ok_or(BenchError::Plan)?;
            let keys = fetched[*step].iter().map(|row| row.try_get::<_, Option<RawValue<'a>>>(column));
            SqlParam::RawValues(keys.collect::<Result<_, _>>()?)
        }
    })
}

/// The rows that are on the page. One more is fetched to see whether there is a next page; it has no children.
fn page(step: &Step, size: u32, rows: Vec<Row>) -> Result<Vec<Row>> {
    let mut per_parent: BTreeMap<i64, u32> = BTreeMap::new();
    let mut page = Vec::with_capacity(rows.len());
    for row in rows {
        let ordinal = step.layout.ordinal.map_or(Ok(0), |column| row.try_get(column))?;
        let is_present = step.layout.present.map_or(Ok(Some(true)), |column| row.try_get(column))?;
        let count = per_parent.entry(ordinal).or_default();
        if is_present == Some(true) && *count < size {
            *count += 1;
            page.push(row);
        }
    }
    Ok(page)
}
