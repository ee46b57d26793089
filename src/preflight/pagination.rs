//! Whether an index gives a relation's rows in an order. PostgreSQL's planner knows, for views as for tables, and whatever
//! the index is made of: with sorting switched off, it sorts only where no index helps.
//!
//! The question is put as a walk over the whole relation, `ORDER BY` the columns held equal and then those of the order,
//! since a comparison would leave the planner a choice: to walk some other index and filter. An order has none: either
//! an index begins with these columns, or rows are sorted, on empty tables and full ones alike.
//!
//! What this does not see: a table that a view joins by a column that stands second in its index, which is searched, but
//! not as quickly as it could be.

use std::collections::{HashMap, HashSet};

use futures_util::future::try_join_all;
use serde_json::Value;
use tokio_postgres::{Client, Error, SimpleQueryMessage};

use crate::plan::sql::{Alias, ColumnOf, Condition, List, Relation, Where};
use crate::preflight::requirements::Pagination;

/// Loops over indexes are left as the only way without a penalty. `search_path` is that of the pool's connections.
const ONLY_INDEXES: &str = "
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

/// The most columns held equal of which every order is tried: 24 statements.
const MOST_PERMUTED: usize = 4;

/// What the planner says about a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// An index gives the rows in order.
    Served,
    /// Rows would be sorted, or read whole.
    Unserved,
    /// It does not plan the statement at all: its message.
    Refused(String),
}

/// Asks about every walk at once; the verdicts come in the walks' order.
pub(super) async fn explain(client: &Client, walks: &[&Pagination<'_>]) -> Result<Vec<Verdict>, Error> {
    let texts: Vec<Vec<String>> = walks.iter().map(|walk| statements(walk)).collect();
    let distinct: HashSet<&str> = texts.iter().flatten().map(String::as_str).collect();
    client.batch_execute(ONLY_INDEXES).await?;
    let asked =
        try_join_all(distinct.into_iter().map(async |text| Ok::<_, Error>((text, ask(client, text).await?)))).await;
    client.batch_execute("ROLLBACK").await?;
    let verdicts: HashMap<&str, Verdict> = asked?.into_iter().collect();
    let best = |texts: &Vec<String>| {
        let mut verdicts = texts.iter().filter_map(|text| verdicts.get(text.as_str()));
        let first = verdicts.next().cloned().unwrap_or(Verdict::Unserved);
        if verdicts.any(|verdict| *verdict == Verdict::Served) { Verdict::Served } else { first }
    };
    Ok(texts.iter().map(best).collect())
}

async fn ask(client: &Client, text: &str) -> Result<Verdict, Error> {
    // Undoes whatever a statement before may have failed with, so that they can be sent in a row.
    let explained = format!("ROLLBACK TO SAVEPOINT asked; EXPLAIN (COSTS OFF, FORMAT JSON) {text}");
    let messages = match client.simple_query(&explained).await {
        Ok(messages) => messages,
        Err(error) => {
            let refusal = error.as_db_error().map(|refusal| Verdict::Refused(refusal.message().to_owned()));
            return refusal.ok_or(error);
        }
    };
    let plan = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => serde_json::from_str(row.try_get(0).ok()??).ok(),
        _ => None,
    });
    let is_served = plan.as_ref().is_some_and(|plan: &Value| is_walk(&plan[0]["Plan"]));
    Ok(if is_served { Verdict::Served } else { Verdict::Unserved })
}

/// Whether a plan, from this node down, reads indexes alone and in their own order.
fn is_walk(node: &Value) -> bool {
    let own = node["Node Type"].as_str();
    let is_detour = matches!(own, None | Some("Sort" | "Incremental Sort" | "Seq Scan"));
    !is_detour && node["Plans"].as_array().is_none_or(|nodes| nodes.iter().all(is_walk))
}

/// The walk as statements, any of which may be served.
fn statements(walk: &Pagination<'_>) -> Vec<String> {
    // What is held equal to something is not null: joins that this rules out need not be walked through.
    let present: Vec<_> = walk.equal.iter().map(|column| Condition::IsNotNull(base(column))).collect();
    let statement = |equal: Vec<&str>| {
        let order = List(equal.iter().chain(&walk.order).map(|column| base(column)));
        let (relation, conditions) = (Relation(walk.relation), Where(present.iter()));
        format!("SELECT NULL FROM {relation} AS {}{conditions}\nORDER BY {order}", Alias::Base)
    };
    permutations(&walk.equal).into_iter().map(statement).collect()
}

fn base(column: &str) -> ColumnOf<'_> {
    ColumnOf(Alias::Base, column)
}

/// Every order of a few things; of many the given one.
fn permutations<'a>(things: &[&'a str]) -> Vec<Vec<&'a str>> {
    if things.len() > MOST_PERMUTED {
        return vec![things.to_vec()];
    }
    let Some((last, others)) = things.split_last() else { return vec![Vec::new()] };
    let insert = |others: Vec<&'a str>| {
        (0..=others.len()).rev().map(move |place| {
            let mut all = others.clone();
            all.insert(place, *last);
            all
        })
    };
    permutations(others).into_iter().flat_map(insert).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_of_a_few_and_the_given_one_first() {
        assert_eq!(permutations(&[]), [Vec::<&str>::new()]);
        assert_eq!(permutations(&["a", "b"]), [["a", "b"], ["b", "a"]]);
        assert_eq!(permutations(&["a", "b", "c"]).len(), 6);
        assert_eq!(permutations(&["a", "b", "c"])[0], ["a", "b", "c"]);
        assert_eq!(permutations(&["a", "b", "c", "d", "e"]).len(), 1);
    }
}
