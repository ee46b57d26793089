//! Searches in text by an index on words, and whether one has a rare word by the statistics that PostgreSQL gathers of a column.
//!
//! An index on words (GIN) has no order, and a scan of it begins when all rows of a word are read: with a common word, that takes
//! longer the larger the table is. With a rare word among them it ends soon, because the rows of the other words are skipped. The
//! statistics decide no more than the way in which rows are found: if they are old, the scan takes longer, and finds the same
//! rows. Without them, as for a view, no word is rare.

use std::fmt::{self, Display};

use crate::plan::parameters::Placeholder;
use crate::plan::sql::{Alias, ColumnOf, Configuration, NameText, Relation};

/// How many rows may have a word that is rare. Reading that many from the index takes about as long as the 1,500 rows of a look-up.
const MAX_ROWS: u32 = 50_000;

/// The share of rows that have a word at most, if the column is known to have no common words.
const NOT_COMMON: &str = "0.01";

/// The words of a search.
pub(crate) struct Words<'a> {
    /// The column with the text.
    pub(crate) column: &'a str,
    /// The text search configuration.
    pub(crate) language: &'a str,
    /// The words as a client wrote them.
    pub(crate) value: Placeholder,
}

impl Words<'_> {
    /// The rows of a relation that have all of them, with these columns, as a source called `t`. The sub-selects force the use of the
    /// index: without them, PostgreSQL would rather read the whole table, because such indexes are disabled, and because it expects a LIMIT
    /// to end the scan early.
    pub(crate) fn rows(&self, relation: &str, columns: &dyn Display) -> impl Display {
        let Self { column, language, value } = self;
        let (relation, column) = (Relation(relation), ColumnOf(Alias::Base, column));
        fmt::from_fn(move |f| {
            write!(f, "(SELECT plainto_tsquery({}, {value}) AS q OFFSET 0) AS w", Configuration(language))?;
            write!(
                f,
                "\nCROSS JOIN LATERAL (SELECT {columns} FROM {relation} AS t WHERE {column} @@ w.q OFFSET 0) AS t"
            )
        })
    }

    /// Whether one of them is rare in a relation, or there are none, as all are left out by the configuration. A word that is not among
    /// the common ones is no more common than the least of these, whose share follows theirs.
    pub(crate) fn are_rare(&self, relation: &str) -> impl Display {
        fmt::from_fn(move |f| {
            let Self { column, language, value } = self;
            let (schema, table) = relation.split_once('.').unwrap_or(("public", relation));
            let (schema, table, column) = (NameText(schema), NameText(table), NameText(column));
            let (name, configuration) = (Relation(relation).to_string(), Configuration(language));
            let name = NameText(&name);
            write!(
                f,
                "(SELECT COALESCE(bool_or(COALESCE(s.shares[COALESCE(array_position(s.words, w.word), cardinality(s.words) + 1)], \
                 {NOT_COMMON}) * s.rows <= {MAX_ROWS} IS TRUE), TRUE)\n\
                 FROM unnest(tsvector_to_array(to_tsvector({configuration}, {value}::text))) AS w(word)\n\
                 LEFT JOIN (SELECT most_common_elems::text::text[] AS words, most_common_elem_freqs AS shares, \
                 c.reltuples * GREATEST(1, pg_relation_size(c.oid) / (NULLIF(c.relpages, 0) * 8192.0)) AS rows\n\
                 FROM pg_catalog.pg_stats AS p, pg_catalog.pg_class AS c\n\
                 WHERE p.schemaname = {schema} AND p.tablename = {table} AND p.attname = {column} \
                 AND c.oid = to_regclass({name})\nORDER BY p.inherited DESC LIMIT 1) AS s ON TRUE)"
            )
        })
    }
}
