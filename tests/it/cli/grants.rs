//! Who may see what, by the commands.

use serde_json::{Value, json};

use crate::support::command::{self, CommandResult, orderql_on, run};
use crate::support::database::{Database, migrated_database};
use crate::support::server::connection_string;
use crate::support::users::{UNLIMITED_PROFILE, create_users};

fn orderql(database: &Database, arguments: &[&str]) -> CommandResult {
    run(orderql_on(database).args(arguments), "")
}

fn output(database: &Database, arguments: &str) -> String {
    let result = orderql(database, &arguments.split(' ').collect::<Vec<_>>());
    assert!(result.succeeded, "{arguments}: {}", result.stderr);
    result.stdout
}

fn json_of(database: &Database, arguments: &str) -> Value {
    serde_json::from_str(&output(database, &format!("{arguments} --json"))).unwrap()
}

async fn database() -> Database {
    let database = migrated_database().await;
    create_users(&mut database.connect().await, &[("ann", UNLIMITED_PROFILE), ("store", UNLIMITED_PROFILE)]).await;
    for arguments in [
        "group add STORES",
        "grant add STORES /graphql",
        "grant add STORES NOTES",
        "group join STORES store",
        "group leave API store",
    ] {
        output(&database, arguments);
    }
    database
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_what_users_see_and_who_sees_what() {
    let database = database().await;
    let of_store = json_of(&database, "grants of store");
    assert_eq!(
        of_store,
        json!([
            {"path": "/graphql", "groups": ["STORES"], "shows": []},
            {"path": "NOTES", "groups": ["STORES"], "shows": ["OrderNote"]},
            {"path": "PAYMENTS", "groups": [], "shows": [
                "Query.orders(query: \"paymentStatusId:\")", "Query.orders(query: \"refunded:\")",
                "OrderPaymentPreference", "Payment", "PaymentGatewayResponse", "GiftCard",
            ]},
            {"path": "PERSONAL_DATA", "groups": [], "shows": of_store[3]["shows"]},
            {"path": "scope facility", "groups": [], "shows": []},
            {"path": "scope store", "groups": [], "shows": []},
        ])
    );
    let personal = of_store[3]["shows"].to_string();
    for place in ["ShipGroup.shipToAddress", "OrderContactMech", "Query.orders(query: \\\"emailAddress:\\\")"] {
        assert!(personal.contains(place), "{personal}");
    }
    let names = |place: &str| -> Vec<String> {
        let users = json_of(&database, &format!("grant on {place}"));
        users.as_array().unwrap().iter().map(|user| user["user"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("Order.notes"), ["ann", "store"]);
    assert_eq!(names("OrderNote"), ["ann", "store"]);
    assert_eq!(names("Query.orders"), ["ann", "store"]);
    assert_eq!(names("Payment"), ["ann"]);
    assert_eq!(names("ShipGroup.shipToAddress"), ["ann"]);
    assert_eq!(output(&database, "grant on Payment").lines().count(), 2);
    output(&database, "grant remove STORES /graphql");
    assert_eq!(names("Query.orders"), ["ann"]);
    for (arguments, expected) in [
        (["grant", "on", "Order.note"], "the schema has no `Order.note`; did you mean `Order.notes`?"),
        (["grant", "of", "stor"], "there is no user `stor`; did you mean `store`?"),
    ] {
        let failed = orderql(&database, &arguments);
        assert!(!failed.succeeded && failed.stderr.contains(expected), "{}", failed.stderr);
    }
    let failed = orderql(&database, &["grant", "add", "STORES", "NOTE"]);
    assert!(failed.stderr.contains("nothing that can be granted is called `NOTE`"), "{}", failed.stderr);
    assert!(failed.stderr.contains("NOTES, PAYMENTS, PERSONAL_DATA"), "{}", failed.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn says_in_which_scopes_a_group_that_may_query_has_no_values() {
    let database = migrated_database().await;
    let warned = |arguments: &str| -> Vec<String> {
        let result = orderql(&database, &arguments.split(' ').collect::<Vec<_>>());
        assert!(result.succeeded, "{arguments}: {}", result.stderr);
        let scope = |line: &str| Some(line.split_once("group scope ")?.1.to_owned());
        result.stderr.lines().filter_map(scope).collect()
    };
    let [facility, store] = ["STORES facility VALUE…, or '*'", "STORES store VALUE…, or '*'"];
    assert_eq!(warned("group add STORES"), [facility, store]);
    assert_eq!(warned("grant add STORES NOTES"), [""; 0], "its members may not query");
    assert_eq!(warned("grant add STORES /api/updateOrder"), [""; 0]);
    assert_eq!(warned("grant add STORES /graphql --json"), [facility, store]);
    output(&database, "group scope STORES facility *");
    assert_eq!(warned("grant add STORES PAYMENTS"), [store]);
    output(&database, "group scope STORES store NONE");
    assert_eq!(warned("grant add STORES PERSONAL_DATA"), [""; 0]);
    let folder = crate::support::test_folder::TestFolder::create("hints");
    let file = folder.path().join("schema.graphql");
    let text = "type Query { orders: [Order] @sort(key: \"ORDER_ID\") } type Order @relation(name: \"order_header\", key: [\"order_id\"]) { orderId: ID! }";
    std::fs::write(&file, text).unwrap();
    assert_eq!(
        warned(&format!("group add OTHERS --schema {}", file.to_str().unwrap())),
        [""; 0],
        "a file without scopes"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn explains_a_query_as_a_user_sees_the_schema() {
    let database = database().await;
    let url = connection_string(&database.config());
    let explain =
        |user: &str, query: &str| orderql(&database, &["explain", "--as", user, "--database-url", &url, query]);
    let notes = "{ order(orderId: 1) { notes(first: 1) { edges { node { noteInfo } } } } }";
    let payments = "{ order(orderId: 1) { paymentPreferences(first: 1) { edges { node { statusId } } } } }";
    for (user, query, is_seen) in
        [("ann", notes, true), ("ann", payments, true), ("store", notes, true), ("store", payments, false)]
    {
        let result = explain(user, query);
        assert_eq!(result.succeeded, is_seen, "{user} {query}: {}{}", result.stdout, result.stderr);
    }
    let nobody = explain("nobody", notes);
    assert!(nobody.stderr.contains("there is no user `nobody`"), "{}", nobody.stderr);
    let without = run(command::orderql().args(["explain", "--as", "ann", notes]), "");
    assert!(without.stderr.contains("give --database-url"), "{}", without.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_doctor_finds_groups_that_see_nothing() {
    let database = database().await;
    let folder = crate::support::test_folder::TestFolder::create("views");
    let file = folder.path().join("schema.graphql");
    let text = "type Query { orders: [Order] @sort(key: \"ORDER_ID\") @grant(to: [\"ORDERS\"]) }
        type Order @relation(name: \"order_header\", key: [\"order_id\"]) { orderId: ID! }";
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let grants = || -> Vec<String> {
        let result = orderql(&database, &["doctor", "--json", "--schema", file, "--listen", "127.0.0.1:0"]);
        let findings: Vec<Value> = serde_json::from_str(&result.stdout).unwrap_or_else(|_| panic!("{}", result.stderr));
        let of_grants = findings.iter().filter(|finding| finding["area"] == "grants");
        of_grants.map(|finding| finding["text"].as_str().unwrap().to_owned()).collect()
    };
    let found = grants();
    for expected in
        ["the group API sees nothing", "the group STORES sees nothing", "no group has what the schema calls ORDERS"]
    {
        assert!(found.iter().any(|text| text.contains(expected)), "{found:?}");
    }
    output(&database, &format!("grant --schema {file} add API ORDERS"));
    output(&database, "grant remove STORES /graphql");
    output(&database, "grant remove STORES NOTES");
    let found = grants();
    assert!(!found.iter().any(|text| text.contains("API") || text.contains("ORDERS")), "{found:?}");
    assert!(found.iter().any(|text| text.contains("the members of STORES may do nothing by it")), "{found:?}");
}
