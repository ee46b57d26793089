//! The options of `orderql migrate`, indexes that are made again, and a restored backup.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use orderql::migration::migrate::{migrate, migrate_concurrently};
use orderql::migration::report::MigrationReport;
use tokio_postgres::Client;

use crate::database::migrate::{make_stock, string, strings};
use crate::execute::partitions::create_partitioned;
use crate::support::command;
use crate::support::database::{empty_database, migrated_database};
use crate::support::server::connection_string;
use crate::support::test_folder::TestFolder;

/// The indexes that migrations made, as `src/migration/declared/indexes.txt` lists them.
const INDEXES: &str = r"
    SELECT index.relname || ' ' || nspname || '.' || relation.relname || ' ' ||
           substring(pg_get_indexdef(indexrelid) FROM ' USING (.*)$')
    FROM pg_index
    JOIN pg_class AS index ON index.oid = indexrelid
    JOIN pg_class AS relation ON relation.oid = indrelid
    JOIN pg_namespace ON pg_namespace.oid = relation.relnamespace
    WHERE index.relname LIKE 'oql\_%' AND indisvalid";

/// The indexes of a database, without their conditions, whose text depends on the types of columns.
async fn indexes(client: &Client) -> BTreeSet<String> {
    strings(client, INDEXES).await.iter().map(|index| without_condition(index)).collect()
}

fn without_condition(index: &str) -> String {
    index.split(" WHERE ").next().unwrap().to_owned()
}

fn listed_indexes() -> BTreeSet<String> {
    include_str!("../../../src/migration/declared/indexes.txt")
        .lines()
        .filter(|line| line.starts_with("oql_"))
        .map(without_condition)
        .collect()
}

#[tokio::test]
async fn makes_indexes_again_that_were_dropped_changed_or_not_finished() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    assert_eq!(indexes(&client).await, listed_indexes());
    client
        .batch_execute(
            "DROP INDEX oql_shipment_of_status_by_date, oql_order_header_with_status_by_date;
             CREATE INDEX oql_order_header_with_status_by_date ON order_header (status_id, order_date, order_id);
             UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'oql_facility_with_parent'::regclass",
        )
        .await
        .unwrap();
    let planned = command::run(command::orderql_on(&database).args(["migrate", "--dry-run"]), "").stdout;
    let replaced = planned.find("DROP INDEX public.oql_order_header_with_status_by_date;\nALTER INDEX \
                                 public.oql_order_header_with_status_by_date_new RENAME TO oql_order_header_with_status_by_date;\n");
    assert!(replaced > planned.find("CREATE INDEX oql_order_header_with_status_by_date_new ON "), "{planned}");
    let made = "CREATE INDEX oql_shipment_of_status_by_date ON public.shipment USING btree (status_id, estimated_ship_date, \
                shipment_id) INCLUDE (";
    assert!(planned.contains(made) && !planned.contains("-- rows of"), "{planned}");
    assert_ne!(indexes(&client).await, listed_indexes());
    for concurrently in [false, true] {
        let migrated =
            if concurrently { migrate_concurrently(&mut client).await } else { migrate(&mut client).await }.unwrap();
        assert_eq!(indexes(&client).await, listed_indexes());
        assert_eq!(migrated.indexes.len(), if concurrently { 1 } else { 3 }, "{migrated}");
        if !concurrently {
            client.batch_execute("DROP INDEX oql_facility_with_parent").await.unwrap();
        }
    }
}

#[tokio::test]
async fn builds_the_indexes_of_a_stock_database_beside_its_writers() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    make_stock(&client).await;
    let stood = strings(
        &client,
        "SELECT nspname || '.' || relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
         WHERE nspname = 'public' AND relkind = 'r'",
    )
    .await;
    // What an interrupted run leaves.
    client.batch_execute("CREATE VIEW oql_order_header_by_order_date AS SELECT 1 AS placeholder").await.unwrap();
    let migrated = migrate_concurrently(&mut client).await.unwrap();
    // Those of another one that was migrated at once. OFBiz has some under its own names.
    let other = migrated_database().await;
    let mut other = other.connect().await;
    make_stock(&other).await;
    migrate(&mut other).await.unwrap();
    assert_eq!(indexes(&client).await, indexes(&other).await);
    assert!(!migrated.views.iter().any(|view| view.contains("oql_")), "{migrated}");
    assert_eq!(
        strings(&client, "SELECT relname::text FROM pg_class WHERE relname LIKE 'oql%' AND relkind = 'v'").await,
        BTreeSet::new()
    );
    // All indexes of a migration are of one transaction. Those of the tables that stood are not.
    let of_the_migration = strings(
        &client,
        "SELECT relation.relnamespace::regnamespace::text || '.' || relation.relname
         FROM pg_index
         JOIN pg_class AS index ON index.oid = indexrelid
         JOIN pg_class AS relation ON relation.oid = indrelid
         WHERE index.relname LIKE 'oql%'
           AND index.xmin = (SELECT xmin FROM pg_class WHERE oid = 'orderql.user_account'::regclass)",
    )
    .await;
    assert!(of_the_migration.is_disjoint(&stood), "{of_the_migration:?}");
    assert_eq!(migrate_concurrently(&mut client).await.unwrap(), MigrationReport::default());
}

