//! Random forms against a model of the order update: after each form the database holds what the model holds, and each
//! refusal's reasons are the model's.

mod faults;
mod form;
mod model;
mod together;
mod world;

use std::collections::BTreeMap;
use std::env;
use std::sync::atomic::{AtomicUsize, Ordering};

use orderql::access::profile::Profile;
use tokio_postgres::Client;

use crate::orders::random_forms::form::{BoxRow, Form, MoveRow, Options, RejectionRow};
use crate::orders::random_forms::model::{Expected, apply};
use crate::orders::random_forms::world::{FACILITY, World, seq_id};
use crate::support::database::migrated_database;
use crate::support::http::Response;
use crate::support::random::Random;
use crate::support::server::Server;
use crate::support::store::{messages, update_request};
use crate::support::users::create_users;

/// The forms that a world gets before it is replaced by a new one.
const FORMS: usize = 20;
/// The worlds that are used at the same time.
const WORKERS: usize = 4;

/// `UPDATE_FORMS` sets the number of forms, `UPDATE_SEED` another seed.
fn number(variable: &str, default: usize) -> usize {
    let number = env::var(variable).map_or(default, |number| number.parse().unwrap());
    println!("{variable}={number}");
    number
}

#[tokio::test(flavor = "multi_thread")]
async fn random_forms_do_what_the_model_does() {
    let (forms, seed) = (number("UPDATE_FORMS", 400), number("UPDATE_SEED", 1));
    let database = migrated_database().await;
    let mut client = database.connect().await;
    client.batch_execute("INSERT INTO facility (facility_id) VALUES ('FORMS'), ('ELSEWHERE')").await.unwrap();
    create_users(
        &mut client,
        &[("demo", Profile { concurrent_updates: Some(8), updates_per_second: Some(100_000), ..Profile::DEFAULT })],
    )
    .await;
    let servers = ["off", "on"].map(|switch| Server::start(&database, &["--reject-lowers-qoh", switch]));
    let tokens = servers.each_ref().map(|server| server.token("demo"));
    let next = AtomicUsize::new(0);
    let (servers, tokens, next, database) = (&servers, &tokens, &next, &database);
    let workers = (0..WORKERS).map(|_| async move {
        let client = database.connect().await;
        let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
        loop {
            let number = next.fetch_add(1, Ordering::SeqCst);
            if number * FORMS >= forms {
                return outcomes;
            }
            let random = Random((seed * 1_000_000 + number) as u64);
            let (server, token) = (&servers[number % 2], &tokens[number % 2]);
            for outcome in run(server, token, &client, number, random).await {
                *outcomes.entry(outcome).or_default() += 1;
            }
        }
    });
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for worker in futures_util::future::join_all(workers).await {
        for (outcome, count) in worker {
            *outcomes.entry(outcome).or_default() += count;
        }
    }
    println!("{outcomes:#?}");
    // Enough updates are applied, and those that are not have many different reasons.
    assert!(outcomes["applied"] * 5 > forms && outcomes.len() > 12, "{outcomes:#?}");
}

/// The kinds of a response's outcomes: its messages without the rows and ids.
fn kinds(response: &Expected) -> Vec<String> {
    let is_word = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase() || b",;".contains(&byte));
    let kind = |message: &String| {
        let cause = message.split_once(": ").map_or(message.as_str(), |(_, cause)| cause);
        let cause = cause.split_once("; there are").map_or(cause, |(cause, _)| cause);
        cause.split(' ').filter(is_word).collect::<Vec<_>>().join(" ")
    };
    if response.status == 200 { vec!["applied".to_owned()] } else { response.errors.iter().map(kind).collect() }
}

/// Sends forms to a new world. Returns the kinds of their outcomes.
async fn run(server: &Server, token: &str, client: &Client, number: usize, mut random: Random) -> Vec<String> {
    let mut world = World::random(&format!("W{number}"), &mut random);
    client.batch_execute(&world.insert()).await.unwrap();
    compare(client, &world, "before any form").await;
    let mut outcomes = Vec::new();
    for _ in 0..FORMS {
        let form = random_form(&world, &mut random);
        let (header, body) = form.write(&mut random);
        let request = update_request(token, &[header], &body);
        let response = tokio::task::block_in_place(|| server.send(request));
        let before = world.clone();
        let expected = apply(&mut world, &form, number % 2 == 1);
        let what = || format!("{form:#?}\n{body}\n{response:?}\n{before:#?}");
        assert_eq!(received(&response), expected, "{}", what());
        compare(client, &world, &what()).await;
        outcomes.extend(kinds(&expected));
    }
    outcomes
}

/// The response in the model's form.
fn received(response: &Response) -> Expected {
    let (errors, notes) = match response.status {
        200 => (Vec::new(), response.json().get("_EVENT_MESSAGE_LIST_").cloned()),
        _ => (messages(response), None),
    };
    let notes = notes.map(|notes| serde_json::from_value(notes).unwrap()).unwrap_or_default();
    Expected { status: response.status, errors, notes }
}

