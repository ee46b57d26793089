//! Checks the database: version, schema, what the role may do, and settings that the server suffers from.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio_postgres::{Client, Error};

use crate::cli::database::{addresses, connect};
use crate::cli::doctor::certificates;
use crate::cli::doctor::finding::{Finding, Level};
use crate::cli::doctor::{connections, migrated, replicas, role, visibility};
use crate::cli::privileges::{FUNCTIONS, PRIVILEGES};
use crate::cli::schema;
use crate::config::settings::Config;
use crate::database::collation_versions::changed_collations;
use crate::database::vacuum::invisible_tables;
use crate::migration::pending::pending;
use crate::migration::record::{AppliedRecord, VERSION, has_order_tables};
use crate::orders;
use crate::orders::privileges::SEQUENCES;
use crate::preflight::foreign_tables;
use crate::preflight::mismatch::Mismatch;
use crate::preflight::{Constraints, check as check_schema};
use crate::telemetry::error_chain::ErrorChain;

/// The oldest version that is supported.
const OLDEST_VERSION: i32 = 140_000;

/// The pages of a table from which on a search takes noticeably longer if it has to be fetched.
const LARGE_TABLE: i64 = 200;

/// A difference of the clocks that no transmission explains.
const CLOCK_DIFFERENCE: Duration = Duration::from_secs(2);

/// Privileges that a role does not have, with the tables.
type Missing = BTreeMap<&'static str, Vec<String>>;

/// Checks the database, as far as it can be reached.
pub(super) async fn check(config: &Config) -> Vec<Finding> {
    let servers = match addresses(config) {
        Ok(servers) => servers,
        Err(error) => return vec![Finding::error("database", &*error)],
    };
    let database = &servers.primary;
    let mut findings = certificates::of_connections(database.certificate_files());
    let client = match connect(database).await {
        Ok(client) => client,
        Err(error) => {
            findings.push(Finding::error("database", &error));
            return findings;
        }
    };
    for warning in database.warnings() {
        findings.push(Finding::warning("database", warning.to_string(), "sslmode=verify-full in database-url"));
    }
    match usage(&client).await {
        Ok(None) => {}
        // Nothing else can be found out.
        Ok(Some(found)) => {
            findings.push(found);
            return findings;
        }
        Err(error) => {
            findings.push(Finding::error("grants", &error));
            return findings;
        }
    }
    findings.extend(connections::pooled(database, config).await);
    // Each of them says something even if another one fails.
    for (area, checked) in [
        ("database", server(&client).await),
        ("migrations", migrations(&client).await),
        ("grants", privileges(&client).await),
        ("grants", role::check(&client, config).await),
        ("accounts", accounts(&client).await),
        ("connections", connections::limits(&client, database, config).await),
        ("postgresql", postgresql_settings(&client, config).await),
        ("vacuum", vacuum(&client).await),
        ("collations", collations(&client).await),
        ("indexes", migrated::indexes(&client).await),
        ("triggers", migrated::triggers(&client).await),
        ("changes", migrated::change_feeds(&client).await),
        ("tables", migrated::kept_tables(&client).await),
        ("clock", clock(&client).await),
    ] {
        match checked {
            Ok(found) => findings.extend(found),
            Err(error) => {
                let text = ErrorChain(&error).to_string();
                findings.push(Finding::warning(area, format!("cannot be checked: {text}"), "see the missing grants"));
            }
        }
    }
    findings.extend(visibility::check(&client, config).await);
    findings.extend(schema_fit(&client, config).await);
    findings.extend(replicas::check(&client, &servers.replicas, config).await);
    findings
}

async fn server(client: &Client) -> Result<Vec<Finding>, Error> {
    let select = "SELECT current_setting('server_version_num')::int, current_setting('server_version'),
                         pg_is_in_recovery(), current_database()::text, current_user::text";
    let row = client.query_one(select, &[]).await?;
    let (number, version, name): (i32, String, String) = (row.try_get(0)?, row.try_get(1)?, row.try_get(3)?);
    let role: String = row.try_get(4)?;
    Ok(vec![if number < OLDEST_VERSION {
        Finding::failure("database", format!("it runs PostgreSQL {version}"), "upgrade it to 14 or later")
    } else if row.try_get(2)? {
        Finding::warning(
            "database",
            "it is a standby, so that order updates are refused and audit events wait",
            "name the primary in database-url, and standbys in replica-urls",
        )
    } else {
        Finding::ok("database", format!("{name} on PostgreSQL {version}, as the role {role}"))
    }])
}

