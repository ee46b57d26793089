//! `load`: a data file of OFBiz or Moqui; and as one value in a column of a type that its first byte chooses.
//!
//! - Items do not depend on where the input is split, if it is UTF-8; otherwise it fails wherever it is split.
//! - The root comes first and once, and alone if the file is skipped; lines do not decrease, and the file has them.
//! - Rows written as XML anew are read as the same rows.
//! - A canonical value is its own canonical value.
//! - Memory grows with the file's length at most.

use std::fmt::Write as _;
use std::io::BufReader;

use orderql::fuzzing::load::{COLUMN_TYPES, Item, canonical, read};

use crate::support::allocation::{Allowance, within};
use crate::support::input::choice;

const ALLOWANCE: Allowance = Allowance { per_byte: 300, constant: 50_000 };

/// Runs the target.
pub fn run(data: &[u8]) {
    read_file(data);
    let (column_type, text) = choice(data);
    if let Ok(text) = str::from_utf8(text) {
        read_value(column_type, text);
    }
}

fn read_file(data: &[u8]) {
    let result = within(ALLOWANCE, data.len(), || read(data));
    for capacity in [1, 7] {
        let split = read(BufReader::with_capacity(capacity, data));
        if str::from_utf8(data).is_ok() {
            assert_eq!(split, result, "{capacity} bytes at a time");
        } else {
            // Where it ends depends on how far quick-xml looks ahead in a document type declaration.
            assert_eq!(split.1.is_some(), result.1.is_some(), "{capacity} bytes at a time");
        }
    }
    let (items, error, bytes) = result;
    assert!(usize::try_from(bytes).unwrap() <= data.len());
    let lines = data.split(|byte| *byte == b'\n').count() as u64;
    let mut last = 1;
    for (index, item) in items.iter().enumerate() {
        let line = match item {
            Item::Root { .. } => {
                assert_eq!(index, 0, "a second root");
                continue;
            }
            Item::TransformRoot => {
                assert_eq!((items.len(), &error), (1, &None), "more of a file that is skipped");
                continue;
            }
            Item::Row { line, .. } | Item::Nested { line, .. } => *line,
        };
        assert!(index > 0, "a row before the root");
        assert!((last..=lines).contains(&line), "line {line} after {last}, of {lines}");
        last = line;
    }
    if error.is_none()
        && let Some(written) = xml(&items)
    {
        let (again, error, _) = read(written.as_bytes());
        assert_eq!(error, None, "{written}");
        let rows = |items: Vec<Item>| items.into_iter().map(without_line).collect::<Vec<_>>();
        assert_eq!(rows(again), rows(items), "{written}");
    }
}

fn without_line(item: Item) -> Item {
    match item {
        Item::Row { entity, action, fields, .. } => Item::Row { entity, action, fields, line: 0 },
        other => other,
    }
}

/// The rows as a data file. `None` if one has a name or a character that XML cannot have, or an element inside a field.
/// Loading a row refuses such a character: no column can have it.
fn xml(items: &[Item]) -> Option<String> {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let mut out = String::new();
    for item in items {
        match item {
            Item::Root { maintain_timestamps, create_dummy_fk } => write!(
                out,
                "<entity-engine-xml maintain-timestamps=\"{maintain_timestamps}\" create-dummy-fk=\"{create_dummy_fk}\">"
            )
            .ok()?,
            Item::Row { entity, action, fields, .. } => {
                let wrapper = match action.as_str() {
                    "Create" => "create",
                    "CreateUpdate" => "create-update",
                    "CreateReplace" => "create-replace",
                    _ => "delete",
                };
                if !is_name(entity) || !fields.iter().all(|(name, _)| is_name(name) && name != "xmlns") {
                    return None;
                }
                // Prefixes, so that no entity is mistaken for a wrapper.
                write!(out, "<{wrapper}>\n<p-q:{entity}").ok()?;
                for (name, value) in fields {
                    if value.as_deref().is_some_and(|value| value.contains('\0')) {
                        return None;
                    }
                    write!(out, " {name}=\"{}\"", references(value.as_deref().unwrap_or_default())).ok()?;
                }
                write!(out, "/></{wrapper}>").ok()?;
            }
            Item::TransformRoot | Item::Nested { .. } => return None,
        }
    }
    out.push_str("</entity-engine-xml>");
    Some(out)
}

/// A text of nothing but character references.
fn references(text: &str) -> String {
    text.chars().fold(String::new(), |mut text, character| {
        // Writing to a string cannot fail.
        let _ = write!(text, "&#x{:x};", u32::from(character));
        text
    })
}

fn read_value(column_type: usize, text: &str) {
    for is_moqui in [false, true] {
        let Ok(Some(value)) = canonical(column_type, is_moqui, text.to_owned()) else { continue };
        // The canonical form of bytes is hexadecimal, which the files do not have.
        if column_type % COLUMN_TYPES != 11 {
            assert_eq!(canonical(column_type, is_moqui, value.clone()), Ok(Some(value)), "of {text}");
        }
    }
}
