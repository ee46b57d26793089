//! Reads rows from XML, one at a time. Knows the formats of OFBiz and Moqui, but no tables.
//!
//! The rules are the rules of OFBiz's own reader (`EntitySaxReader`): a child of the root is a row and its attributes are fields. A field
//! may also be a child element with text or CDATA. `create`, `create-update`, `create-replace` and `delete` wrap rows and define their
//! action. Moqui's rows (`EntityDataLoaderImpl`) have the same fields, and may contain rows.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::BufRead;

use quick_xml::Reader;
use quick_xml::events::Event as XmlEvent;

use crate::load::data_format::DataFormat;
use crate::load::error::{XmlError, XmlErrorKind};
use crate::load::line_counter::LineCounter;
use crate::load::row::{FileItem, FileRow, RowAction};
use crate::load::row_element::RowElement;
use crate::load::xml_element::{read_root, read_row};

/// Iterates over the items of a file, with one row and the rows inside it in memory at a time.
#[derive(Debug)]
pub(crate) struct XmlReader<R: BufRead> {
    xml: Reader<LineCounter<R>>,
    buffer: Vec<u8>,
    position: FilePosition,
    format: DataFormat,
    /// The rows inside the last row, in the file's order.
    inner_rows: VecDeque<FileItem>,
    /// The action of the open wrapper.
    action: Option<RowAction>,
    /// The line on which the last event begins.
    line: u64,
}

/// The reader's position in the file.
#[derive(Debug)]
enum FilePosition {
    /// Before the root element.
    Prolog,
    /// In the root element or a wrapper, between rows.
    BetweenRows,
    /// After the root element.
    Epilog,
    /// After an error, or in a file that is skipped.
    End,
}

impl<R: BufRead> XmlReader<R> {
    /// Reads from the start of `input`.
    pub(crate) fn new(input: R) -> Self {
        Self {
            xml: Reader::from_reader(LineCounter::new(input)),
            buffer: Vec::new(),
            position: FilePosition::Prolog,
            format: DataFormat::default(),
            inner_rows: VecDeque::new(),
            action: None,
            line: 1,
        }
    }

    /// The number of bytes read.
    pub(crate) fn bytes(&self) -> u64 {
        self.xml.get_ref().bytes()
    }

    /// Reads the next item; `None` at the end of the file.
    fn read_item(&mut self) -> Result<Option<FileItem>, XmlErrorKind> {
        if let Some(item) = self.inner_rows.pop_front() {
            return Ok(Some(item));
        }
        while !matches!(self.position, FilePosition::End) {
            self.line = self.xml.get_ref().line();
            let line = self.line;
            self.buffer.clear();
            match (self.xml.read_event_into(&mut self.buffer)?, &self.position) {
                (XmlEvent::Decl(declaration), FilePosition::Prolog) => {
                    if let Some(encoding) = declaration.encoding() {
                        let encoding = encoding?;
                        if !["utf-8", "utf8", "us-ascii"].contains(&encoding.to_ascii_lowercase().as_str()) {
                            return Err(XmlErrorKind::Encoding(encoding.into_owned()));
                        }
                    }
                }
                (XmlEvent::Start(tag), FilePosition::Prolog) => {
                    let root = read_root(&tag)?;
                    return Ok(Some(self.enter(root, FilePosition::BetweenRows)));
                }
                (XmlEvent::Empty(tag), FilePosition::Prolog) => {
                    let root = read_root(&tag)?;
                    return Ok(Some(self.enter(root, FilePosition::Epilog)));
                }
                (XmlEvent::Eof, FilePosition::Prolog) => return Err(XmlErrorKind::Empty),
                (XmlEvent::Eof, FilePosition::BetweenRows) => {
                    return Err(XmlErrorKind::Unclosed(self.format.root_element().to_owned()));
                }
                (XmlEvent::Eof, FilePosition::Epilog | FilePosition::End) => break,
                (XmlEvent::Start(tag) | XmlEvent::Empty(tag), FilePosition::Epilog) => {
                    return Err(XmlErrorKind::AfterRoot(tag.name().as_ref().to_owned()));
                }
                (XmlEvent::Start(tag), FilePosition::BetweenRows) => match RowAction::of_wrapper(tag.name().as_ref()) {
                    Some(_) if self.action.is_some() => {
                        return Err(XmlErrorKind::NestedWrapper { inner: tag.name().as_ref().to_owned() });
                    }
                    Some(action) => self.action = Some(action),
                    None => {
                        let row = read_row(&tag, self.format, self.action, line)?;
                        return self.read_row_content(row);
                    }
                },
                // An empty wrapper contains no rows.
                (XmlEvent::Empty(tag), FilePosition::BetweenRows)
                    if RowAction::of_wrapper(tag.name().as_ref()).is_none() =>
                {
                    return read_row(&tag, self.format, self.action, line).map(|row| Some(FileItem::Row(row)));
                }
                // The XML reader has matched the tags, so this closes the wrapper if one is open, else the root.
                (XmlEvent::End(_), FilePosition::BetweenRows) => match self.action {
                    Some(_) => self.action = None,
                    None => self.position = FilePosition::Epilog,
                },
                (XmlEvent::Text(text), FilePosition::Prolog | FilePosition::Epilog) if !text.trim().is_empty() => {
                    return Err(XmlErrorKind::TextOutsideRoot);
                }
                // OFBiz ignores text between rows too.
                _ => {}
            }
        }
        Ok(None)
    }

