//! Random requests: those without mistakes compile, and have everything that documents can have.

use std::collections::HashMap;

use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql_generator::change::{change_values, enlarge_page, remove_selection, shrink};
use orderql_generator::choices::{Choices, bytes_of_seed};
use orderql_generator::cursor::numeric;
use orderql_generator::generate::{Settings, generate};
use orderql_generator::mistake::make_mistakes;
use orderql_generator::print::Layout;
use orderql_generator::request::Generated;
use orderql_generator::values::Invented;

const REQUESTS: u64 = 500;

/// Changes after which a request is valid still.
const CHANGES: [fn(&mut Generated, &mut Choices<'_>); 3] = [
    change_values,
    |generated, choices| {
        enlarge_page(generated, choices);
    },
    |generated, choices| {
        remove_selection(generated, choices);
    },
];

fn generated(catalog: &Catalog, seed: u64) -> Generated {
    let bytes = bytes_of_seed(seed, 1500);
    generate(catalog, &Invented, Settings::default(), &mut Choices::new(&bytes))
}

fn check(catalog: &Catalog, seed: u64, generated: &Generated) {
    let request = generated.request();
    if let Err(errors) = compile(catalog, &request, &generated.unlimited()) {
        panic!("{seed}: {errors}\n{}\n{:?}", request.query, request.variables);
    }
}

#[test]
fn requests_without_mistakes_compile_and_stay_valid_when_they_are_changed() {
    let catalog = Catalog::built_in().unwrap();
    for seed in 0..REQUESTS {
        let first = generated(&catalog, seed);
        check(&catalog, seed, &first);
        let bytes = bytes_of_seed(seed, 100);
        let mut choices = Choices::new(&bytes);
        for change in CHANGES {
            let mut changed = first.clone();
            change(&mut changed, &mut choices);
            check(&catalog, seed, &changed);
        }
    }
}

#[test]
fn requests_have_everything_and_mistakes_are_mistakes() {
    let catalog = Catalog::built_in().unwrap();
    let parts = [
        "...",
        "... on ",
        "fragment ",
        "@skip(",
        "@include(",
        "query Q1",
        "$v1",
        " = ",
        "first: ",
        "last: ",
        "after: ",
        "before: ",
        "query: ",
        "sortKey: ",
        "reverse: ",
        "__schema",
        "__type(",
        "__typename",
        "edges",
        "pageInfo",
        "orderItemCount",
        "externalId: ",
        "a1: ",
        "null",
    ];
    let mut counts: HashMap<&str, u64> = HashMap::new();
    let mut wrong = 0;
    for seed in 0..REQUESTS {
        let mut generated = generated(&catalog, seed);
        let text = generated.request_as(Layout::Line).query;
        for part in parts {
            *counts.entry(part).or_default() += u64::from(text.contains(part));
        }
        let bytes = bytes_of_seed(seed, 100);
        make_mistakes(&catalog, &mut generated, &mut Choices::new(&bytes));
        wrong += u64::from(compile(&catalog, &generated.request(), &generated.unlimited()).is_err());
    }
    let rare: Vec<_> = parts.iter().filter(|part| counts[*part] < REQUESTS / 250).collect();
    assert!(rare.is_empty(), "{rare:?} of {counts:?}");
    assert!(wrong > REQUESTS / 2 && wrong < REQUESTS, "{wrong}");
}

#[test]
fn shrinks_to_what_fails() {
    let catalog = Catalog::built_in().unwrap();
    let has = |generated: &Generated| generated.request_as(Layout::Line).query.contains("shipGroups");
    let seed = (0..REQUESTS).find(|seed| has(&generated(&catalog, *seed))).unwrap();
    let smallest = shrink(&generated(&catalog, seed), has);
    check(&catalog, seed, &smallest);
    let text = smallest.request().query;
    assert!(text.len() < 200 && smallest.variables.is_empty(), "{text}");
}

#[test]
fn writes_numbers_as_postgresql_does() {
    let words = |mantissa, scale| {
        let bytes = numeric(mantissa, scale);
        bytes.chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect::<Vec<_>>()
    };
    // 12.50, 0, 0.0001, -12345, 10000.
    assert_eq!(words(1250, 2), [2, 0, 0, 2, 12, 5000]);
    assert_eq!(words(0, 0), [0, 0, 0, 0]);
    assert_eq!(words(1, 4), [1, 0xffff, 0, 4, 1]);
    assert_eq!(words(-12345, 0), [2, 1, 0x4000, 0, 1, 2345]);
    assert_eq!(words(10_000, 0), [1, 1, 0, 0, 1]);
}
