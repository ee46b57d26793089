//! The messages of PostgreSQL's protocol that run a plan in one pipeline.

use std::io;

use bytes::BytesMut;
use orderql::database::parameter::SqlParam;
use orderql::database::session::reader_settings;
use orderql::plan::request_plan::Plan;
use postgres_protocol::message::frontend;
use tokio_postgres::types::{IsNull, ToSql, Type};
use tokio_postgres::{Client, Config, Statement};

use crate::error::{BenchError, Result};
use crate::plan_steps::{parameters, rows};

const BEGIN: &str = "begin";
const COMMIT: &str = "commit";

fn statement_name(step: usize) -> String {
    format!("s{step}")
}

/// The messages that open a session: the startup message, then the statements to prepare.
pub fn session(config: &Config, texts: &[&str]) -> Result<Vec<Vec<u8>>> {
    let mut startup = BytesMut::new();
    let (user, name) = (config.get_user().unwrap_or_default(), config.get_dbname().unwrap_or_default());
    frontend::startup_message([("user", user), ("database", name), ("options", &reader_settings(""))], &mut startup)
        .map_err(encoding())?;
    let mut prepare = BytesMut::new();
    for (step, text) in texts.iter().enumerate() {
        frontend::parse(&statement_name(step), text, [], &mut prepare).map_err(encoding())?;
    }
    for (name, text) in [(BEGIN, "BEGIN"), (COMMIT, "COMMIT")] {
        frontend::parse(name, text, [], &mut prepare).map_err(encoding())?;
    }
    frontend::sync(&mut prepare);
    Ok(vec![startup.to_vec(), prepare.to_vec()])
}

/// The messages that run a plan: its statements with all their keys, in a transaction if there are several.
pub async fn pipeline(client: &Client, statements: &[Statement], plan: &Plan) -> Result<Vec<u8>> {
    let is_transaction = plan.steps().len() > 1;
    let mut out = BytesMut::new();
    if is_transaction {
        execute(BEGIN, &[], &[], &mut out)?;
    }
    let mut fetched = Vec::new();
    for (step, statement) in statements.iter().enumerate() {
        let parameters = parameters(plan, step, &fetched)?;
        execute(&statement_name(step), &parameters, statement.params(), &mut out)?;
        let rows = rows(client, plan, step, statement, &parameters).await?;
        fetched.push(rows);
    }
    if is_transaction {
        execute(COMMIT, &[], &[], &mut out)?;
    }
    frontend::sync(&mut out);
    Ok(out.to_vec())
}

/// The messages that run one statement and get its result in binary.
fn execute(name: &str, parameters: &[SqlParam<'_>], types: &[Type], out: &mut BytesMut) -> Result<()> {
    let serialize = |(parameter, ty): (&SqlParam<'_>, &Type), out: &mut BytesMut| {
        parameter.to_sql_checked(ty, out).map(|is_null| match is_null {
            IsNull::Yes => postgres_protocol::IsNull::Yes,
            IsNull::No => postgres_protocol::IsNull::No,
        })
    };
    frontend::bind("", name, [1], parameters.iter().zip(types), serialize, [1], out).map_err(|error| match error {
        frontend::BindError::Conversion(_) => BenchError::Plan,
        frontend::BindError::Serialization(error) => encoding()(error),
    })?;
    frontend::execute("", 0, out).map_err(encoding())
}

fn encoding() -> impl FnOnce(io::Error) -> BenchError {
    BenchError::io("encode a message to PostgreSQL")
}