async fn migrations(client: &Client) -> Result<Vec<Finding>, Error> {
    let record = AppliedRecord::read(client).await?;
    if let Some(AppliedRecord { version, .. }) = record.as_ref().filter(|record| record.is_newer()) {
        let text = format!("the database was migrated by orderql {version}, and this is {VERSION}");
        return Ok(vec![Finding::failure("migrations", text, format!("run orderql {version}, or a later version"))]);
    }
    let missing = pending(client).await?;
    Ok(vec![match &*missing {
        [] => Finding::ok("migrations", "the database is as this version declares it"),
        [first, ..] => {
            let by =
                record.map_or_else(String::new, |record| format!("; it was migrated by orderql {}", record.version));
            Finding::failure(
                "migrations",
                format!("the database lacks {first} and {} others{by}", missing.len() - 1),
                "orderql migrate --database-url …, as the owner of the tables",
            )
        }
    }])
}

/// The problem if the role may not use the service's schema.
async fn usage(client: &Client) -> Result<Option<Finding>, Error> {
    let select = "SELECT quote_ident(current_user) FROM pg_namespace
                  WHERE nspname = 'orderql' AND NOT has_schema_privilege(oid, 'USAGE')";
    let Some(row) = client.query_opt(select, &[]).await? else { return Ok(None) };
    let role: String = row.try_get(0)?;
    Ok(Some(Finding::failure(
        "grants",
        format!("the role {role} may not use the schema orderql; the rest is checked when it may"),
        format!("GRANT USAGE ON SCHEMA orderql TO {role}; -- as the tables' owner"),
    )))
}

async fn privileges(client: &Client) -> Result<Vec<Finding>, Error> {
    let role: String = client.query_one("SELECT quote_ident(current_user)", &[]).await?.try_get(0)?;
    let mut findings = Vec::new();
    let mut own = missing_privileges(client, &PRIVILEGES).await?;
    for function in FUNCTIONS {
        let select = "SELECT has_function_privilege(to_regprocedure($1), 'EXECUTE') IS FALSE";
        if client.query_one(select, &[&function]).await?.try_get(0)? {
            own.entry("EXECUTE").or_default().push(function.to_owned());
        }
    }
    findings.extend(missing(&own, &role, "the service cannot keep its accounts and audit trails"));
    let mut updates = missing_privileges(client, &orders::privileges::PRIVILEGES).await?;
    for sequence in SEQUENCES {
        let select = "SELECT has_sequence_privilege(to_regclass($1), 'USAGE') IS FALSE";
        if client.query_one(select, &[&sequence]).await?.try_get(0)? {
            updates.entry("USAGE").or_default().push(sequence.to_owned());
        }
    }
    findings.extend(missing(&updates, &role, "order updates get an error"));
    if findings.is_empty() {
        findings.push(Finding::ok("grants", "the role may do what accounts, audit trails and order updates need"));
    }
    Ok(findings)
}

/// The privileges that the role does not have on tables that exist, with these tables.
async fn missing_privileges(client: &Client, needed: &[(&'static str, &[&'static str])]) -> Result<Missing, Error> {
    let mut missing = Missing::new();
    for (table, privileges) in needed {
        // A role that is called like a schema finds that schema's tables first.
        let table = if table.contains('.') { (*table).to_owned() } else { format!("public.{table}") };
        for privilege in *privileges {
            // Null if there is no such table.
            let (of_table, columns) = privilege.split_once(" (").unwrap_or((privilege, ""));
            let columns: Vec<_> =
                columns.trim_end_matches(')').split(", ").filter(|column| !column.is_empty()).collect();
            let select = "SELECT has_table_privilege(to_regclass($1), $2) IS FALSE AND (
                              cardinality($3::text[]) = 0
                              OR EXISTS (SELECT FROM unnest($3) AS name WHERE NOT has_column_privilege(to_regclass($1), name, $2))
                          )";
            if client.query_one(select, &[&table, &of_table, &columns]).await?.try_get(0)? {
                missing.entry(privilege).or_default().push(table.clone());
            }
        }
    }
    Ok(missing)
}