    /// Continues after the root element's start tag, at `position` if the file has rows.
    fn enter(&mut self, root: FileItem, position: FilePosition) -> FileItem {
        match &root {
            FileItem::Root(options) => {
                self.format = options.format;
                self.position = position;
            }
            // Nothing but the root element of such a file is read.
            _ => self.position = FilePosition::End,
        }
        root
    }

    /// Reads the content of an open row, up to its end tag. Returns the row; rows inside it are the next items.
    fn read_row_content(&mut self, row: FileRow) -> Result<Option<FileItem>, XmlErrorKind> {
        let mut element = RowElement::new(self.format, row);
        loop {
            self.line = self.xml.get_ref().line();
            self.buffer.clear();
            let is_complete = match self.xml.read_event_into(&mut self.buffer)? {
                XmlEvent::Start(tag) => {
                    element.start(&tag, self.line)?;
                    false
                }
                XmlEvent::Empty(tag) => {
                    element.start(&tag, self.line)?;
                    element.end()
                }
                XmlEvent::End(_) => element.end(),
                XmlEvent::Text(text) => {
                    element.text(&text.xml10_content());
                    false
                }
                XmlEvent::CData(text) => {
                    element.text(&text.xml10_content());
                    false
                }
                XmlEvent::GeneralRef(reference) => {
                    let text = match reference.resolve_char_ref()? {
                        Some(character) => Cow::Owned(character.to_string()),
                        None => quick_xml::escape::resolve_predefined_entity(&reference)
                            .map(Cow::Borrowed)
                            .ok_or_else(|| XmlErrorKind::UnknownReference(reference.to_string()))?,
                    };
                    element.text(&text);
                    false
                }
                XmlEvent::Eof => return Err(XmlErrorKind::Unclosed(element.entity().to_owned())),
                _ => false,
            };
            if is_complete {
                self.inner_rows.extend(element.into_items());
                return Ok(self.inner_rows.pop_front());
            }
        }
    }
}

