//! The messages of PostgreSQL's protocol that run a plan in one pipeline.

use std::collections::BTreeMap;
use std::io;

use bytes::BytesMut;
use orderql::database::parameter::{Raw, Sent};
use orderql::database::pool::SETTINGS;
use orderql::plan::step::{Parents, Step};
use orderql::plan::{Parameter, Plan};
use postgres_protocol::message::frontend;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Row, Statement};

use crate::measure::Fault;

const BEGIN: &str = "begin";
const COMMIT: &str = "commit";

fn statement_name(place: usize) -> String {
    format!("s{place}")
}

/// What every connection sends first: who it is, and the statements to prepare.
pub fn greetings(config: &Config, texts: &[&str]) -> Result<Vec<Vec<u8>>, Fault> {
    let mut startup = BytesMut::new();
    let (user, name) = (config.get_user().unwrap_or_default(), config.get_dbname().unwrap_or_default());
    frontend::startup_message([("user", user), ("database", name), ("options", SETTINGS)], &mut startup)
        .map_err(unwritable())?;
    let mut preparing = BytesMut::new();
    let named = texts.iter().enumerate().map(|(place, text)| (statement_name(place), *text));
    let transaction = [(BEGIN, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"), (COMMIT, "COMMIT")];
    let transaction = transaction.map(|(name, text)| (name.to_owned(), text));
    for (name, text) in named.chain(transaction) {
        frontend::parse(&name, text, [], &mut preparing).map_err(unwritable())?;
    }
    frontend::sync(&mut preparing);
    Ok(vec![startup.to_vec(), preparing.to_vec()])
}

/// The messages that run a plan: its statements with all their keys, in a transaction where there are several.
pub async fn pipeline(client: &Client, statements: &[Statement], plan: &Plan) -> Result<Vec<u8>, Fault> {
    let is_transaction = plan.steps().len() > 1;
    let mut out = BytesMut::new();
    if is_transaction {
        execute(BEGIN, &[], &[], &mut out)?;
    }
    let mut fetched: Vec<Vec<Row>> = Vec::new();
    for (place, (step, statement)) in plan.steps().iter().zip(statements).enumerate() {
        let values = plan.parameters(place).map(|parameter| sent(parameter, step, &fetched));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        execute(&statement_name(place), &values, statement.params(), &mut out)?;
        let is_parent =
            plan.steps().iter().any(|child| matches!(&child.parents, Parents::Rows { step, .. } if *step == place));
        let rows = if is_parent {
            let values: Vec<_> = values.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
            page(step, plan.size(place), client.query(statement, &values).await?)?
        } else {
            Vec::new()
        };
        fetched.push(rows);
    }
    if is_transaction {
        execute(COMMIT, &[], &[], &mut out)?;
    }
    frontend::sync(&mut out);
    Ok(out.to_vec())
}

/// The messages that run one statement; its answer is wanted in binary.
fn execute(name: &str, values: &[Sent<'_>], types: &[Type], out: &mut BytesMut) -> Result<(), Fault> {
    let serialize = |(value, ty): (&Sent<'_>, &Type), out: &mut BytesMut| {
        value.to_sql_checked(ty, out).map(|is_null| match is_null {
            tokio_postgres::types::IsNull::Yes => postgres_protocol::IsNull::Yes,
            tokio_postgres::types::IsNull::No => postgres_protocol::IsNull::No,
        })
    };
    frontend::bind("", name, [1], values.iter().zip(types), serialize, [1], out).map_err(|error| match error {
        frontend::BindError::Conversion(error) => Fault::Data(error.to_string()),
        frontend::BindError::Serialization(error) => unwritable()(error),
    })?;
    frontend::execute("", 0, out).map_err(unwritable())
}

fn sent<'a>(parameter: Parameter<'a>, step: &Step, fetched: &'a [Vec<Row>]) -> Result<Sent<'a>, Fault> {
    Ok(match parameter {
        Parameter::Value(value) => Sent::Value(value),
        Parameter::Values(values) => Sent::values(values),
        Parameter::Limit(rows) => Sent::Limit(rows),
        Parameter::ParentKeys(place) => {
            let Parents::Rows { step, columns } = &step.parents else { return Err(misshapen()) };
            let column = *columns.get(place).ok_or_else(misshapen)?;
            let raw = |row: &'a Row| row.try_get::<_, Option<Raw<'a>>>(column);
            Sent::Raw(fetched[*step].iter().map(raw).collect::<Result<_, _>>()?)
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

fn unwritable() -> impl FnOnce(io::Error) -> Fault {
    Fault::system("a message to PostgreSQL cannot be written")
}

/// What the plan holds is not what is read here.
pub fn misshapen() -> Fault {
    Fault::Data("the plan has another shape than is known here".to_owned())
}
