//! How well the cost of random queries predicts the CPU time that they take.

use orderql::catalog::Catalog;

use super::cpu::{Meter, ONE_CONNECTION};
use super::report::{self, GOAL, Outlier, Prediction};
use super::rows::Rows;
use super::{explain, queries};
use crate::client::Connection;
use crate::database::{Database, UNLIMITED_USER};
use crate::error::Result;
use crate::orderql::{sign_in, start};

/// Measures `count` random queries in so many rounds.
pub fn measure(
    database: &Database,
    server_flags: &[String],
    count: usize,
    rounds: usize,
    seed: u64,
) -> Result<Prediction> {
    let client = database.connect()?;
    let catalog = Catalog::built_in()?;

    eprintln!("choosing rows");
    let rows = database.block_on(Rows::choose(&client, &catalog, seed))?;
    let queries = queries::generate(&catalog, &rows, count, seed)?;
    let mut flags = server_flags.to_vec();
    flags.push(ONE_CONNECTION.to_owned());
    let server = start(database, &flags)?;
    let mut meter = Meter {
        connection: Connection::open("orderql", server.address)?,
        bearer: sign_in(&server, UNLIMITED_USER)?,
        server: server.id(),
        postmaster: database.postmaster,
    };
    eprintln!("measuring {} queries in {rounds} rounds", queries.len());
    let texts: Vec<_> = queries.iter().map(|query| query.text.as_str()).collect();
    let measured = meter.measure(&texts, rounds, seed)?;

    let points = report::points(&queries, &measured);
    let explain = |index: usize| {
        let statement = database.block_on(explain::explain(&client, &queries[index].explained.plan))?;
        Ok(Outlier { query: index, statement })
    };
    let outliers = report::outliers(&points).into_iter().map(explain).collect::<Result<_>>()?;
    let underpriced = report::underpriced(&points).into_iter().map(explain).collect::<Result<_>>()?;
    let correlations = report::correlations(&points);
    Ok(Prediction {
        goal: GOAL,
        is_met: correlations.first().is_some_and(|first| first.spearman >= GOAL),
        correlations,
        queries: points,
        outliers,
        underpriced,
    })
}