fn missing(missing: &Missing, role: &str, effect: &str) -> Option<Finding> {
    let privileges = missing.iter().map(|(privilege, tables)| format!("{privilege} on {}", tables.join(", ")));
    let on = |privilege: &str| match privilege {
        "USAGE" => "SEQUENCE ",
        "EXECUTE" => "FUNCTION ",
        _ => "",
    };
    let grants = missing
        .iter()
        .map(|(privilege, tables)| format!("GRANT {privilege} ON {}{} TO {role};", on(privilege), tables.join(", ")));
    let grants: Vec<_> = grants.collect();
    (!missing.is_empty()).then(|| {
        Finding::warning(
            "grants",
            format!("{effect}: no {}", privileges.collect::<Vec<_>>().join("; no ")),
            format!("{} -- as the tables' owner", grants.join(" ")),
        )
    })
}

async fn accounts(client: &Client) -> Result<Vec<Finding>, Error> {
    let select = "SELECT count(*) FROM orderql.user_account WHERE NOT disabled";
    let count: i64 = client.query_one(select, &[]).await?.try_get(0)?;
    if count == 0 {
        let remedy = "orderql user add NAME --group GROUP";
        return Ok(vec![Finding::warning("accounts", "nobody can sign in", remedy)]);
    }
    let mut findings = vec![Finding::ok("accounts", format!("{count} can sign in"))];
    let select = "SELECT user_id FROM orderql.user_account AS account
                  WHERE NOT disabled AND NOT EXISTS (
                      SELECT FROM orderql.group_member WHERE group_member.user_id = account.user_id
                  )
                  ORDER BY user_id";
    let without: Vec<String> =
        client.query(select, &[]).await?.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    if let Some(first) = without.first() {
        let text = format!("{} of them may do nothing, being in no group: {}", without.len(), without.join(", "));
        findings.push(Finding::warning("accounts", text, format!("orderql group join GROUP '{first}'")));
    }
    Ok(findings)
}

async fn postgresql_settings(client: &Client, config: &Config) -> Result<Vec<Finding>, Error> {
    // Times are in milliseconds there; 0 is none.
    let select = "SELECT name, setting, source, quote_ident(current_user), quote_ident(current_database())
                  FROM pg_settings
                  WHERE name IN ('default_transaction_read_only', 'statement_timeout', 'idle_session_timeout', 'autovacuum',
                                 'track_counts')
                  ORDER BY name";
    let deadline = config.limits.without_profile().deadline.as_millis();
    let mut findings = Vec::new();
    for row in client.query(select, &[]).await? {
        let (name, value): (&str, &str) = (row.try_get(0)?, row.try_get(1)?);
        let number: u128 = value.parse().unwrap_or_default();
        let found = match name {
            "default_transaction_read_only" if value == "on" => Some("order updates are refused"),
            "statement_timeout" if number > 0 && number < deadline => {
                Some("queries are cancelled before their deadline")
            }
            "idle_session_timeout" if number > 0 => Some("PostgreSQL ends idle connections of the pools"),
            "autovacuum" | "track_counts" if value == "off" => Some("searches read more than their indexes"),
            _ => None,
        };
        if let Some(effect) = found {
            let [source, role, database] = [row.try_get::<_, &str>(2)?, row.try_get(3)?, row.try_get(4)?];
            let remedy = match name {
                "autovacuum" | "track_counts" => format!("ALTER SYSTEM SET {name} = on; SELECT pg_reload_conf();"),
                _ if source == "client" => format!("remove {name} from the options of database-url"),
                "default_transaction_read_only" => {
                    format!("ALTER ROLE {role} IN DATABASE {database} SET {name} = off;")
                }
                _ => format!("ALTER ROLE {role} IN DATABASE {database} SET {name} = 0;"),
            };
            findings.push(Finding::warning("postgresql", format!("{name} is {value}: {effect}"), remedy));
        }
    }
    if findings.is_empty() {
        findings.push(Finding::ok("postgresql", "its settings suit the server"));
    }
    Ok(findings)
}

