//! Groups of records into the database, within one transaction a file.
//!
//! A group goes as one statement under a savepoint. If PostgreSQL refuses it, its halves go instead, and so on, so that a
//! bad record costs no other.

use std::collections::HashMap;
use std::ops::Range;

use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Statement, Transaction};

use crate::load::mapping::BadRow;
use crate::load::queue::{Group, Shape};
use crate::load::read::Action;
use crate::load::report::FileReport;
use crate::load::statement::{BEFORE, statement};
use crate::load::tables::Tables;

/// Every statement finds some thousand rows at most by their keys. Left to itself, PostgreSQL reads a table of some tens
/// of thousands whole for each of them, and so takes ever longer as a file goes on. One time zone, as rows' old selves
/// are compared as text.
const SETTINGS: &str = "SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; \
    SET LOCAL enable_mergejoin = off; SET LOCAL timezone = 'UTC'";
/// Prepared statements kept; a file with more shapes than this prepares some again.
const MOST_STATEMENTS: usize = 500;

/// Writes the records of one file.
pub struct Writer<'a> {
    transaction: Transaction<'a>,
    tables: &'a Tables,
    statements: HashMap<Shape, Statement>,
}

/// What became of a statement's rows.
struct Written {
    inserted: u64,
    changed: u64,
}

impl<'a> Writer<'a> {
    /// Readies a transaction for the statements of [`statement`].
    pub async fn new(transaction: Transaction<'a>, tables: &'a Tables) -> Result<Self, Error> {
        transaction.batch_execute(SETTINGS).await?;
        transaction.batch_execute(BEFORE).await?;
        Ok(Self { transaction, tables, statements: HashMap::new() })
    }

    /// Sends groups in their order. `entities` names each table's entity for the report.
    pub async fn write(
        &mut self,
        groups: Vec<Group>,
        entities: &HashMap<usize, String>,
        report: &mut FileReport,
    ) -> Result<(), Error> {
        for group in groups {
            let entity = entities.get(&group.shape.table).map_or("", String::as_str);
            for (at, reason) in self.write_group(&group, entity, report).await? {
                report.refuse(group.records[at].0, entity, reason);
            }
        }
        Ok(())
    }

    /// Sends a group, halving it where it is refused, down to the records that are. One of these may refer to a record
    /// that stands behind it in the group: they are tried again for as long as that lands any, so that whether a
    /// record lands does not hang on what else is in its statement.
    async fn write_group(
        &mut self,
        group: &Group,
        entity: &str,
        report: &mut FileReport,
    ) -> Result<Vec<(usize, BadRow)>, Error> {
        let mut refused = Vec::new();
        let whole = 0..group.records.len();
        let mut untried = vec![whole];
        while let Some(some) = untried.pop() {
            if let Err(reason) = self.attempt(group, some.clone(), entity, report).await? {
                if some.len() == 1 {
                    refused.push((some.start, reason));
                } else {
                    let middle = some.start + some.len() / 2;
                    untried.extend([middle..some.end, some.start..middle]);
                }
            }
        }
        let mut landed = !refused.is_empty() && refused.len() < group.records.len();
        while landed {
            landed = false;
            let mut still = Vec::with_capacity(refused.len());
            for (at, _) in refused {
                match self.attempt(group, at..at + 1, entity, report).await? {
                    Ok(()) => landed = true,
                    Err(reason) => still.push((at, reason)),
                }
            }
            refused = still;
        }
        Ok(refused)
    }

    /// Makes the file's rows last.
    pub async fn commit(self) -> Result<(), Error> {
        self.transaction.commit().await
    }

    /// Takes the file's rows back.
    pub async fn rollback(self) -> Result<(), Error> {
        self.transaction.rollback().await
    }

    /// Sends some of a group's records, or, if PostgreSQL refuses one of them, none. Other trouble than with the
    /// records' content ends the load.
    async fn attempt(
        &mut self,
        group: &Group,
        some: Range<usize>,
        entity: &str,
        report: &mut FileReport,
    ) -> Result<Result<(), BadRow>, Error> {
        let statement = self.prepared(&group.shape).await?;
        let columns: Vec<Vec<Option<&str>>> = (0..group.shape.columns.len())
            .map(|column| group.records[some.clone()].iter().map(|(_, values)| values[column].as_deref()).collect())
            .collect();
        let parameters: Vec<&(dyn ToSql + Sync)> = columns.iter().map(|column| column as &(dyn ToSql + Sync)).collect();
        self.transaction.batch_execute("SAVEPOINT records").await?;
        let written = match self.transaction.query_one(&statement, &parameters).await {
            Ok(counts) => Written { inserted: count(&counts, 0)?, changed: count(&counts, 1)? },
            Err(error) => {
                let Some(reason) = refusal(&error) else { return Err(error) };
                self.transaction.batch_execute("ROLLBACK TO SAVEPOINT records; RELEASE SAVEPOINT records").await?;
                return Ok(Err(reason));
            }
        };
        self.transaction.batch_execute("RELEASE SAVEPOINT records").await?;
        let outcome = report.entities.entry(entity.to_owned()).or_default();
        outcome.inserted += written.inserted;
        if group.shape.action == Action::Delete {
            outcome.deleted += written.changed;
        } else {
            outcome.updated += written.changed;
        }
        outcome.unchanged += (some.len() as u64).saturating_sub(written.inserted + written.changed);
        Ok(Ok(()))
    }

    async fn prepared(&mut self, shape: &Shape) -> Result<Statement, Error> {
        if let Some(known) = self.statements.get(shape) {
            return Ok(known.clone());
        }
        if self.statements.len() >= MOST_STATEMENTS {
            self.statements.clear();
        }
        let prepared = self.transaction.prepare(&statement(self.tables.get(shape.table), shape)).await?;
        self.statements.insert(shape.clone(), prepared.clone());
        Ok(prepared)
    }
}

fn count(row: &tokio_postgres::Row, at: usize) -> Result<u64, Error> {
    Ok(u64::try_from(row.try_get::<_, i64>(at)?).unwrap_or_default())
}

/// The refusal of a record, if that is what `error` is: data that its type cannot hold (class 22), a broken constraint
/// (23), or an objection of the database's own code (P0).
fn refusal(error: &Error) -> Option<BadRow> {
    let error = error.as_db_error()?;
    let code = error.code().code();
    ["22", "23", "P0"].contains(&code.get(..2)?).then(|| {
        let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
        BadRow::Refused { message: format!("{}{detail}", error.message()), code: code.to_owned() }
    })
}
