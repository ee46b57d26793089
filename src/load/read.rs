//! XML bytes into rows, one at a time: the pure half's first step. Knows OFBiz's format, and no table.
//!
//! The rules are those of OFBiz's own reader (`EntitySaxReader`): a child of the root is a row, its attributes are
//! fields, a field may be a child element with text or CDATA instead, and `create`, `create-update`, `create-replace`
//! and `delete` around rows say what is to be done with them.

use std::borrow::Cow;
use std::io::BufRead;

use quick_xml::events::{BytesStart, Event as Xml};
use quick_xml::{Reader, XmlVersion};
use thiserror::Error;

use crate::load::lines::Lines;

/// The one root element that is read.
const ROOT: &str = "entity-engine-xml";

/// One row of the file, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The entity's name, without the part of the tag before a `-` or `:`.
    pub entity: String,
    /// What is to be done with the row.
    pub action: Action,
    /// Each field once, in the order of the file; `None` is an empty attribute, which is NULL.
    pub fields: Vec<(String, Option<String>)>,
    /// The line that the row's tag begins on, from 1.
    pub line: u64,
}

/// What a wrapper element asks for its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Insert, unless the key is there: then the row is left alone.
    Create,
    /// Insert, or set the fields that are named and no other. What rows without a wrapper get.
    CreateUpdate,
    /// Insert, or set the fields that are named and make every other NULL.
    CreateReplace,
    /// Delete the row of this key.
    Delete,
}

impl Action {
    fn of(tag: &str) -> Option<Self> {
        match tag {
            "create" => Some(Self::Create),
            "create-update" => Some(Self::CreateUpdate),
            "create-replace" => Some(Self::CreateReplace),
            "delete" => Some(Self::Delete),
            _ => None,
        }
    }
}

/// What the root element asks of the whole file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Root {
    /// `maintain-timestamps`: stamps named in the file are kept instead of being filled by the loader.
    pub maintain_timestamps: bool,
    /// `create-dummy-fk`: OFBiz would make up missing parents. This loader does not.
    pub create_dummy_fk: bool,
}

/// What is found in a file, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The root element. Comes once, first.
    Root(Root),
    /// A row.
    Row(Row),
    /// A row that cannot be understood though the XML is well formed: a field with an element inside.
    Nested {
        /// The row's entity.
        entity: String,
        /// The field that should hold text only.
        field: String,
        /// The line that the row begins on.
        line: u64,
    },
}

/// The file is no XML, or not XML of this kind, from this line on.
#[derive(Debug, Error)]
#[error("line {line}: {reason}")]
pub struct Malformed {
    /// The line that the offending piece begins on, from 1.
    pub line: u64,
    /// What is wrong with it.
    #[source]
    pub reason: MalformedReason,
}

