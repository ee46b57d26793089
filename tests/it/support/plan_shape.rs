//! Which nodes a plan may have so that the rows that it examines have a bound.

use std::collections::HashMap;

use serde_json::Value as Json;
use tokio_postgres::Client;

/// The first column of each index, by the index's name.
pub struct Indexes(HashMap<String, String>);

/// Whether nodes of a kind read a relation in full, or all rows of the nodes below them before they return one.
pub fn reads_all(kind: &str) -> bool {
    matches!(kind, "Seq Scan" | "Hash" | "Hash Join" | "Merge Join" | "Materialize" | "Gather" | "Gather Merge")
        || kind.starts_with("Bitmap")
}

impl Indexes {
    pub async fn read(client: &Client) -> Self {
        let sql = "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid, 1, true) FROM pg_index";
        let rows = client.query(sql, &[]).await.unwrap();
        let name = |text: &str| text.rsplit('.').next().unwrap().trim_matches('"').to_owned();
        Self(rows.iter().map(|row| (name(row.get(0)), name(row.get(1)))).collect())
    }

    /// Fails if a plan has a node that may examine any number of rows. Searches sort the rows of their look-ups, so that their sorts are
    /// to be allowed, and their bound is to be measured.
    pub fn check(&self, plan: &Json, allows_sorts: bool) -> Result<(), String> {
        self.node(plan, false, allows_sorts)
    }

    /// `is_limited` says that no more than some rows of the node are read, whatever its relation has.
    fn node(&self, node: &Json, is_limited: bool, allows_sorts: bool) -> Result<(), String> {
        let kind = node["Node Type"].as_str().unwrap();
        let is_sort = kind.ends_with("Sort");
        // The rows of a page are sorted by their numbers or positions if it is read from its back, or found by a look-up.
        let sort_key = node["Sort Key"].to_string();
        let is_of_page = sort_key.contains("row_number()") || sort_key.contains("m.\\\"position");
        // PostgreSQL knows that there is nothing to sort.
        let is_empty = node["Plans"][0]["One-Time Filter"] == "false";
        let is_allowed_sort = allows_sorts || is_of_page || is_empty;
        if reads_all(kind) || (is_sort && !is_allowed_sort) {
            return Err(format!("a {kind} of {} by {sort_key}", node["Relation Name"]));
        }
        if let Some(index) = node["Index Name"].as_str() {
            let condition = node["Index Cond"].as_str().unwrap_or_default();
            let column = self.0.get(index).ok_or_else(|| format!("{index} is unknown"))?;
            if condition.is_empty() && !is_limited {
                return Err(format!("a scan of all of {index}"));
            }
            if !condition.is_empty() && !has_column(condition, column) {
                return Err(format!("a scan of all of {index} for {condition}"));
            }
        }
        let children = node["Plans"].as_array().into_iter().flatten();
        for (number, child) in children.enumerate() {
            // All rows of the inner side of a loop are read, those of the outer side and of the parts of an append as far as needed.
            let passes = match kind {
                "Limit" => true,
                "Subquery Scan" | "Result" | "WindowAgg" | "Append" | "ProjectSet" => is_limited,
                "Nested Loop" => is_limited && number == 0,
                _ => false,
            };
            self.node(child, passes, allows_sorts)?;
        }
        Ok(())
    }
}

/// Whether the condition of an index compares the column, or the expression with its names of several words. Other columns than the
/// index's have the alias of their relation.
fn has_column(condition: &str, column: &str) -> bool {
    let compared: Vec<_> = words(condition).collect();
    let mut names = words(column).filter(|word| *word == column || word.contains('_')).peekable();
    names.peek().is_some() && names.all(|name| compared.contains(&name))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).filter(|word| !word.is_empty())
}
