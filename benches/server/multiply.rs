//! A copy of the database in which the searched tables have several times as many rows.

use std::io::Write as _;
use std::process::Stdio;

use crate::database::Database;
use crate::error::{BenchError, Result};

/// Multiplies the rows; psql applies it, because it commits table by table and reports its progress.
const MULTIPLY: &str = include_str!("../sql/multiply.sql");

/// The name that a copy has until it is complete.
const UNFINISHED: &str = "unfinished_copy";

impl Database {
    /// Turns to the copy with `times` the rows, and makes it if it does not exist. No connection to the database may be open.
    pub fn multiply(&mut self, times: u16) -> Result<()> {
        let original = self.name().to_owned();
        let copy = format!("{original}_x{times}");
        let copies = "SELECT FROM pg_database WHERE datname = $1";
        let admin = self.block_on(self.connect_to("postgres"))?;
        if self.block_on(admin.query_opt(copies, &[&copy]))?.is_none() {
            eprintln!("copying the database, to multiply its rows by {times}");
            self.block_on(async {
                let address = self.address();
                address.drop_database(UNFINISHED).await?;
                address.create_database(UNFINISHED, Some(&original)).await
            })?;
            self.config.dbname(UNFINISHED);
            self.apply(times)?;
            self.block_on(admin.batch_execute(&format!("ALTER DATABASE {UNFINISHED} RENAME TO {copy}")))?;
        }
        self.config.dbname(&copy);
        Ok(())
    }

    fn apply(&self, times: u16) -> Result<()> {
        let mut command = self.client_program("psql");
        command.args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1"]);
        command.env("PGOPTIONS", format!("-c bench.times={times}")).stdin(Stdio::piped());
        let mut psql = command.spawn().map_err(BenchError::io("start psql"))?;
        if let Some(mut stdin) = psql.stdin.take() {
            stdin.write_all(MULTIPLY.as_bytes()).map_err(BenchError::io("write to psql"))?;
        }
        if psql.wait().map_err(BenchError::io("wait for psql"))?.success() {
            return Ok(());
        }
        Err(BenchError::Program { program: "psql".to_owned(), output: "see above".to_owned() })
    }
}
