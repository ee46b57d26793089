//! A database for each test, in the shared cluster.

use std::collections::BTreeMap;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use orderql::database::connection::connect::connect;
use orderql::migration::migrate::migrate;
use orderql::private_cluster::address::ClusterAddress;
use tokio_postgres::{Client, Config};

use crate::support::cluster::{cluster, demo_template, loaded_template, migrated_template, sampled_template};

/// A database of one test. Dropping it drops the database.
pub struct Database {
    address: &'static ClusterAddress,
    name: String,
}

/// A migrated database without orders.
pub async fn migrated_database() -> Database {
    Database::copy_of(migrated_template().await).await
}

/// A migrated database with all orders of `tests/data`.
pub async fn loaded_database() -> Database {
    Database::copy_of(loaded_template().await).await
}

/// A migrated database with a sample of 2,000 orders.
pub async fn sampled_database() -> Database {
    Database::copy_of(sampled_template().await).await
}

/// A database with what a demo has: all orders of `tests/data`, and a sample.
pub async fn demo_database() -> Database {
    Database::copy_of(demo_template().await).await
}

/// A database without tables.
pub async fn empty_database() -> Database {
    Database::create(None).await
}

/// A database without tables, in another encoding than UTF-8.
pub async fn database_in_encoding(encoding: &str) -> Database {
    let (address, name) = (cluster().await, unique_name());
    let admin = connect(&address.config("postgres")).await.unwrap();
    let create = format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' LOCALE 'C'");
    admin.batch_execute(&create).await.unwrap();
    Database { address, name }
}

/// A migrated database without orders whose collation is that of a language; `None` where the server has none.
pub async fn database_in_another_collation() -> Option<Database> {
    let address = cluster().await;
    let admin = connect(&address.config("postgres")).await.unwrap();
    let locale = "
        SELECT CASE provider
            WHEN 'i' THEN $$LOCALE_PROVIDER icu ICU_LOCALE 'und' LOCALE 'C'$$
            ELSE format('LOCALE %L', locale)
        END
        FROM (SELECT collprovider::text AS provider, collcollate::text AS locale FROM pg_collation) AS known
        WHERE provider = 'i' AND current_setting('server_version_num')::int >= 150000
           OR provider = 'c' AND locale ILIKE 'en\\_%.utf%8'
        ORDER BY provider DESC
        LIMIT 1";
    let locale: String = admin.query_opt(locale, &[]).await.unwrap()?.get(0);
    let name = unique_name();
    admin.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0 {locale}")).await.unwrap();
    let database = Database { address, name };
    migrate(&mut database.connect().await).await.unwrap();
    Some(database)
}

impl Database {
    async fn copy_of(template: &str) -> Self {
        Self::create(Some(template)).await
    }

    async fn create(template: Option<&str>) -> Self {
        let (address, name) = (cluster().await, unique_name());
        assert!(address.create_database(&name, template).await.unwrap());
        Self { address, name }
    }

    /// The configuration of a superuser's connection.
    pub fn config(&self) -> Config {
        self.address.config(&self.name)
    }

    /// A connection as the superuser.
    pub async fn connect(&self) -> Client {
        connect(&self.config()).await.unwrap()
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Waits until exactly `count` connections to the database wait for locks. Asks on another database, because a test may
    /// have locked all that this one has.
    pub async fn wait_for_lock_waits(&self, count: i64) {
        let admin = connect(&self.address.config("postgres")).await.unwrap();
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'";
        while admin.query_one(waiting, &[&self.name]).await.unwrap().get::<_, i64>(0) != count {}
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // On a thread of its own, because the test's runtime cannot block on a future here.
        let (address, name) = (self.address, self.name.clone());
        let dropped = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(address.drop_database(&name))
        });
        let result = dropped.join().unwrap();
        if !thread::panicking() {
            result.unwrap();
        }
    }
}

/// Panics if connections to the database met deadlocks. Waits for the end of all others, because a connection reports its deadlocks when it ends.
pub async fn assert_no_deadlocks(client: &Client) {
    let ended =
        "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    while !client.query_one(ended, &[]).await.unwrap().get::<_, bool>(0) {}
    let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    assert_eq!(client.query_one(deadlocks, &[]).await.unwrap().get::<_, i64>(0), 0);
}

/// A digest of the rows of each table, without the columns `ignored`. The audit log is left out, since every sign-in writes to it, and
/// what servers write of change feeds, whatever is asked.
pub async fn table_digests(client: &Client, ignored: &[&str]) -> BTreeMap<String, String> {
    let tables = "SELECT relation.oid::regclass::text FROM pg_class AS relation
                  WHERE relation.relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'orderql'))
                    AND relation.relkind IN ('r', 'p')
                    AND relation.relname NOT IN ('audit_event', 'sync_tick', 'sync_compaction')";
    let mut digests = BTreeMap::new();
    for row in client.query(tables, &[]).await.unwrap() {
        let table: String = row.get(0);
        let digest = format!(
            "SELECT count(*) || ' ' || coalesce(md5(string_agg(t, E'\\n' ORDER BY t)), '')
             FROM (SELECT (to_jsonb(t) - $1::text[])::text FROM {table} AS t) AS rows (t)"
        );
        let digest = client.query_one(&digest, &[&ignored]).await.unwrap().get(0);
        digests.insert(table, digest);
    }
    digests
}

fn unique_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("test_{}_{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
