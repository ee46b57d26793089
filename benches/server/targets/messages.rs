//! The messages of PostgreSQL's protocol that run the statement of a plan.

use std::io;

use bytes::BytesMut;
use orderql::database::connection::session::reader_settings;
use orderql::database::parameter::BinaryParameter;
use orderql::plan::request_plan::Plan;
use postgres_protocol::message::frontend;
use tokio_postgres::types::{IsNull, ToSql, Type};
use tokio_postgres::{Config, Statement};

use crate::error::{BenchError, Result};
use crate::plan_parameters::parameters;

/// The name of the prepared statement.
const STATEMENT: &str = "s";

/// The messages that open a session: the startup message, then the one that prepares the statement.
pub fn session(config: &Config, sql: &str) -> Result<Vec<Vec<u8>>> {
    let mut startup = BytesMut::new();
    let (user, name) = (config.get_user().unwrap_or_default(), config.get_dbname().unwrap_or_default());
    frontend::startup_message([("user", user), ("database", name), ("options", &reader_settings(""))], &mut startup)
        .map_err(encoding())?;
    let mut prepare = BytesMut::new();
    frontend::parse(STATEMENT, sql, [], &mut prepare).map_err(encoding())?;
    frontend::sync(&mut prepare);
    Ok(vec![startup.to_vec(), prepare.to_vec()])
}

/// The messages that run the statement of a plan and get its result in binary.
pub fn execution(statement: &Statement, plan: &Plan) -> Result<Vec<u8>> {
    let parameters = parameters(plan);
    let serialize = |(parameter, ty): (&BinaryParameter<'_>, &Type), out: &mut BytesMut| {
        parameter.to_sql_checked(ty, out).map(|is_null| match is_null {
            IsNull::Yes => postgres_protocol::IsNull::Yes,
            IsNull::No => postgres_protocol::IsNull::No,
        })
    };
    let mut out = BytesMut::new();
    let values = parameters.iter().zip(statement.params());
    frontend::bind("", STATEMENT, [1], values, serialize, [1], &mut out).map_err(|error| match error {
        frontend::BindError::Conversion(_) => BenchError::Plan,
        frontend::BindError::Serialization(error) => encoding()(error),
    })?;
    frontend::execute("", 0, &mut out).map_err(encoding())?;
    frontend::sync(&mut out);
    Ok(out.to_vec())
}

fn encoding() -> impl FnOnce(io::Error) -> BenchError {
    BenchError::io("encode a message to PostgreSQL")
}
