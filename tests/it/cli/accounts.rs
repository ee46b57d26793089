//! Commands for users, groups, grants and profiles: output, errors, and the effect on running servers.

use std::collections::BTreeMap;

use orderql::limits::{LIMITS, Unit};
use serde_json::{Value, json};

use crate::support::command::{CommandResult, orderql_on, run};
use crate::support::database::{Database, empty_database, migrated_database};
use crate::support::server::Server;

/// Runs the program on the database with that standard input. A tilde in an argument stands for a space.
fn orderql_with(database: &Database, arguments: &str, input: &str) -> CommandResult {
    let arguments = arguments.split(' ').map(|argument| argument.replace('~', " "));
    run(orderql_on(database).args(arguments), input)
}

/// The output of a run that must succeed.
fn orderql(database: &Database, arguments: &str) -> String {
    let run = orderql_with(database, arguments, "secret\n");
    assert!(run.succeeded, "{arguments}: {}", run.stderr);
    run.stdout
}

fn json_of(database: &Database, arguments: &str) -> Value {
    serde_json::from_str(&orderql(database, &format!("{arguments} --json"))).unwrap()
}

/// The errors of a run that must fail.
fn failure(database: &Database, arguments: &str, input: &str) -> String {
    let run = orderql_with(database, arguments, input);
    assert!(!run.succeeded, "{arguments}: {}", run.stdout);
    assert_eq!(run.stdout, "", "{arguments}");
    run.stderr
}

