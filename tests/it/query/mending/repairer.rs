//! A program that corrects queries. It knows the syntax of GraphQL and what is in `errors` of a response, and nothing of the
//! schema: each rule reads the facts of an error, never its message.

use serde_json::Value;

use crate::query::mending::text::Text;

/// The page size where an error asks for one and any will do.
const PAGE_SIZE: u64 = 5;

/// A request as the program sends it.
#[derive(Debug, Clone)]
pub struct Broken {
    pub query: String,
    pub variables: Value,
}

/// The request after one look at its errors.
pub fn mended(request: &Broken, errors: &[Value]) -> Broken {
    let mut request = request.clone();
    // From the end of the text, so that the locations of the others stay what they are.
    let mut errors: Vec<_> = errors.iter().collect();
    errors.sort_by_key(|error| {
        let number = |name: &str| error["locations"][0][name].as_u64().unwrap_or_default();
        let offset = error["extensions"]["offset"].as_u64().unwrap_or_default();
        std::cmp::Reverse((number("line"), number("column"), offset))
    });
    for error in errors {
        if let Some(query) = mend(&mut request, error) {
            request.query = query;
        }
    }
    request
}

fn texts<'a>(facts: &'a Value, name: &str) -> Vec<&'a str> {
    facts[name].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn mend(request: &mut Broken, error: &Value) -> Option<String> {
    let text = Text::new(request.query.as_str());
    let facts = &error["extensions"];
    let place = |index: usize| {
        let number = |name: &str| usize::try_from(error["locations"][index][name].as_u64()?).ok();
        Some(text.at(number("line")?, number("column")?))
    };
    match facts["code"].as_str()? {
        "GRAPHQL_PARSE_FAILED" => syntax(&text, place(0)?, facts),
        "GRAPHQL_VALIDATION_FAILED" => validation(&text, place(0)?, place(1), facts),
        "FIRST_REQUIRED" => Some(with_argument(&text, place(0)?, &format!("first: {PAGE_SIZE}"))),
        "FIRST_TOO_LARGE" => {
            let size = facts["maxFirst"].as_u64()?.min(PAGE_SIZE);
            page_size(request, &text, place(0)?, size)
        }
        "COST_EXCEEDED" => cost(request, &text, &facts["suggestions"][0]["edits"]),
        "DEPTH_EXCEEDED" => depth(&text, error),
        "FIELD_NOT_FILTERABLE" | "OPERATOR_NOT_ALLOWED" | "MALFORMED_QUERY" => search(request, &text, place(0)?, facts),
        "BAD_USER_INPUT" => input(request, &text, place(0), facts),
        _ => None,
    }
}