async fn vacuum(client: &Client) -> Result<Vec<Finding>, Error> {
    let tables = invisible_tables(client, LARGE_TABLE).await?;
    Ok(vec![if tables.is_empty() {
        Finding::ok("vacuum", "large tables have been vacuumed")
    } else {
        let remedy = format!("VACUUM (ANALYZE) {};", tables.join(", "));
        Finding::warning("vacuum", "searches fetch rows that their indexes would have answered", remedy)
    }])
}

async fn collations(client: &Client) -> Result<Vec<Finding>, Error> {
    let changed = changed_collations(client).await?;
    if changed.is_empty() {
        return Ok(vec![Finding::ok("collations", "they sort as when the indexes were built")]);
    }
    Ok(changed.into_iter().map(|one| Finding::warning("collations", one.to_string(), one.remedy)).collect())
}

async fn clock(client: &Client) -> Result<Vec<Finding>, Error> {
    let before = SystemTime::now();
    let select = "SELECT extract(epoch FROM clock_timestamp())::float8";
    let there: f64 = client.query_one(select, &[]).await?.try_get(0)?;
    let there = UNIX_EPOCH + Duration::try_from_secs_f64(there).unwrap_or_default();
    let after = SystemTime::now();
    let ahead = there.duration_since(after).unwrap_or_default();
    let difference = before.duration_since(there).unwrap_or_default().max(ahead);
    Ok(vec![if difference > CLOCK_DIFFERENCE {
        Finding::warning(
            "clock",
            format!("it differs from the database's by {} s", difference.as_secs()),
            "synchronise both machines' clocks: tokens and audits have times",
        )
    } else {
        Finding::ok("clock", "as the database's")
    }])
}

/// Whether the database has what the schema names: relations, columns, indexes, privileges.
async fn schema_fit(client: &Client, config: &Config) -> Vec<Finding> {
    // A schema that is none was reported before.
    let Ok(catalog) = schema::read(config.schema.as_deref()) else { return Vec::new() };
    let catalog = catalog.with_search_window(config.search_window);
    let checked = async {
        let mut mismatches = check_schema(client, &catalog).await?;
        mismatches.extend(foreign_tables::unreachable(client, &catalog).await?);
        Ok::<_, Error>(mismatches)
    };
    let mismatches = match checked.await {
        Ok(mismatches) => mismatches,
        Err(error) => return vec![Finding::error("schema", &error)],
    };
    let unreadable: Vec<_> = mismatches.iter().filter_map(Mismatch::unreadable_relation).collect();
    let mut findings: Vec<_> = mismatches
        .into_iter()
        .filter(|mismatch| mismatch.unreadable_relation().is_none())
        .map(|mismatch| {
            if config.schema_constraints == Constraints::Trusted && mismatch.is_missing_guarantee() {
                Finding::warning("schema", mismatch.to_string(), "add the constraint; until then it is trusted")
            } else if mismatch.can_be_served() {
                Finding { level: Level::Warning, ..Finding::error("schema", &mismatch) }
            } else {
                Finding::error("schema", &mismatch)
            }
        })
        .collect();
    findings.extend(role_that_cannot_read(client, &unreadable).await);
    if findings.is_empty() {
        findings.push(Finding::ok("schema", "the database has its tables, columns, indexes and grants"));
    }
    if !has_order_tables(client).await.unwrap_or(true) {
        findings.push(Finding::ok("schema", "the database has no tables of order updates: updates are not served"));
    }
    findings
}

/// The problem if the role may not read these relations: one statement for all of them.
async fn role_that_cannot_read(client: &Client, relations: &[String]) -> Option<Finding> {
    if relations.is_empty() {
        return None;
    }
    let role =
        client.query_one("SELECT quote_ident(current_user)", &[]).await.and_then(|row| row.try_get::<_, String>(0));
    let role = role.unwrap_or_else(|_| "…".to_owned());
    let relations = relations.join(", ");
    Some(Finding::failure(
        "schema",
        format!("the role {role} may not read what the schema names"),
        format!("GRANT SELECT ON {relations} TO {role}; -- as the tables' owner"),
    ))
}
