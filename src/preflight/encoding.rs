//! The characters of a database's encoding. PostgreSQL has a conversion for each encoding and no list of its characters, so each character is
//! converted. Errors are caught there, so that its log has none.

use tokio_postgres::{Client, Error, SimpleQueryMessage};

use crate::catalog::characters::Characters;

/// Keeps the ranges of characters that the encoding has, as `first-last first-last`, in a setting of its transaction, where the statement after it
/// reads them. No encoding of one byte a character has one beyond U+2FFF, and only one has some that are not in the first plane.
const CHARACTERS: &str = "
    DO $do$
    DECLARE
        encoding CONSTANT text := getdatabaseencoding();
        last CONSTANT int := CASE
            WHEN pg_encoding_max_length(pg_char_to_encoding(encoding)) = 1 THEN 12287
            WHEN encoding = 'EUC_JIS_2004' THEN 173791
            ELSE 65535
        END;
        ranges text := '';
        first int;
        has boolean;
    BEGIN
        FOR n IN 128..last + 1 LOOP
            BEGIN
                has := n <= last AND n NOT BETWEEN 55296 AND 57343 AND n NOT BETWEEN 65536 AND 131071 AND convert(decode(to_hex(CASE
                    WHEN n < 2048 THEN 49280 + n / 64 * 256 + n % 64
                    WHEN n < 65536 THEN 14712960 + n / 4096 * 65536 + n / 64 % 64 * 256 + n % 64
                    ELSE 4034953344 + n / 4096 * 65536 + n / 64 % 64 * 256 + n % 64
                END), 'hex'), 'UTF8', encoding) IS NOT NULL;
            EXCEPTION WHEN untranslatable_character THEN
                has := FALSE;
            END;
            IF has THEN
                first := coalesce(first, n);
            ELSIF first IS NOT NULL THEN
                ranges := ranges || first || '-' || n - 1 || ' ';
                first := NULL;
            END IF;
        END LOOP;
        PERFORM set_config('orderql.characters', ranges, TRUE);
    END
    $do$;
    SELECT current_setting('orderql.characters')";

/// Reads the characters of the encoding, which is the database's.
pub(super) async fn characters(client: &Client, encoding: &str) -> Result<Characters, Error> {
    // Texts of the second have no encoding; it is refused.
    if ["UTF8", "SQL_ASCII"].contains(&encoding) {
        return Ok(Characters::All);
    }
    let messages = client.simple_query(CHARACTERS).await?;
    let ranges = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    let character = |number: &str| number.parse().ok().and_then(char::from_u32);
    let range = |range: &str| {
        let (first, last) = range.split_once('-')?;
        Some((character(first)?, character(last)?))
    };
    Ok(Characters::Ranges(ranges.unwrap_or_default().split_whitespace().filter_map(range).collect()))
}
