//! Changes that owners make to their tables while the server runs. Requests are sent before, during and after each, and again once it is
//! undone.
//!
//! A request is answered as before. Where the change makes a difference, it is answered as by a server that starts after the change. Only
//! where the schema does not fit the tables any more, it may get `SCHEMA_CHANGED`, or `UNREPRESENTABLE_VALUE` for a label that the schema file
//! lacks.

mod changes;
mod served;
mod served_again;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::Value;
use tokio_postgres::error::SqlState;

use crate::database::ddl::changes::{Change, QUERIES, SCHEMA, TABLES};
use crate::database::ddl::served::{Served, changed};
use crate::own_schemas::OwnSchema;

/// What the requests were answered that were sent all the time, with the number of each.
type Seen = BTreeSet<(usize, String)>;

/// Sends requests until it is told to stop.
fn send_all_the_time(served: &Arc<Served>, is_over: &Arc<AtomicBool>) -> thread::JoinHandle<Seen> {
    let (served, is_over) = (Arc::clone(served), Arc::clone(is_over));
    thread::spawn(move || {
        let mut seen = Seen::new();
        while !is_over.load(Ordering::Relaxed) {
            for (number, query) in QUERIES.iter().enumerate() {
                seen.insert((number, served.answer(query).to_string()));
            }
        }
        seen
    })
}

/// Makes each change, and undoes it.
async fn make(name: &str, changes: &'static str) {
    let own = OwnSchema::create(&format!("ddl-{name}"), TABLES, SCHEMA).await;
    assert_eq!(own.check(), "");
    let served = Arc::new(Served::start(&own, None));
    let first = served.answers();
    let is_rows = |data: &Value| data.as_object().is_some_and(|data| data.values().all(|field| !field.is_null()));
    for (query, data) in QUERIES.iter().zip(&first) {
        assert!(is_rows(data), "{query}: {data}");
    }
    let mut wrong = Vec::new();
    for Change { what, ddl, undo } in Change::read(changes) {
        let is_over = Arc::default();
        let sent = send_all_the_time(&served, &is_over);
        execute(&own, what, ddl).await;
        // Most changes are seen by nobody.
        let after = if what.ends_with("(answers differ)") {
            Served::start(&own, Some(served.token.clone())).answers()
        } else {
            first.clone()
        };
        let fits = OnceCell::new();
        let answers = served.answers();
        for (number, answer) in answers.iter().enumerate().filter(|(number, answer)| **answer != after[*number]) {
            let is_refused = *answer == changed() || *answer == "UNREPRESENTABLE_VALUE";
            if !is_refused || *fits.get_or_init(|| own.check().is_empty()) {
                wrong.push(format!("{what}: {}: {answer} instead of {}", QUERIES[number], after[number]));
            }
        }
        execute(&own, what, undo).await;
        let healed = served.answers();
        is_over.store(true, Ordering::Relaxed);
        for (number, answer) in sent.join().unwrap() {
            let known = [&first[number], &answers[number], &changed()].map(ToString::to_string);
            if !known.contains(&answer) {
                wrong.push(format!("{what}: {}: meanwhile {answer}", QUERIES[number]));
            }
        }
        for (number, answer) in healed.iter().enumerate().filter(|(number, answer)| **answer != first[*number]) {
            wrong.push(format!("{what}, undone: {}: {answer} instead of {}", QUERIES[number], first[number]));
        }
    }
    let log = Arc::into_inner(served).unwrap().server.stop();
    assert!(wrong.is_empty(), "{}\n{log}", wrong.join("\n"));
}

async fn execute(own: &OwnSchema, what: &str, ddl: &str) {
    // Some may not run in a transaction, which several statements are. A deadlock with a request is PostgreSQL's to end, whichever it ends.
    loop {
        match own.client.batch_execute(ddl).await {
            Err(error) if error.code() == Some(&SqlState::T_R_DEADLOCK_DETECTED) => {}
            done => return done.unwrap_or_else(|error| panic!("{what}: {error:?}: {ddl}")),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn types_are_changed_beside_requests() {
    make("types", include_str!("ddl/types.sql")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_are_changed_beside_requests() {
    make("columns", include_str!("ddl/columns.sql")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn relations_are_changed_beside_requests() {
    make("relations", include_str!("ddl/relations.sql")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_indexes_and_the_rest_are_changed_beside_requests() {
    make("keys", include_str!("ddl/keys_and_the_rest.sql")).await;
}
