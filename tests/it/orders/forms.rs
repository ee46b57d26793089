//! The forms that the store's apps send, with their effect on every table.
//!
//! `forms/NAME.form` has a parameter in each line, and after `#` what it is; `# multipart` is the encoding of the newer app.
//! `NAME.sql` prepares the demo orders. `NAME.snap` has the response and the changed rows: `+` for a new one, `-` for a deleted
//! one, and `~` with the columns that changed. Stamps are left out. Run the test with `INSTA_UPDATE=always` to update the
//! snapshots.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::support::store::{MULTIPART, Store, URLENCODED, multipart};

/// The rows of all tables, by table and primary key.
type Rows = BTreeMap<(String, String), Map<String, Value>>;

#[tokio::test(flavor = "multi_thread")]
async fn forms_of_the_apps_have_the_reviewed_effect_on_every_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/orders/forms");
    let mut forms: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    forms.retain(|path| path.extension().is_some_and(|extension| extension == "form"));
    forms.sort();
    assert!(forms.len() >= 12, "{} forms", forms.len());
    let store = Store::open_with_least_privileges().await;
    store.keep().await;
    let mut reports = Vec::new();
    for path in &forms {
        reports.push((path.file_stem().unwrap().to_str().unwrap().to_owned(), report(&store, path).await));
        store.restore().await;
    }
    let log = store.server.stop();
    assert!(!log.contains("permission denied"), "{log}");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for (name, report) in reports {
            insta::assert_snapshot!(name, report);
        }
    });
}

/// Sends a form. Returns the response and the changed rows.
async fn report(store: &Store, path: &Path) -> String {
    if let Ok(preparation) = fs::read_to_string(path.with_extension("sql")) {
        store.execute(&preparation).await;
    }
    let text = fs::read_to_string(path).unwrap();
    let parameters = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='));
    let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
    let before = rows(store).await;
    let response = if text.contains("# multipart") {
        store.send(&[MULTIPART], &multipart(&form))
    } else {
        store.send(&[URLENCODED], &form)
    };
    let mut report = format!("{} {}\n\n", response.status, response.body);
    write_changes(&mut report, &before, &rows(store).await);
    report
}

/// The rows of OFBiz's tables.
async fn rows(store: &Store) -> Rows {
    let keys = "SELECT relname, string_agg(format('%I', attname), ', ' ORDER BY array_position(indkey::int2[], attnum)) \
                FROM pg_class JOIN pg_index ON indrelid = pg_class.oid AND indisprimary \
                JOIN pg_attribute ON attrelid = pg_class.oid AND attnum = ANY (indkey) \
                WHERE relnamespace = 'public'::regnamespace GROUP BY relname ORDER BY relname";
    let selects: Vec<String> = store
        .client
        .query(keys, &[])
        .await
        .unwrap()
        .iter()
        .map(|row| {
            let (table, key): (&str, &str) = (row.get(0), row.get(1));
            format!("SELECT '{table}', concat_ws(' ', {key}), to_jsonb(own)::text FROM public.{table} AS own")
        })
        .collect();
    let rows = store.client.query(&selects.join(" UNION ALL "), &[]).await.unwrap();
    let row = |row: &tokio_postgres::Row| ((row.get(0), row.get(1)), serde_json::from_str(row.get(2)).unwrap());
    rows.iter().map(row).collect()
}

fn write_changes(report: &mut String, before: &Rows, after: &Rows) {
    let keys: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    for key @ (table, id) in keys {
        match (before.get(key), after.get(key)) {
            (Some(old), Some(new)) => {
                let columns = new.iter().filter(|(name, value)| !is_stamp(name) && old.get(*name) != Some(value));
                let columns = columns.map(|(name, value)| format!("{name}: {} → {}", shown(&old[name]), shown(value)));
                let columns: Vec<_> = columns.collect();
                if !columns.is_empty() {
                    let _ = writeln!(report, "~ {table} {id}\n    {}", columns.join("\n    "));
                }
            }
            (None, Some(new)) => {
                let columns = new.iter().filter(|(name, value)| !is_stamp(name) && !value.is_null());
                let columns: Vec<_> = columns.map(|(name, value)| format!("{name}: {}", shown(value))).collect();
                let _ = writeln!(report, "+ {table}\n    {}", columns.join("\n    "));
            }
            (Some(_), None) => {
                let _ = writeln!(report, "- {table} {id}");
            }
            (None, None) => {}
        }
    }
}

fn is_stamp(column: &str) -> bool {
    column.ends_with("_stamp")
}

/// A value; a time of the test's own is the days from now.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => match OffsetDateTime::parse(text, &Rfc3339) {
            Ok(time) if (time - OffsetDateTime::now_utc()).whole_hours() >= -1 => {
                let days = ((time - OffsetDateTime::now_utc()).whole_hours() + 12) / 24;
                if days == 0 { "now".to_owned() } else { format!("now and {days} days") }
            }
            _ => text.clone(),
        },
        other => other.to_string(),
    }
}