/// What is wrong with a file.
#[derive(Debug, Error)]
pub enum MalformedReason {
    /// Bytes that are no XML, or that could not be read.
    #[error("{0}")]
    Xml(#[from] quick_xml::Error),
    /// An attribute that is no XML.
    #[error("{0}")]
    Attribute(#[from] quick_xml::events::attributes::AttrError),
    /// A root element of another kind of file.
    #[error("the root element is <{0}>; an OFBiz data file has <{ROOT}>")]
    Root(String),
    /// Nothing but comments and white space.
    #[error("there is no <{ROOT}> element")]
    Empty,
    /// Text outside the root.
    #[error("there is text outside <{ROOT}>")]
    Stray,
    /// An element after the end of the root.
    #[error("<{0}> stands after the end of </{ROOT}>")]
    AfterRoot(String),
    /// The end of the file inside an element.
    #[error("the file ends inside <{0}>")]
    Unclosed(String),
    /// An encoding that is not read.
    #[error("the encoding is {0}; save the file as UTF-8")]
    Encoding(String),
    /// A wrapper inside a wrapper: which one holds would be a guess.
    #[error("<{inner}> stands inside another wrapper")]
    Wrapped {
        /// The inner wrapper.
        inner: String,
    },
    /// An entity reference that XML does not define and the file cannot define here.
    #[error("&{0}; is not one of XML's own five entities")]
    Reference(String),
}

/// The reader of one file: an iterator of its events that holds one row in memory.
#[derive(Debug)]
pub struct Rows<R: BufRead> {
    xml: Reader<Lines<R>>,
    buffer: Vec<u8>,
    place: Place,
    action: Option<Action>,
    /// The line that the piece read last begins on.
    line: u64,
}

/// Where in the file the reader stands.
#[derive(Debug)]
enum Place {
    /// Before the root.
    Prolog,
    /// In the root or a wrapper, between rows.
    Between,
    /// After the root, or after an error.
    Over,
}

impl<R: BufRead> Rows<R> {
    /// Reads from the start of `input`.
    pub fn new(input: R) -> Self {
        Self {
            xml: Reader::from_reader(Lines::new(input)),
            buffer: Vec::new(),
            place: Place::Prolog,
            action: None,
            line: 1,
        }
    }

    /// Bytes read so far.
    pub fn bytes(&self) -> u64 {
        self.xml.get_ref().bytes()
    }

    /// The next row or the root, or `None` at the end of a whole file.
    fn step(&mut self) -> Result<Option<Event>, MalformedReason> {
        loop {
            self.line = self.xml.get_ref().line();
            let line = self.line;
            self.buffer.clear();
            match (self.xml.read_event_into(&mut self.buffer)?, &self.place) {
                (Xml::Decl(declaration), Place::Prolog) => {
                    if let Some(encoding) = declaration.encoding() {
                        let encoding = encoding?;
                        if !["utf-8", "utf8", "us-ascii"].contains(&encoding.to_ascii_lowercase().as_str()) {
                            return Err(MalformedReason::Encoding(encoding.into_owned()));
                        }
                    }
                }
                (Xml::Start(tag), Place::Prolog) => {
                    let root = root(&tag)?;
                    self.place = Place::Between;
                    return Ok(Some(Event::Root(root)));
                }
                (Xml::Empty(tag), Place::Prolog) => {
                    let root = root(&tag)?;
                    self.place = Place::Over;
                    return Ok(Some(Event::Root(root)));
                }
                (Xml::Eof, Place::Prolog) => return Err(MalformedReason::Empty),
                (Xml::Eof, Place::Between) => return Err(MalformedReason::Unclosed(ROOT.to_owned())),
                (Xml::Eof, Place::Over) => return Ok(None),
                (Xml::Start(tag) | Xml::Empty(tag), Place::Over) => {
                    return Err(MalformedReason::AfterRoot(tag.name().as_ref().to_owned()));
                }
                (Xml::Start(tag), Place::Between) => match Action::of(tag.name().as_ref()) {
                    Some(_) if self.action.is_some() => {
                        return Err(MalformedReason::Wrapped { inner: tag.name().as_ref().to_owned() });
                    }
                    Some(action) => self.action = Some(action),
                    None => {
                        let row = row(&tag, self.action, line)?;
                        return self.children(row).map(Some);
                    }
                },
                // An empty wrapper wraps nothing.
                (Xml::Empty(tag), Place::Between) if Action::of(tag.name().as_ref()).is_none() => {
                    return row(&tag, self.action, line).map(|row| Some(Event::Row(row)));
                }
                // The XML reader has matched the tags: this closes the wrapper if there is one, else the root.
                (Xml::End(_), Place::Between) => match self.action {
                    Some(_) => self.action = None,
                    None => self.place = Place::Over,
                },
                (Xml::Text(text), Place::Prolog | Place::Over) if !text.trim().is_empty() => {
                    return Err(MalformedReason::Stray);
                }
                // Text between rows means nothing to OFBiz either.
                _ => {}
            }
        }
    }

    /// Reads the child elements of an open row, which are fields, up to its end tag.
    fn children(&mut self, mut row: Row) -> Result<Event, MalformedReason> {
        let mut field: Option<(String, String)> = None;
        let mut nested: Option<String> = None;
        // Elements open inside a field.
        let mut depth = 0_usize;
        loop {
            self.line = self.xml.get_ref().line();
            self.buffer.clear();
            match self.xml.read_event_into(&mut self.buffer)? {
                Xml::Start(tag) if field.is_none() => {
                    field = Some((local(tag.name().as_ref()).to_owned(), String::new()));
                }
                // A child element without text leaves its field alone, unlike an empty attribute.
                Xml::Empty(_) if field.is_none() => {}
                Xml::Start(_) => {
                    depth += 1;
                    nested = nested.or_else(|| field.as_ref().map(|(name, _)| name.clone()));
                }
                Xml::Empty(_) => nested = nested.or_else(|| field.as_ref().map(|(name, _)| name.clone())),
                Xml::Text(text) => {
                    if let Some((_, value)) = &mut field {
                        value.push_str(&text.xml10_content());
                    }
                }
                Xml::CData(text) => {
                    if let Some((_, value)) = &mut field {
                        value.push_str(&text.xml10_content());
                    }
                }
                Xml::GeneralRef(reference) => {
                    let text = match reference.resolve_char_ref()? {
                        Some(character) => Cow::Owned(character.to_string()),
                        None => quick_xml::escape::resolve_predefined_entity(&reference)
                            .map(Cow::Borrowed)
                            .ok_or_else(|| MalformedReason::Reference(reference.to_string()))?,
                    };
                    if let Some((_, value)) = &mut field {
                        value.push_str(&text);
                    }
                }
                Xml::End(_) if depth > 0 => depth -= 1,
                Xml::End(_) => match field.take() {
                    Some((_, value)) if value.is_empty() => {}
                    Some((name, value)) => set(&mut row.fields, name, Some(value)),
                    None => {
                        return Ok(match nested {
                            Some(field) => Event::Nested { entity: row.entity, field, line: row.line },
                            None => Event::Row(row),
                        });
                    }
                },
                Xml::Eof => return Err(MalformedReason::Unclosed(row.entity)),
                _ => {}
            }
        }
    }
}

impl<R: BufRead> Iterator for Rows<R> {
    type Item = Result<Event, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.step() {
            Ok(event) => event.map(Ok),
            Err(reason) => {
                self.place = Place::Over;
                Some(Err(Malformed { line: self.line, reason }))
            }
        }
    }
}

fn root(tag: &BytesStart<'_>) -> Result<Root, MalformedReason> {
    if tag.name().as_ref() != ROOT {
        return Err(MalformedReason::Root(tag.name().as_ref().to_owned()));
    }
    let mut root = Root::default();
    for attribute in tag.attributes() {
        let attribute = attribute?;
        let yes = attribute.normalized_value(XmlVersion::Implicit1_0)? == "true";
        match attribute.key.as_ref() {
            "maintain-timestamps" => root.maintain_timestamps = yes,
            "create-dummy-fk" => root.create_dummy_fk = yes,
            // disable-eeca has nothing to switch off here; what else there may be is for OFBiz.
            _ => {}
        }
    }
    Ok(root)
}

fn row(tag: &BytesStart<'_>, action: Option<Action>, line: u64) -> Result<Row, MalformedReason> {
    let mut fields = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute?;
        let name = attribute.key.as_ref();
        if name == "xmlns" || name.starts_with("xmlns:") {
            continue;
        }
        let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
        let value = if value.is_empty() { None } else { Some(value.into_owned()) };
        set(&mut fields, local(name).to_owned(), value);
    }
    Ok(Row {
        entity: entity(tag.name().as_ref()).to_owned(),
        action: action.unwrap_or(Action::CreateUpdate),
        fields,
        line,
    })
}

