//! The types that all connections have alike, and the arguments.

use crate::outline::{Outline, OutlineArgument, OutlineField};

/// The arguments of every connection, of one that is sorted, and of one that is searched, with their types.
const OF_ALL: [(&str, &str); 4] = [("first", "Int"), ("last", "Int"), ("after", "String"), ("before", "String")];
const OF_SORTED: [(&str, &str); 1] = [("reverse", "Boolean")];
const OF_SEARCHED: [(&str, &str); 2] = [("query", "String"), ("countUpTo", "Int")];

impl Outline {
    /// The type of the nodes, if a type is a connection.
    pub(crate) fn node_type(&self, connection: &str) -> Option<&str> {
        let edge = &self.field(connection, "edges")?.ty.named;
        Some(&self.field(edge, "node")?.ty.named)
    }

    /// The type of a field's objects; of a connection, the type of its nodes.
    pub(crate) fn element_type<'a>(&'a self, field: &'a OutlineField) -> &'a str {
        field.object.map_or(&field.ty.named, |place| &self.types[place].name)
    }

    /// Whether a type is the connection of the nodes whose name it begins with, without fields of its own.
    pub(crate) fn is_usual_connection(&self, name: &str) -> bool {
        let usual = |field: &OutlineField| match field.name.as_str() {
            "edges" => field.ty.named.strip_suffix("Edge") == name.strip_suffix("Connection"),
            "pageInfo" | "count" => true,
            _ => false,
        };
        self.node_type(name).is_some_and(|node| Some(node) == name.strip_suffix("Connection"))
            && self.fields(name).iter().all(usual)
            && self.is_usual_edge(&name.replace("Connection", "Edge"))
    }

    /// Whether a type is the edge of such a connection.
    pub(crate) fn is_usual_edge(&self, name: &str) -> bool {
        let usual = |field: &OutlineField| match field.name.as_str() {
            "node" => Some(field.ty.named.as_str()) == name.strip_suffix("Edge"),
            "cursor" => true,
            _ => false,
        };
        name.ends_with("Edge") && !self.fields(name).is_empty() && self.fields(name).iter().all(usual)
    }
}

/// The arguments of a field beside the arguments that every such connection has. All of its arguments, unless it has all of those.
pub(crate) fn unusual_arguments(field: &OutlineField) -> Vec<&OutlineArgument> {
    let mut usual = OF_ALL.to_vec();
    if field.argument("sortKey").is_some() {
        usual.extend(OF_SORTED);
    }
    if !field.search_keys.is_empty() {
        usual.extend(OF_SEARCHED);
    }
    let is_same =
        |argument: &OutlineArgument, (name, ty): (&str, &str)| argument.name == name && argument.ty.text == ty;
    let has = |usual: (&str, &str)| field.arguments.iter().any(|argument| is_same(argument, usual));
    let left_out = usual.iter().all(|argument| has(*argument));
    let is_shown = |argument: &&OutlineArgument| !left_out || !usual.iter().any(|usual| is_same(argument, *usual));
    field.arguments.iter().filter(is_shown).collect()
}
