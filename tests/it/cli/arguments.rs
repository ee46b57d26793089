//! What commands make of their arguments and settings: errors before anything is made, and what they print about themselves.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use orderql::access::profile::Profile;
use serde_json::{Value, json};

use crate::support::command::{CommandResult, orderql, orderql_on, run};
use crate::support::database::{Database, empty_database, migrated_database};
use crate::support::server::connection_string;
use crate::support::test_folder::TestFolder;
use crate::support::users::create_users;

/// Runs a command in a folder, without a database.
fn in_folder(folder: &Path, arguments: &str) -> CommandResult {
    run(orderql().current_dir(folder).args(arguments.split(' ')), "")
}

fn on(database: &Database, arguments: &str) -> CommandResult {
    run(orderql_on(database).args(arguments.split(' ')), "")
}

/// The errors of a run that must fail.
fn failure(result: &CommandResult) -> &str {
    assert!(!result.succeeded, "{}", result.stdout);
    &result.stderr
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_made_before_all_arguments_are_known_to_be_good() {
    let database = migrated_database().await;
    let folder = TestFolder::create("arguments");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap();
    for (arguments, expected) in [
        (
            "--log banana",
            "invalid value 'banana' for '--log <FILTER>': expected a level (error, warn, info, debug, trace)",
        ),
        ("--max-cost 0", "max-cost is 0, so that no query could read a row; give 1 or more\n"),
        ("--max-cost -5", "invalid value '-5' for '--max-cost <CREDITS>': expected a whole number of credits from 0"),
        ("--threads -1", "invalid value '-1' for '--threads <COUNT>': expected a whole number from 1 to 1000000"),
        (
            "--listen example.org:80",
            "expected an IP address and a port, such as 127.0.0.1:8080, [::]:8080 or localhost:8080",
        ),
        ("--listen localhost:port", "expected an IP address and a port"),
        (&format!("--listen {taken}"), &format!("cannot listen on {taken}, which the setting listen names")),
        (
            &format!("--listen 127.0.0.1:0 --admin-listen {taken}"),
            &format!("cannot listen on {taken}, which the setting admin-listen names"),
        ),
        ("--schema missing.graphql", "missing.graphql"),
        ("--external-jwks missing.json", "external-issuer is not set"),
        (
            "--listen 127.0.0.1:0 --external-jwks missing.json --external-issuer a --external-audience b",
            "cannot read the external issuer's keys in missing.json",
        ),
    ] {
        for command in ["serve", "demo --data-dir demo"] {
            let mut program = if command == "serve" { orderql_on(&database) } else { orderql() };
            let arguments = format!("{command} {arguments}");
            let result = run(program.current_dir(folder.path()).args(arguments.split(' ')), "");
            let error = failure(&result);
            assert!(error.contains(expected), "{arguments}: {error}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{arguments} leaves files");
        }
    }
    // A folder of something else.
    let foreign = folder.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("letter.txt"), "Dear Ann").unwrap();
    let refused = in_folder(folder.path(), "demo --listen 127.0.0.1:0 --data-dir foreign");
    assert!(
        failure(&refused).contains("foreign has files of something else: name an empty folder"),
        "{}",
        refused.stderr
    );
    assert_eq!(fs::read_dir(&foreign).unwrap().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_about_the_connection_names_the_database_and_what_to_do() {
    let database = empty_database().await;
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let refused = format!("postgresql://me:geheim@127.0.0.1:{free}/orders");
    let socket = connection_string(&database.config());
    let missing = socket.replace(&format!("dbname={}", database.name()), "dbname=nowhere");
    let stranger = socket.replace("user=postgres", "user=stranger");
    for (address, expected) in [
        (
            refused.as_str(),
            format!(
                "cannot connect to the database orders at 127.0.0.1:{free} as the role me; start PostgreSQL there, or correct \
                 host and port in the address: "
            ),
        ),
        (
            "host=/nowhere user=me dbname=orders",
            "cannot connect to the database orders at /nowhere:5432 as the role me; start PostgreSQL there".to_owned(),
        ),
        (&missing, "as the role postgres; correct the database's name, or create it (`createdb NAME`): ".to_owned()),
        (&stranger, "as the role stranger; correct the role in the address".to_owned()),
    ] {
        for command in
            ["serve --listen 127.0.0.1:0 --start-wait off", "user list", "migrate", "schema check", "load file.xml"]
        {
            let folder = TestFolder::create(&format!("connection-{}", command.split(' ').next().unwrap()));
            fs::write(folder.path().join("file.xml"), "<entity-engine-xml/>").unwrap();
            let mut program = orderql();
            program.env("ORDERQL_DATABASE_URL", address).current_dir(folder.path()).args(command.split(' '));
            let result = run(&mut program, "");
            let error = failure(&result);
            assert!(error.contains(&expected) && !error.contains("geheim"), "{command}: {error}");
        }
    }
}

#[test]
fn prints_the_settings_as_json() {
    let mut program = orderql();
    program.args(["config", "--json", "--max-cost", "7", "--listen", "localhost:8105", "--log", "warn,orderql=debug"]);
    program.env("ORDERQL_DEADLINE", "2s").env("ORDERQL_DATABASE_URL", "postgresql://me:geheim@one/orders");
    let printed = run(&mut program, "");
    let settings: Value = serde_json::from_str(&printed.stdout).unwrap_or_else(|_| panic!("{}", printed.stderr));
    assert_eq!(settings["max-cost"], json!({ "value": "7", "origin": "the flag --max-cost" }));
    assert_eq!(settings["deadline"], json!({ "value": "2s", "origin": "the variable ORDERQL_DEADLINE" }));
    assert_eq!(settings["listen"], json!({ "value": "localhost:8105", "origin": "the flag --listen" }));
    assert_eq!(settings["pool-size"], json!({ "value": null, "origin": "the default" }));
    assert_eq!(settings["database-url"], json!({ "isSecret": true, "origin": "the variable ORDERQL_DATABASE_URL" }));
    assert!(!printed.stdout.contains("geheim"));
}

#[test]
fn the_help_of_commands_about_tokens_shows_the_settings_that_matter() {
    for command in [&["token", "--help"][..], &["keys", "rotate", "--help"]] {
        let help = run(orderql().args(command), "").stdout;
        assert!(help.lines().count() <= 30, "{} lines:\n{help}", help.lines().count());
        assert!(help.contains("--key-folder") && help.contains("--config") && !help.contains("--body-limit"), "{help}");
    }
    // The others are taken all the same.
    let result = run(orderql().args(["token", "ann", "--body-limit", "many"]), "");
    assert!(failure(&result).contains("expected a number of bytes above zero"), "{}", result.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn tells_what_a_user_without_a_group_may_not_do_and_who_made_the_change() {
    let database = migrated_database().await;
    let add = |user: &str, group: &[&str]| {
        let mut program = orderql_on(&database);
        for variable in ["SUDO_USER", "USER", "LOGNAME"] {
            program.env_remove(variable);
        }
        run(program.args([&["user", "add", user][..], group].concat()), "correct horse battery\n")
    };
    let without = add("bob", &[]);
    assert_eq!(without.stdout, "bob is a user\n");
    assert!(
        without.stderr.contains("may neither query nor update orders")
            && without.stderr.contains("orderql group join GROUP bob")
    );
    assert_eq!(add("ann", &["--group", "API"]).stderr, "");

    let name = Command::new("id").arg("-un").output().unwrap();
    let actor = format!("cli:{}", String::from_utf8(name.stdout).unwrap().trim());
    let audit: Value = serde_json::from_str(&on(&database, "audit --json").stdout).unwrap();
    let events = audit.as_array().unwrap();
    assert!(!events.is_empty() && events.iter().all(|event| event["actor"] == *actor), "{audit}");
}

#[tokio::test(flavor = "multi_thread")]
async fn loading_names_unknown_entities_and_what_a_second_run_left_unchanged() {
    let database = migrated_database().await;
    let folder = TestFolder::create("load-twice");
    let file = folder.path().join("a.xml");
    let rows = "<Party partyId='A'/><Thing thingId='1'/><Party partyId='B'/><Thing thingId='2'/><Person partyId='A'/>";
    fs::write(&file, format!("<entity-engine-xml>{rows}</entity-engine-xml>")).unwrap();
    let load = || run(orderql_on(&database).args(["load", file.to_str().unwrap()]), "").stdout;
    let unknown = "2 rows of 1 unknown entity skipped (Thing 2); 0 bad\n";
    let name = file.display();
    let first = load();
    assert!(first.starts_with(&format!("{name}: 3 rows of 2 entities (Party 2, Person 1); {unknown}")), "{first}");
    let second = load();
    let unchanged = format!("{name}: 3 rows of 2 entities (Party 2, Person 1); all unchanged; {unknown}");
    assert!(second.starts_with(&unchanged), "{second}");
    fs::write(&file, format!("<entity-engine-xml>{rows}<Party partyId='C'/></entity-engine-xml>")).unwrap();
    assert!(load().starts_with(&format!("{name}: 4 rows of 2 entities (Party 3, Person 1); 3 unchanged; {unknown}")));
}

#[tokio::test(flavor = "multi_thread")]
async fn migrates_by_the_settings_file_and_says_what_a_database_of_the_service_alone_lacks() {
    let database = empty_database().await;
    let folder = TestFolder::create("migrate-by-file");
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/cli/schema/music.graphql");
    let settings = folder.path().join("orderql.toml");
    let address = connection_string(&database.config());
    fs::write(&settings, format!("schema = '{schema}'\ndatabase-url = \"\"\"{address}\"\"\"\n")).unwrap();
    let file = settings.to_str().unwrap();
    let migrated = run(orderql().args(["migrate", "--config", file]), "");
    assert!(migrated.succeeded && migrated.stdout.contains("orderql.user_account"), "{}", migrated.stderr);
    let again = run(orderql().env("ORDERQL_CONFIG", file).args(["migrate"]), "");
    assert_eq!(again.stdout, "Nothing to do: the database is up to date.\n", "{}", again.stderr);
    let tables = "SELECT count(*) FROM pg_class WHERE relname = 'order_header'";
    assert_eq!(database.connect().await.query_one(tables, &[]).await.unwrap().get::<_, i64>(0), 0);

    let data = folder.path().join("a.xml");
    fs::write(&data, "<entity-engine-xml><Party partyId='A'/></entity-engine-xml>").unwrap();
    let load = format!("load {}", data.display());
    for command in [&load, "sample --orders 1"] {
        let result = on(&database, command);
        let advice = "the database lacks the tables of orders: `orderql migrate` adds them (without `--only service`, and \
                      without a schema file of other tables)\n";
        assert_eq!(failure(&result), format!("orderql: {advice}"), "{command}");
    }
    let none = run(orderql().args(["migrate"]), "");
    assert!(failure(&none).contains("database-url is not set; give --database-url"), "{}", none.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_that_takes_a_database_takes_the_configuration_file() {
    let database = migrated_database().await;
    create_users(&mut database.connect().await, &[("demo", Profile::DEFAULT)]).await;
    let folder = TestFolder::create("config-flag");
    let [settings, data] = ["orderql.toml", "a.xml"].map(|name| folder.path().join(name).display().to_string());
    fs::write(&settings, format!("database-url = \"\"\"{}\"\"\"\n", connection_string(&database.config()))).unwrap();
    fs::write(&data, "<entity-engine-xml><Party partyId='A'/></entity-engine-xml>").unwrap();
    let query = "{order(orderId:1){orderId}}";
    for command in [
        "user list",
        "group list",
        "grant list",
        "audit",
        "sync status",
        "tables",
        "migrate --dry-run",
        "schema check",
        "schema draft",
        &format!("load {data}"),
        &format!("explain --analyze {query}"),
        &format!("query {query}"),
        "profile set demo --max-cost 500",
    ] {
        let result = run(orderql().args(command.split(' ')).args(["--config", &settings]), "");
        assert!(result.succeeded, "{command}: {}{}", result.stdout, result.stderr);
    }
    let none = run(orderql().args(["user", "list"]), "");
    assert!(failure(&none).contains("database-url is not set; give --database-url"), "{}", none.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_without_connections_left_is_told_of_its_own_limit() {
    let database = migrated_database().await;
    let (admin, role) = (database.connect().await, format!("few_{}", database.name()));
    admin.batch_execute(&format!("CREATE ROLE {role} LOGIN CONNECTION LIMIT 0")).await.unwrap();
    let address = connection_string(&database.config()).replace("user=postgres", &format!("user={role}"));
    let refused = run(orderql().args(["user", "list", "--database-url", &address]), "");
    assert!(failure(&refused).contains("raise its limit (ALTER ROLE … CONNECTION LIMIT …)"), "{}", refused.stderr);
    let name = database.name();
    admin
        .batch_execute(&format!("ALTER ROLE {role} CONNECTION LIMIT 5; ALTER DATABASE {name} CONNECTION LIMIT 0"))
        .await
        .unwrap();
    let refused = run(orderql().args(["user", "list", "--database-url", &address]), "");
    assert!(failure(&refused).contains("raise the database's limit (ALTER DATABASE"), "{}", refused.stderr);
    admin.batch_execute(&format!("DROP ROLE {role}")).await.unwrap();
}
