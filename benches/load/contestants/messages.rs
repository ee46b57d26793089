//! The messages of PostgreSQL's protocol that run a plan in one pipeline.

use std::io;

use bytes::BytesMut;
use orderql::database::parameter::SqlParam;
use orderql::database::session::reader_settings;
use orderql::plan::request_plan::Plan;
use postgres_protocol::message::frontend;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Row, Statement};

use crate::measure::Fault;
use crate::measure::steps::{rows, values};

const BEGIN: &str = "begin";
const COMMIT: &str = "commit";

fn statement_name(place: usize) -> String {
    format!("s{place}")
}

/// What every connection sends first: who it is, and the statements to prepare.
pub fn greetings(config: &Config, texts: &[&str]) -> Result<Vec<Vec<u8>>, Fault> {
    let mut startup = BytesMut::new();
    let (user, name) = (config.get_user().unwrap_or_default(), config.get_dbname().unwrap_or_default());
    frontend::startup_message([("user", user), ("database", name), ("options", &reader_settings(""))], &mut startup)
        .map_err(unwritable())?;
    let mut preparing = BytesMut::new();
    let named = texts.iter().enumerate().map(|(place, text)| (statement_name(place), *text));
    let transaction = [(BEGIN, "BEGIN"), (COMMIT, "COMMIT")];
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
    for (place, statement) in statements.iter().enumerate() {
        let values = values(plan, place, &fetched)?;
        execute(&statement_name(place), &values, statement.params(), &mut out)?;
        let rows = rows(client, plan, place, statement, &values).await?;
        fetched.push(rows);
    }
    if is_transaction {
        execute(COMMIT, &[], &[], &mut out)?;
    }
    frontend::sync(&mut out);
    Ok(out.to_vec())
}

/// The messages that run one statement; its answer is wanted in binary.
fn execute(name: &str, values: &[SqlParam<'_>], types: &[Type], out: &mut BytesMut) -> Result<(), Fault> {
    let serialize = |(value, ty): (&SqlParam<'_>, &Type), out: &mut BytesMut| {
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

fn unwritable() -> impl FnOnce(io::Error) -> Fault {
    Fault::system("a message to PostgreSQL cannot be written")
}
