//! What the commands that rule callers share: the database, the operator's name, and how passwords are read.

use std::env;
use std::io::{self, BufRead, IsTerminal};

use tokio_postgres::{Client, Config};

use crate::access::manage::Operator;
use crate::cli::Outcome;
use crate::database::connect::connect;

/// The longest line that is read as a password, in bytes.
const LONGEST_LINE: u64 = 8 * 1024;

/// The database, and how to answer.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Common {
    /// The database: `postgresql://user:password@host/name`, or `host=… user=… dbname=…`
    #[arg(long, env = "ORDERQL_DATABASE_URL", hide_env_values = true, value_name = "URL", global = true)]
    database_url: Option<Config>,

    /// Answer in JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// Why a command cannot begin.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BeginError {
    /// No database was named.
    #[error("no database is named; give --database-url or ORDERQL_DATABASE_URL")]
    NoDatabase,
    /// The two passwords that were typed differ.
    #[error("the passwords differ")]
    Differ,
    /// Standard input ended, or is not text.
    #[error("the password could not be read")]
    Unread(#[from] io::Error),
    /// Standard input has no line.
    #[error("no password came: type one at a terminal, or send one line on standard input")]
    NoPassword,
}

impl Common {
    /// Connects and does the work.
    pub(crate) fn run(&self, work: impl AsyncFnOnce(&mut Client, &Operator) -> Outcome) -> Outcome {
        let config = self.database_url.as_ref().ok_or(BeginError::NoDatabase)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let mut client = connect(config).await?;
            work(&mut client, &operator()).await
        })
    }
}

/// Who runs the command, as the system's environment tells it; whoever has the database's password could write any name.
pub(crate) fn operator() -> Operator {
    let name = ["SUDO_USER", "USER", "LOGNAME"].iter().find_map(|variable| env::var(variable).ok());
    Operator { name: format!("cli:{}", name.as_deref().unwrap_or("unknown")) }
}

/// A new password: typed twice at a terminal, without echo; elsewhere the first line of standard input. Never an argument,
/// which other users of the system could see.
pub(crate) fn new_password() -> Result<String, BeginError> {
    if io::stdin().is_terminal() {
        let password = rpassword::prompt_password("Password: ")?;
        if rpassword::prompt_password("The same again: ")? != password {
            return Err(BeginError::Differ);
        }
        return Ok(password);
    }
    let mut line = String::new();
    let mut input = io::Read::take(io::stdin().lock(), LONGEST_LINE);
    if input.read_line(&mut line)? == 0 {
        return Err(BeginError::NoPassword);
    }
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
