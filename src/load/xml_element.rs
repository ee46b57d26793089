//! Converts XML tags to rows and fields.

use quick_xml::XmlVersion;
use quick_xml::events::BytesStart;

use crate::load::error::XmlErrorKind;
use crate::load::row::{Action, ROOT_ELEMENT, RootOptions, Row};

/// The options of the root element. Fails if the tag is another element.
pub(super) fn read_root(tag: &BytesStart<'_>) -> Result<RootOptions, XmlErrorKind> {
    if tag.name().as_ref() != ROOT_ELEMENT {
        return Err(XmlErrorKind::Root(tag.name().as_ref().to_owned()));
    }
    let mut options = RootOptions::default();
    for attribute in tag.attributes() {
        let attribute = attribute?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0)? == "true";
        match attribute.key.as_ref() {
            "maintain-timestamps" => options.maintain_timestamps = value,
            "create-dummy-fk" => options.create_dummy_fk = value,
            // disable-eeca disables rules that this loader does not have. Other attributes are ignored.
            _ => {}
        }
    }
    Ok(options)
}

/// The row of a start tag, with its attributes as fields.
pub(super) fn read_row(tag: &BytesStart<'_>, action: Option<Action>, line: u64) -> Result<Row, XmlErrorKind> {
    let mut fields = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute?;
        let name = attribute.key.as_ref();
        if name == "xmlns" || name.starts_with("xmlns:") {
            continue;
        }
        let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
        let value = if value.is_empty() { None } else { Some(value.into_owned()) };
        set_field(&mut fields, local_name(name).to_owned(), value);
    }
    Ok(Row {
        entity: entity_name(tag.name().as_ref()).to_owned(),
        action: action.unwrap_or(Action::CreateUpdate),
        fields,
        line,
    })
}

/// A tag without its prefixes: the part after the first `-`, and of that the part after the first `:`.
fn entity_name(tag: &str) -> &str {
    let after_dash = tag.split_once('-').filter(|(before, _)| !before.is_empty()).map_or(tag, |(_, after)| after);
    after_dash.split_once(':').filter(|(before, _)| !before.is_empty()).map_or(after_dash, |(_, after)| after)
}

/// A name without its namespace prefix.
pub(super) fn local_name(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// Sets a field. A child element follows the attributes and overrides one of the same name.
pub(super) fn set_field(fields: &mut Vec<(String, Option<String>)>, name: String, value: Option<String>) {
    match fields.iter_mut().find(|(existing, _)| *existing == name) {
        Some((_, existing)) => *existing = value,
        None => fields.push((name, value)),
    }
}
