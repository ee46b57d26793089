//! The PostgreSQL settings that every pooled connection starts with.

use crate::database::database_address::DatabaseAddress;
use crate::database::target_session::depends_on_default;

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
const READER_DEFAULTS: &str = "-c plan_cache_mode=force_generic_plan -c enable_mergejoin=off -c enable_hashjoin=off \
                               -c enable_incremental_sort=off -c enable_sort=off -c enable_seqscan=off \
                               -c enable_bitmapscan=off -c enable_material=off -c random_page_cost=2 -c jit=off \
                               -c client_connection_check_interval=1s";

/// Settings of reading connections that results depend on. The operator's address cannot override them.
///
/// - A transaction is one snapshot and never writes. Setting this once is cheaper than repeating it in each BEGIN: a
///   transaction of one trivial statement costs PostgreSQL a third more with it.
/// - Worker processes would return the parts of a search in any order.
/// - A role named orderql would otherwise search the schema of that name first.
const READER_REQUIRED: &str = "-c default_transaction_isolation=repeatable\\ read -c max_parallel_workers_per_gather=0 \
                               -c TimeZone=UTC -c search_path=public";

/// Settings of writing connections. Reads and writes use OFBiz's schema, whatever the role is called.
const WRITER_DEFAULTS: &str = "-c TimeZone=UTC -c search_path=public -c client_connection_check_interval=1s \
                               -c idle_in_transaction_session_timeout=60s";

/// The `options` of a reading connection, with those of the operator's address.
pub fn reader_settings(operator: &str) -> String {
    format!("{READER_DEFAULTS} {operator} {READER_REQUIRED} -c default_transaction_read_only=on")
}

/// The `options` of a reading connection whose server is chosen by its own default of read-only transactions. [`READ_ONLY`]
/// follows when it is chosen.
fn undecided_reader_settings(operator: &str) -> String {
    format!("{READER_DEFAULTS} {operator} {READER_REQUIRED}")
}

/// Makes the transactions of a connection read-only.
pub(super) const READ_ONLY: &str = "SET default_transaction_read_only = on";

/// The address with the settings of a reading connection, and whether `READ_ONLY` has to follow.
pub(crate) fn reader(address: &DatabaseAddress) -> (DatabaseAddress, bool) {
    let operator = address.config.get_options().unwrap_or_default();
    let is_undecided = depends_on_default(address.target);
    let settings = if is_undecided { undecided_reader_settings(operator) } else { reader_settings(operator) };
    (address.with_options(&settings), is_undecided)
}

/// The address with the settings of a writing connection.
pub(super) fn writer(address: &DatabaseAddress) -> DatabaseAddress {
    address.with_options(&writer_settings(address.config.get_options().unwrap_or_default()))
}

/// The `options` of a writing connection, with those of the operator's address.
fn writer_settings(operator: &str) -> String {
    format!("{WRITER_DEFAULTS} {operator}")
}
