//! The steps of a plan, run one after the other outside the server.

use std::collections::BTreeMap;

use orderql::database::parameter::{RawValue, SqlParam};
use orderql::plan::request_plan::{Parameter, Plan};
use orderql::plan::step::{Parents, Step};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

use super::Fault;

/// The values of a step's parameters, its parents' keys out of the rows of the steps before it.
pub fn values<'a>(plan: &'a Plan, place: usize, fetched: &'a [Vec<Row>]) -> Result<Vec<SqlParam<'a>>, Fault> {
    let step = &plan.steps()[place];
    plan.parameters(place).map(|parameter| sent(parameter, step, fetched)).collect()
}

/// The rows of a step; none where no other step asks for them.
pub async fn rows(
    client: &Client,
    plan: &Plan,
    place: usize,
    statement: &Statement,
    values: &[SqlParam<'_>],
) -> Result<Vec<Row>, Fault> {
    let of_this = |child: &Step| matches!(&child.parents, Parents::Rows { step, .. } if *step == place);
    if !plan.steps().iter().any(of_this) {
        return Ok(Vec::new());
    }
    let values: Vec<_> = values.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
    page(&plan.steps()[place], plan.size(place), client.query(statement, &values).await?)
}

fn sent<'a>(parameter: Parameter<'a>, step: &Step, fetched: &'a [Vec<Row>]) -> Result<SqlParam<'a>, Fault> {
    Ok(match parameter {
        Parameter::Value(value) => SqlParam::Value(value),
        Parameter::Values(values) => SqlParam::values(values),
        Parameter::Limit(rows) => SqlParam::Limit(rows),
        Parameter::ParentKeys(place) => {
            let Parents::Rows { step, columns } = &step.parents else { return Err(misshapen()) };
            let column = *columns.get(place).ok_or_else(misshapen)?;
            let raw = |row: &'a Row| row.try_get::<_, Option<RawValue<'a>>>(column);
            SqlParam::RawValues(fetched[*step].iter().map(raw).collect::<Result<_, _>>()?)
        }
    })
}

/// The rows of a step that are on the page: those that are fetched to see whether there are more have no children.
fn page(step: &Step, size: u32, rows: Vec<Row>) -> Result<Vec<Row>, Fault> {
    let mut of_parent: BTreeMap<i64, u32> = BTreeMap::new();
    let mut kept = Vec::with_capacity(rows.len());
    for row in rows {
        let ordinal = step.layout.ordinal.map_or(Ok(0), |column| row.try_get(column))?;
        let is_row = step.layout.present.map_or(Ok(Some(true)), |column| row.try_get(column))?;
        let count = of_parent.entry(ordinal).or_default();
        if is_row == Some(true) && *count < size {
            *count += 1;
            kept.push(row);
        }
    }
    Ok(kept)
}

/// What the plan holds is not what is read here.
pub fn misshapen() -> Fault {
    Fault::Data("the plan has another shape than is known here".to_owned())
}
