//! Whether an index returns a relation's rows in an order, where the indexes of the relation itself do not tell: of views, partitioned
//! tables, and indexes of expressions. PostgreSQL's planner decides: with sorting disabled, it sorts only if no index helps.
//!
//! The statement to be planned scans the whole relation, `ORDER BY` the columns that are compared for equality and then the
//! columns of the order. With a comparison instead, the planner could choose another index and filter. An order leaves no choice:
//! either an index begins with these columns, or PostgreSQL sorts, whether the tables are empty or full.
//!
//! This check misses one case: a table that a view joins by a column that is second in its index. PostgreSQL uses such
//! an index, but more slowly than one that begins with the column.

use std::collections::{HashMap, HashSet};
use std::fmt;

use futures_util::future::try_join_all;
use serde_json::Value;
use tokio_postgres::{Client, Error, SimpleQueryMessage};

use crate::plan::sql::{Alias, ColumnOf, Condition, List, Relation, Where, direction};
use crate::relations::row_order::RowOrder;

/// Disables everything but nested loops over index scans. `search_path` is the same as in the pool's connections.
const ONLY_INDEX_SCANS: &str = "
    BEGIN READ ONLY;
    SET LOCAL search_path TO public;
    SET LOCAL enable_seqscan TO off;
    SET LOCAL enable_bitmapscan TO off;
    SET LOCAL enable_sort TO off;
    SET LOCAL enable_incremental_sort TO off;
    SET LOCAL enable_hashjoin TO off;
    SET LOCAL enable_mergejoin TO off;
    SET LOCAL enable_hashagg TO off;
    SET LOCAL max_parallel_workers_per_gather TO 0;
    SAVEPOINT asked";

/// The most columns compared for equality that are tried in all permutations: 24 statements.
const MAX_PERMUTED: usize = 4;

/// How the planner would execute a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ScanPlan {
    /// An index returns the rows in order.
    Indexed,
    /// PostgreSQL would sort the rows, or scan a whole table.
    Unindexed,
    /// PostgreSQL fails to plan the scan: its message.
    Failed(String),
}

/// The orders that indexes have.
pub(crate) async fn indexed<'o>(client: &Client, orders: Vec<RowOrder<'o>>) -> Result<Vec<RowOrder<'o>>, Error> {
    let plans = explain(client, &orders.iter().collect::<Vec<_>>()).await?;
    Ok(orders.into_iter().zip(plans).filter(|(_, plan)| *plan == ScanPlan::Indexed).map(|(order, _)| order).collect())
}

/// Explains all scans. The plans are in the order of the scans.
pub(crate) async fn explain(client: &Client, scans: &[&RowOrder<'_>]) -> Result<Vec<ScanPlan>, Error> {
    let texts: Vec<Vec<Statement>> = scans.iter().map(|scan| statements(scan)).collect();
    let plans = explain_all(client, texts.iter().flatten().collect()).await?;
    let best = |texts: &Vec<Statement>| {
        let mut plans = texts.iter().filter_map(|text| plans.get(text));
        let first = plans.next().cloned().unwrap_or(ScanPlan::Unindexed);
        if plans.any(|plan| *plan == ScanPlan::Indexed) { ScanPlan::Indexed } else { first }
    };
    Ok(texts.iter().map(best).collect())
}

/// A statement that scans a relation.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Statement {
    text: String,
    /// Whether it has only rows with a null in a column. An index of all rows would have to be read past the others.
    is_where_null: bool,
}

async fn explain_all<'t>(
    client: &Client,
    statements: HashSet<&'t Statement>,
) -> Result<HashMap<&'t Statement, ScanPlan>, Error> {
    client.batch_execute(ONLY_INDEX_SCANS).await?;
    let explained = statements.into_iter().map(async |one| Ok::<_, Error>((one, explain_one(client, one).await?)));
    let explained = try_join_all(explained).await;
    client.batch_execute("ROLLBACK").await?;
    Ok(explained?.into_iter().collect())
}

