//! The outline as a short text: what fits into the context of a language model, and on a few pages for people.

use std::fmt::Write as _;

use crate::outline::connection::unusual_arguments;
use crate::outline::{Outline, OutlineArgument, OutlineField, OutlineType, ROOT, TypeKind};

const HEADING: &str = "\
# A short form of the schema, in the syntax of SDL. Left out are descriptions, and what all connections have:
# the arguments (first: Int last: Int after: String before: String), one of the first two is required; with sortKey also reverse:
# Boolean; where search keys are listed above the field, those of the string `query`, also (query: String countUpTo: Int). Keys
# with > take ranges: key:>=value. Totals take the keys of the connection with their sortKey.
# type XConnection { edges: [XEdge!]! pageInfo: PageInfo! count: Int }, the count at the root alone
# type XEdge { cursor: String! node: X! }
";

impl Outline {
    /// The whole outline.
    pub fn short_sdl(&self) -> String {
        let is_left_out = |name: &str| self.is_usual_connection(name) || self.is_usual_edge(name);
        let types = self.types.iter().filter(|ty| !is_left_out(&ty.name));
        types.map(|ty| self.definition(ty, |_| true)).fold(HEADING.to_owned(), |sdl, definition| sdl + &definition)
    }

    /// A type in the short form, in at most this many bytes. The fields that `first` names come first; fields without room are left out,
    /// and a comment says so. The connections are the connections of the nodes' type.
    pub fn short_type(&self, name: &str, first: &[&str], max_bytes: usize) -> Option<String> {
        let node = self.node_type(name).unwrap_or(name);
        let ty = self.get(node)?;
        let whole = self.definition(ty, |_| true);
        let TypeKind::Object(fields) = &ty.kind else { return Some(whole).filter(|whole| whole.len() <= max_bytes) };
        if whole.len() <= max_bytes {
            return Some(whole);
        }
        let heading = format!("# some fields of\ntype {} {{\n", ty.name);
        let mut room = max_bytes.checked_sub(heading.len() + 2)?;
        let mut shown = Vec::new();
        let is_first = |field: &&OutlineField| first.contains(&field.name.as_str());
        for field in fields.iter().filter(is_first).chain(fields.iter().filter(|field| !is_first(field))) {
            let line = self.line(&ty.name, field);
            if let Some(rest) = room.checked_sub(line.len()) {
                room = rest;
                shown.push(line);
            }
        }
        Some(format!("{heading}{}}}\n", shown.concat()))
    }

    fn definition(&self, ty: &OutlineType, is_shown: impl Fn(&OutlineField) -> bool) -> String {
        match &ty.kind {
            TypeKind::Scalar => format!("scalar {}\n", ty.name),
            TypeKind::Enum(values) => format!("enum {} {{{}}}\n", ty.name, values.join(" ")),
            TypeKind::Object(fields) => {
                let lines: String =
                    fields.iter().filter(|field| is_shown(field)).map(|field| self.line(&ty.name, field)).collect();
                format!("type {} {{\n{lines}}}\n", ty.name)
            }
        }
    }

    /// A field on a line, with its search keys on the line before it.
    fn line(&self, type_name: &str, field: &OutlineField) -> String {
        let is_connection = self.node_type(&field.ty.named).is_some();
        let mut line = String::new();
        if type_name == ROOT && is_connection && !field.search_keys.is_empty() {
            line = format!("\"{}\"\n", key_names(field).join(" "));
        }
        let arguments = if is_connection { unusual_arguments(field) } else { field.arguments.iter().collect() };
        let arguments: Vec<_> =
            arguments.iter().map(|OutlineArgument { name, ty }| format!("{name}: {}", ty.text)).collect();
        line.push_str(&field.name);
        if !arguments.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(line, "({})", arguments.join(" "));
        }
        line + ": " + &field.ty.text + "\n"
    }
}

/// A field's search keys, each with `>` if it takes ranges.
pub(crate) fn key_names(field: &OutlineField) -> Vec<String> {
    field.search_keys.iter().map(|key| format!("{}{}", key.name, if key.is_range { ">" } else { "" })).collect()
}

#[cfg(test)]
mod tests {
    use crate::catalog::Catalog;
    use crate::outline::Outline;

    /// The most bytes of the text: some 8,000 tokens of a language model. Names take nearly all of them, so only a further type or root is
    /// a reason for more.
    const MAX_BYTES: usize = 33 * 1024;

    fn built_in() -> Outline {
        Outline::parse(Catalog::built_in().unwrap().sdl()).unwrap()
    }

    #[test]
    fn the_short_form_of_the_built_in_schema_is_short_and_names_everything() {
        let outline = built_in();
        let sdl = outline.short_sdl();
        assert!(sdl.len() <= MAX_BYTES, "{}", sdl.len());
        // It is SDL, and reads the same.
        let again = Outline::parse(&sdl).unwrap();
        for ty in &outline.types {
            let left_out = outline.is_usual_connection(&ty.name) || outline.is_usual_edge(&ty.name);
            assert_eq!(again.get(&ty.name).is_none(), left_out, "{}", ty.name);
            for field in outline.fields(&ty.name).iter().filter(|_| !left_out) {
                assert_eq!(again.field(&ty.name, &field.name).unwrap().ty, field.ty);
            }
        }
        insta::assert_snapshot!(sdl);
    }

    #[test]
    fn a_type_is_shown_within_its_room_with_what_matters_first() {
        let outline = built_in();
        let whole = outline.short_type("OrderNote", &[], 1024).unwrap();
        assert!(whole.starts_with("type OrderNote {\n") && whole.contains("noteInfo: String\n"), "{whole}");
        assert_eq!(outline.short_type("OrderNoteConnection", &[], 1024).unwrap(), whole);
        let part = outline.short_type("Query", &["shipmentBoxTypes"], 512).unwrap();
        assert!(
            part.len() <= 512 && part.starts_with("# some fields of\ntype Query {\n\"shipmentBoxTypeId\"\n"),
            "{part}"
        );
        assert_eq!(outline.short_type("Query", &[], 10), None);
        assert_eq!(outline.short_type("Nothing", &[], 1024), None);
    }
}
