//! The text that runs a statement for several requests as one execution: a lateral join of the requests' values with the statement.
//!
//! Rows come request by request, each request's in the order of the statement: a nested loop reads its inner side for each outer row in
//! turn (the same order that statements rely on). The inner side has the plan of the statement: PostgreSQL plans a sub-select by itself.

use std::fmt::Write;

use tokio_postgres::types::{Kind, Type};

/// The alias of the requests' values in the text.
const REQUESTS: &str = "request_values";

/// The text, whose parameters are arrays with a value for each request. A parameter that is an array already is the same for all
/// requests. The last column of a row is the number of its request, from 1. `None` without a parameter to tell the requests apart.
pub(super) fn batch_text(sql: &str, types: &[Type]) -> Option<String> {
    if types.iter().all(is_array) {
        return None;
    }
    let mut text = String::with_capacity(sql.len() * 2);
    // Writing to memory cannot fail.
    let _ = write!(text, "SELECT rows_of_request.*, {REQUESTS}.number\nFROM unnest(");
    let values = types.iter().enumerate().filter(|(_, ty)| !is_array(ty));
    for (position, (index, ty)) in values.clone().enumerate() {
        let separator = if position > 0 { ", " } else { "" };
        let _ = write!(text, "{separator}${}::{}.{}[]", index + 1, quoted(ty.schema()), quoted(ty.name()));
    }
    let _ = write!(text, ") WITH ORDINALITY AS {REQUESTS}(");
    for (index, _) in values {
        let _ = write!(text, "v{}, ", index + 1);
    }
    text.push_str("number)\nCROSS JOIN LATERAL (\n");
    write_statement(sql, types, &mut text);
    text.push_str("\n) AS rows_of_request");
    Some(text)
}

/// Whether the values of a parameter are arrays, of which there are no arrays.
pub(super) fn is_array(ty: &Type) -> bool {
    matches!(ty.kind(), Kind::Array(_))
}

/// The statement, with a column of the requests' values in place of each parameter that is not an array. What is quoted stays.
fn write_statement(sql: &str, types: &[Type], text: &mut String) {
    let mut quote = None;
    let mut rest = sql;
    while let Some(at) = rest.find(['$', '\'', '"']) {
        let (before, found) = rest.split_at(at);
        text.push_str(before);
        let mark = &found[..1];
        let after = &found[1..];
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number = after[..digits].parse::<usize>().ok().filter(|_| mark == "$" && quote.is_none());
        match number {
            Some(number)
                if number.checked_sub(1).and_then(|index| types.get(index)).is_some_and(|ty| !is_array(ty)) =>
            {
                let _ = write!(text, "{REQUESTS}.v{number}");
                rest = &after[digits..];
                continue;
            }
            _ if mark == "$" => {}
            // A doubled quote ends the quoted text, and begins another one.
            _ => quote = if quote == Some(mark) { None } else { quote.or(Some(mark)) },
        }
        text.push_str(mark);
        rest = after;
    }
    text.push_str(rest);
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_are_not_arrays_become_columns() {
        let sql = "SELECT a FROM t AS p0 WHERE id = $1 AND b = ANY($2) AND c IN ('$1', '''$1') AND \"$1\" > $3 OR $11 = 1 LIMIT $3";
        let text = batch_text(sql, &[Type::VARCHAR, Type::TEXT_ARRAY, Type::INT8]).unwrap();
        assert_eq!(
            text,
            "SELECT rows_of_request.*, request_values.number\n\
             FROM unnest($1::\"pg_catalog\".\"varchar\"[], $3::\"pg_catalog\".\"int8\"[]) WITH ORDINALITY AS request_values(v1, v3, number)\n\
             CROSS JOIN LATERAL (\n\
             SELECT a FROM t AS p0 WHERE id = request_values.v1 AND b = ANY($2) AND c IN ('$1', '''$1') AND \"$1\" > request_values.v3 \
             OR $11 = 1 LIMIT request_values.v3\n) AS rows_of_request"
        );
        assert_eq!(batch_text("SELECT $1", &[Type::TEXT_ARRAY]), None);
        assert_eq!(batch_text("SELECT 1", &[]), None);
    }
}