async fn explain_one(client: &Client, Statement { text, is_where_null }: &Statement) -> Result<ScanPlan, Error> {
    // The rollback undoes a failure of the previous statement, so that the statements can be pipelined.
    let explained = format!("ROLLBACK TO SAVEPOINT asked; EXPLAIN (COSTS OFF, FORMAT JSON) {text}");
    let messages = match client.simple_query(&explained).await {
        Ok(messages) => messages,
        Err(error) => {
            let failure = error.as_db_error().map(|error| ScanPlan::Failed(error.message().to_owned()));
            return failure.ok_or(error);
        }
    };
    let plan = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => serde_json::from_str(row.try_get(0).ok()??).ok(),
        _ => None,
    });
    let is_indexed = plan.as_ref().is_some_and(|plan: &Value| uses_only_indexes(&plan[0]["Plan"], *is_where_null));
    Ok(if is_indexed { ScanPlan::Indexed } else { ScanPlan::Unindexed })
}

/// Whether a plan, from this node down, scans indexes only and keeps their order; if its rows have a null in a column, whether the indexes have
/// no others.
fn uses_only_indexes(node: &Value, is_where_null: bool) -> bool {
    let node_type = node["Node Type"].as_str();
    let sorts_or_scans_tables = matches!(node_type, None | Some("Sort" | "Incremental Sort" | "Seq Scan"));
    let reads_others = is_where_null && node["Filter"].as_str().is_some_and(|filter| filter.contains(" IS NULL"));
    let parts = || node["Plans"].as_array().into_iter().flatten();
    !sorts_or_scans_tables && !reads_others && parts().all(|part| uses_only_indexes(part, is_where_null))
}

/// The statements for a scan, one for each permutation of its columns of equality. One of them must be indexed.
fn statements(scan: &RowOrder<'_>) -> Vec<Statement> {
    let texts = permutations(&scan.equal).into_iter().map(|equal| statement(scan, &equal));
    texts.map(|text| Statement { text, is_where_null: scan.where_null.is_some() }).collect()
}

/// The statement that scans a relation in the order of columns that are compared for equality, then of others.
fn statement(
    RowOrder { relation, order, where_null, is_first_descending, .. }: &RowOrder<'_>,
    equal: &[&str],
) -> String {
    // A column that equals something is not null. With this condition, PostgreSQL can simplify outer joins.
    let mut conditions: Vec<_> = equal.iter().map(|column| Condition::IsNotNull(base(column))).collect();
    conditions.extend(where_null.map(|column| Condition::IsNull(base(column))));
    let columns = equal.iter().chain(order).enumerate();
    let order = List(columns.map(|(index, column)| {
        let direction = direction(!(*is_first_descending && index == 0));
        fmt::from_fn(move |f| write!(f, "{}{direction}", base(column)))
    }));
    let (relation, conditions) = (Relation(relation), Where(conditions.iter()));
    format!("SELECT NULL FROM {relation} AS {}{conditions}\nORDER BY {order}", Alias::Base)
}

fn base(column: &str) -> ColumnOf<'_> {
    ColumnOf(Alias::Base, column)
}

/// Every permutation of a few columns, the given one first; of more than [`MAX_PERMUTED`] columns only the given one.
fn permutations<'a>(columns: &[&'a str]) -> Vec<Vec<&'a str>> {
    if columns.len() > MAX_PERMUTED {
        return vec![columns.to_vec()];
    }
    let Some((last, others)) = columns.split_last() else { return vec![Vec::new()] };
    let insert = |others: Vec<&'a str>| {
        (0..=others.len()).rev().map(move |index| {
            let mut all = others.clone();
            all.insert(index, *last);
            all
        })
    };
    permutations(others).into_iter().flat_map(insert).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutes_few_columns_beginning_with_the_given_order() {
        assert_eq!(permutations(&[]), [Vec::<&str>::new()]);
        assert_eq!(permutations(&["a", "b"]), [["a", "b"], ["b", "a"]]);
        assert_eq!(permutations(&["a", "b", "c"]).len(), 6);
        assert_eq!(permutations(&["a", "b", "c"])[0], ["a", "b", "c"]);
        assert_eq!(permutations(&["a", "b", "c", "d", "e"]).len(), 1);
    }
}