async fn names_of_indexes(client: &Client, pattern: &str) -> BTreeSet<String> {
    strings(
        client,
        &format!("SELECT relname::text FROM pg_class WHERE relkind IN ('i', 'I') AND relname LIKE '{pattern}'"),
    )
    .await
}

#[tokio::test]
async fn an_index_with_another_definition_stays_until_the_new_one_is_built() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    let index = "oql_order_header_with_status_by_date";
    let definition = string(&client, &format!("SELECT pg_get_indexdef('{index}'::regclass)")).await.unwrap();
    let different =
        format!("DROP INDEX {index}; CREATE INDEX {index} ON order_header (status_id, order_date, order_id)");
    let new = definition.replace(index, &format!("{index}_new"));
    let oid = async |client: &Client| string(client, &format!("SELECT '{index}'::regclass::oid::text")).await;

    // What runs leave that are interrupted: before the new one is built, before it takes the place, and before the old one is dropped.
    for (left, is_kept) in [
        (format!("{new}; UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{index}_new'::regclass"), false),
        (new.clone(), true),
        (format!("ALTER INDEX {index} RENAME TO {index}_old; {definition}"), true),
    ] {
        client.batch_execute(&format!("{different}; {left}")).await.unwrap();
        let built =
            string(&client, &format!("SELECT max(oid)::text FROM pg_class WHERE relname LIKE '{index}%'")).await;
        migrate_concurrently(&mut client).await.unwrap();
        assert_eq!(indexes(&client).await, listed_indexes(), "{left}");
        assert_eq!(names_of_indexes(&client, &format!("{index}%")).await, BTreeSet::from([index.to_owned()]), "{left}");
        assert_eq!(oid(&client).await == built, is_kept, "{left}");
    }
    // At once, and the other index is left over.
    client.batch_execute(&format!("{different}; {new}")).await.unwrap();
    migrate(&mut client).await.unwrap();
    assert_eq!(indexes(&client).await, listed_indexes());
    assert_eq!(names_of_indexes(&client, &format!("{index}%")).await, BTreeSet::from([index.to_owned()]));
}

#[tokio::test]
async fn indexes_of_partitions_are_built_beside_writers_one_by_one() {
    let database = empty_database().await;
    let mut client = database.connect().await;
    let tables = create_partitioned(&client).await;
    migrate_concurrently(&mut client).await.unwrap();
    assert_eq!(indexes(&client).await, listed_indexes());
    let [name, of_items] = [
        "oql_order_header_with_external_id",
        "
        SELECT index.relname || ' ' || indisvalid FROM pg_inherits
        JOIN pg_index ON indexrelid = inhrelid
        JOIN pg_class AS index ON index.oid = inhrelid
        WHERE inhparent = 'oql_order_header_with_external_id'::regclass",
    ];
    let transactions = format!(
        "SELECT index.xmin::text FROM pg_inherits JOIN pg_class AS index ON index.oid = inhrelid WHERE inhparent = '{name}'::regclass"
    );
    let parts = strings(&client, of_items).await;
    assert!(tables.contains(&"order_header") && parts.len() == 3, "{parts:?}");
    assert_eq!(strings(&client, &transactions).await.len(), 3, "each has a transaction of its own");

    // One partition has its part, one has an index that can be one, and one was not finished.
    let definition = string(&client, &format!("SELECT pg_get_indexdef('{name}'::regclass)")).await.unwrap();
    let columns = definition.split(" USING ").nth(1).unwrap().to_owned();
    let interrupted = format!(
        "DROP INDEX {name};
         CREATE INDEX {name} ON ONLY order_header USING {columns};
         CREATE INDEX part_0 ON order_header_0 USING {columns};
         ALTER INDEX {name} ATTACH PARTITION part_0;
         CREATE INDEX part_1 ON order_header_1 USING {columns};
         CREATE INDEX part_2 ON order_header_2 USING {columns};
         UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'part_2'::regclass"
    );
    let attached = BTreeSet::from(["part_0 true", "part_1 true", "part_2 true"].map(str::to_owned));
    // The second time, an index of another definition has the name.
    let replaced = format!("DROP INDEX {name}; CREATE INDEX {name} ON order_header (external_id)");
    for (change, expected) in [(&interrupted, Some(attached)), (&replaced, None)] {
        client.batch_execute(change).await.unwrap();
        assert_ne!(indexes(&client).await, listed_indexes());
        let migrated = migrate_concurrently(&mut client).await.unwrap();
        assert_eq!(indexes(&client).await, listed_indexes(), "{migrated}");
        let parts = strings(&client, of_items).await;
        assert!(parts.len() == 3 && expected.is_none_or(|expected| parts == expected), "{parts:?}");
    }
    assert_eq!(names_of_indexes(&client, "oql\\_%\\_new").await, BTreeSet::new());
    assert_eq!(migrate_concurrently(&mut client).await.unwrap(), MigrationReport::default());
}

