//! The PostgreSQL settings that every pooled connection starts with, or that its role has.

use crate::database::address::database_address::DatabaseAddress;
use crate::database::address::target_session::depends_on_default;

/// The name of a setting of PostgreSQL, and its value.
pub(super) type SessionSetting = (&'static str, &'static str);

/// Planner and timeout settings of reading connections. The operator's address may override them.
///
/// - Batched statements need generic plans. Otherwise PostgreSQL plans each execution anew, which costs several times more.
/// - PostgreSQL estimates an unknown LIMIT as a tenth of all rows, so in a generic plan merge and hash joins look cheap. They
///   read a joined table from its start or in full, so a page costs more the deeper it lies. Nested loops are best for the
///   few rows of a page, and those that read a joined table in full once (`enable_material`) are not.
/// - Every scan is ordered by the columns of an index that returns a page's rows, so that the rows that are read have a bound.
///   With other scans and sorting disabled, PostgreSQL uses that index whatever its statistics say. Where nothing else is
///   possible, it scans or sorts all the same. A lower `random_page_cost` is nearer to tables that are in memory.
/// - A statement whose client is gone ends within a second, even if its cancellation does not arrive.
pub(super) const READER_DEFAULTS: [SessionSetting; 11] = [
    ("plan_cache_mode", "force_generic_plan"),
    ("enable_mergejoin", "off"),
    ("enable_hashjoin", "off"),
    ("enable_incremental_sort", "off"),
    ("enable_sort", "off"),
    ("enable_seqscan", "off"),
    ("enable_bitmapscan", "off"),
    ("enable_material", "off"),
    ("random_page_cost", "2"),
    ("jit", "off"),
    ("client_connection_check_interval", "1s"),
];

/// A statement takes its snapshot when it has its locks. `repeatable read` takes the snapshot before, and shows a table without rows if an
/// `ALTER TABLE` that the statement has waited for wrote them anew (PostgreSQL's manual, "Caveats" of concurrency control).
pub(super) const ISOLATION: SessionSetting = ("default_transaction_isolation", "read committed");

/// A transaction never writes. Setting this once is cheaper than repeating it in each BEGIN: a transaction of one trivial statement costs
/// PostgreSQL a third more with it.
pub(super) const READ_ONLY_DEFAULT: SessionSetting = ("default_transaction_read_only", "on");

/// Settings of reading connections that results depend on. The operator's address cannot override them.
///
/// - Worker processes would return the parts of a search in any order.
/// - A role named orderql would otherwise search the schema of that name first.
pub(super) const READER_REQUIRED: [SessionSetting; 3] =
    [("max_parallel_workers_per_gather", "0"), ("TimeZone", "UTC"), ("search_path", "public")];

/// Settings of writing connections that results depend on. Reads and writes use OFBiz's schema, whatever the role is called.
pub(super) const WRITER_REQUIRED: [SessionSetting; 2] = [("TimeZone", "UTC"), ("search_path", "public")];

/// Timeouts of writing connections.
const WRITER_DEFAULTS: [SessionSetting; 2] =
    [("client_connection_check_interval", "1s"), ("idle_in_transaction_session_timeout", "60s")];

/// The `options` of a reading connection, with those of the operator's address.
pub fn reader_settings(operator: &str) -> String {
    format!("{} {}", undecided_reader_settings(operator), options(&[READ_ONLY_DEFAULT]))
}

/// The `options` of a reading connection whose server is chosen by its own default of read-only transactions. [`READ_ONLY`]
/// follows when it is chosen.
fn undecided_reader_settings(operator: &str) -> String {
    let required = [&[ISOLATION][..], &READER_REQUIRED].concat();
    [&options(&READER_DEFAULTS), operator, &options(&required)]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Makes the transactions of a connection read-only.
pub(in crate::database) const READ_ONLY: &str = "SET default_transaction_read_only = on";

/// The address with the settings of a reading connection, and whether `READ_ONLY` has to follow.
pub(crate) fn reader(address: &DatabaseAddress) -> (DatabaseAddress, bool) {
    if !address.startup_options {
        // Each transaction says by itself which snapshot it has, and that it is read-only.
        return (address.clone(), false);
    }
    let operator = address.config.get_options().unwrap_or_default();
    let is_undecided = depends_on_default(address.target);
    let settings = if is_undecided { undecided_reader_settings(operator) } else { reader_settings(operator) };
    (address.with_options(&settings), is_undecided)
}

/// The address with the settings of a writing connection.
pub(in crate::database) fn writer(address: &DatabaseAddress) -> DatabaseAddress {
    if !address.startup_options {
        return address.clone();
    }
    address.with_options(&writer_settings(address.config.get_options().unwrap_or_default()))
}

/// The `options` of a writing connection, with those of the operator's address.
fn writer_settings(operator: &str) -> String {
    let settings = options(&[&WRITER_REQUIRED[..], &WRITER_DEFAULTS].concat());
    // One that ends in a space is refused by poolers.
    format!("{settings} {operator}").trim_end().to_owned()
}

/// The statements that give a role the settings that connections without startup options need. Order updates have the same role,
/// so it is each transaction that says whether it writes.
pub(crate) fn role_settings(role: &str) -> String {
    let role = format!("\"{}\"", role.replace('"', "\"\""));
    let settings = READER_REQUIRED.iter().chain(&READER_DEFAULTS);
    let statements = settings.map(|(name, value)| format!("ALTER ROLE {role} SET {name} = '{value}';"));
    statements.collect::<Vec<_>>().join("\n") + "\n"
}

fn options(settings: &[SessionSetting]) -> String {
    let option = |(name, value): &SessionSetting| format!("-c {name}={}", value.replace(' ', "\\ "));
    settings.iter().map(option).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_no_needless_spaces_which_poolers_refuse() {
        for operator in ["", "-c work_mem=8MB"] {
            for settings in [reader_settings(operator), undecided_reader_settings(operator), writer_settings(operator)]
            {
                assert!(settings.contains(operator) && !settings.contains("  "), "{settings}");
                assert!(settings.starts_with("-c ") && !settings.ends_with(' '), "{settings}");
            }
        }
        assert!(reader_settings("").contains("-c default_transaction_isolation=read\\ committed "));
        assert!(
            role_settings("a\"b").starts_with("ALTER ROLE \"a\"\"b\" SET max_parallel_workers_per_gather = '0';\n")
        );
    }
}
