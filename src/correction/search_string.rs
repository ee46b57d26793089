//! Terms of search strings.

use serde_json::Value;

use crate::correction::facts::texts;
use crate::correction::tokens::Text;
use crate::query::Request;

/// Changes a term of a search string, in the text or in the variable that it comes from, or leaves it out.
pub(super) fn correct(request: &mut Request, text: &Text, field: usize, facts: &Value) -> Option<String> {
    let (name, end) = text.argument(field, "query")?;
    let variable = (text.get(name + 2) == "$").then(|| text.get(end).to_owned());
    let before = match &variable {
        Some(variable) => request.variables.get(variable)?.as_str()?.to_owned(),
        None => serde_json::from_str(text.get(end)).ok()?,
    };
    let offset = usize::try_from(facts["offset"].as_u64()?).ok()?;
    let term = before.get(offset..)?.split(' ').next()?;
    let (key, compared) = term.split_once(':').unwrap_or((term, ""));
    let value = compared.trim_start_matches(['<', '>', '=', '!', '~']);
    let allowed = texts(facts, "allowed");
    let replacement = match facts["code"].as_str()? {
        "FIELD_NOT_FILTERABLE" => facts["nearest"].as_str().map(|nearest| format!("{nearest}:{compared}")),
        "OPERATOR_NOT_ALLOWED" if allowed.contains(&"equals") => Some(format!("{key}:{value}")),
        "OPERATOR_NOT_ALLOWED" => {
            let comparator = allowed.iter().find(|comparator| **comparator == ">=").or(allowed.first())?;
            Some(format!("{key}:{comparator}{value}"))
        }
        _ => None,
    };
    let mut after = before.clone();
    after.replace_range(offset..offset + term.len(), &replacement.unwrap_or_default());
    match variable {
        Some(variable) => {
            request.variables.insert(variable, after.into());
            None
        }
        None => Some(text.replaced(end, end, &Value::from(after).to_string())),
    }
}
