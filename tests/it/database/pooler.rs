//! PgBouncer between the server and PostgreSQL.

use std::thread;

use orderql::access::profile::Profile;
use serde_json::json;

use crate::support::command::{CommandResult, orderql, run};
use crate::support::database::{Database, migrated_database};
use crate::support::http::{bearer, graphql_request};
use crate::support::pooler::{OLDEST, Pooler, installed_version};
use crate::support::server::Server;
use crate::support::test_folder::TestFolder;
use crate::support::users::{UNLIMITED_PROFILE, create_users};

const ORDER: &str = "{ order(orderId: \"NEW\") { orderId } }";

/// A response that is streamed, for it may have many rows.
const ORDERS: &str = "{ orders(first: 100) { edges { node { orderId orderItems(first: 100) { edges { node { orderItemSeqId } } } } } } }";

/// Makes reading an order fail in a transaction that may write.
const DEMANDING_ORDERS: &str = "
    CREATE FUNCTION demand() RETURNS bool LANGUAGE plpgsql AS $$
    BEGIN
        IF current_setting('transaction_read_only') <> 'on' THEN
            RAISE EXCEPTION 'this transaction may write';
        END IF;
        RETURN TRUE;
    END $$;
    INSERT INTO order_header (order_id) VALUES ('NEW');
    ALTER TABLE order_header RENAME TO real_order_header;
    CREATE VIEW order_header AS SELECT * FROM real_order_header WHERE demand()";

/// A database with a role that does not have the settings of reading connections.
async fn database_with_role() -> (Database, String) {
    let database = migrated_database().await;
    let role = format!("pooled_{}", database.name());
    let mut client = database.connect().await;
    let brief = Profile { deadline_ms: Some(200), ..UNLIMITED_PROFILE };
    create_users(&mut client, &[("demo", UNLIMITED_PROFILE), ("brief", brief)]).await;
    client.batch_execute(&format!("DROP ROLE IF EXISTS {role}; CREATE ROLE {role} SUPERUSER LOGIN")).await.unwrap();
    (database, role)
}

async fn give_settings(database: &Database, role: &str) {
    let printed = run(orderql().args(["migrate", "--print-role-settings", role]), "");
    assert!(printed.succeeded, "{}", printed.stderr);
    database.connect().await.batch_execute(&printed.stdout).await.unwrap();
}

