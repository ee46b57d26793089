//! Search strings and cursors.

use divan::{Bencher, black_box};
use orderql::cursor::{Encoder, OrderingTag, decode};
use orderql::search;
use orderql::value::{ScalarType, Timestamp};

const SEARCHES: [&str; 3] = [
    "statusId:ORDER_APPROVED",
    "statusId:ORDER_APPROVED,ORDER_HELD orderDate:>=2026-05-01 orderDate:<2026-06-01T00:00:00Z",
    "productStoreId:'STORE' externalId:a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z",
];

#[divan::bench(args = SEARCHES)]
fn search_string(text: &str) {
    black_box(search::parse(black_box(text)));
}

fn ordering() -> OrderingTag {
    OrderingTag::new("orders", "ORDER_DATE")
}

fn encode(encoder: &mut Encoder, out: &mut Vec<u8>) {
    encoder.begin(ordering());
    encoder.timestamp(Timestamp(1_777_633_200_000_001));
    encoder.text(b"ORDER_1234567");
    encoder.finish(out);
}

/// With one buffer for all rows, as the response writer does.
#[divan::bench]
fn cursor_encode(bencher: Bencher<'_, '_>) {
    let (mut encoder, mut out) = (Encoder::default(), Vec::new());
    bencher.bench_local(|| {
        out.clear();
        encode(black_box(&mut encoder), &mut out);
    });
}

#[divan::bench]
fn cursor_decode(bencher: Bencher<'_, '_>) {
    let mut out = Vec::new();
    encode(&mut Encoder::default(), &mut out);
    let text = String::from_utf8(out).unwrap();
    let types = [ScalarType::DateTime, ScalarType::Id];
    bencher.bench(|| decode(black_box(&text), ordering(), &types).unwrap());
}