#[tokio::test]
async fn a_dry_run_prints_statements_and_triggers_and_undo_removes_what_was_added() {
    let database = migrated_database().await;
    let client = database.connect().await;
    make_stock(&client).await;
    let run = |arguments: &[&str]| {
        let mut command = command::orderql_on(&database);
        command::run(command.arg("migrate").args(arguments), "no\n")
    };
    let planned = run(&["--dry-run"]).stdout;
    for expected in [
        " columns to be added to tables that stand: ",
        " triggers to be put on tables: ",
        "orderql_keep on party, orderql_keep_none on party, orderql_keep on person, ",
        "-- schema\nCREATE SCHEMA orderql;\n",
        "-- column facility.external_id\nALTER TABLE public.facility ADD COLUMN external_id VARCHAR(60);\n",
        "SELECT orderql.backfill_item_places();\n",
        "SELECT orderql.make_feed($feed$",
    ] {
        assert!(planned.contains(expected), "{expected}: {planned}");
    }
    assert_eq!(string(&client, "SELECT to_regnamespace('orderql')::text").await, None);

    assert!(run(&[]).succeeded);
    let made = indexes(&client).await;
    assert!(made.len() > 80, "{made:?}");
    let removed = run(&["--undo", "--dry-run"]);
    assert!(
        removed.stdout.contains("DROP SCHEMA orderql CASCADE;")
            && removed.stdout.contains("DROP TRIGGER orderql_keep ON party;"),
        "{}",
        removed.stdout
    );
    let columns = "SELECT relname || '.' || attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
                   WHERE attname LIKE 'orderql\\_%' AND relkind = 'r' AND relnamespace = 'public'::regnamespace";
    let theirs = BTreeSet::from(["person.orderql_note".to_owned()]);
    client.batch_execute("ALTER TABLE person ADD orderql_note text").await.unwrap();
    assert_eq!(strings(&client, columns).await.len(), 3);
    // What others have made of it.
    client
        .batch_execute(
            "CREATE VIEW report AS SELECT * FROM orderql.ship_group;
             CREATE VIEW stores AS SELECT orderql_product_store_id FROM return_header;
             CREATE INDEX theirs ON return_header (orderql_product_store_id);
             CREATE TABLE noted (user_id text REFERENCES orderql.user_account)",
        )
        .await
        .unwrap();
    let dependents = [
        "constraint noted_user_id_fkey on table noted: SELECT pg_get_constraintdef(",
        "index theirs: SELECT pg_get_indexdef('theirs'::regclass);\n",
        "view report: SELECT pg_get_viewdef('report'::regclass);\n",
        "view stores: SELECT pg_get_viewdef('stores'::regclass);\n",
    ];
    let (listed, refused) = (run(&["--undo", "--dry-run"]), run(&["--undo", "--yes"]));
    assert!(!refused.succeeded && refused.stderr.contains("which are not orderql's"), "{}", refused.stderr);
    for dependent in dependents {
        assert!(listed.stdout.contains(&format!("-- first: drop or change {dependent}")), "{}", listed.stdout);
        assert!(refused.stderr.contains(&format!("\n  {dependent}")), "{}", refused.stderr);
    }
    assert_eq!(refused.stderr.lines().count(), 1 + dependents.len(), "{}", refused.stderr);
    assert_eq!(strings(&client, columns).await.len(), 3);
    client.batch_execute("DROP VIEW report, stores; DROP INDEX theirs; DROP TABLE noted").await.unwrap();
    let refused = run(&["--undo"]);
    assert!(!refused.succeeded && refused.stderr.contains("nothing was removed"), "{}", refused.stderr);
    assert_eq!(indexes(&client).await, made);
    let removed = run(&["--undo", "--yes"]);
    assert!(removed.succeeded, "{}", removed.stderr);
    assert_eq!(string(&client, "SELECT to_regnamespace('orderql')::text").await, None);
    assert_eq!(strings(&client, columns).await, theirs);
    // An index of the operator's, whatever its name.
    let theirs = "oql_order_header_by_grand_total public.order_header btree (created_by)";
    assert_eq!(indexes(&client).await, BTreeSet::from([theirs.to_owned()]));
    assert_eq!(strings(&client, "SELECT tgname::text FROM pg_trigger WHERE NOT tgisinternal").await, BTreeSet::new());
    assert_eq!(run(&["--undo", "--yes"]).stdout, "Nothing to remove.\n");
    // It can be migrated again.
    assert!(run(&[]).succeeded);
    assert_eq!(indexes(&client).await, made);
}

