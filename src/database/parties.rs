//! What triggers keep: `orderql.party`, the table of all parties with their names; the facility of an order item, and the store
//! of a return. Rows that are written while triggers are disabled, as some imports do, are missing or stale until they are
//! repaired.

use tokio_postgres::{Client, Error};

/// Counts the parties, order items and returns that differ from OFBiz's tables.
const DIFFERING: &str = "
    SELECT (SELECT count(*) FROM orderql.stale_item) + (SELECT count(*) FROM orderql.stale_return) + count(*)
    FROM (
        SELECT party.party_id, party.party_type_id, party.external_id, party.status_id, party.created_date,
            person.first_name, person.last_name, party_group.group_name
        FROM public.party
        LEFT JOIN public.person ON person.party_id = party.party_id
        LEFT JOIN public.party_group ON party_group.party_id = party.party_id
    ) AS source
    FULL JOIN orderql.party AS kept ON kept.party_id = source.party_id
    WHERE (source.party_id, source.party_type_id, source.external_id, source.status_id, source.created_date,
            source.first_name, source.last_name, source.group_name)
        IS DISTINCT FROM (kept.party_id, kept.party_type_id, kept.external_id, kept.status_id, kept.created_date,
            kept.first_name, kept.last_name, kept.group_name)";

/// The number of these that differ from OFBiz's tables. Reads all.
pub(crate) async fn differing(client: &Client) -> Result<i64, Error> {
    client.query_one(DIFFERING, &[]).await?.try_get(0)
}

/// Makes them equal, and returns their number. Their writers wait meanwhile.
pub(crate) async fn repair(client: &Client) -> Result<i64, Error> {
    // A role named orderql would otherwise search the schema of that name first.
    client.batch_execute("SET search_path TO public").await?;
    client.query_one("SELECT orderql.backfill_parties() + orderql.backfill_search_columns()", &[]).await?.try_get(0)
}
