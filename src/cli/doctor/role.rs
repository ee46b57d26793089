//! Checks the role that serves: whether it may do more than it needs, and whether policies hide rows from it.

use tokio_postgres::{Client, Error};

use crate::cli::doctor::finding::Finding;
use crate::cli::schema;
use crate::config::settings::Config;
use crate::preflight::relations;

/// The role, whether it is a superuser, the relations that it owns of these, and the relations with policies that hide rows from it.
const ROLE: &str = "
    SELECT quote_ident(rolname), rolsuper,
        array(SELECT oid::regclass::text FROM pg_class WHERE oid = ANY (found) AND pg_has_role(relowner, 'USAGE') ORDER BY 1),
        array(SELECT oid::regclass::text FROM pg_class WHERE oid = ANY (found) AND row_security_active(oid) ORDER BY 1)
    FROM pg_roles, (SELECT array_agg(to_regclass(name)::oid) FROM unnest($1::text[]) AS name) AS relations (found)
    WHERE rolname = current_user";

/// Checks the role.
pub(super) async fn check(client: &Client, config: &Config) -> Result<Vec<Finding>, Error> {
    // A schema that is none was reported before.
    let Ok(catalog) = schema::read(config.schema.as_deref()) else { return Ok(Vec::new()) };
    let public = |name: String| if name.contains('.') { name } else { format!("public.{name}") };
    let names: Vec<_> = relations(&catalog).into_iter().map(public).collect();
    let row = client.query_one(ROLE, &[&names]).await?;
    let role: String = row.try_get(0)?;
    let [owned, hidden] = [row.try_get::<_, Vec<String>>(2)?, row.try_get::<_, Vec<String>>(3)?];
    let mut findings = Vec::new();
    if row.try_get(1)? || !owned.is_empty() {
        let what = if row.try_get(1)? { "is a superuser" } else { "owns tables that it serves" };
        findings.push(Finding::warning(
            "grants",
            format!("the role {role} {what}, so that a mistake of the server could change or drop them"),
            "another role in database-url, with the grants that orderql migrate --print-grants ROLE prints",
        ));
    }
    if !hidden.is_empty() {
        let (tables, first) = (hidden.join(", "), &hidden[0]);
        findings.push(Finding::warning(
            "grants",
            format!("row-level security hides rows of {tables} from the role {role}: clients get those that its policies show"),
            format!("CREATE POLICY orderql ON {first} FOR SELECT TO {role} USING (true); -- for each table; or, as a superuser: ALTER ROLE {role} BYPASSRLS;"),
        ));
    }
    Ok(findings)
}