fn syntax(text: &Text, at: usize, facts: &Value) -> Option<String> {
    let (found, expected) = (facts["found"].as_str()?, texts(facts, "expected"));
    if expected.contains(&"a string in double quotes") {
        return Some(text.text.replace(['\'', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}'], "\""));
    }
    let balance = text.tokens.iter().enumerate().fold(0, |balance, (index, _)| match text.get(index) {
        "{" => balance + 1,
        "}" => balance - 1,
        _ => balance,
    });
    if found == "the end of the text" {
        return Some(format!("{} {}", text.text, "}".repeat(usize::try_from(balance).unwrap_or(0))));
    }
    if found == "\"}\"" && balance < 0 {
        return Some(text.replaced(at, at, ""));
    }
    // The expected token, if it is one of punctuation.
    let missing =
        expected.iter().map(|token| token.trim_matches('"')).find(|token| matches!(*token, ":" | ")" | "}"))?;
    Some(text.inserted_after(at.checked_sub(1)?, &format!("{missing} ")))
}

fn validation(text: &Text, at: usize, second: Option<usize>, facts: &Value) -> Option<String> {
    let has = |name: &str| !facts[name].is_null();
    let suggested = texts(facts, "suggestions").first().copied();
    // The misspelt name is at the location, or a little further on: after the dots of a fragment, or its name.
    let named = |name: &str| {
        let wrong = facts[name].as_str()?;
        (at..text.tokens.len()).find(|index| text.get(*index) == wrong)
    };
    if let [way @ .., last] = texts(facts, "instead").as_slice() {
        let (name, end) = (named("field")?, text.field_end(at));
        let closed = text.inserted_after(end, &" }".repeat(way.len()));
        let way: String = way.iter().flat_map(|name| [name, " { "]).collect();
        // The alias belongs to the last one.
        let alias = if name > at { format!("{}: ", text.get(at)) } else { String::new() };
        return Some(Text::new(closed).replaced(at, name, &format!("{way}{alias}{last}")));
    }
    if has("example") {
        let end = text.head_end(at);
        let has_empty = text.get(end + 1) == "{";
        let example = format!(" {}", facts["example"].as_str()?);
        return Some(if has_empty {
            text.replaced(end + 1, end + 2, &example)
        } else {
            text.inserted_after(end, &example)
        });
    }
    if texts(facts, "allowed") == ["query"] {
        return Some(text.replaced(at, at, "query"));
    }
    if has("field") && has("fields") {
        let name = named("field")?;
        return Some(match suggested {
            Some(suggested) => text.replaced(name, name, suggested),
            None => text.replaced(at, text.field_end(at), "__typename"),
        });
    }
    if has("field") {
        let open = text.selection(at)?;
        return Some(text.replaced(open, text.closing(open), ""));
    }
    if has("variable") {
        return variable(text, at, second, facts);
    }
    if has("argument") && has("found") {
        return value(text, at, facts, suggested);
    }
    if has("argument") && has("expectedType") {
        // Another error may have been one of its name, which is right by now.
        if text.argument(at, facts["argument"].as_str()?).is_some() {
            return None;
        }
        let value = if facts["expectedType"].as_str()?.starts_with("Int") { "1" } else { "\"A\"" };
        return Some(with_argument(text, at, &format!("{}: {value}", facts["argument"].as_str()?)));
    }
    if has("argument") {
        return argument(text, named("argument")?, suggested);
    }
    let kind = ["type", "fragment", "directive"].into_iter().find(|name| has(name))?;
    let name = named(kind)?;
    Some(text.replaced(name, name, suggested?))
}

/// An argument that the field does not have.
fn argument(text: &Text, name: usize, suggested: Option<&str>) -> Option<String> {
    let fields = text.fields();
    let field = fields.into_iter().rev().find(|field| *field < name)?;
    if let Some(suggested) = suggested.filter(|suggested| text.argument(field, suggested).is_none()) {
        return Some(text.replaced(name, name, suggested));
    }
    let list = text.argument_list(field);
    let (_, end) = *list.iter().find(|(index, _)| *index == name)?;
    // Empty brackets are an error of syntax.
    Some(if list.len() == 1 { text.replaced(name - 1, end + 1, "") } else { text.replaced(name, end, "") })
}

/// A value of another type.
fn value(text: &Text, at: usize, facts: &Value, suggested: Option<&str>) -> Option<String> {
    let found = text.get(at);
    if let Some(replacement) = suggested.or_else(|| texts(facts, "allowed").first().copied()) {
        return Some(text.replaced(at, at, replacement));
    }
    let replacement = match (found.strip_prefix('"'), facts["expectedType"].as_str()?.trim_end_matches('!')) {
        (Some(inner), "Int" | "Boolean") => inner.trim_end_matches('"').to_owned(),
        (None, "Boolean") => "true".to_owned(),
        (None, "Int") => PAGE_SIZE.to_string(),
        _ => format!("\"{found}\""),
    };
    Some(text.replaced(at, at, &replacement))
}

/// A variable that is not declared, not used, or of another type. Only a use has two locations.
fn variable(text: &Text, at: usize, second: Option<usize>, facts: &Value) -> Option<String> {
    let name = facts["variable"].as_str()?;
    let Some(second) = second else {
        // `$name: Type = default`, up to the next variable or the end of the list.
        let open = (0..at).rev().find(|index| text.get(*index) == "(")?;
        let close = text.closing(open);
        let end = (at + 1..close).find(|index| text.get(*index) == "$").unwrap_or(close) - 1;
        return Some(if at == open + 1 && end + 1 == close {
            text.replaced(open, close, "")
        } else {
            text.replaced(at, end, "")
        });
    };
    let expected = facts["expectedType"].as_str()?;
    if !facts["type"].is_null() {
        // `$name: Type`
        let first = second + 3;
        let last = if text.get(first + 1) == "!" { first + 1 } else { first };
        return Some(text.replaced(first, last, expected));
    }
    let declaration = format!("${name}: {expected}");
    Some(match text.get(second) {
        "{" => format!(
            "{}query ({declaration}) {}",
            &text.text[..text.tokens[second].begin],
            &text.text[text.tokens[second].begin..]
        ),
        _ => match (second..text.tokens.len()).find(|index| matches!(text.get(*index), "(" | "{"))? {
            open if text.get(open) == "(" => text.inserted_after(open, &format!("{declaration}, ")),
            brace => text.inserted_after(brace - 1, &format!("({declaration})")),
        },
    })
}

fn with_argument(text: &Text, field: usize, argument: &str) -> String {
    match text.arguments(field) {
        Some(open) => text.inserted_after(open, &format!("{argument}, ")),
        None => text.inserted_after(text.field_name(field), &format!("({argument})")),
    }
}

/// Sets the page size of a connection, in the text or in the variable that it comes from.
fn page_size(request: &mut Broken, text: &Text, field: usize, size: u64) -> Option<String> {
    let (name, end) = text.argument(field, "first").or_else(|| text.argument(field, "last"))?;
    if text.get(name + 2) == "$" {
        request.variables[text.get(end)] = size.into();
        return None;
    }
    Some(text.replaced(name + 2, end, &size.to_string()))
}

/// Makes the edits of a suggestion.
fn cost(request: &mut Broken, text: &Text, edits: &Value) -> Option<String> {
    let mut places = Vec::new();
    for edit in edits.as_array()? {
        if let Some(variable) = edit["variable"].as_str() {
            request.variables[variable] = edit["to"].clone();
        }
        for location in edit["locations"].as_array().into_iter().flatten() {
            let number = |name: &str| usize::try_from(location[name].as_u64()?).ok();
            places.push((text.at(number("line")?, number("column")?), edit));
        }
    }
    places.sort_by_key(|(field, _)| std::cmp::Reverse(*field));
    let mut text = text.clone();
    for (field, edit) in places {
        let (name, end) = text.argument(field, edit["argument"].as_str()?)?;
        text = Text::new(text.replaced(name + 2, end, &edit["to"].to_string()));
    }
    Some(text.text)
}

/// Leaves out what is nested too deep.
fn depth(text: &Text, error: &Value) -> Option<String> {
    let mut text = text.clone();
    for location in error["locations"].as_array()?.iter().rev() {
        let number = |name: &str| usize::try_from(location[name].as_u64()?).ok();
        let field = text.at(number("line")?, number("column")?);
        text = Text::new(text.replaced(field, text.field_end(field), "__typename"));
    }
    Some(text.text)
}

/// Changes a term of a search string, in the text or in the variable that it comes from, or leaves it out.
fn search(request: &mut Broken, text: &Text, field: usize, facts: &Value) -> Option<String> {
    let (name, end) = text.argument(field, "query")?;
    let variable = (text.get(name + 2) == "$").then(|| text.get(end).to_owned());
    let before = match &variable {
        Some(variable) => request.variables[variable].as_str()?.to_owned(),
        None => serde_json::from_str(text.get(end)).ok()?,
    };
    let offset = usize::try_from(facts["offset"].as_u64()?).ok()?;
    let term = before[offset..].split(' ').next()?;
    let (key, compared) = term.split_once(':').unwrap_or((term, ""));
    let value = compared.trim_start_matches(['<', '>', '=', '!', '~']);
    let allowed = texts(facts, "allowed");
    let replacement = match facts["code"].as_str()? {
        "FIELD_NOT_FILTERABLE" => facts["nearest"].as_str().map(|nearest| format!("{nearest}:{compared}")),
        "OPERATOR_NOT_ALLOWED" if allowed.contains(&"equals") => Some(format!("{key}:{value}")),
        "OPERATOR_NOT_ALLOWED" => {
            Some(format!("{key}:{}{value}", if allowed.contains(&">=") { ">=" } else { allowed[0] }))
        }
        _ => None,
    };
    let after = format!("{}{}{}", &before[..offset], replacement.unwrap_or_default(), &before[offset + term.len()..]);
    match variable {
        Some(variable) => {
            request.variables[variable] = after.into();
            None
        }
        None => Some(text.replaced(end, end, &Value::from(after).to_string())),
    }
}

/// Both ends of a page, an empty page, and lookups with another number of arguments than one.
fn input(request: &mut Broken, text: &Text, at: Option<usize>, facts: &Value) -> Option<String> {
    let at = at?;
    if facts["given"].is_u64() {
        let allowed = texts(facts, "allowed");
        let given: Vec<_> = allowed.iter().filter_map(|name| text.argument(at, name)).collect();
        return match given.as_slice() {
            [] => Some(with_argument(text, at, &format!("{}: \"A\"", allowed.first()?))),
            [_, (name, end), ..] => Some(text.replaced(*name, *end, "")),
            [_] => None,
        };
    }
    if facts["requested"].is_i64() || facts["requested"].is_u64() {
        return page_size(request, text, at, PAGE_SIZE);
    }
    let (name, end) = text.argument(at, "last").filter(|_| facts["reason"].is_null())?;
    Some(text.replaced(name, end, ""))
}
