//! Sequence ids.

/// The sequence id after the highest one, with five digits as in OFBiz.
pub(super) fn next_seq_id(highest: Option<i64>) -> String {
    format!("{:05}", highest.unwrap_or(0) + 1)
}

/// SQL for the highest of the sequence ids that are numbers.
macro_rules! highest_seq_id {
    ($column:literal) => {
        concat!("max(", $column, "::bigint) FILTER (WHERE ", $column, " ~ '^[0-9]{1,18}$')")
    };
}
pub(super) use highest_seq_id;