/// A server that does not start.
fn refused(address: &str, flags: &[&str]) -> CommandResult {
    let keys = TestFolder::create("pooler-keys");
    let mut command = orderql();
    command.args([
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--start-wait",
        "off",
        "--database-url",
        address,
        "--key-folder",
    ]);
    let result = run(command.arg(keys.path()).args(flags), "");
    assert!(!result.succeeded, "{}", result.stderr);
    result
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pooler_of_sessions_is_used_without_startup_options() {
    let Some(version) = installed_version() else { return };
    let (database, role) = database_with_role().await;
    // A backend has the settings that its role had when it was started, so none is kept.
    let once = "pool_mode = session\nserver_lifetime = 0";
    let pooler = Pooler::start("pooler-session", &database.config(), &role, once);
    let address = pooler.address(database.name(), &role);
    // It refuses them, or drops them where its settings say so: then reading connections could write.
    let refusing = refused(&address, &[]).stderr;
    assert!(refusing.contains("startup-options") && refusing.contains("unsupported startup parameter"), "{refusing}");
    let ignoring = "pool_mode = session\nignore_startup_parameters = options";
    let ignoring = Pooler::start("pooler-ignoring", &database.config(), &role, ignoring);
    let lost = refused(&ignoring.address(database.name(), &role), &[]).stderr;
    assert!(lost.contains("default_transaction_read_only is \"off\"") && lost.contains("search_path"), "{lost}");
    // Without them the role has the settings, or the server does not start either.
    let lost = refused(&address, &["--startup-options", "off"]).stderr;
    assert!(lost.contains("search_path is") && !lost.contains("isolation"), "{lost}");
    let required = format!(
        "ALTER ROLE {role} SET search_path = public; ALTER ROLE {role} SET TimeZone = 'UTC';
                            ALTER ROLE {role} SET max_parallel_workers_per_gather = 0"
    );
    database.connect().await.batch_execute(&required).await.unwrap();
    let flags = ["--startup-options", "off"];
    let slow = Server::start_on(&address, &flags).stop();
    assert!(slow.contains("plan_cache_mode is \\\"auto"), "{slow}");
    give_settings(&database, &role).await;

    let server = Server::start_on(&address, &flags);
    let token = server.token("demo");
    let mut admin = database.connect().await;
    admin.batch_execute(DEMANDING_ORDERS).await.unwrap();
    check_queries(&server, &token);
    check_export(&server, &token);
    if version < OLDEST {
        // It knows it where it may ask.
        let telling = Pooler::start("pooler-telling", &database.config(), &role, &format!("stats_users = {role}"));
        let address = telling.address(database.name(), &role);
        let old = refused(&address, &flags).stderr;
        assert!(old.contains(&format!("PgBouncer {}.{}", version.0, version.1)) && old.contains("upgrade"), "{old}");
        let examined = run(orderql().args(["doctor", "--database-url", &address]).args(flags), "");
        assert!(!examined.succeeded && examined.stdout.contains("FAILED   pooler"), "{}", examined.stdout);
        println!("skipped: this PgBouncer crashes when a statement is cancelled");
        return;
    }
    // The statement is cancelled although the lock is still held.
    let lock = admin.transaction().await.unwrap();
    lock.batch_execute("LOCK real_order_header").await.unwrap();
    assert_eq!(server.query(&server.token("brief"), ORDER).code(), "DEADLINE_EXCEEDED");
    database.wait_for_lock_waits(0).await;
    lock.rollback().await.unwrap();
    let response = server.query(&token, ORDER);
    let log = server.stop();
    assert_eq!(response.code(), "", "{response:?}\n{log}\n{}", pooler.log());
    assert!(!log.contains("planned otherwise"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pooler_of_transactions_keeps_prepared_statements_or_is_refused() {
    let Some(version) = installed_version() else { return };
    let (database, role) = database_with_role().await;
    give_settings(&database, &role).await;
    let settings = "pool_mode = transaction\nmax_client_conn = 200";
    let pooler = Pooler::start("pooler-transaction", &database.config(), &role, settings);
    let address = pooler.address(database.name(), &role);
    if version < OLDEST {
        let old = refused(&address, &["--startup-options", "off"]).stderr;
        assert!(old.contains("PgBouncer before version 1.21"), "{old}");
        println!("skipped: PgBouncer {version:?} is older than 1.21");
        return;
    }
    let server = Server::start_on(&address, &["--startup-options", "off", "--pool-size", "40"]);
    let token = server.token("demo");
    database.connect().await.batch_execute(DEMANDING_ORDERS).await.unwrap();
    thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| check_queries(&server, &token));
        }
        // A caller has one export at a time.
        scope.spawn(|| check_export(&server, &token));
    });
    assert!(pooler.log().contains(&format!("user={role}")), "the server used it");
}

/// Queries and streamed responses only read.
fn check_queries(server: &Server, token: &str) {
    for _ in 0..5 {
        let response = server.query(token, ORDER);
        assert_eq!(response.json()["data"], json!({ "order": { "orderId": "NEW" } }), "{response:?}");
        let response = server.query(token, ORDERS);
        assert_eq!(response.json()["data"]["orders"]["edges"][0]["node"]["orderId"], "NEW", "{response:?}");
    }
    assert_eq!(server.request("POST /rest/s1/graphql", &[&bearer(token)], "").status, 415);
}

/// So do exports.
fn check_export(server: &Server, token: &str) {
    let export =
        graphql_request(token, "application/x-ndjson", "{ orders(first: 100) { edges { node { orderId } } } }");
    let exported = server.send(export);
    assert!(exported.status == 200 && exported.body.contains("\"NEW\""), "{exported:?}");
}
