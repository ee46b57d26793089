//! The part that commands for callers share: the database, the operator's name, and reading a new password.

use std::io::{self, BufRead, IsTerminal};
use std::{env, fs};

use crate::access::manage::operator::Operator;
use crate::cli::database::connect;
use crate::cli::database_flags::DatabaseFlags;
use crate::cli::outcome::Outcome;

/// The longest line that is read as a password, in bytes.
const LONGEST_LINE: u64 = 8 * 1024;

/// The database, and the form of the output.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct AdminArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseFlags,

    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// Why a command cannot start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// The two passwords that were typed differ.
    #[error("the passwords differ")]
    PasswordsDiffer,
    /// Standard input cannot be read, or is not text.
    #[error("the password could not be read")]
    Unreadable(#[from] io::Error),
    /// Standard input is empty.
    #[error("no password came: type one at a terminal, or send one line on standard input")]
    NoPassword,
}

impl AdminArgs {
    /// Connects to the database and calls `work`.
    pub(crate) fn run(&self, work: impl AsyncFnOnce(&mut Operator) -> Outcome) -> Outcome {
        let database = self.database.address()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async { work(&mut Operator { client: connect(&database).await?, name: operator() }).await })
    }
}

/// The user who runs the command: by the environment, or as the system knows the process's user. Not verified: a user with access
/// to the database could write any name.
pub(crate) fn operator() -> String {
    let mut names = ["SUDO_USER", "USER", "LOGNAME"].iter().filter_map(|variable| env::var(variable).ok());
    let name = names.find(|name| !name.is_empty()).unwrap_or_else(|| {
        let uid = rustix::process::getuid().as_raw();
        name_of(uid).unwrap_or_else(|| format!("uid {uid}"))
    });
    format!("cli:{name}")
}

/// The name of a user of the system.
fn name_of(uid: u32) -> Option<String> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    users.lines().find_map(|user| {
        let mut columns = user.split(':');
        let (name, _password, id) = (columns.next()?, columns.next()?, columns.next()?);
        (id.parse() == Ok(uid)).then(|| name.to_owned())
    })
}

/// Reads a new password: twice from a terminal, without echo, or else the first line of standard input. It is never an
/// argument, because other users of the system could see it.
pub(crate) fn new_password() -> Result<String, StartError> {
    if io::stdin().is_terminal() {
        let password = rpassword::prompt_password("Password: ")?;
        if rpassword::prompt_password("The same again: ")? != password {
            return Err(StartError::PasswordsDiffer);
        }
        return Ok(password);
    }
    password()
}

/// Reads a password: from a terminal, without echo, or else the next line of standard input.
pub(crate) fn password() -> Result<String, StartError> {
    if io::stdin().is_terminal() {
        return Ok(rpassword::prompt_password("Password: ")?);
    }
    let mut line = String::new();
    let mut input = io::Read::take(io::stdin().lock(), LONGEST_LINE);
    if input.read_line(&mut line)? == 0 {
        return Err(StartError::NoPassword);
    }
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
