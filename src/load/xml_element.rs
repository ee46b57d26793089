//! Converts XML tags to rows and fields.

use quick_xml::XmlVersion;
use quick_xml::events::BytesStart;

use crate::load::data_format::{DataFormat, TRANSFORM_ROOT};
use crate::load::entity_name::{moqui_child_entity, moqui_root_child, ofbiz_entity};
use crate::load::error::XmlErrorKind;
use crate::load::row::{FileItem, FileRow, RootOptions, RowAction};

/// The item of the root element. Fails if the tag is another element.
pub(super) fn read_root(tag: &BytesStart<'_>) -> Result<FileItem, XmlErrorKind> {
    let name = tag.name();
    if name.as_ref() == TRANSFORM_ROOT {
        return Ok(FileItem::TransformRoot);
    }
    let format = DataFormat::of_root(name.as_ref()).ok_or_else(|| XmlErrorKind::Root(name.as_ref().to_owned()))?;
    let mut options = RootOptions { format, ..RootOptions::default() };
    for attribute in tag.attributes() {
        let attribute = attribute?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0)? == "true";
        match attribute.key.as_ref() {
            "maintain-timestamps" => options.maintain_timestamps = value,
            "create-dummy-fk" => options.create_dummy_fk = value,
            // disable-eeca disables rules that this loader does not have. Other attributes are ignored, such as Moqui's type,
            // which says when Moqui loads a file of a component.
            _ => {}
        }
    }
    Ok(FileItem::Root(options))
}

/// The row of the start tag of a child of the root element or of a wrapper, with the tag's attributes as fields.
pub(super) fn read_row(
    tag: &BytesStart<'_>,
    format: DataFormat,
    wrapper: Option<RowAction>,
    line: u64,
) -> Result<FileRow, XmlErrorKind> {
    let name = tag.name();
    let (entity, action) = match format {
        DataFormat::EntityEngine => (ofbiz_entity(name.as_ref()), wrapper),
        DataFormat::EntityFacade => {
            let (entity, operation) = moqui_root_child(name.as_ref());
            (entity, operation.or(wrapper))
        }
    };
    let action = action.unwrap_or(RowAction::CreateUpdate);
    Ok(FileRow { entity: entity.to_owned(), action, fields: read_fields(tag)?, line, depth: 0 })
}

/// The row of a tag inside another row, in Moqui's format.
pub(super) fn read_child_row(
    tag: &BytesStart<'_>,
    action: RowAction,
    line: u64,
    depth: usize,
) -> Result<FileRow, XmlErrorKind> {
    let entity = moqui_child_entity(tag.name().as_ref()).to_owned();
    Ok(FileRow { entity, action, fields: read_fields(tag)?, line, depth })
}

/// Whether a tag inside a row of Moqui's format is a row, and not a field: whether it has a package or a relationship's
/// title, begins with a capital, or has attributes.
pub(super) fn is_child_row(tag: &BytesStart<'_>) -> bool {
    let name = tag.name();
    let local = local_name(name.as_ref());
    local.starts_with(|first: char| first.is_ascii_uppercase())
        || local.contains(['.', '-'])
        || tag.attributes().any(|attribute| !attribute.is_ok_and(|attribute| is_namespace(attribute.key.as_ref())))
}

fn read_fields(tag: &BytesStart<'_>) -> Result<Vec<(String, Option<String>)>, XmlErrorKind> {
    let mut fields = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute?;
        let name = attribute.key.as_ref();
        if is_namespace(name) {
            continue;
        }
        let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
        let value = if value.is_empty() { None } else { Some(value.into_owned()) };
        set_field(&mut fields, local_name(name).to_owned(), value);
    }
    Ok(fields)
}

fn is_namespace(attribute: &str) -> bool {
    attribute == "xmlns" || attribute.starts_with("xmlns:")
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