#[tokio::test(flavor = "multi_thread")]
async fn adds_lists_disables_enables_and_removes_users() {
    let database = migrated_database().await;
    assert_eq!(orderql(&database, "user add ann --group API"), "ann is a user\n");
    assert_eq!(json_of(&database, "user add bob"), json!({"user": "bob", "changed": true}));
    assert_eq!(orderql(&database, "user disable bob"), "bob is disabled\n");
    assert_eq!(orderql(&database, "user disable bob"), "bob is disabled already; nothing changed\n");

    let listed = json_of(&database, "user list");
    assert_eq!(listed[0]["user"], "ann");
    assert_eq!((&listed[0]["disabled"], &listed[0]["groups"]), (&json!(false), &json!(["API"])));
    assert_eq!((&listed[1]["disabled"], &listed[1]["groups"]), (&json!(true), &json!([])));
    let table = orderql(&database, "user list");
    let lines: Vec<_> = table.lines().map(|line| line.split_whitespace().take(3).collect::<Vec<_>>()).collect();
    assert_eq!(lines, [["USER", "DISABLED", "GROUPS"], ["ann", "no", "API"], ["bob", "yes", "-"]]);

    assert_eq!(orderql(&database, "user enable bob"), "bob is enabled\n");
    assert_eq!(orderql(&database, "user passwd bob"), "bob has a new password\n");
    assert_eq!(orderql(&database, "user remove bob"), "bob is removed\n");
    assert_eq!(json_of(&database, "user list").as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_suggest_what_was_probably_meant() {
    let database = migrated_database().await;
    orderql(&database, "user add integration --group API");
    for (arguments, input, expected) in [
        ("user add integration", "secret\n", "there is a user `integration` already"),
        ("user add eve --group APPI", "secret\n", "there is no group `APPI`; did you mean `API`?"),
        ("user add eve", "", "no password came"),
        ("user add eve", "\n", "a password takes 1 to 1024 bytes"),
        ("user add eve:1", "secret\n", "`eve:1` cannot be a user's name"),
        ("user add \u{7}", "secret\n", "`\\u{7}` cannot be a user's name"),
        ("user passwd integratoin", "secret\n", "there is no user `integratoin`; did you mean `integration`?"),
        ("user remove nobody", "", "there is no user `nobody`\n"),
        ("user disable INTEGRATION", "", "did you mean `integration`?"),
        ("group add API", "", "there is a group `API` already"),
        ("group remove APIS", "", "there is no group `APIS`; did you mean `API`?"),
        ("group join API integration2", "", "there is no user `integration2`; did you mean `integration`?"),
        ("group leave APO integration", "", "there is no group `APO`; did you mean `API`?"),
        ("grant add API /grapql", "", "what can be granted: /api/updateOrder, /graphql"),
        ("profile show nobody", "", "there is no user `nobody`"),
        ("profile set integration", "", "required arguments were not provided"),
        ("profile set integration --max-cost 0", "", "0 is not in 1.."),
        (
            "profile set integration --max-cost 1001",
            "",
            "max-cost would be 1001 and bucket-size 1000; a query that costs more than a full bucket holds can never run; \
             set --bucket-size to 1001 or more, or --max-cost to 1000 or less (one of them is the server's default",
        ),
        ("profile set integration --bucket-size 10", "", "max-cost would be 1000 and bucket-size 10;"),
        (
            "profile set integration --bucket-size 10 --max-cost 11",
            "",
            "set --bucket-size to 11 or more, or --max-cost to 10 or less\n",
        ),
        ("profile set integration --deadline soon", "", "expected a time above zero"),
        ("profile unset integration max-cots", "", "'max-cost'"),
        ("audit --since whenever", "", "the time cannot be read"),
        ("user list --database-url nonsense://", "", "invalid value"),
    ] {
        let error = failure(&database, arguments, input);
        assert!(error.contains(expected), "{arguments}: {error}");
    }
    // A user with an unknown group is not created.
    assert_eq!(json_of(&database, "user list").as_array().unwrap().len(), 1);
    let empty = empty_database().await;
    assert!(failure(&empty, "user list", "").contains("run `orderql migrate` first"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_server_applies_changes_by_commands() {
    let database = migrated_database().await;
    let server = Server::start(&database, &[]);
    let sign_in = |password| server.sign_in("/auth/token", "ann", password).status;
    assert_eq!(sign_in("secret"), 401);
    orderql(&database, "user add ann");
    while sign_in("secret") == 401 {}

    let token = server.sign_in("/auth/token", "ann", "secret").json()["access_token"].as_str().unwrap().to_owned();
    let query = || server.query(&token, "{ order(orderId: \"NONE\") { orderName } }");
    assert_eq!(query().status, 403);
    orderql(&database, "group add STORES --description Stores");
    orderql(&database, "grant add STORES /graphql");
    assert_eq!(query().status, 403);
    orderql(&database, "group join STORES ann");
    while query().status == 403 {}
    assert_eq!(query().json()["data"], json!({"order": null}));

    orderql(&database, "profile set ann --bucket-size 5000 --restore-rate 7 --max-cost 1");
    while query().code() != "COST_EXCEEDED" {}
    orderql(&database, "profile unset ann max-cost");
    while query().status != 200 || query().code() == "COST_EXCEEDED" {}
    let throttle = &query().json()["extensions"]["cost"]["throttleStatus"];
    assert_eq!((&throttle["maximumAvailable"], &throttle["restoreRate"]), (&json!(5000), &json!(7)));

    orderql(&database, "grant remove STORES /graphql");
    while query().status == 200 {}
    assert_eq!(query().status, 403);
    orderql(&database, "user disable ann");
    while query().status == 403 {}
    assert_eq!((query().status, sign_in("secret")), (401, 401));
    orderql(&database, "user enable ann");
    while query().status == 401 {}

    let run = orderql_with(&database, "user passwd ann", "other\r\n");
    assert!(run.succeeded, "{}", run.stderr);
    while sign_in("other") == 401 {}
    assert_eq!((sign_in("other"), sign_in("secret")), (200, 401));
    orderql(&database, "user remove ann");
    while query().status != 401 {}
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_groups_grants_and_profiles() {
    let database = migrated_database().await;
    orderql(&database, "user add ann --group API");
    orderql(&database, "user add bob --group API");
    orderql(&database, "user disable bob");
    orderql(&database, "group add EMPTY");
    let groups = json_of(&database, "group list");
    assert_eq!((&groups[0]["group"], &groups[0]["members"]), (&json!("API"), &json!(["ann", "bob"])));
    assert_eq!(groups[0]["grants"], json!(["/api/updateOrder", "/graphql", "NOTES", "PAYMENTS", "PERSONAL_DATA"]));
    assert_eq!(groups[1], json!({"group": "EMPTY", "members": [], "grants": [], "description": null}));
    let grants = json_of(&database, "grant list");
    assert_eq!(grants[1], json!({"path": "/graphql", "groups": ["API"], "users": ["ann"]}));
    assert_eq!(orderql(&database, "group join API ann"), "ann is in API already; nothing changed\n");
    assert_eq!(orderql(&database, "group leave API ann"), "ann is not in API\n");
    assert_eq!(orderql(&database, "group leave API ann"), "ann is not in API already; nothing changed\n");
    assert_eq!(orderql(&database, "group remove EMPTY"), "EMPTY is removed\n");

    let unset = json!({
        "max-cost": null, "max-page-size": null, "max-depth": null, "bucket-size": null, "restore-rate": null,
        "deadline": null, "concurrent-queries": null, "concurrent-updates": null, "updates-per-second": null,
        "idempotency-keys": null, "response-size": null,
    });
    assert_eq!(json_of(&database, "profile show ann"), unset);
    let all = "--max-cost 1 --max-page-size 2 --max-depth 3 --bucket-size 4 --restore-rate 5 --deadline 6s \
               --concurrent-queries 7 --concurrent-updates 8 --updates-per-second 10 --idempotency-keys 9 --response-size 10KiB";
    assert_eq!(orderql(&database, &format!("profile set ann {all}")), "ann has these limits\n");
    assert!(orderql(&database, &format!("profile set ann {all}")).contains("nothing changed"));
    let shown = json!({
        "max-cost": 1, "max-page-size": 2, "max-depth": 3, "bucket-size": 4, "restore-rate": 5,
        "deadline": "6000ms", "concurrent-queries": 7, "concurrent-updates": 8, "updates-per-second": 10,
        "idempotency-keys": 9, "response-size": 10240,
    });
    assert_eq!(json_of(&database, "profile show ann"), shown);
    let error = failure(&database, "profile unset ann max-cost deadline", "");
    assert!(error.contains("max-cost would be 1000 and bucket-size 4;"), "{error}");
    orderql(&database, "profile unset ann max-cost bucket-size deadline");
    assert!(orderql(&database, "profile show ann").contains("max-cost            the server's default\n"));
    orderql(&database, "profile unset ann");
    assert_eq!(json_of(&database, "profile show ann"), unset);
}

#[tokio::test(flavor = "multi_thread")]
async fn audits_every_change_once() {
    let database = migrated_database().await;
    for arguments in [
        "user add ann --group API",
        "user disable ann",
        "user disable ann",
        "user enable ann",
        "user passwd ann",
        "group add STORES",
        "group join STORES ann",
        "group join STORES ann",
        "grant add STORES /graphql",
        "profile set ann --max-cost 5",
        "profile set ann --max-cost 5",
        "profile unset ann",
        "grant remove STORES /graphql",
        "group leave STORES ann",
        "group remove STORES",
        "user remove ann",
    ] {
        orderql(&database, arguments);
    }
    failure(&database, "user remove ann", "");
    let events = json_of(&database, "audit --since yesterday");
    let actions: Vec<_> = events.as_array().unwrap().iter().map(|event| event["action"].as_str().unwrap()).collect();
    assert_eq!(
        actions,
        [
            "user.added",
            "user.disabled",
            "user.enabled",
            "password.changed",
            "group.added",
            "group.joined",
            "grant.added",
            "profile.changed",
            "profile.changed",
            "grant.removed",
            "group.left",
            "group.removed",
            "user.removed",
        ]
    );
    assert_eq!(events[5]["details"], json!({"group": "STORES"}));
    assert_eq!(events[7]["details"], json!({"before": {}, "after": {"max_cost": 5}}));
    assert!(events.as_array().unwrap().iter().all(|event| event["actor"] == "cli:ann"), "{events}");
    assert!(!events.to_string().contains("secret") && !events.to_string().contains("argon2"));
    assert_eq!(json_of(&database, "audit --since tomorrow"), json!([]));
    assert_eq!(json_of(&database, "audit --limit 1").as_array().unwrap().len(), 1);
    assert_eq!(json_of(&database, "audit --limit 1")[0]["action"], "user.removed");
    assert_eq!(json_of(&database, "audit --since 1~hour~ago").as_array().unwrap().len(), 13);
    let table = orderql(&database, "audit");
    assert!(table.starts_with("AT") && table.contains("group STORES"), "{table}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_has_a_column_for_each_limit_and_no_others() {
    let database = migrated_database().await;
    let select = "SELECT column_name::text, data_type::text FROM information_schema.columns
                  WHERE (table_schema, table_name) = ('orderql', 'user_profile') AND column_name <> 'user_id'";
    let rows = database.connect().await.query(select, &[]).await.unwrap();
    let columns: BTreeMap<String, String> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let limits = LIMITS.iter().map(|limit| {
        let data_type = match limit.unit {
            Unit::Credits | Unit::Time | Unit::Bytes => "bigint",
            Unit::Count => "integer",
        };
        (limit.column.to_owned(), data_type.to_owned())
    });
    assert_eq!(columns, limits.collect());
}
