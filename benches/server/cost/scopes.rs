//! The cost of scopes for PostgreSQL: pages of daily work by callers of some stores or facilities, as multiples of the same pages
//! by a caller who sees all.

use serde::Serialize;
use serde_json::json;

use super::cpu::{Measured, Meter, ONE_CONNECTION};
use crate::client::Connection;
use crate::database::{Database, UNLIMITED_USER};
use crate::error::{BenchError, Result};
use crate::orderql::{sign_in, start};
use crate::report::{self, Row};

/// The goal for the CPU time of a page among limited rows, as a multiple of that among all.
const GOAL: f64 = 1.3;

/// Two callers: one of three of twelve stores, and one of three facilities.
const CALLERS: [&str; 2] = ["bench-store", "bench-facility"];

/// Their groups, which have the grants of all others, and their values.
const GROUPS: &str = "
    INSERT INTO orderql.user_group (group_id) VALUES ('BENCH_STORE'), ('BENCH_FACILITY') ON CONFLICT DO NOTHING;
    INSERT INTO orderql.artifact_grant (group_id, artifact_group_id)
        SELECT name, artifact_group_id FROM orderql.artifact_grant, unnest('{BENCH_STORE, BENCH_FACILITY}'::text[]) AS name
        WHERE group_id = 'API' ON CONFLICT DO NOTHING;
    DELETE FROM orderql.group_scope WHERE starts_with(group_id, 'BENCH_');
    INSERT INTO orderql.group_scope (group_id, scope, value) VALUES
        ('BENCH_STORE', 'store', 'SS01'), ('BENCH_STORE', 'store', 'SS03'), ('BENCH_STORE', 'store', 'SS06'),
        ('BENCH_STORE', 'facility', '*'), ('BENCH_FACILITY', 'store', '*'), ('BENCH_FACILITY', 'facility', 'SF0010'),
        ('BENCH_FACILITY', 'facility', 'SF0011'), ('BENCH_FACILITY', 'facility', 'SF0012');
    DELETE FROM orderql.group_member WHERE user_id IN ('bench-store', 'bench-facility');
    INSERT INTO orderql.group_member (group_id, user_id)
        VALUES ('BENCH_STORE', 'bench-store'), ('BENCH_FACILITY', 'bench-facility');";

/// The pages of each caller.
const PAGES: [&[&str]; 2] = [
    &[
        "orders(first: 50) { edges { node { orderId orderDate statusId grandTotal } } }",
        "orders(first: 50, reverse: true) { edges { node { orderId orderDate statusId grandTotal } } }",
        "orders(first: 50, query: \"statusId:ORDER_APPROVED\") { edges { node { orderId orderDate grandTotal } } }",
        "orders(first: 50, query: \"statusId:ORDER_APPROVED,ORDER_HELD\") { edges { node { orderId orderDate } } }",
        "orders(first: 50, query: \"orderDate:>=2025-12-01\") { edges { node { orderId orderDate } } }",
        "orders(first: 50, query: \"productStoreId:SS03\") { edges { node { orderId orderDate } } }",
        "orders(first: 50, query: \"productStoreId:SS03 statusId:ORDER_APPROVED\") { edges { node { orderId } } }",
        "orders(first: 20) { edges { node { orderId orderItems(first: 10) { edges { node { productId quantity } } } } } }",
        "returns(first: 50) { edges { node { returnId statusId entryDate } } }",
        "returns(first: 50, query: \"statusId:RETURN_REQUESTED\") { edges { node { returnId entryDate } } }",
        "shipGroups(first: 50) { edges { node { orderId shipGroupSeqId facilityId } } }",
        "orderItems(first: 50) { edges { node { orderId orderItemSeqId productId quantity statusId } } }",
        "orderItems(first: 50, query: \"statusId:ITEM_APPROVED\") { edges { node { orderId productId quantity } } }",
        "shipments(first: 50) { edges { node { shipmentId statusId originFacilityId } } }",
        "shipments(first: 50, query: \"statusId:SHIPMENT_PACKED\") { edges { node { shipmentId originFacilityId } } }",
    ],
    &[
        "orderItems(first: 50) { edges { node { orderId orderItemSeqId productId quantity statusId } } }",
        "orderItems(first: 50, query: \"statusId:ITEM_APPROVED\") { edges { node { orderId productId quantity } } }",
        "orderItems(first: 50, query: \"facilityId:SF0010\") { edges { node { orderId productId quantity } } }",
        "orderItems(first: 50, query: \"facilityId:SF0010 statusId:ITEM_APPROVED\") { edges { node { orderId productId } } }",
        "shipGroups(first: 50) { edges { node { orderId shipGroupSeqId facilityId } } }",
        "shipGroups(first: 50, query: \"facilityId:SF0010 itemStatusId:ITEM_APPROVED\") { edges { node { orderId } } }",
        "shipments(first: 50) { edges { node { shipmentId statusId originFacilityId } } }",
        "shipments(first: 50, query: \"originFacilityId:SF0010\") { edges { node { shipmentId statusId } } }",
        "shipments(first: 50, query: \"originFacilityId:SF0010 statusId:SHIPMENT_PACKED\") { edges { node { shipmentId } } }",
        "orders(first: 50) { edges { node { orderId orderDate statusId grandTotal } } }",
        "orders(first: 20) { edges { node { orderId orderItems(first: 10) { edges { node { productId quantity } } } } } }",
        "inventoryLevels(first: 50, query: \"facilityId:SF0010\") { edges { node { productId availableToPromise } } }",
    ],
];

