//! Commands for operators of a server: questions, checks, and what packages need.

use std::fs;
use std::path::Path;
use std::process::Command;

use orderql::access::profile::Profile;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use crate::support::authority::Authority;
use crate::support::command::{orderql, orderql_on, run};
use crate::support::database::{empty_database, loaded_database, migrated_database};
use crate::support::server::{Server, connection_string};
use crate::support::test_folder::TestFolder;
use crate::support::users::create_users;

const ORDERS: &str = "query ($id: ID!) { order(orderId: $id) { orderId statusId
    shipGroups(first: 2) { edges { node { shipGroupSeqId orderItems(first: 2) { edges { node { productId } } } } } } } }";
const VARIABLES: &str = r#"{"id": "ORDER_SPLIT"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn asks_a_server_or_a_database_and_prints_tables_or_json() {
    let (database, folder) = (loaded_database().await, TestFolder::create("query"));
    create_users(&mut database.connect().await, &[("demo", Profile::DEFAULT)]).await;
    let authority = Authority::new("authority");
    let [certificate, key, root] = ["server.crt", "server.key", "root.crt"].map(|name| folder.path().join(name));
    authority.write("localhost", &certificate, &key);
    fs::write(&root, authority.pem()).unwrap();
    let [certificate, key, root] = [&certificate, &key, &root].map(|path| path.to_str().unwrap());
    let server = Server::start(&database, &[]);
    let encrypted = Server::start(&database, &["--tls-cert", certificate, "--tls-key", key]);
    let token = server.token("demo");
    let ask = |arguments: &[&str], input: &str| {
        run(orderql().args(["query", "--variables", VARIABLES]).args(arguments), input)
    };
    let url = format!("http://{}", server.address);

    let shown = ask(&["--url", &url, "--token", &token, ORDERS], "").stdout;
    for expected in [
        "order.orderId   ORDER_SPLIT\n",
        "order.statusId  ",
        "\norder.shipGroups\nshipGroupSeqId  orderItems\n",
        " productId ",
        "Cost: ",
        " are left.",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let remote: Value =
        serde_json::from_str(&ask(&["--url", &url, "--token", &token, "--json", ORDERS], "").stdout).unwrap();
    let address = connection_string(&database.config());
    let direct = ask(&["--database-url", &address, "--json"], ORDERS);
    let direct: Value = serde_json::from_str(&direct.stdout).unwrap_or_else(|_| panic!("{}", direct.stderr));
    assert_eq!(direct["data"], remote["data"]);
    let price = |response: &Value| {
        let cost = &response["extensions"]["cost"];
        [&cost["requestedQueryCost"], &cost["actualQueryCost"]].map(Value::as_u64)
    };
    assert_eq!(price(&direct), price(&remote));

    // All pages, as lines of a table.
    let list = |first: usize| format!("{{ orders(first: {first}) {{ edges {{ node {{ orderId statusId }} }} }} }}");
    let [paged, whole] = [(&["--all"][..], 2), (&[], 100)].map(|(more, first)| {
        let result = ask(&[&["--url", &url, "--token", &token, "--csv"], more, &[list(first).as_str()]].concat(), "");
        assert!(result.succeeded, "{}", result.stderr);
        result.stdout
    });
    assert!(paged == whole && paged.starts_with("orderId,statusId\n") && paged.lines().count() > 5, "{paged}");
    assert!(whole.contains("\nORDER_SPLIT,ORDER_"), "{whole}");

    // A password, and then the query, from standard input; over TLS.
    let secure = format!("https://localhost:{}", encrypted.address.port());
    let signed_in = ask(&["--url", &secure, "--ca", root, "--user", "demo"], &format!("demo\n{ORDERS}"));
    assert!(signed_in.succeeded && signed_in.stdout.contains("ORDER_SPLIT"), "{}", signed_in.stderr);
    for (arguments, expected) in [
        (&["--url", &secure, "--ca", root, "--user", "demo"][..], "demo cannot sign in: "),
        (&["--url", &url, "--token", &token, "--all"], "--all reads one list"),
        (
            &["--url", &secure, "--ca", certificate, "--token", &token],
            "an authority that is not trusted; name its PEM file with --ca",
        ),
        (
            &["--url", &secure.replace("https:", "http:"), "--token", &token],
            "is no HTTP; does its address begin with https://?",
        ),
        (
            &["--url", &url.replace("http:", "https:"), "--token", &token],
            "is no TLS; does its address begin with http://?",
        ),
        (&["--url", "ftp://a"], "http://HOST:PORT"),
        (&["--url", "http://127.0.0.1:1", "--token", "x"], "no connection to 127.0.0.1:1"),
        (&["--url", &secure, "--ca", root], "name a caller"),
        (&["--url", &url, "--token", &token, "{ order { orderId } nothing }"], "1:21: "),
        (&["--database-url", &address, "{ nothing }"], "(GRAPHQL_VALIDATION_FAILED)"),
        (&["--database-url", "host=/nowhere user=a", "{ __typename }"], "cannot connect to the role's database"),
    ] {
        let failed = ask(arguments, "wrong\n{ __typename }");
        assert!(!failed.succeeded && failed.stderr.contains(expected), "{arguments:?}: {}", failed.stderr);
        assert!(!failed.stderr.contains(&token), "{}", failed.stderr);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_doctor_finds_what_is_wrong_and_says_what_to_do() {
    let (database, folder) = (migrated_database().await, TestFolder::create("doctor"));
    let keys = folder.path().join("keys");
    let examine = |database, flags: &[&str]| {
        let mut command = orderql_on(database);
        command
            .args(["doctor", "--json", "--listen", "127.0.0.1:0", "--connection-limit", "100", "--key-folder"])
            .arg(&keys);
        command.args(flags);
        let result = run(&mut command, "");
        let findings: Vec<Value> = serde_json::from_str(&result.stdout).unwrap_or_else(|_| panic!("{}", result.stderr));
        (result.succeeded, findings)
    };
    let worst = |findings: &[Value], level: &str| -> Vec<String> {
        let areas = findings.iter().filter(|finding| finding["level"] == level).map(|finding| finding["area"].clone());
        areas.map(|area| area.as_str().unwrap().to_owned()).collect()
    };

    let (succeeded, findings) = examine(&database, &[]);
    assert!(succeeded, "{findings:#?}");
    // The tests' role may do everything.
    assert_eq!(worst(&findings, "warning"), ["keys", "grants", "accounts"], "{findings:#?}");
    assert!(!keys.exists(), "nothing is made");

    create_users(&mut database.connect().await, &[("demo", Profile::DEFAULT)]).await;
    Server::start(&database, &["--key-folder", keys.to_str().unwrap()]).stop();
    let (succeeded, findings) = examine(&database, &[]);
    assert!(succeeded, "{findings:#?}");
    assert_eq!([worst(&findings, "warning"), worst(&findings, "FAILED")], [vec!["grants".to_owned()], vec![]]);

    // A role that may not do everything, a database that is not as it should be, and settings that expose others.
    let admin = database.connect().await;
    let name = database.name();
    let role = format!("weak_{name}");
    admin
        .batch_execute(&format!(
            "CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA orderql TO {role};
             GRANT SELECT ON ALL TABLES IN SCHEMA public, orderql TO {role};
             REVOKE SELECT ON orderql.stale_return FROM {role};
             ALTER TABLE order_header ENABLE ROW LEVEL SECURITY; ALTER TABLE uom OWNER TO {role};
             INSERT INTO orderql.user_account (user_id, password_hash) VALUES ('lonely', '');
             ALTER DATABASE {name} SET idle_session_timeout = '1h'; ALTER DATABASE {name} SET statement_timeout = '1s'"
        ))
        .await
        .unwrap_or_else(|error| panic!("{error:?}"));
    let weak = connection_string(&database.config()).replace("user=postgres", &format!("user={role}"));
    let flags =
        ["--listen", "0.0.0.0:8080", "--pool-size", "1000", "--connection-limit", "1000000", "--database-url", &weak];
    let mut command = orderql();
    let more = ["--admin-listen", "0.0.0.0:9464", "--documents", "/nowhere/documents"];
    command.args(["doctor", "--key-folder"]).arg(&keys).args(flags).args(more);
    let examined = run(&mut command, "");
    for expected in [
        "warning  encryption",
        "warning  descriptors",
        "→ ulimit -n",
        "warning  connections",
        "the service cannot keep its accounts and audit trails: no EXECUTE on orderql.prune_audit_events(interval, bigint), orderql.prune_order_updates(interval, bigint); no INSERT",
        "order updates get an error: no DELETE on ",
        "no USAGE on orderql.entity_id",
        "; GRANT UPDATE ON public.inventory_item, public.order_adjustment, public.order_header, ",
        "GRANT USAGE ON SEQUENCE orderql.entity_id TO ",
        "idle_session_timeout is 3600000",
        "statement_timeout is 1000",
        &format!("→ ALTER ROLE {role} IN DATABASE {name} SET statement_timeout = 0;\n"),
        "FAILED   documents   /nowhere/documents cannot be read",
        "admin-listen is 0.0.0.0:9464: whoever reaches this machine reads metrics and settings",
        &format!("the role {role} owns tables that it serves"),
        &format!("row-level security hides rows of order_header from the role {role}"),
        &format!("→ CREATE POLICY orderql ON order_header FOR SELECT TO {role} USING (true); -- for each table"),
        "1 of them may do nothing, being in no group: lonely",
        "→ orderql group join GROUP 'lonely'",
        "warning  tables      this role may not compare returns",
    ] {
        assert!(examined.stdout.contains(expected), "{expected}: {}", examined.stdout);
    }
    admin
        .batch_execute(&format!("REASSIGN OWNED BY {role} TO postgres; DROP OWNED BY {role}; DROP ROLE {role}"))
        .await
        .unwrap();

    let (succeeded, findings) = examine(&empty_database().await, &[]);
    assert!(!succeeded);
    assert_eq!(worst(&findings, "FAILED")[0], "migrations", "{findings:#?}");
    let unreachable = run(orderql().args(["doctor", "--database-url", "host=/nowhere user=a"]), "");
    assert!(
        !unreachable.succeeded && unreachable.stdout.contains("FAILED   database    cannot connect to"),
        "{}",
        unreachable.stdout
    );
}

/// What migrations made is no longer so, many rows were written at once, a limit is too low, and places are taken.
#[tokio::test(flavor = "multi_thread")]
async fn a_doctor_finds_what_is_no_longer_as_it_was_made() {
    let (database, folder) = (migrated_database().await, TestFolder::create("changed"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let admin = database.connect().await;
    admin
        .batch_execute(&format!(
            "DROP INDEX oql_order_header_with_status_by_date;
             CREATE INDEX oql_order_header_with_status_by_date ON order_header (status_id, order_date, order_id);
             ALTER TABLE person DISABLE TRIGGER orderql_keep;
             ALTER TABLE party_group ENABLE TRIGGER orderql_keep_none;
             ALTER TABLE return_item ENABLE ALWAYS TRIGGER orderql_return_replicated;
             DROP TRIGGER orderql_item_inserted ON order_item;
             ALTER TABLE shipment DISABLE TRIGGER orderql_store;
             ALTER TABLE orderql.changed_item ENABLE TRIGGER orderql_item_kept;
             INSERT INTO party (party_id) VALUES ('HIDDEN');
             DELETE FROM orderql.party WHERE party_id = 'HIDDEN';
             INSERT INTO uom (uom_id, description) SELECT 'U' || n, repeat('x', 200) FROM generate_series(1, 20000) AS n;
             ALTER DATABASE {} CONNECTION LIMIT 3",
            database.name()
        ))
        .await
        .unwrap_or_else(|error| panic!("{error:?}"));
    let mut command = orderql_on(&database);
    let folder_in_a_file = folder.path().join("none/keys");
    fs::write(folder.path().join("none"), "").unwrap();
    command.args(["doctor", "--listen", &taken, "--key-folder"]).arg(&folder_in_a_file);
    let examined = run(&mut command, "");
    assert!(!examined.succeeded);
    for expected in [
        "without a column that they include: oql_order_header_with_status_by_date\n",
        "→ orderql migrate --concurrently",
        // The server starts without it.
        "warning  schema      no index",
        "orderql_keep on person is off",
        "→ ALTER TABLE public.person ENABLE ALWAYS TRIGGER orderql_keep;",
        "orderql_keep_none on party_group is not ALWAYS",
        "orderql_return_replicated on return_item is in another mode",
        "→ ALTER TABLE public.return_item ENABLE REPLICA TRIGGER orderql_return_replicated;",
        "orderql_item_inserted on order_item is missing",
        "orderql_store on shipment is off",
        "→ ALTER TABLE orderql.changed_item ENABLE ALWAYS TRIGGER orderql_item_kept;",
        "1 parties in orderql.party differ from OFBiz's tables",
        "→ VACUUM (ANALYZE) public.uom;",
        &format!("the database {} has 3, others use 1 of them, and one server needs", database.name()),
        &format!("cannot listen on {taken}, which the setting listen names"),
        "which the setting key-folder names",
    ] {
        assert!(examined.stdout.contains(expected), "{expected}: {}", examined.stdout);
    }
}

#[test]
fn a_doctor_warns_of_certificates_that_expire() {
    let folder = TestFolder::create("expiry");
    let authority = Authority::new("authority");
    let [certificate, key, root] = ["a.crt", "a.key", "root.crt"].map(|name| folder.path().join(name));
    fs::write(&root, authority.pem()).unwrap();
    let [certificate_name, key_name, root] = [&certificate, &key, &root].map(|path| path.to_str().unwrap());
    let database = format!(
        "host=127.0.0.1 port=1 user=a sslmode=verify-full sslrootcert={root} sslcert={certificate_name} sslkey={key_name}"
    );
    for (days, expected) in
        [(-1, "FAILED   certificates tls-cert"), (3, "warning  certificates tls-cert"), (90, "ok       ")]
    {
        let end = OffsetDateTime::now_utc() + Duration::days(days);
        authority.write_until(end, "api.example", &certificate, &key);
        let mut command = orderql();
        command.args(["doctor", "--tls-cert", certificate_name, "--tls-key", key_name, "--database-url", &database]);
        let examined = run(command.arg("--key-folder").arg(folder.path()), "").stdout;
        assert!(examined.contains(expected), "{expected}: {examined}");
        let date = end.date();
        let verb = ["expired on", "expires on", "is valid until"][usize::from(days > 0) + usize::from(days > 30)];
        for expected in [
            format!("tls-cert {certificate_name} {verb} {date}\n"),
            format!("sslcert {certificate_name} {verb} {date}\n"),
            format!("sslrootcert {root} is valid until 4096-01-01\n"),
        ] {
            assert!(examined.contains(&expected), "{expected}: {examined}");
        }
        assert_eq!(examined.contains("→ replace it, and reload the server\n"), days < 30, "{examined}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_health_check_asks_where_the_server_listens() {
    let (database, folder) = (migrated_database().await, TestFolder::create("health-check"));
    let socket = format!("unix:{}", folder.path().join("admin.sock").display());
    let server = Server::start(&database, &["--admin-listen", &socket]);
    let listen = server.address.to_string();
    for (flags, expected) in [
        (&["--listen", &listen][..], r#""status":"ready""#),
        (&["--listen", &listen, "--live"], r#""status":"live""#),
        (&["--admin-listen", &socket], r#""parts""#),
    ] {
        let healthy = run(orderql().arg("health").args(flags), "");
        assert!(
            healthy.succeeded && healthy.stdout.contains(expected),
            "{flags:?}: {}{}",
            healthy.stdout,
            healthy.stderr
        );
    }
    // An encrypted listener, with a certificate for the name that clients use.
    let authority = Authority::new("authority");
    let [certificate, key] = ["server.crt", "server.key"].map(|name| folder.path().join(name));
    authority.write("api.example", &certificate, &key);
    let tls = ["--tls-cert", certificate.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
    let encrypted = Server::start(&database, &tls);
    let healthy = run(orderql().args(["health", "--listen", &encrypted.address.to_string()]).args(tls), "");
    assert!(healthy.succeeded && healthy.stdout.contains(r#""status":"ready""#), "{}", healthy.stderr);

    server.stop();
    let dead = run(orderql().args(["health", "--listen", &listen]), "");
    assert!(!dead.succeeded && dead.stderr.contains("no connection to"), "{}", dead.stderr);
    let unknown = run(orderql().args(["health", "--listen", "systemd"]), "");
    assert!(!unknown.succeeded && unknown.stderr.contains("set admin-listen"), "{}", unknown.stderr);
}

#[test]
fn packages_have_completions_manual_pages_and_a_unit_that_systemd_takes() {
    let folder = TestFolder::create("packages");
    for (shell, expected) in [("bash", "_orderql()"), ("zsh", "#compdef orderql"), ("fish", "complete -c orderql")] {
        let completions = run(orderql().args(["completions", shell]), "");
        assert!(completions.succeeded && completions.stdout.contains(expected), "{shell}");
    }
    let pages = folder.path().join("man");
    assert!(run(orderql().arg("manual").arg(&pages), "").succeeded);
    let serve = fs::read_to_string(pages.join("orderql-serve.1")).unwrap();
    assert!(
        serve.contains(r"\-\-tls\-cert")
            && pages.join("orderql.1").exists()
            && !pages.join("orderql-manual.1").exists()
    );

    // systemd looks for the program that a unit names.
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/operations");
    for name in ["orderql.service", "orderql.socket"] {
        let unit = fs::read_to_string(source.join(name)).unwrap();
        let unit = unit.replace("/usr/bin/orderql", env!("CARGO_BIN_EXE_orderql")).replace("Documentation=", "# ");
        fs::write(folder.path().join(name), unit).unwrap();
    }
    let unit = folder.path().join("orderql.service");
    match Command::new("systemd-analyze").arg("verify").arg(&unit).output() {
        Ok(output) => {
            assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        Err(_) => println!("systemd-analyze is not installed"),
    }
    let template = source.join("orderql.toml");
    let read = run(orderql().args(["config", "--json", "--config"]).arg(&template), "");
    let settings: Value = serde_json::from_str(&read.stdout).unwrap_or_else(|_| panic!("{}", read.stderr));
    assert_eq!(settings["max-cost"], json!({"value": "1000", "origin": "the default"}), "everything is commented out");
}
