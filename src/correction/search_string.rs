//! Terms of search strings.

use serde_json::Value;

use crate::correction::facts::texts;
use crate::correction::tokens::QueryText;
use crate::nearest::clearly_meant;
use crate::query::Request;

/// The characters of operators.
const OPERATOR: [char; 5] = ['<', '>', '=', '!', '~'];

/// A search string of a request, and where it is written.
pub(super) struct SearchString {
    pub(super) text: String,
    /// The variable that has it; the token's index otherwise.
    place: Result<String, usize>,
}

impl SearchString {
    /// The terms of a field's search string.
    pub(super) fn of(request: &Request, text: &QueryText, field: usize) -> Option<Self> {
        let (name, end) = text.argument(field, "query")?;
        if text.get(name + 2) == "$" {
            let variable = text.get(end).to_owned();
            return Some(Self { text: request.variables.get(&variable)?.as_str()?.to_owned(), place: Ok(variable) });
        }
        Some(Self { text: serde_json::from_str(text.get(end)).ok()?, place: Err(end) })
    }

    /// The term at an offset, up to the next space.
    pub(super) fn term(&self, offset: usize) -> Option<&str> {
        self.text.get(offset..)?.split([' ', '\t', '\n', '\r']).next()
    }
}

/// Changes a term of a search string, in the text or in the variable that it comes from, if its meaning is clear. It is never left out.
pub(super) fn correct(request: &mut Request, text: &QueryText, field: usize, facts: &Value) -> Option<String> {
    let search = SearchString::of(request, text, field)?;
    let offset = usize::try_from(facts["offset"].as_u64()?).ok()?;
    let term = search.term(offset)?;
    let allowed = texts(facts, "allowed");
    let (range, replacement) = match facts["code"].as_str()? {
        "FIELD_NOT_FILTERABLE" => {
            // Signs before a key negate in other languages.
            let key = term
                .split(':')
                .next()
                .filter(|key| key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))?;
            (offset..offset + key.len(), clearly_meant(key, allowed)?.to_owned())
        }
        "OPERATOR_NOT_ALLOWED" => (offset..offset + term.len(), with_operator(term, &allowed)?),
        _ => match term {
            // A space means the same.
            "AND" | "and" | "&&" => (offset..offset + term.len(), String::new()),
            "OR" | "or" | "||" => one_of(&search.text, offset, term.len())?,
            _ => (offset..offset + term.len(), with_colon(term, facts["nearest"].as_str()?)?),
        },
    };
    let mut after = search.text.clone();
    after.replace_range(range, &replacement);
    match search.place {
        Ok(variable) => {
            request.variables.insert(variable, after.into());
            None
        }
        Err(token) => Some(text.replaced(token, token, &Value::from(after).to_string())),
    }
}

/// A term on a key that takes ranges alone: a day, or the range of a single value. `key:==value` is `key:value`.
fn with_operator(term: &str, allowed: &[&str]) -> Option<String> {
    let (key, compared) = term.split_once(':')?;
    let value = compared.trim_start_matches(OPERATOR);
    let is_equality = matches!(&compared[..compared.len() - value.len()], "" | "=" | "==");
    let is_plain = is_equality && !value.is_empty() && !value.contains([',', '\'', '"']);
    if is_plain && allowed.contains(&"equals") {
        return Some(format!("{key}:{value}"));
    }
    let shape = value.bytes().map(|byte| if byte.is_ascii_digit() { b'0' } else { byte });
    let end = if shape.eq(*b"0000-00-00") { "T23:59:59.999999Z" } else { "" };
    let has_range = [">=", "<="].iter().all(|comparator| allowed.contains(comparator));
    (is_plain && has_range).then(|| format!("{key}:>={value} {key}:<={value}{end}"))
}

/// `key:a OR key:b` as `key:a,b`: the part that is replaced, and its replacement. `None` unless both are lists of the same key.
fn one_of(search: &str, offset: usize, length: usize) -> Option<(std::ops::Range<usize>, String)> {
    let (before, after) = (search[..offset].trim_end(), search[offset + length..].trim_start());
    let (one, other) = (before.rsplit(' ').next()?.split_once(':')?, after.split(' ').next()?.split_once(':')?);
    let is_list = |(_, values): (&str, &str)| {
        !values.is_empty() && !values.contains(['\'', '"']) && !values.starts_with(OPERATOR)
    };
    let is_same = one.0 == other.0 && is_list(one) && is_list(other);
    let end = search.len() - after.len() + other.0.len() + 1;
    is_same.then(|| (before.len()..end, ",".to_owned()))
}

/// `key=value` as `key:value`, and `key>=value` as `key:>=value`.
fn with_colon(term: &str, key: &str) -> Option<String> {
    let rest = term.get(key.len()..).filter(|_| term[..key.len()].eq_ignore_ascii_case(key))?;
    let value = rest.trim_start_matches(OPERATOR);
    let operator = match &rest[..rest.len() - value.len()] {
        "=" | "==" => "",
        range @ (">" | ">=" | "<" | "<=") => range,
        _ => return None,
    };
    (!value.is_empty()).then(|| format!("{key}:{operator}{value}"))
}
