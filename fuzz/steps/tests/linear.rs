//! Every step from bytes to plan, on families of inputs: an input that is four times as long takes about four times as many
//! steps. What looks at every pair of something would take sixteen times as many.

use std::fmt::Write as _;

use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::fuzzing::{form, load};
use orderql::limits::Limits;
use orderql::query::Request;
use orderql::query::parse::Source;
use orderql::query::validate::validate;
use orderql::search::parse;
use orderql_fuzz_steps::steps;

/// How many steps more a four times longer input may take. Sorting takes a little more than four times as many.
const MOST: f64 = 5.5;

/// Parts of the shorter document. The longer one has not more tokens than a document may have.
const DOCUMENT_PARTS: usize = 100;

/// An input of a family, by the number of its parts.
type Family = fn(usize) -> String;

fn repeat(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect()
}

/// Documents that are valid, and documents that are refused for each of their parts.
const DOCUMENTS: [(&str, Family); 14] = [
    ("one field often", |n| format!("{{ orders(first: 1) {{ edges {{ node {{ {} }} }} }} }}", "orderId ".repeat(n))),
    ("fields of many names", |n| {
        format!("{{ orders(first: 1) {{ edges {{ node {{ {} }} }} }} }}", repeat(n, |i| format!("a{i}: orderId ")))
    }),
    ("one connection often", |n| format!("{{ {} }}", "orders(first: 1) { edges { node { orderId } } } ".repeat(n / 8))),
    ("roots of many names", |n| {
        format!("{{ {} }}", repeat(n / 8, |i| format!("a{i}: orders(first: 1) {{ edges {{ cursor }} }} ")))
    }),
    ("inline fragments", |n| format!("{{ {} }}", "... on Query { __typename } ".repeat(n))),
    ("spreads of one fragment", |n| format!("{{ {} }} fragment F on Query {{ __typename }}", "...F ".repeat(n))),
    ("fragments one by one", |n| {
        let spreads = repeat(n, |i| format!("...F{i} "));
        format!("{{ {spreads} }} {}", repeat(n, |i| format!("fragment F{i} on Query {{ __typename }} ")))
    }),
    ("a chain of fragments", |n| {
        let chain = repeat(n, |i| format!("fragment F{i} on Query {{ ...F{} }} ", i + 1));
        format!("{{ ...F0 }} {chain} fragment F{n} on Query {{ __typename }}")
    }),
    ("variables", |n| {
        let variables = repeat(n, |i| format!("$v{i}: Boolean = true "));
        let uses = repeat(n, |i| format!("a{i}: __typename @include(if: $v{i}) "));
        format!("query({variables}) {{ {uses} }}")
    }),
    ("operations", |n| repeat(n, |i| format!("query Q{i} {{ __typename }} "))),
    ("fields that there are not", |n| format!("{{ {} }}", repeat(n, |i| format!("none{i} ")))),
    ("fields that conflict", |n| {
        let fields = "a: orderId a: statusId ".repeat(n / 2);
        format!("{{ orders(first: 1) {{ edges {{ node {{ {fields} }} }} }} }}")
    }),
    ("arguments that there are not", |n| {
        format!("{{ orders({}) {{ edges {{ cursor }} }} }}", repeat(n, |i| format!("x{i}: 1 ")))
    }),
    ("unused variables", |n| format!("query({}) {{ __typename }}", repeat(n, |i| format!("$v{i}: Int ")))),
];

const SEARCHES: [(&str, Family); 3] = [
    ("values", |n| format!("a:{}", vec!["b"; n].join(","))),
    ("quotes that are not closed", |n| format!("a:{}", vec!["'b"; n].join(","))),
    ("quotes inside", |n| format!("a:'{}", "b'".repeat(n))),
];

const FORMS: [(&str, Family); 3] = [
    ("boxes", |n| {
        repeat(n / 4, |i| format!("box_shipmentId_{i}=S{i}&box_shipmentBoxTypeId_{i}=B&{i}_box_rowSubmit={i}&"))
    }),
    ("unknown parameters", |n| repeat(n, |i| format!("p{i}=v&"))),
    ("boxes without a type", |n| repeat(n / 4, |i| format!("box_shipmentId_{i}=S{i}&{i}_box_rowSubmit={i}&"))),
];

const FILES: [(&str, Family); 4] = [
    ("rows", |n| format!("<entity-engine-xml>{}</entity-engine-xml>", "<A b=\"c\"/>\n".repeat(n))),
    ("text of a field", |n| {
        format!("<entity-engine-xml><A><b>{}</b></A></entity-engine-xml>", "a&amp;<![CDATA[b]]>".repeat(n))
    }),
    ("rows inside a row", |n| {
        format!("<entity-facade-xml><A>{}</A></entity-facade-xml>", "<p.B c=\"d\"/>\n".repeat(n))
    }),
    ("rows inside rows", |n| {
        format!("<entity-facade-xml>{}{}</entity-facade-xml>", "<p.A><b>c</b>".repeat(n), "</p.A>".repeat(n))
    }),
];

#[test]
fn steps_grow_with_the_length_at_most() {
    let catalog = Catalog::built_in().unwrap();
    let mut report = String::new();
    let mut is_linear = true;
    let mut check = |what: &str, families: &[(&str, Family)], parts: usize, run: &dyn Fn(&str)| {
        for (name, family) in families {
            let [short, long] = [parts, 4 * parts].map(|parts| {
                let input = family(parts);
                // The first time something is initialized.
                run(&input);
                steps(|| run(&input))
            });
            assert!(short > 0, "nothing is counted: run this with ./dev fuzz --steps");
            #[expect(clippy::cast_precision_loss, reason = "a ratio")]
            let ratio = long as f64 / short as f64;
            let _ = writeln!(report, "{what:9} {name:28} {short:>10} {long:>10} {ratio:>5.1} ×");
            is_linear &= ratio <= MOST;
        }
    };
    check("parse", &DOCUMENTS, DOCUMENT_PARTS, &|text| {
        drop(Source::read(text).and_then(|source| source.parse().map(drop)));
    });
    check("validate", &DOCUMENTS, DOCUMENT_PARTS, &|text| {
        let source = Source::read(text).unwrap();
        drop(validate(&catalog, &source.parse().unwrap(), None));
    });
    check("compile", &DOCUMENTS, DOCUMENT_PARTS, &|text| {
        let request = Request { query: text.to_owned(), ..Request::default() };
        drop(compile(&catalog, &request, &Limits::UNLIMITED));
    });
    check("search", &SEARCHES, 500, &|text| drop(parse(text)));
    check("form", &FORMS, 200, &|text| {
        let body = format!("facilityId=F&{text}");
        drop(form::parse("application/x-www-form-urlencoded", body.as_bytes()).map(|form| drop(form.request())));
    });
    check("load", &FILES, 500, &|text| drop(load::read(text.as_bytes())));
    println!("{report}");
    assert!(is_linear, "some inputs take more than {MOST} times as many steps as those a quarter as long:\n{report}");
}