impl<R: BufRead> Iterator for XmlReader<R> {
    type Item = Result<FileItem, XmlError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.read_item() {
            Ok(item) => item.map(Ok),
            Err(kind) => {
                self.position = FilePosition::End;
                Some(Err(XmlError { line: self.line, kind }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::row::RootOptions;

    fn items(xml: &str) -> Vec<FileItem> {
        XmlReader::new(xml.as_bytes()).collect::<Result<_, _>>().unwrap()
    }

    fn rows(content: &str) -> Vec<FileRow> {
        let xml = format!("<entity-engine-xml>{content}</entity-engine-xml>");
        let rows = items(&xml).into_iter().filter_map(|item| match item {
            FileItem::Row(row) => Some(row),
            FileItem::Root(_) | FileItem::TransformRoot | FileItem::NestedElement { .. } => None,
        });
        rows.collect()
    }

    fn fields(row: &FileRow) -> Vec<(&str, Option<&str>)> {
        row.fields.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect()
    }

    fn error(xml: &str) -> (u64, String) {
        let error = XmlReader::new(xml.as_bytes()).find_map(Result::err).expect("an error");
        (error.line, error.kind.to_string())
    }

    #[test]
    fn reads_attributes_as_fields_in_both_quotes_and_over_several_lines() {
        let rows = rows("<Party partyId='A \"b\"'\n  comments=\"it's &lt;&amp;&#233;&gt; a\tb\"\n  statusId=''/>");
        assert_eq!(rows[0].entity, "Party");
        assert_eq!(rows[0].action, RowAction::CreateUpdate);
        assert_eq!(
            fields(&rows[0]),
            [("partyId", Some("A \"b\"")), ("comments", Some("it's <&é> a b")), ("statusId", None)]
        );
    }

    #[test]
    fn child_elements_are_fields_and_override_attributes() {
        let rows = rows(
            "<Product productId=\"P\" description=\"old\"><longDescription><![CDATA[<b>a</b> & ]]>b &amp; &#x1F600;\
             </longDescription><description> new </description><internalName></internalName><brandName/>\
             <!-- nothing --></Product><Product productId=\"Q\"></Product>",
        );
        assert_eq!(
            fields(&rows[0]),
            [("productId", Some("P")), ("description", Some(" new ")), ("longDescription", Some("<b>a</b> & b & 😀"))]
        );
        assert_eq!(fields(&rows[1]), [("productId", Some("Q"))]);
    }

    #[test]
    fn normalizes_line_ends_but_not_references_to_them() {
        let rows = rows("<A x=\"1&#10;2\r\n3\"><y>1\r\n2&#13;3</y></A>");
        assert_eq!(fields(&rows[0]), [("x", Some("1\n2 3")), ("y", Some("1\n2\r3"))]);
    }

    #[test]
    fn wrappers_define_the_action_of_their_rows() {
        use RowAction::{Create, CreateReplace, CreateUpdate, Delete};
        let rows = rows(
            "<create><A/><B x=\"1\"></B></create><create-update><A/></create-update><A/>\
             <create-replace><A/></create-replace><delete><A/></delete><delete/><A/>",
        );
        let actions: Vec<_> = rows.iter().map(|row| row.action).collect();
        assert_eq!(actions, [Create, Create, CreateUpdate, CreateUpdate, CreateReplace, Delete, CreateUpdate]);
    }

    #[test]
    fn removes_prefixes_from_entity_names() {
        let rows = rows("<x-Party/><n:Party/><x-n:Party/><Party/>");
        assert!(rows.iter().all(|row| row.entity == "Party"), "{rows:?}");
        assert_eq!(rows.len(), 4);
    }

    #[test]
    fn reports_the_line_of_the_tag() {
        let xml = "<?xml version=\"1.0\"?>\n<!--\n-->\n<entity-engine-xml>\n  <A/>\n\n  <B\n x='1'\n/> <C>\n<x>\n1</x></C>\n<A/></entity-engine-xml>";
        let lines: Vec<_> = items(xml)
            .into_iter()
            .filter_map(|item| if let FileItem::Row(row) = item { Some((row.entity, row.line)) } else { None })
            .collect();
        let expected = [("A", 5), ("B", 7), ("C", 9), ("A", 12)].map(|(entity, line)| (entity.to_owned(), line));
        assert_eq!(lines, expected);
    }

    #[test]
    fn reads_the_options_of_the_root_element() {
        let root = |xml: &str| items(xml).remove(0);
        assert_eq!(root("<entity-engine-xml/>"), FileItem::Root(RootOptions::default()));
        assert_eq!(
            root("<entity-engine-xml maintain-timestamps=\"true\" create-dummy-fk='true' disable-eeca='true'/>"),
            FileItem::Root(RootOptions {
                format: DataFormat::EntityEngine,
                maintain_timestamps: true,
                create_dummy_fk: true
            })
        );
    }

    #[test]
    fn reads_nothing_of_a_transform_file() {
        let xml = "<entity-engine-transform-xml template='component://a/b.ftl'><A><b></entity-engine-transform-xml>";
        assert_eq!(items(xml), [FileItem::TransformRoot]);
        assert_eq!(items("<entity-engine-transform-xml/>"), [FileItem::TransformRoot]);
    }

    #[test]
    fn reports_an_element_inside_a_field_and_reads_the_next_row() {
        let xml = "<entity-engine-xml>\n<A i='1'><f>a<b>c<d/></b>e</f><g>h</g></A><A i='2'/></entity-engine-xml>";
        let found = items(xml);
        assert_eq!(found[1], FileItem::NestedElement { entity: "A".into(), field: "f".into(), line: 2, depth: 0 });
        assert!(matches!(&found[2], FileItem::Row(row) if fields(row) == [("i", Some("2"))]));
    }

    #[test]
    fn reports_errors_with_their_line() {
        for (xml, line, reason) in [
            ("", 1, "there is no root element; a data file has <entity-engine-xml> or <entity-facade-xml>"),
            ("nothing", 1, "there is text outside the root element"),
            ("\n<html/>", 2, "the root element is <html>; a data file has <entity-engine-xml> or <entity-facade-xml>"),
            ("<entity-engine-xml>\n<A/>\n", 3, "the file ends inside <entity-engine-xml>"),
            ("<entity-facade-xml>\n<A/>\n", 3, "the file ends inside <entity-facade-xml>"),
            ("<entity-engine-xml>\n<A><x>1\n", 3, "the file ends inside <A>"),
            ("<entity-facade-xml>\n<p.A><p.B>\n", 3, "the file ends inside <A>"),
            ("<entity-engine-xml/>\n<A/>", 2, "<A> follows the end of the root element"),
            ("<entity-engine-xml><A><x>&oops;</x></A>", 1, "&oops; is not one of XML's own five entities"),
            ("<?xml version='1.0' encoding='ISO-8859-1'?>", 1, "the encoding is ISO-8859-1; save the file as UTF-8"),
            ("<entity-engine-xml><create>\n<delete>", 2, "<delete> is inside another wrapper"),
        ] {
            assert_eq!(error(xml), (line, reason.to_owned()), "{xml}");
        }
        for (xml, line) in [
            ("<entity-engine-xml>\n<A></B>", 2),
            ("<entity-engine-xml>\n<A x='1' x='2'/>", 2),
            ("<entity-engine-xml>\n<A x=1/>", 2),
            ("<entity-engine-xml>\n<A x='&oops;'/>", 2),
            ("<entity-engine-xml>\n\n<A x='1'", 3),
            ("<entity-engine-xml></entity-engine-xml></entity-engine-xml>", 1),
        ] {
            assert_eq!(error(xml).0, line, "{xml}");
        }
    }

    #[test]
    fn rejects_bytes_that_are_not_utf8() {
        let mut rows = XmlReader::new(&b"<entity-engine-xml>\n<A x='\xff'/></entity-engine-xml>"[..]);
        assert!(matches!(rows.next(), Some(Ok(FileItem::Root(_)))));
        assert_eq!(rows.next().unwrap().unwrap_err().line, 2);
        assert!(rows.next().is_none());
    }

    #[test]
    fn skips_a_byte_order_mark() {
        assert_eq!(items("\u{feff}<entity-engine-xml><A/></entity-engine-xml>").len(), 2);
    }

    #[test]
    fn counts_lines_with_any_buffer_size() {
        let xml = "<entity-engine-xml>\n\n<A x='é\n'/>\n<B/>\n</entity-engine-xml>\n";
        for capacity in 1..xml.len() {
            let input = std::io::BufReader::with_capacity(capacity, xml.as_bytes());
            let lines: Vec<_> = XmlReader::new(input)
                .filter_map(|item| if let Ok(FileItem::Row(row)) = item { Some(row.line) } else { None })
                .collect();
            assert_eq!(lines, [3, 5], "buffer of {capacity}");
        }
    }
}
