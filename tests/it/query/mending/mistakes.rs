//! Mistakes that people and programs make, each made in a valid query.

use orderql::correction::tokens::QueryText;

/// A kind of mistake: its name, and the text with it at the n-th place where it can be made. `None` if there are fewer.
pub type Mistake = (&'static str, fn(&QueryText, usize) -> Option<String>);

/// The kinds after which a query may mean something else, so that it is not corrected.
pub const CHANGES_MEANING: &[&str] = &[
    "an argument that there is not",
    "an enum value of another API",
    "both ends",
    "an operator that there is not",
    "a range of what has none",
    "a term that is none",
    "a value that is no date",
];

/// All kinds.
pub const MISTAKES: &[Mistake] = &[
    ("a field without a letter", |text, n| field(text, n, 5, |name| format!("{}{}", &name[..3], &name[4..]))),
    ("a field with two letters changed over", |text, n| {
        field(text, n, 5, |name| format!("{}{}{}{}", &name[..2], &name[3..4], &name[2..3], &name[4..]))
    }),
    ("a field in snake_case", |text, n| field(text, n, 4, snake_case)),
    ("a field in capitals", |text, n| field(text, n, 4, |name| name[..1].to_uppercase() + &name[1..])),
    ("the last word of a field alone", |text, n| {
        let (index, last) = nth(text, n, |name| {
            let last = name.rfind(|c: char| c.is_ascii_uppercase())?;
            Some(name[last..].to_lowercase()).filter(|last| last.len() > 1 && is_row_field(name))
        })?;
        Some(text.replaced(index, index, &last))
    }),
    ("fields of the nodes selected from the connection", |text, n| {
        let edges = *text.fields().iter().filter(|index| text.get(**index) == "edges").nth(n)?;
        let node = edges + 2;
        if text.get(node) != "node" || text.field_end(edges) != text.field_end(node) + 1 {
            return None;
        }
        let open = text.selection(node)?;
        let inner = &text.text[text.tokens[open].end..text.tokens[text.closing(open)].begin];
        Some(text.replaced(edges, text.field_end(edges), inner))
    }),
    ("nodes in place of edges and node", |text, n| {
        let edges = *text.fields().iter().filter(|index| text.get(**index) == "edges").nth(n)?;
        let node = edges + 2;
        if text.get(node) != "node" || text.field_end(edges) != text.field_end(node) + 1 {
            return None;
        }
        let open = text.selection(node)?;
        let inner = &text.text[text.tokens[open].begin..text.tokens[text.closing(open)].end];
        Some(text.replaced(edges, text.field_end(edges), &format!("nodes {inner}")))
    }),
    ("an object without a selection", |text, n| {
        let field = *text.fields().iter().filter(|index| text.selection(**index).is_some()).nth(n)?;
        let open = text.selection(field)?;
        Some(text.replaced(open, text.closing(open), ""))
    }),
    ("a scalar with a selection", |text, n| {
        let leaf = |index: &&usize| text.selection(**index).is_none() && is_row_field(text.get(**index));
        let field = *text.fields().iter().filter(leaf).nth(n)?;
        Some(text.inserted_after(text.field_end(field), " { id }"))
    }),
    ("an argument without a letter", |text, n| {
        argument(text, n, |name| (name.len() > 4).then(|| name[1..].to_owned()))
    }),
    ("an argument of another API", |text, n| {
        argument(text, n, |name| {
            let other = match name {
                "first" => "limit",
                "query" => "filter",
                "sortKey" => "orderBy",
                "reverse" => "desc",
                "orderId" | "productId" | "shipmentId" => "id",
                _ => return None,
            };
            Some(other.to_owned())
        })
    }),
    ("an argument that there is not", |text, n| {
        let field = *text.fields().iter().filter(|index| text.arguments(**index).is_some()).nth(n)?;
        Some(text.inserted_after(text.arguments(field)?, "cache: true, "))
    }),
    ("an enum value misspelt", |text, n| enum_value(text, n, |value| value.replacen('_', "", 1))),
    ("an enum value in lower case", |text, n| enum_value(text, n, str::to_lowercase)),
    ("an enum value in quotes", |text, n| enum_value(text, n, |value| format!("\"{value}\""))),
    ("an enum value of another API", |text, n| enum_value(text, n, |_| "CREATED_AT".to_owned())),
    ("no page size", |text, n| {
        let (field, (name, end)) = page_size(text, n)?;
        let alone = text.argument_list(field).len() == 1;
        Some(if alone { text.replaced(name - 1, end + 1, "") } else { text.replaced(name, end, "") })
    }),
    ("too large a page size", |text, n| {
        page_size(text, n).map(|(_, (name, end))| text.replaced(name + 2, end, "1000"))
    }),
    ("a page size of nothing", |text, n| page_size(text, n).map(|(_, (name, end))| text.replaced(name + 2, end, "0"))),
    ("a page size in quotes", |text, n| {
        page_size(text, n).map(|(_, (name, end))| text.replaced(name + 2, end, "\"10\""))
    }),
    ("both ends", |text, n| page_size(text, n).map(|(_, (name, _))| text.inserted_after(name - 1, "last: 7, "))),
    ("too expensive", |text, n| {
        let (_, (name, end)) = page_size(text, n)?;
        Some(text.replaced(name + 2, end, "100")).filter(|_| text.text.matches("first:").count() > 1)
    }),
    ("a search key misspelt", |text, n| search(text, n, |term| Some(format!("{}{}", &term[..2], &term[3..])))),
    ("a search key without its end", |text, n| {
        search(text, n, |term| term.contains("Id:").then(|| term.replacen("Id:", ":", 1)))
    }),
    ("an operator that there is not", |text, n| search(text, n, |term| Some(term.replacen(':', ":!=", 1)))),
    ("a range of what has none", |text, n| {
        search(text, n, |term| term.contains("Id:").then(|| term.replacen(':', ":>", 1)))
    }),
    ("a term that is none", |text, n| search(text, n, |term| Some(format!("{term} AND new")))),
    ("a value that is no date", |text, n| {
        search(text, n, |term| {
            term.contains("Date:").then(|| format!("{}:>=yesterday", term.split(':').next().unwrap()))
        })
    }),
    ("a variable that is not declared", |text, n| {
        let (first, last) = declaration(text, n)?;
        let alone = text.get(first - 1) == "(" && text.get(last + 1) == ")";
        Some(if alone { text.replaced(first - 1, last + 1, "") } else { text.replaced(first, last, "") })
    }),
    ("a variable of another type", |text, n| {
        let (first, last) = declaration(text, n)?;
        Some(text.replaced(first + 3, last, if text.get(first + 3) == "String" { "Int" } else { "String" }))
    }),
    ("a variable that is not used", |text, n| {
        let (first, _) = declaration(text, n)?;
        Some(text.inserted_after(first - 1, "$unused: Int, "))
    }),
    ("a bracket less", |text, n| {
        (n < 2).then(|| text.text.trim_end().trim_end_matches(['}', ' ']).to_owned() + [" }", ""][n])
    }),
    ("a bracket more", |text, n| (n < 1).then(|| format!("{} }}", text.text))),
    ("single quotes", |text, n| (n < 1 && text.text.contains('"')).then(|| text.text.replace('"', "'"))),
    ("no colon", |text, n| {
        let (_, (name, _)) = page_size(text, n)?;
        Some(text.replaced(name + 1, name + 1, " "))
    }),
    ("a mutation", |text, n| {
        let begins = text.get(0) == "query";
        (n < 1).then(|| if begins { text.replaced(0, 0, "mutation") } else { format!("mutation {}", text.text) })
    }),
    ("a fragment on a misspelt type", |text, n| {
        let on = (0..text.tokens.len()).filter(|index| text.get(*index) == "on").nth(n)?;
        Some(text.replaced(on + 1, on + 1, &format!("{}s", text.get(on + 1))))
    }),
    ("a misspelt fragment", |text, n| {
        let spread =
            (0..text.tokens.len()).filter(|index| text.get(*index) == "..." && text.get(*index + 1) != "on").nth(n)?;
        Some(text.replaced(spread + 1, spread + 1, &format!("{}s", text.get(spread + 1))))
    }),
    ("a field of a joined object", |text, n| {
        let object = |index: &&usize| {
            let open = text.selection(**index);
            open.is_some_and(|open| text.closing(open) == open + 2) && text.arguments(**index).is_none()
        };
        let fields = text.fields();
        let (field, inner) = fields.iter().filter(object).map(|field| (*field, *field + 2)).nth(n)?;
        (text.get(field) != "node" && text.get(field) != "edges" && text.get(field) != "pageInfo")
            .then(|| text.replaced(field, text.field_end(field), text.get(inner)))
    }),
];

/// Whether a field is one of the schema file's, not one that all connections have.
fn is_row_field(name: &str) -> bool {
    !matches!(name, "edges" | "node" | "pageInfo" | "cursor" | "hasNextPage" | "endCursor" | "__typename")
}

fn nth(text: &QueryText, n: usize, change: impl Fn(&str) -> Option<String>) -> Option<(usize, String)> {
    text.fields().into_iter().filter_map(|index| Some((index, change(text.get(index))?))).nth(n)
}

fn field(text: &QueryText, n: usize, length: usize, change: impl Fn(&str) -> String) -> Option<String> {
    let changed = |name: &str| Some(change(name)).filter(|changed| changed != name);
    let (index, changed) = nth(text, n, |name| if name.len() >= length { changed(name) } else { None })?;
    Some(text.replaced(index, index, &changed))
}

fn snake_case(name: &str) -> String {
    name.chars()
        .flat_map(|c| if c.is_ascii_uppercase() { vec!['_', c.to_ascii_lowercase()] } else { vec![c] })
        .collect()
}

fn argument(text: &QueryText, n: usize, change: impl Fn(&str) -> Option<String>) -> Option<String> {
    let names = text.fields().into_iter().flat_map(|field| text.argument_list(field));
    let (index, changed) = names.filter_map(|(index, _)| Some((index, change(text.get(index))?))).nth(n)?;
    Some(text.replaced(index, index, &changed))
}

fn enum_value(text: &QueryText, n: usize, change: impl Fn(&str) -> String) -> Option<String> {
    let values = text.fields().into_iter().filter_map(|field| text.argument(field, "sortKey"));
    let (_, value) = values.filter(|(name, end)| *end == name + 2 && text.get(name + 2) != "$").nth(n)?;
    Some(text.replaced(value, value, &change(text.get(value))))
}

fn page_size(text: &QueryText, n: usize) -> Option<(usize, (usize, usize))> {
    let sizes = text.fields().into_iter().filter_map(|field| Some((field, text.argument(field, "first")?)));
    sizes.filter(|(_, (name, end))| *end == name + 2).nth(n)
}

/// Changes the first term of the n-th search string.
fn search(text: &QueryText, n: usize, change: impl Fn(&str) -> Option<String>) -> Option<String> {
    let strings = text.fields().into_iter().filter_map(|field| text.argument(field, "query"));
    let (_, end) = strings.filter(|(_, end)| text.get(*end).starts_with('"')).nth(n)?;
    let string = text.get(end).trim_matches('"');
    let (first, rest) = string.split_once(' ').unwrap_or((string, ""));
    Some(text.replaced(end, end, &format!("\"{} {rest}\"", change(first)?)))
}

/// The n-th declaration of a variable: `$name: Type`.
fn declaration(text: &QueryText, n: usize) -> Option<(usize, usize)> {
    let is_declaration = |index: &usize| text.get(*index) == "$" && text.get(*index + 2) == ":";
    let first = (0..text.tokens.len()).filter(is_declaration).nth(n)?;
    let last = if text.get(first + 4) == "!" { first + 4 } else { first + 3 };
    Some((first, last))
}
