//! Compressed responses.

use std::io::{self, Read as _};

use serde_json::Value;

use crate::http::graphql_get::{ACCEPT_GRAPHQL_JSON, target};
use crate::support::database::Database;
use crate::support::http::bearer;
use crate::support::server::server_with_demo_user;
use crate::support::users::UNLIMITED_PROFILE;

/// Inserts a hundred orders, and returns a query that selects the name of each that many times.
async fn names(database: &Database, times: usize) -> String {
    let fill = "INSERT INTO order_header (order_id, order_name, order_date)
                SELECT 'L' || number, repeat(md5(number::text), 3), '2026-05-01' FROM generate_series(100, 199) AS number
                ON CONFLICT DO NOTHING";
    database.connect().await.batch_execute(fill).await.unwrap();
    let names: Vec<_> = (0..times).map(|number| format!("n{number}: orderName")).collect();
    format!("{{ orders(first: 100) {{ edges {{ node {{ {} }} }} }} }}", names.join(" "))
}

/// Decompresses a body with that content coding.
pub fn decompress(coding: &str, bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut reader: Box<dyn io::Read> = match coding {
        "gzip" => Box::new(flate2::read::GzDecoder::new(bytes)),
        "br" => Box::new(brotli::Decompressor::new(bytes, 4096)),
        "zstd" => Box::new(zstd::Decoder::new(bytes).unwrap()),
        other => panic!("{other}"),
    };
    reader.read_to_string(&mut text).unwrap();
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn compresses_responses_with_the_preferred_coding_also_in_chunks() {
    let (server, database, token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let token = bearer(&token);
    for (times, is_chunked) in [(1, false), (20, true)] {
        let query = names(&database, times).await;
        let line = format!("GET {}", target(&[("query", &query)]));
        let (plain, expected) = server.request_bytes(&line, &[&token], "");
        assert_eq!(plain.header("content-encoding"), None);
        let data = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap()["data"].clone();
        for (accept, coding) in [
            ("gzip", "gzip"),
            ("gzip, deflate, br", "br"),
            ("gzip, deflate, br, zstd", "br"),
            ("zstd, br;q=0.9", "zstd"),
            ("br;q=0.5, gzip;q=0.6, identity;q=0", "gzip"),
        ] {
            let accept = format!("Accept-Encoding: {accept}");
            let (response, bytes) = server.request_bytes(&line, &[&token, &accept], "");
            assert_eq!((response.status, response.header("content-encoding")), (200, Some(coding)), "{accept}");
            assert_eq!(response.header("transfer-encoding").is_some(), is_chunked);
            assert_eq!(response.header("vary"), Some("Accept, Accept-Encoding"));
            assert!(bytes.len() * 2 < expected.len(), "{accept}: {} of {}", bytes.len(), expected.len());
            assert_eq!(data(decompress(coding, &bytes).as_bytes()), data(&expected), "{accept}");
        }
        for accept in ["Accept-Encoding:", "Accept-Encoding: identity, gzip;q=0.5", "Accept-Encoding: compress"] {
            let (response, bytes) = server.request_bytes(&line, &[&token, accept], "");
            assert_eq!((response.header("content-encoding"), data(&bytes)), (None, data(&expected)), "{accept}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn compresses_a_small_response_only_if_the_client_accepts_nothing_else() {
    let (server, _database, token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let token = bearer(&token);
    let line = "GET /rest/s1/graphql?query=%7B__typename%7D";
    let (small, _) = server.request_bytes(line, &[&token, "Accept-Encoding: gzip"], "");
    assert_eq!((small.status, small.header("content-encoding")), (200, None));
    let (small, bytes) = server.request_bytes(line, &[&token, "Accept-Encoding: gzip, identity;q=0"], "");
    assert_eq!(small.header("content-encoding"), Some("gzip"));
    assert!(decompress("gzip", &bytes).contains("__typename"));
    let none = server.request(line, &[&token, "Accept-Encoding: identity;q=0"], "");
    assert_eq!((none.status, none.code().as_str()), (406, "NOT_ACCEPTABLE"));
    assert_eq!(server.request(line, &["Accept-Encoding: identity;q=0"], "").status, 401, "the token is checked first");

    // Twenty errors are large enough.
    let wrong: Vec<_> = (0..20).map(|number| format!("wrong{number}")).collect();
    let line = format!("GET {}", target(&[("query", &format!("{{ {} }}", wrong.join(" ")))]));
    let (rejected, bytes) = server.request_bytes(&line, &[&token, ACCEPT_GRAPHQL_JSON, "Accept-Encoding: zstd"], "");
    assert_eq!((rejected.status, rejected.header("content-encoding")), (400, Some("zstd")));
    assert!(decompress("zstd", &bytes).contains("wrong19"));
}

#[tokio::test(flavor = "multi_thread")]
async fn compresses_nothing_if_compression_is_off() {
    let (server, _database, _token) = server_with_demo_user(UNLIMITED_PROFILE, &["--compression", "off"]).await;
    let response = server.request("GET /rest/s1/graphql/sdl", &["Accept-Encoding: gzip"], "");
    assert_eq!((response.header("content-encoding"), response.header("vary")), (None, Some("Authorization")));
}