/// Compares the database's rows with the model's.
async fn compare(client: &Client, world: &World, what: &str) {
    let rows = client.query(include_str!("random_forms/tables.sql"), &[&world.name]).await.unwrap();
    let mut found: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    found.sort_unstable();
    let expected: Vec<String> = world.rows().into_iter().collect();
    let missing: Vec<_> = expected.iter().filter(|row| !found.contains(row)).collect();
    let surplus: Vec<_> = found.iter().filter(|row| !expected.contains(row)).collect();
    assert!(found == expected, "the database lacks {missing:#?}\nand has {surplus:#?}\nafter {what}");
}

/// A form about the world's shipments. Most of them can be applied while the world is new.
fn random_form(world: &World, random: &mut Random) -> Form {
    let shipments: Vec<&String> = world.shipments.keys().collect();
    let shipment = |random: &mut Random| {
        if random.chance(1) { "NONE".to_owned() } else { (*random.pick(&shipments)).clone() }
    };
    // Shipments that can be changed are picked more often.
    let usable: Vec<&String> = world
        .shipments
        .iter()
        .filter(|(_, shipment)| shipment.facility == FACILITY && !shipment.items.is_empty())
        .filter(|(_, shipment)| ["SHIPMENT_INPUT", "SHIPMENT_APPROVED"].contains(&shipment.status))
        .map(|(id, _)| id)
        .collect();
    let shipment = |random: &mut Random| {
        if usable.is_empty() || random.chance(7) { shipment(random) } else { (*random.pick(&usable)).clone() }
    };
    let item = |random: &mut Random, shipment: &str| {
        let numbers: Vec<u32> =
            world.shipments.get(shipment).map_or(Vec::new(), |shipment| shipment.items.keys().copied().collect());
        match random.below(100) {
            0 => Some(String::new()),
            1..=3 => Some(seq_id(7)),
            4..=25 => None,
            _ if numbers.is_empty() => None,
            _ => Some(seq_id(*random.pick(&numbers))),
        }
    };
    let facility = match random.below(100) {
        0 => None,
        1..=2 => Some("ELSEWHERE".to_owned()),
        _ => Some(FACILITY.to_owned()),
    };
    let mut form = Form { facility, ..Form::default() };
    for _ in 0..=random.below(3) {
        let box_type = match random.below(100) {
            0 => None,
            1 => Some("CRATE".to_owned()),
            2..=30 => Some("BOPISPACKNG".to_owned()),
            _ => Some("YOURPACKNG".to_owned()),
        };
        form.boxes.push(BoxRow { shipment: shipment(random), box_type });
    }
    if random.chance(1) {
        form.boxes.clear();
    }
    let mut rejections = if random.chance(45) { 1 + random.below(2) } else { 0 };
    if rejections > 0 && random.chance(25) {
        // All items of a ship group, as for one that may not be split.
        rejections = 0;
        let of = world.shipments.get(&shipment(random)).map(|shipment| shipment.order.clone());
        for (id, shipment) in world.shipments.iter().filter(|(_, shipment)| Some(&shipment.order) == of.as_ref()) {
            if !shipment.items.is_empty() {
                let reason = Some((*random.pick(&["MISMATCH", "INACTIVE_STORE"])).to_owned());
                let options = Options::default();
                form.rejections.push(RejectionRow { shipment: id.clone(), item: None, reason, options });
            }
        }
    }
    for _ in 0..rejections {
        let shipment = shipment(random);
        let reason = match random.below(100) {
            0 => None,
            1..=2 => Some("DAMAGED"),
            3..=20 => Some("NOT_IN_STOCK"),
            21..=40 => Some("INACTIVE_STORE"),
            41..=60 => Some("REJ_RSN_DAMAGED"),
            _ => Some("MISMATCH"),
        };
        let item = item(random, &shipment);
        // Errors of values are in the order in which the rows are sent, which the form does not know.
        let may_be_wrong = form.rejections.is_empty();
        let (reason, options) = (reason.map(str::to_owned), Options::random(random, may_be_wrong));
        form.rejections.push(RejectionRow { shipment, item, reason, options });
    }
    for _ in 0..if random.chance(40) { 1 + random.below(2) } else { 0 } {
        let from = shipment(random);
        // Mostly a shipment of the same order.
        let siblings: Vec<&String> = world
            .shipments
            .iter()
            .filter(|(_, other)| world.shipments.get(&from).is_some_and(|shipment| shipment.order == other.order))
            .map(|(id, _)| id)
            .collect();
        let to = match random.below(100) {
            0 => None,
            1..=10 => Some(shipment(random)),
            _ if siblings.is_empty() => Some(shipment(random)),
            _ => Some((*random.pick(&siblings)).clone()),
        };
        let item = item(random, &from);
        form.moves.push(MoveRow { shipment: from, item, to });
    }
    if random.chance(8) {
        let empty: Vec<&String> =
            world.shipments.iter().filter(|(_, shipment)| shipment.items.is_empty()).map(|(id, _)| id).collect();
        let is_empty = !empty.is_empty() && random.chance(80);
        form.removals.push(if is_empty { (*random.pick(&empty)).clone() } else { shipment(random) });
    }
    form
}
