//! The content of a row's element: its fields, and in Moqui's format further rows.

use quick_xml::events::BytesStart;

use crate::load::data_format::DataFormat;
use crate::load::error::XmlErrorKind;
use crate::load::row::{FileItem, FileRow, RowAction};
use crate::load::xml_element::{is_child_row, local_name, read_child_row, set_field};

/// An open element of a row, with everything inside it.
#[derive(Debug)]
pub(super) struct RowElement {
    format: DataFormat,
    /// The rows in the order of their start tags. The first one contains the others.
    rows: Vec<FoundRow>,
    /// The open elements, outermost first.
    open: Vec<OpenElement>,
}

#[derive(Debug)]
struct FoundRow {
    row: FileRow,
    /// The first field that contains an element instead of text.
    nested_in: Option<String>,
}

#[derive(Debug)]
enum OpenElement {
    /// A row, by its index.
    Row(usize),
    Field {
        name: String,
        text: String,
        /// The line of the start tag.
        line: u64,
    },
    /// An element inside a field.
    InField,
}

impl RowElement {
    /// The element of a row whose start tag was read.
    pub(super) fn new(format: DataFormat, row: FileRow) -> Self {
        Self { format, rows: vec![FoundRow { row, nested_in: None }], open: vec![OpenElement::Row(0)] }
    }

    /// The entity of the outermost row.
    pub(super) fn entity(&self) -> &str {
        self.rows.first().map_or("", |found| &found.row.entity)
    }

    /// Opens an element.
    pub(super) fn start(&mut self, tag: &BytesStart<'_>, line: u64) -> Result<(), XmlErrorKind> {
        let is_moqui = self.format == DataFormat::EntityFacade;
        // An element that looked like a field is a row if it contains elements and no text. Moqui writes rows of a relationship so, by an
        // alias, if all fields of the row are elements.
        if is_moqui
            && let Some(OpenElement::Field { name, text, line }) = self.open.last_mut()
            && text.trim().is_empty()
        {
            let (entity, line) = (std::mem::take(name), *line);
            self.open.pop();
            let (action, depth) = self.place_of_child();
            self.open_row(FileRow { entity, action, fields: Vec::new(), line, depth });
        }
        match self.open.last() {
            Some(OpenElement::Row(_)) if is_moqui && is_child_row(tag) => {
                let (action, depth) = self.place_of_child();
                let row = read_child_row(tag, action, line, depth)?;
                self.open_row(row);
            }
            Some(OpenElement::Row(_)) => {
                let name = local_name(tag.name().as_ref()).to_owned();
                self.open.push(OpenElement::Field { name, text: String::new(), line });
            }
            Some(OpenElement::Field { name, .. }) => {
                let field = name.clone();
                if let Some(row) = self.innermost_row() {
                    row.nested_in.get_or_insert(field);
                }
                self.open.push(OpenElement::InField);
            }
            Some(OpenElement::InField) | None => self.open.push(OpenElement::InField),
        }
        Ok(())
    }

    /// Adds text. Only a field has any.
    pub(super) fn text(&mut self, more: &str) {
        if let Some(OpenElement::Field { text, .. }) = self.open.last_mut() {
            text.push_str(more);
        }
    }

    /// Closes the innermost open element. Returns whether it was the outermost row.
    pub(super) fn end(&mut self) -> bool {
        // Unlike an empty attribute, an element without text does not set its field.
        if let Some(OpenElement::Field { name, text, .. }) = self.open.pop()
            && !text.is_empty()
            && let Some(found) = self.innermost_row()
        {
            set_field(&mut found.row.fields, name, Some(text));
        }
        self.open.is_empty()
    }

    /// The rows, each before the rows inside it.
    pub(super) fn into_items(self) -> impl Iterator<Item = FileItem> {
        self.rows.into_iter().map(|FoundRow { row, nested_in }| match nested_in {
            Some(field) => FileItem::NestedElement { entity: row.entity, field, line: row.line, depth: row.depth },
            None => FileItem::Row(row),
        })
    }

