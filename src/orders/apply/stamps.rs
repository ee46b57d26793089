//! SQL that writes rows of OFBiz's tables, with the columns that say when a row was made and changed.

/// SQL that changes rows. Without assignments, it says that something was changed which belongs to them.
macro_rules! update {
    ($table:literal, $condition:literal) => {
        update!(@ $table, "", "", $condition)
    };
    ($table:literal, $assignments:literal, $condition:literal) => {
        update!(@ $table, concat!(", ", $assignments), "", $condition)
    };
    ($table:literal, $assignments:literal, FROM $from:literal, $condition:literal) => {
        update!(@ $table, concat!(", ", $assignments), concat!(" FROM ", $from), $condition)
    };
    (@ $table:literal, $assignments:expr, $from:expr, $condition:literal) => {
        concat!(
            "UPDATE ",
            $table,
            " SET last_updated_stamp = now(), last_updated_tx_stamp = now()",
            $assignments,
            $from,
            " WHERE ",
            $condition
        )
    };
}
pub(super) use update;

/// SQL that inserts a row of values, or the rows of a query.
macro_rules! insert {
    ($table:literal, $columns:literal, VALUES $values:literal) => {
        insert!(@ $table, $columns, ") VALUES (", $values, ")")
    };
    ($table:literal, $columns:literal, SELECT $values:literal, $from:literal) => {
        insert!(@ $table, $columns, ") SELECT ", $values, $from)
    };
    (@ $table:literal, $columns:literal, $before:literal, $values:literal, $after:literal) => {
        concat!(
            "INSERT INTO ",
            $table,
            " (",
            $columns,
            ", created_stamp, created_tx_stamp, last_updated_stamp, last_updated_tx_stamp",
            $before,
            $values,
            ", now(), now(), now(), now() ",
            $after
        )
    };
}
pub(super) use insert;

/// SQL for the columns of a row with other values in some of them, and all others as they are, known to this program or not.
macro_rules! changed_copy {
    ($base:literal, $row:literal, $values:literal) => {
        concat!(
            "(jsonb_populate_record(",
            $base,
            ", ",
            $row,
            "jsonb_build_object(",
            $values,
            ", 'last_updated_stamp', now(), 'last_updated_tx_stamp', now()))).*"
        )
    };
}
pub(super) use changed_copy;
