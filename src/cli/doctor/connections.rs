//! Checks whether the server gets the connections that it needs, and can use them.

use tokio_postgres::{Client, Error};

use crate::cli::doctor::finding::Finding;
use crate::config::settings::Config;
use crate::database::address::database_address::DatabaseAddress;
use crate::database::connection::pooler::{self, Pooling};
use crate::database::pool::reader_pool::ReaderPool;

/// The problems of the connections that the server would use, a pooler between them and PostgreSQL included.
pub(super) async fn pooled(database: &DatabaseAddress, config: &Config) -> Option<Finding> {
    if !config.startup_options {
        match pooler::examine(database).await {
            Err(error) => return Some(Finding::error("pooler", &error)),
            Ok(Pooling::ByTransaction) if config.listen_url.is_none() => {
                let text = "it delivers no notifications, so that changes of accounts take up to two seconds";
                return Some(Finding::warning("pooler", text, "PostgreSQL's own address in listen-url"));
            }
            Ok(Pooling::ByTransaction | Pooling::BySession) => {}
        }
    }
    let checked = async { ReaderPool::new(&config.pool(database.clone()))?.check().await };
    checked.await.err().map(|error| Finding::error("connections", &error))
}

/// The limits, each -1 if there is none; the names of the role and the database; and how many connections others have. Every role may
/// see the names of connections.
const LIMITS: &str = "
    SELECT current_setting('max_connections')::int - reserved, rolconnlimit, datconnlimit, quote_ident(rolname),
           quote_ident(datname), reserved, others.in_all, others.of_role, others.of_database
    FROM pg_roles,
        pg_database,
        (SELECT current_setting('superuser_reserved_connections')::int
                + coalesce(current_setting('reserved_connections', TRUE)::int, 0)) AS kept (reserved),
        (SELECT count(*)::int, count(*) FILTER (WHERE usename = current_user)::int,
                count(*) FILTER (WHERE datname = current_database())::int
         FROM pg_stat_activity
         WHERE usesysid IS NOT NULL AND NOT starts_with(application_name, $1)) AS others (in_all, of_role, of_database)
    WHERE rolname = current_user AND datname = current_database()";

/// Whether each limit leaves the server the connections that it needs, beside the connections that others have now.
pub(super) async fn limits(
    client: &Client,
    database: &DatabaseAddress,
    config: &Config,
) -> Result<Vec<Finding>, Error> {
    let own = format!("{}-", database.config.get_application_name().unwrap_or("orderql"));
    let row = client.query_one(LIMITS, &[&own]).await?;
    let number = |index| Ok::<_, Error>(usize::try_from(row.try_get::<_, i32>(index)?).ok());
    let [role, name] = [row.try_get::<_, String>(3)?, row.try_get::<_, String>(4)?];
    let (needed, reserved) = (config.connections(), number(5)?.unwrap_or_default());
    let wanted = |others| needed + others;
    let restart =
        |others| format!("ALTER SYSTEM SET max_connections = {}; -- and restart PostgreSQL", wanted(others) + reserved);
    let alter = |what: &str, others| format!("ALTER {what} CONNECTION LIMIT {};", wanted(others));
    let in_all = number(6)?.unwrap_or_default();
    let of_role = number(7)?.unwrap_or_default();
    let of_database = number(8)?.unwrap_or_default();
    let limits = [
        (number(0)?, "PostgreSQL (max_connections)".to_owned(), in_all, restart(in_all)),
        (number(1)?, format!("the role {role}"), of_role, alter(&format!("ROLE {role}"), of_role)),
        (number(2)?, format!("the database {name}"), of_database, alter(&format!("DATABASE {name}"), of_database)),
    ];
    let limits = limits.into_iter().filter_map(|(limit, whose, others, remedy)| Some((limit?, whose, others, remedy)));
    let limits: Vec<_> = limits.collect();
    let low = limits.iter().filter(|(limit, _, others, _)| *limit < wanted(*others));
    let mut found: Vec<_> = low
        .map(|(limit, whose, others, remedy)| {
            let text = format!("{whose} has {limit}, others use {others} of them, and one server needs {needed}");
            let fewer = "for one server; or lower pool-size and writer-pool-size";
            let separator = if remedy.contains("--") { "," } else { " --" };
            Finding::warning("connections", text, format!("{remedy}{separator} {fewer}"))
        })
        .collect();
    if found.is_empty() {
        let least = limits.iter().min_by_key(|(limit, _, others, _)| limit.saturating_sub(*others));
        let of = least.map_or_else(String::new, |(limit, whose, others, _)| {
            format!(" of the {limit} that {whose} has; others use {others}")
        });
        found.push(Finding::ok("connections", format!("a server needs {needed}{of}")));
    }
    Ok(found)
}