    /// The action and the depth of a row inside the innermost one.
    fn place_of_child(&mut self) -> (RowAction, usize) {
        self.innermost_row().map_or((RowAction::CreateUpdate, 0), |found| (found.row.action, found.row.depth + 1))
    }

    fn open_row(&mut self, row: FileRow) {
        self.open.push(OpenElement::Row(self.rows.len()));
        self.rows.push(FoundRow { row, nested_in: None });
    }

    fn innermost_row(&mut self) -> Option<&mut FoundRow> {
        let index = self.open.iter().rev().find_map(|open| match open {
            OpenElement::Row(index) => Some(*index),
            OpenElement::Field { .. } | OpenElement::InField => None,
        })?;
        self.rows.get_mut(index)
    }
}

#[cfg(test)]
mod tests {
    use crate::load::row::{FileItem, RowAction};
    use crate::load::xml_reader::XmlReader;

    fn items(content: &str) -> Vec<FileItem> {
        let xml = format!("<entity-facade-xml type=\"seed\">{content}</entity-facade-xml>");
        XmlReader::new(xml.as_bytes()).skip(1).collect::<Result<_, _>>().unwrap()
    }

    /// Each row as its depth, entity and fields.
    fn rows(content: &str) -> Vec<String> {
        let rows = items(content).into_iter().map(|item| match item {
            FileItem::Row(row) => {
                let fields =
                    row.fields.iter().map(|(name, value)| format!(" {name}={}", value.as_deref().unwrap_or("NULL")));
                format!("{} {}{}", row.depth, row.entity, fields.collect::<String>())
            }
            other => panic!("not a row: {other:?}"),
        });
        rows.collect()
    }

    #[test]
    fn elements_with_text_are_fields() {
        assert_eq!(
            rows(
                "<org.apache.ofbiz.order.order.OrderHeader orderId=\"O\" entryDate=\"\">\n\
                 <orderName><![CDATA[a <b>\nc]]></orderName><statusId/>\
                 </org.apache.ofbiz.order.order.OrderHeader><geos geoId='G'/>"
            ),
            ["0 OrderHeader orderId=O entryDate=NULL orderName=a <b>\nc", "0 Geo geoId=G"]
        );
    }

    #[test]
    fn rows_inside_a_row_follow_it() {
        assert_eq!(
            rows(
                "<OrderHeader orderId='O'>\n<o.OrderItem seqId='1'><comments>c</comments><Adj-o.OrderAdjustment id='A'/>\
                 </o.OrderItem><items xmlns:m='n' seqId='2'/><m:orderName xmlns:m='n'>late</m:orderName><OrderStatus/>\
                 </OrderHeader><OrderHeader/>"
            ),
            [
                "0 OrderHeader orderId=O orderName=late",
                "1 OrderItem seqId=1 comments=c",
                "2 OrderAdjustment id=A",
                "1 items seqId=2",
                "1 OrderStatus",
                "0 OrderHeader",
            ]
        );
    }

    #[test]
    fn an_element_with_elements_and_no_text_is_a_row() {
        assert_eq!(
            rows("<A>\n<notes>\n<noteId>N</noteId><parts><partId>P</partId></parts><text>t</text></notes><b>1</b></A>"),
            ["0 A b=1", "1 notes noteId=N text=t", "2 parts partId=P"]
        );
    }

    #[test]
    fn an_element_inside_text_makes_its_row_bad_and_no_other() {
        let found = items("<A i='1'><f>a<b x='1'>c</b></f><C/></A>");
        assert_eq!(found[0], FileItem::NestedElement { entity: "A".into(), field: "f".into(), line: 1, depth: 0 });
        assert!(matches!(&found[1], FileItem::Row(row) if row.entity == "C" && row.depth == 1));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_row_inside_another_has_its_action() {
        let items = items("<delete-p.A><p.B/></delete-p.A><p.A><p.B/></p.A>");
        let actions: Vec<_> = items
            .iter()
            .filter_map(|item| if let FileItem::Row(row) = item { Some(row.action) } else { None })
            .collect();
        assert_eq!(actions, [RowAction::Delete, RowAction::Delete, RowAction::CreateUpdate, RowAction::CreateUpdate]);
    }
}
