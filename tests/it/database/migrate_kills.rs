//! A migration that is killed at any moment, or runs twice at once, and an earlier version's database: the result is the same as
//! after an undisturbed run on the same tables. And the way back.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use orderql::migration::migrate::migrate;
use orderql::migration::report::MigrationReport;
use tokio_postgres::Client;

use crate::database::migrate::{make_stock, strings};
use crate::support::command;
use crate::support::database::{Database, empty_database, migrated_database};
use crate::support::random::Random;

/// Everything that a database consists of, but its rows: a line each.
const STATE: &str = r"
    SELECT format('relation %s.%s %s %s %s', nspname, relname, relkind, relacl, reloptions)
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname IN ('public', 'orderql') AND relkind <> 'i'
    UNION ALL
    SELECT format('column %s.%s %s %s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull,
        pg_get_expr(adbin, adrelid))
    FROM pg_attribute
    JOIN pg_class ON pg_class.oid = attrelid
    LEFT JOIN pg_attrdef ON (adrelid, adnum) = (attrelid, attnum)
    WHERE relnamespace IN ('public'::regnamespace, to_regnamespace('orderql')) AND attnum > 0 AND NOT attisdropped AND relkind <> 'i'
    UNION ALL
    SELECT format('index %s %s', pg_get_indexdef(indexrelid), indisvalid)
    FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
    WHERE relnamespace IN ('public'::regnamespace, to_regnamespace('orderql'))
    UNION ALL
    SELECT format('constraint %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
    FROM pg_constraint WHERE connamespace IN ('public'::regnamespace, to_regnamespace('orderql'))
    UNION ALL
    SELECT format('view %s %s', oid::regclass, pg_get_viewdef(oid))
    FROM pg_class WHERE relkind = 'v' AND relnamespace IN ('public'::regnamespace, to_regnamespace('orderql'))
    UNION ALL
    SELECT format('function %s %s', pg_get_functiondef(oid), proacl)
    FROM pg_proc WHERE pronamespace IN ('public'::regnamespace, to_regnamespace('orderql'))
    UNION ALL
    SELECT format('trigger %s %s %s', tgrelid::regclass, pg_get_triggerdef(oid), tgenabled) FROM pg_trigger WHERE NOT tgisinternal";

/// The state, and the rows of reference.
async fn state(client: &Client) -> Vec<String> {
    let rows = "SELECT format('row %s %s', 'status_item', status_item) FROM status_item";
    let mut state: Vec<_> = strings(client, STATE).await.into_iter().chain(strings(client, rows).await).collect();
    state.sort();
    state
}

fn difference<'a>(one: &'a [String], other: &'a [String]) -> Vec<&'a String> {
    let lacks = |of: &'a [String], line: &&String| of.binary_search(line).is_err();
    one.iter().filter(|line| lacks(other, line)).chain(other.iter().filter(|line| lacks(one, line))).collect()
}

async fn stock_database() -> (Database, Client) {
    let database = migrated_database().await;
    let client = database.connect().await;
    make_stock(&client).await;
    (database, client)
}

fn start(database: &Database, flags: &[&str]) -> Command {
    let mut command = command::orderql_on(database);
    command.arg("migrate").args(flags).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// `MIGRATION_KILLS` says how many.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_migration_is_finished_by_the_next() {
    let (database, mut client) = stock_database().await;
    let began = Instant::now();
    migrate(&mut client).await.unwrap();
    let longest = began.elapsed();
    let expected = state(&client).await;
    drop(database);
    let kills: u64 = env::var("MIGRATION_KILLS").map_or(4, |text| text.parse().unwrap());
    let mut random = Random(1);
    for kill in 0..kills {
        let (database, mut client) = stock_database().await;
        let flags: &[&str] = if kill % 2 == 0 { &[] } else { &["--concurrently"] };
        // Up to three times, each a part of what a whole one takes.
        for _ in 0..=random.below(3) {
            let mut killed = start(&database, flags).spawn().unwrap();
            thread::sleep(longest * u32::try_from(random.below(1000)).unwrap() / 700);
            killed.kill().unwrap();
            killed.wait().unwrap();
        }
        // PostgreSQL may still be at the killed one's last statement, which holds the lock of migrations.
        let finishing = if random.below(2) == 0 { &["--concurrently"][..] } else { &[] };
        assert!(start(&database, finishing).status().unwrap().success(), "kill {kill}");
        let found = state(&client).await;
        assert_eq!(difference(&expected, &found), Vec::<&String>::new(), "kill {kill}");
        assert_eq!(migrate(&mut client).await.unwrap(), MigrationReport::default(), "kill {kill}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_migrations_at_once_make_what_one_makes() {
    let (_kept, mut client) = stock_database().await;
    migrate(&mut client).await.unwrap();
    let expected = state(&client).await;
    for flags in [[&[][..], &[]], [&["--concurrently"], &["--concurrently"]], [&[], &["--concurrently"]]] {
        let (database, client) = stock_database().await;
        let running: Vec<_> = flags.iter().map(|flags| start(&database, flags).spawn().unwrap()).collect();
        for mut one in running {
            assert!(one.wait().unwrap().success(), "{flags:?}");
        }
        assert_eq!(difference(&expected, &state(&client).await), Vec::<&String>::new(), "{flags:?}");
    }
}

/// After the first removal, OFBiz's tables keep the columns, tables and rows that OFBiz may use; a later one leaves the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_removal_after_a_migration_leaves_what_the_removal_before_it_left() {
    for hotwax in
        ["", "ALTER TABLE shipment_status DROP CONSTRAINT pk_shipment_status, ADD PRIMARY KEY (shipment_status_id);"]
    {
        let (database, client) = stock_database().await;
        assert!(start(&database, &[]).status().unwrap().success());
        let undo = &["--undo", "--yes"];
        assert!(start(&database, undo).status().unwrap().success(), "{hotwax}");
        client.batch_execute(hotwax).await.unwrap();
        let before = state(&client).await;
        for flags in [&[][..], &["--concurrently"]] {
            assert!(start(&database, flags).status().unwrap().success());
            assert!(start(&database, undo).status().unwrap().success(), "{hotwax}");
            assert_eq!(difference(&before, &state(&client).await), Vec::<&String>::new(), "{hotwax} {flags:?}");
        }
    }
}

/// The numbered migrations of earlier versions had helper functions, views with all columns of a table, a history, a default that took ids from
/// a sequence, and after an interrupted run views with the names of indexes.
#[tokio::test]
async fn a_database_of_an_earlier_version_becomes_like_a_new_one() {
    let fresh = empty_database().await;
    let mut client = fresh.connect().await;
    migrate(&mut client).await.unwrap();
    let expected = state(&client).await;
    let earlier = "
        DROP TABLE orderql.schema_state, orderql.schema_object;
        CREATE TABLE orderql.schema_history (version int4 PRIMARY KEY, name varchar(255), applied_on varchar(255), checksum varchar(255));
        CREATE FUNCTION orderql.add_index(name text, relation text) RETURNS void LANGUAGE sql AS 'SELECT';
        CREATE SEQUENCE orderql.shipment_status_id;
        ALTER TABLE shipment_status ALTER shipment_status_id SET DEFAULT 'OQL' || nextval('orderql.shipment_status_id');
        DROP VIEW orderql.ship_group, orderql.party_order;
        CREATE VIEW orderql.ship_group AS SELECT * FROM order_item_ship_group;
        CREATE VIEW orderql.party_order AS SELECT 'a'::text AS bill_to_party_id, order_header.* FROM order_header;
        GRANT SELECT ON orderql.ship_group TO PUBLIC;
        CREATE VIEW oql_order_header_by_order_date AS SELECT 1 AS placeholder;
        CREATE VIEW oql_of_somebody AS SELECT 2 AS placeholder;
        ALTER TABLE orderql.idempotent_answer RENAME COLUMN notes TO errors;
        ALTER TABLE orderql.idempotent_answer ADD outcome TEXT CHECK (outcome IN ('APPLIED', 'NOT_FOUND', 'CONFLICT'));
        DROP TRIGGER orderql_keep ON person;
        ALTER TABLE orderql.user_profile DROP COLUMN response_size;
        DROP INDEX oql_facility_with_parent";
    client.batch_execute(earlier).await.unwrap();
    let migrated = migrate(&mut client).await.unwrap();
    assert_eq!(migrated.dropped, ["FUNCTION orderql.add_index"]);
    client.batch_execute("ALTER TABLE shipment_status ALTER shipment_status_id SET DEFAULT ''").await.unwrap();
    let found = state(&client).await;
    let left: Vec<_> = difference(&expected, &found)
        .into_iter()
        .map(|line| line.split(' ').take(3).collect::<Vec<_>>().join(" "))
        .collect();
    // The rights that somebody gave stay, and the operator's view.
    assert_eq!(
        left,
        [
            "relation orderql.ship_group v",
            "column oql_of_somebody.placeholder integer",
            "relation orderql.ship_group v",
            "relation public.oql_of_somebody v",
            "view oql_of_somebody "
        ]
    );
    assert_eq!(migrate(&mut client).await.unwrap(), MigrationReport::default());
}

/// Somebody who may use the schema could put a function of a trigger on a table of their own, and have it write what triggers keep.
#[tokio::test]
async fn nobody_else_may_use_the_functions_of_triggers() {
    let database = migrated_database().await;
    let client = database.connect().await;
    let open = "SELECT oid::regprocedure::text FROM pg_proc
                WHERE pronamespace = 'orderql'::regnamespace AND prorettype = 'trigger'::regtype
                    AND (proacl IS NULL OR EXISTS (SELECT FROM aclexplode(proacl) WHERE grantee = 0))";
    assert_eq!(strings(&client, open).await.into_iter().collect::<Vec<_>>(), Vec::<String>::new());
}

/// A migration beside writers waits for a table a second at a time.
#[tokio::test(flavor = "multi_thread")]
async fn a_migration_beside_writers_waits_for_a_table_in_use() {
    let (database, client) = stock_database().await;
    client.batch_execute("BEGIN; INSERT INTO shipment (shipment_id) VALUES ('IN USE')").await.unwrap();
    let mut running = start(&database, &["--concurrently"]).spawn().unwrap();
    let other = database.connect().await;
    // It has tried, and a writer came in between.
    let waits = "SELECT EXISTS (SELECT FROM pg_locks JOIN pg_class ON pg_class.oid = relation
                                WHERE relname = 'shipment' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))";
    while !other.query_one(waits, &[]).await.unwrap().get::<_, bool>(0) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    other.batch_execute("INSERT INTO shipment (shipment_id) VALUES ('LATER')").await.unwrap();
    client.batch_execute("COMMIT").await.unwrap();
    assert!(running.wait().unwrap().success());
}