#[tokio::test]
async fn the_printed_grants_are_all_that_a_server_needs() {
    let database = migrated_database().await;
    let client = database.connect().await;
    let role = format!("server_of_{}", database.name());
    let mut command = command::orderql_on(&database);
    let grants = command::run(command.args(["migrate", "--print-grants", &role]), "");
    client.batch_execute(&format!("CREATE ROLE {role} LOGIN; {}", grants.stdout)).await.unwrap();
    let address = connection_string(&database.config()).replace("user=postgres", &format!("user={role}"));
    let arguments = ["doctor", "--listen", "127.0.0.1:0", "--database-url", &address];
    let examined = command::run(command::orderql().args(arguments), "").stdout;
    for expected in
        ["ok       grants", "ok       schema  ", "ok       tables      items in ship groups equal OFBiz's tables"]
    {
        assert!(examined.contains(expected), "{expected}: {examined}");
    }
    client.batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).await.unwrap();
}

/// PostgreSQL's own programs, of the server's version: a dump of an older one is refused. `None` if they are not installed.
pub fn dump_and_restore(version: i32, from: &str, to: &str) -> Option<()> {
    let folder = format!("/usr/lib/postgresql/{}/bin", version / 10_000);
    let folder = env::var("ORDERQL_PG_BIN").unwrap_or(folder);
    let program = |name: &str| Some(Path::new(&folder).join(name)).filter(|path| path.is_file());
    let (dump, restore) = (program("pg_dump")?, program("pg_restore")?);
    let dumped = Command::new(dump).args(["--format=custom", "--dbname", from]).output().unwrap();
    assert!(dumped.status.success(), "{}", String::from_utf8_lossy(&dumped.stderr));
    let file = TestFolder::create("backup");
    let path = file.path().join("backup");
    fs::write(&path, dumped.stdout).unwrap();
    let arguments = ["--exit-on-error", "--no-owner", "--dbname", to];
    let restored = Command::new(restore).args(arguments).arg(&path).output().unwrap();
    assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
    Some(())
}

#[tokio::test]
async fn a_restored_backup_is_migrated_and_has_accounts_indexes_and_triggers() {
    let (database, other) = (migrated_database().await, empty_database().await);
    let client = database.connect().await;
    client.batch_execute("INSERT INTO party (party_id) VALUES ('KEPT')").await.unwrap();
    let added =
        command::run(command::orderql_on(&database).args(["user", "add", "ann", "--group", "API"]), "secret-of-ann\n");
    assert!(added.succeeded, "{}", added.stderr);
    let version = client.query_one("SELECT current_setting('server_version_num')::int", &[]).await.unwrap().get(0);
    let [from, to] = [&database, &other].map(|database| connection_string(&database.config()));
    if dump_and_restore(version, &from, &to).is_none() {
        return;
    }
    let mut client = other.connect().await;
    assert_eq!(migrate(&mut client).await.unwrap(), MigrationReport::default());
    assert_eq!(indexes(&client).await, listed_indexes());
    client.batch_execute("INSERT INTO party (party_id) VALUES ('LATER')").await.unwrap();
    let parties = strings(&client, "SELECT party_id FROM orderql.party WHERE party_id IN ('KEPT', 'LATER')").await;
    assert_eq!(parties.len(), 2);
    let examined = command::run(command::orderql_on(&other).args(["doctor", "--listen", "127.0.0.1:0"]), "").stdout;
    for expected in ["ok       triggers", "ok       tables", "ok       indexes", "ok       accounts    1 can sign in"] {
        assert!(examined.contains(expected), "{expected}: {examined}");
    }
}