/// The entity of a tag: what follows its first `-`, and then what follows its first `:`.
fn entity(tag: &str) -> &str {
    let after_dash = tag.split_once('-').filter(|(before, _)| !before.is_empty()).map_or(tag, |(_, after)| after);
    after_dash.split_once(':').filter(|(before, _)| !before.is_empty()).map_or(after_dash, |(_, after)| after)
}

fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// A child element comes after the attributes and wins over one of the same name.
fn set(fields: &mut Vec<(String, Option<String>)>, name: String, value: Option<String>) {
    match fields.iter_mut().find(|(known, _)| *known == name) {
        Some((_, known)) => *known = value,
        None => fields.push((name, value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(xml: &str) -> Vec<Event> {
        Rows::new(xml.as_bytes()).collect::<Result<_, _>>().unwrap()
    }

    fn rows(inside: &str) -> Vec<Row> {
        let xml = format!("<entity-engine-xml>{inside}</entity-engine-xml>");
        let rows = events(&xml).into_iter().filter_map(|event| match event {
            Event::Row(row) => Some(row),
            Event::Root(_) | Event::Nested { .. } => None,
        });
        rows.collect()
    }

    fn fields(row: &Row) -> Vec<(&str, Option<&str>)> {
        row.fields.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect()
    }

    fn malformed(xml: &str) -> (u64, String) {
        let error = Rows::new(xml.as_bytes()).find_map(Result::err).expect("malformed");
        (error.line, error.reason.to_string())
    }

    #[test]
    fn attributes_are_fields_in_either_quotes_and_over_lines() {
        let rows = rows("<Party partyId='A \"b\"'\n  comments=\"it's &lt;&amp;&#233;&gt; a\tb\"\n  statusId=''/>");
        assert_eq!(rows[0].entity, "Party");
        assert_eq!(rows[0].action, Action::CreateUpdate);
        assert_eq!(
            fields(&rows[0]),
            [("partyId", Some("A \"b\"")), ("comments", Some("it's <&é> a b")), ("statusId", None)]
        );
    }

    #[test]
    fn child_elements_are_fields_and_win_over_attributes() {
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
    fn line_ends_and_references_to_them() {
        let rows = rows("<A x=\"1&#10;2\r\n3\"><y>1\r\n2&#13;3</y></A>");
        assert_eq!(fields(&rows[0]), [("x", Some("1\n2 3")), ("y", Some("1\n2\r3"))]);
    }

    #[test]
    fn wrappers_say_what_to_do_until_they_end() {
        use Action::{Create, CreateReplace, CreateUpdate, Delete};
        let rows = rows(
            "<create><A/><B x=\"1\"></B></create><create-update><A/></create-update><A/>\
             <create-replace><A/></create-replace><delete><A/></delete><delete/><A/>",
        );
        let actions: Vec<_> = rows.iter().map(|row| row.action).collect();
        assert_eq!(actions, [Create, Create, CreateUpdate, CreateUpdate, CreateReplace, Delete, CreateUpdate]);
    }

    #[test]
    fn a_prefix_is_not_part_of_the_entity() {
        let rows = rows("<x-Party/><n:Party/><x-n:Party/><Party/>");
        assert!(rows.iter().all(|row| row.entity == "Party"), "{rows:?}");
        assert_eq!(rows.len(), 4);
    }

    #[test]
    fn lines_are_those_of_the_tag() {
        let xml = "<?xml version=\"1.0\"?>\n<!--\n-->\n<entity-engine-xml>\n  <A/>\n\n  <B\n x='1'\n/> <C>\n<x>\n1</x></C>\n<A/></entity-engine-xml>";
        let lines: Vec<_> = events(xml)
            .into_iter()
            .filter_map(|event| if let Event::Row(row) = event { Some((row.entity, row.line)) } else { None })
            .collect();
        let expected = [("A", 5), ("B", 7), ("C", 9), ("A", 12)].map(|(entity, line)| (entity.to_owned(), line));
        assert_eq!(lines, expected);
    }

    #[test]
    fn the_root_has_options() {
        let root = |xml: &str| events(xml).remove(0);
        assert_eq!(root("<entity-engine-xml/>"), Event::Root(Root::default()));
        assert_eq!(
            root("<entity-engine-xml maintain-timestamps=\"true\" create-dummy-fk='true' disable-eeca='true'/>"),
            Event::Root(Root { maintain_timestamps: true, create_dummy_fk: true })
        );
    }

    #[test]
    fn an_element_inside_a_field_is_a_bad_row_and_the_next_is_read() {
        let xml = "<entity-engine-xml>\n<A i='1'><f>a<b>c<d/></b>e</f><g>h</g></A><A i='2'/></entity-engine-xml>";
        let found = events(xml);
        assert_eq!(found[1], Event::Nested { entity: "A".into(), field: "f".into(), line: 2 });
        assert!(matches!(&found[2], Event::Row(row) if fields(row) == [("i", Some("2"))]));
    }

    #[test]
    fn what_is_not_well_formed_is_told_with_its_line() {
        for (xml, line, reason) in [
            ("", 1, "there is no <entity-engine-xml> element"),
            ("nothing", 1, "there is text outside <entity-engine-xml>"),
            ("\n<html/>", 2, "the root element is <html>; an OFBiz data file has <entity-engine-xml>"),
            ("<entity-engine-xml>\n<A/>\n", 3, "the file ends inside <entity-engine-xml>"),
            ("<entity-engine-xml>\n<A><x>1\n", 3, "the file ends inside <A>"),
            ("<entity-engine-xml/>\n<A/>", 2, "<A> stands after the end of </entity-engine-xml>"),
            ("<entity-engine-xml><A><x>&oops;</x></A>", 1, "&oops; is not one of XML's own five entities"),
            ("<?xml version='1.0' encoding='ISO-8859-1'?>", 1, "the encoding is ISO-8859-1; save the file as UTF-8"),
            ("<entity-engine-xml><create>\n<delete>", 2, "<delete> stands inside another wrapper"),
        ] {
            assert_eq!(malformed(xml), (line, reason.to_owned()), "{xml}");
        }
        for (xml, line) in [
            ("<entity-engine-xml>\n<A></B>", 2),
            ("<entity-engine-xml>\n<A x='1' x='2'/>", 2),
            ("<entity-engine-xml>\n<A x=1/>", 2),
            ("<entity-engine-xml>\n<A x='&oops;'/>", 2),
            ("<entity-engine-xml>\n\n<A x='1'", 3),
            ("<entity-engine-xml></entity-engine-xml></entity-engine-xml>", 1),
        ] {
            assert_eq!(malformed(xml).0, line, "{xml}");
        }
    }

    #[test]
    fn bytes_that_are_no_utf8_are_malformed() {
        let mut rows = Rows::new(&b"<entity-engine-xml>\n<A x='\xff'/></entity-engine-xml>"[..]);
        assert!(matches!(rows.next(), Some(Ok(Event::Root(_)))));
        assert_eq!(rows.next().unwrap().unwrap_err().line, 2);
        assert!(rows.next().is_none());
    }

    #[test]
    fn a_byte_order_mark_is_no_text() {
        assert_eq!(events("\u{feff}<entity-engine-xml><A/></entity-engine-xml>").len(), 2);
    }

    #[test]
    fn lines_are_right_however_small_the_buffer() {
        let xml = "<entity-engine-xml>\n\n<A x='é\n'/>\n<B/>\n</entity-engine-xml>\n";
        for capacity in 1..xml.len() {
            let input = std::io::BufReader::with_capacity(capacity, xml.as_bytes());
            let lines: Vec<_> = Rows::new(input)
                .filter_map(|event| if let Ok(Event::Row(row)) = event { Some(row.line) } else { None })
                .collect();
            assert_eq!(lines, [3, 5], "buffer of {capacity}");
        }
    }
}
