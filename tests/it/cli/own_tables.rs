//! A database that has nothing to do with OFBiz, from `migrate` to pages: its keys are whole numbers and UUIDs.

use serde_json::{Value, json};

use orderql::migration::migrate::migrate;

use crate::support::command::{CommandResult, orderql_on, run};
use crate::support::database::{Database, empty_database};
use crate::support::server::Server;

const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/cli/schema/music.graphql");
const TABLES: &str = include_str!("schema/music.sql");
const PASSWORD: &str = "correct horse battery";

fn orderql(database: &Database, arguments: &[&str], input: &str) -> CommandResult {
    run(orderql_on(database).args(arguments), input)
}

/// The tables outside of the music shop's, and the columns of those in the schema `orderql`.
async fn tables_of_service(database: &Database) -> (Vec<String>, Vec<String>) {
    let client = database.connect().await;
    let tables = "SELECT relation.oid::regclass::text FROM pg_class AS relation
                  WHERE relation.relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'orderql'))
                    AND relation.relkind = 'r' ORDER BY 1";
    let columns = "SELECT attrelid::regclass || '.' || attname || ' ' || format_type(atttypid, atttypmod) || attnotnull
                   FROM pg_attribute
                   WHERE attrelid IN (
                           SELECT oid FROM pg_class
                           WHERE relnamespace = 'orderql'::regnamespace AND relkind = 'r'
                             AND relname IN ('user_account', 'user_group', 'group_member', 'artifact_group',
                                             'artifact_grant', 'user_profile', 'audit_event')
                         )
                     AND attnum > 0 AND NOT attisdropped
                   ORDER BY 1";
    let names = async |sql| client.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    (names(tables).await, names(columns).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_tables_whose_keys_are_whole_numbers() {
    let database = empty_database().await;
    database.connect().await.batch_execute(TABLES).await.unwrap();
    let checked = orderql(&database, &["schema", "check", SCHEMA], "");
    assert!(checked.succeeded, "{}", checked.stderr);

    let migrated = orderql(&database, &["migrate", "--only", "service"], "");
    assert!(migrated.succeeded && migrated.stdout.contains("orderql.user_account"), "{}", migrated.stderr);
    let (tables, of_service) = tables_of_service(&database).await;
    assert!(!tables.iter().any(|table| table == "order_header" || table == "party"), "{tables:?}");
    // Chosen by itself for a schema of other tables than OFBiz's, and nothing is left to do.
    let again = orderql(&database, &["migrate", "--schema", SCHEMA], "");
    assert_eq!(again.stdout, "Nothing to do: the database is up to date.\n", "{}", again.stderr);

    let added = orderql(&database, &["user", "add", "ann", "--group", "API"], &format!("{PASSWORD}\n"));
    assert!(added.succeeded, "{}", added.stderr);
    let pruned = orderql(&database, &["audit", "prune", "--dry-run"], "");
    assert!(pruned.succeeded, "{}", pruned.stderr);
    let server = Server::start(&database, &["--schema", SCHEMA, "--bucket-size", "1000000"]);
    let token = server.sign_in("/auth/token", "ann", PASSWORD).json()["access_token"].as_str().unwrap().to_owned();
    let query = |query: &str| server.query(&token, query).json();

    nested_joins(&query);
    searches(&query);
    pages(&query);
    cursors_of_other_parents(&query);
    values_that_no_row_can_have(&query);

    let bearer = format!("Authorization: Bearer {token}");
    let headers = [bearer.as_str(), "Content-Type: application/x-www-form-urlencoded"];
    let update = server.request("POST /api/updateOrder", &headers, "orderId=1");
    assert_eq!(update.status, 404, "{update:?}");
    assert!(update.body.contains("its database has no order tables"), "{update:?}");
    drop(server);

    // All other tables can follow, and the service's are the same then.
    migrate(&mut database.connect().await).await.unwrap();
    let (tables, columns) = tables_of_service(&database).await;
    assert!(tables.iter().any(|table| table == "order_header"), "{tables:?}");
    assert_eq!(columns, of_service);
    let refused = orderql(&database, &["migrate", "--only", "service"], "");
    assert!(!refused.succeeded && refused.stderr.contains("run without `--only service`"), "{}", refused.stderr);
    let again = orderql(&database, &["migrate", "--schema", SCHEMA], "");
    assert_eq!(again.stdout, "Nothing to do: the database is up to date.\n", "{}", again.stderr);
}

fn nested_joins(query: &impl Fn(&str) -> Value) {
    let page = "first: 2) { edges { node";
    let artist = query(&format!(
        "{{ artist(artistId: 2) {{ artistId albums({page} {{ albumId artist {{ name }} \
         tracks({page} {{ trackId milliseconds unitPrice album {{ title }} }} }} }} }} }} }} }} }}"
    ));
    let albums = &artist["data"]["artist"]["albums"]["edges"];
    assert_eq!(artist["data"]["artist"]["artistId"], "2", "{artist}");
    assert_eq!(albums[1]["node"]["albumId"], "5", "{artist}");
    assert_eq!(albums[1]["node"]["artist"]["name"], "Artist 2", "{artist}");
    let track = json!({ "trackId": "18", "milliseconds": 18000, "unitPrice": "0.99", "album": { "title": "Album 5" } });
    assert_eq!(albums[1]["node"]["tracks"]["edges"][1]["node"], track, "{artist}");

    let customer = query(&format!(
        "{{ customer(account: \"00000000-0000-0000-0000-000000000002\") {{ customerId \
         invoices({page} {{ invoiceId lines({page} {{ invoiceLineId track {{ name }} }} }} }} }} }} }} \
         accountInvoices(first: 9) {{ edges {{ node {{ account customer {{ lastName }} }} }} }} }} }}"
    ));
    let found = &customer["data"]["customer"];
    assert_eq!(found["customerId"], "2", "{customer}");
    let first = &found["invoices"]["edges"][0]["node"];
    assert_eq!(first["invoiceId"], "900000000000000001", "{customer}");
    assert_eq!(first["lines"]["edges"][0]["node"]["track"]["name"], "Track 1", "{customer}");
    let accounts = found["accountInvoices"]["edges"].as_array().unwrap();
    let node = json!({ "node": { "account": "00000000-0000-0000-0000-000000000002", "customer": { "lastName": "Customer 2" } } });
    assert_eq!(accounts, &[node.clone(), node.clone(), node.clone(), node], "{customer}");
}

fn searches(query: &impl Fn(&str) -> Value) {
    for (search, expected) in [
        ("trackId:7", &[7][..]),
        ("trackId:7,9,7,007", &[7, 9]),
        ("albumId:2 trackId:>6", &[7, 8]),
        ("albumId:2,36 trackId:>=8 trackId:<143", &[8, 141, 142]),
        ("trackId:2147483647", &[]),
    ] {
        let found = query(&format!("{{ tracks(first: 9, query: \"{search}\") {{ edges {{ node {{ trackId }} }} }} }}"));
        let found = ids(&found["data"]["tracks"], "trackId");
        assert_eq!(found, expected.iter().map(ToString::to_string).collect::<Vec<_>>(), "{search}");
    }
    let account = "00000000-0000-0000-0000-000000000001";
    for (search, expected) in [
        ("invoiceId:900000000000000003", &[3][..]),
        ("invoiceId:>900000000000000018", &[19, 20]),
        (&format!("account:{account}"), &[5, 10, 15, 20]),
        (&format!("account:{account},00000000-0000-0000-0000-00000000000F invoiceId:<900000000000000012"), &[5, 10]),
        ("customerId:1,2 invoiceId:>=900000000000000015", &[15, 16, 20]),
        ("trackId:4,6 customerId:2", &[6]),
    ] {
        let text = format!("{{ invoices(first: 9, query: \"{search}\") {{ edges {{ node {{ invoiceId }} }} }} }}");
        let found = query(&text);
        let expected: Vec<_> = expected.iter().map(|n| (900_000_000_000_000_000_i64 + n).to_string()).collect();
        assert_eq!(ids(&found["data"]["invoices"], "invoiceId"), expected, "{search}: {found}");
    }
}

/// Every page forwards and backwards, at the root and nested, over each type of key.
fn pages(query: &impl Fn(&str) -> Value) {
    let info = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";
    let artist = ("artist(artistId: 3) { ", "albums", "", "albumId", "}");
    let customer = ("customer(customerId: 4) { ", "invoices", "", "invoiceId", "}");
    let by_account = ("", "invoices", "query: \"account:00000000-0000-0000-0000-000000000003\"", "invoiceId", "");
    let by_album = ("", "tracks", "query: \"albumId:3,4,5\"", "trackId", "");
    for (open, field, search, id, close) in [artist, customer, by_account, by_album] {
        let page = |arguments: &str| {
            let response = query(&format!(
                "{{ {open}{field}({arguments} {search}) {{ edges {{ node {{ {id} }} }} {info} }}{close} }}"
            ));
            let data = &response["data"];
            let page = if open.is_empty() {
                data[field].clone()
            } else {
                data.as_object().unwrap().values().next().unwrap()[field].clone()
            };
            assert!(page.is_object(), "{response}");
            page
        };
        let all = ids(&page("first: 50"), id);
        assert!(all.len() > 2, "{field}");
        for (size, cursor, end, more) in
            [("first: 2", "after", "endCursor", "hasNextPage"), ("last: 2", "before", "startCursor", "hasPreviousPage")]
        {
            let (mut found, mut position) = (Vec::new(), String::new());
            loop {
                let page = page(&format!("{size} {position}"));
                let rows = ids(&page, id);
                if size.starts_with("first") {
                    found.extend(rows);
                } else {
                    found.splice(0..0, rows).for_each(drop);
                }
                if page["pageInfo"][more] != true {
                    break;
                }
                position = format!("{cursor}: {}", page["pageInfo"][end]);
            }
            assert_eq!(found, all, "{field} {size}");
        }
    }
}

/// A cursor is bound to its parent by each type of key.
fn cursors_of_other_parents(query: &impl Fn(&str) -> Value) {
    let account = |number: u32| format!("customer(account: \"00000000-0000-0000-0000-{number:012}\")");
    for (parent, other, field) in [
        ("artist(artistId: 3)", "artist(artistId: 2)", "albums"),
        ("customer(customerId: 4)", "customer(customerId: 3)", "invoices"),
        (&account(4), &account(3), "accountInvoices"),
    ] {
        let page = |parent: &str, after: &Value| {
            query(&format!("{{ parent: {parent} {{ {field}(first: 1, after: {after}) {{ edges {{ cursor }} }} }} }}"))
        };
        let cursor_of = |page: &Value| page["data"]["parent"][field]["edges"][0]["cursor"].clone();
        let first = cursor_of(&page(parent, &Value::Null));
        assert!(cursor_of(&page(parent, &first)).is_string(), "{field}");
        let refused = page(other, &first);
        let message = refused["errors"][0]["message"].as_str().unwrap();
        assert!(message.contains("it was made for the rows of another parent"), "{field}: {message}");
    }
}

fn values_that_no_row_can_have(query: &impl Fn(&str) -> Value) {
    for (root, code, expected) in [
        ("artist(artistId: \"x\") { name }", "BAD_USER_INPUT", "expects a whole number of 64 bits"),
        (
            "artist(artistId: \"3000000000\") { name }",
            "BAD_USER_INPUT",
            "a whole number from -2147483648 to 2147483647",
        ),
        ("customer(customerId: 40000) { lastName }", "BAD_USER_INPUT", "a whole number from -32768 to 32767"),
        ("customer(account: \"7\") { lastName }", "BAD_USER_INPUT", "expects a UUID"),
        ("tracks(first: 1, query: \"trackId:x\") { edges { cursor } }", "MALFORMED_QUERY", "a whole number"),
        ("tracks(first: 1, query: \"albumId:1,1.5\") { edges { cursor } }", "MALFORMED_QUERY", "a whole number"),
        (
            "invoices(first: 1, query: \"invoiceId:1.0\") { edges { cursor } }",
            "MALFORMED_QUERY",
            "of at most 1000 digits",
        ),
        ("invoices(first: 1, query: \"account:x\") { edges { cursor } }", "MALFORMED_QUERY", "a UUID"),
    ] {
        let response = query(&format!("{{ {root} }}"));
        let error = &response["errors"][0];
        assert_eq!(error["extensions"]["code"], code, "{root}: {response}");
        assert!(error["message"].as_str().unwrap().contains(expected), "{root}: {response}");
    }
    assert_eq!(query("{ artist(artistId: \"2147483647\") { name } }")["data"], json!({ "artist": null }));
}

fn ids(connection: &Value, id: &str) -> Vec<String> {
    let edges = connection["edges"].as_array().unwrap();
    edges.iter().map(|edge| edge["node"][id].as_str().unwrap().to_owned()).collect()
}