/// Everything that is written as JSON.
#[derive(Debug, Serialize)]
pub struct ScopesReport {
    goal: f64,
    is_met: bool,
    pages: Vec<ScopedPage>,
}

/// A page of a caller, and what it took PostgreSQL.
#[derive(Debug, Serialize)]
struct ScopedPage {
    caller: &'static str,
    query: &'static str,
    /// The costs of the rows that were returned, by a caller who sees all and by this one.
    plain_cost: u64,
    cost: u64,
    plain_ms: f64,
    ms: f64,
    ratio: f64,
}

/// Measures the pages in so many turns.
pub fn run(database: &Database, server_flags: &[String], turns: usize, seed: u64) -> Result<ScopesReport> {
    database.ensure_unlimited(&CALLERS)?;
    database.block_on(async {
        let client = database.connect_to(database.name()).await?;
        Ok::<_, BenchError>(client.batch_execute(GROUPS).await?)
    })?;
    let mut flags = server_flags.to_vec();
    flags.push(ONE_CONNECTION.to_owned());
    let server = start(database, &flags)?;
    let meter = |user| {
        let (connection, bearer) = (Connection::open("orderql", server.address)?, sign_in(&server, user)?);
        Ok::<_, BenchError>(Meter { connection, bearer, server: server.id(), postmaster: database.postmaster })
    };
    let mut plain = meter(UNLIMITED_USER)?;
    let mut pages = Vec::new();
    for (caller, queries) in CALLERS.into_iter().zip(PAGES) {
        let mut limited = meter(caller)?;
        for query in queries.iter().copied() {
            pages.push(compare((caller, query), &mut plain, &mut limited, turns, seed)?);
        }
    }
    Ok(ScopesReport { goal: GOAL, is_met: pages.iter().all(|page| page.ratio <= GOAL), pages })
}

/// Measures a page of both callers in turns, so that what else the machine does is the same for both. It only adds to what a page takes,
/// whose least is nearest to it.
fn compare(
    (caller, query): (&'static str, &'static str),
    plain: &mut Meter,
    limited: &mut Meter,
    turns: usize,
    seed: u64,
) -> Result<ScopedPage> {
    let text = format!("{{ {query} }}");
    let (mut unlimited_turns, mut limited_turns) = (Vec::new(), Vec::new());
    for turn in 0..turns {
        let seed = seed.wrapping_add(turn as u64);
        unlimited_turns.extend(plain.measure(&[&text], 1, seed)?);
        limited_turns.extend(limited.measure(&[&text], 1, seed)?);
    }
    let ms = |turns: &[Measured]| turns.iter().map(|turn| turn.cpu.postgresql_ms).fold(f64::INFINITY, f64::min);
    let cost = |turns: &[Measured]| turns.first().map_or_else(Default::default, |turn| turn.actual);
    let (plain_ms, ms) = (ms(&unlimited_turns), ms(&limited_turns));
    let (plain_cost, cost) = (cost(&unlimited_turns), cost(&limited_turns));
    Ok(ScopedPage { caller, query, plain_cost, cost, plain_ms, ms, ratio: ms / plain_ms })
}

impl ScopesReport {
    /// Prints the pages as a table, and whether all meet the goal.
    pub fn print(&self) {
        let rows: Vec<Row> = self.pages.iter().map(ScopedPage::row).collect();
        report::print("pages among limited rows", &rows);
        let met = if self.is_met { "met" } else { "NOT MET" };
        println!("PostgreSQL's CPU time as a multiple of that of the plain page: goal ≤ {}: {met}", self.goal);
    }
}

impl ScopedPage {
    fn row(&self) -> Row {
        vec![
            ("caller", json!(self.caller)),
            ("plain ms", json!(self.plain_ms)),
            ("ms", json!(self.ms)),
            ("ratio", json!((self.ratio * 100.0).round() / 100.0)),
            ("plain cost", json!(self.plain_cost)),
            ("cost", json!(self.cost)),
            ("page", json!(self.query)),
        ]
    }
}
