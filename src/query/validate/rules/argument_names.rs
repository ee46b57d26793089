//! Arguments are declared by their field or directive, and given once.
//!
//! GraphQL specification, sections 5.4.1 (Argument Names) and 5.4.2 (Argument Uniqueness).

use crate::catalog::Catalog;
use crate::catalog::schema::{Argument, ArgumentRole};
use crate::nearest::{clearly_meant, meant};
use crate::query::validate::document_index::{ArgumentOwner, DocumentIndex};
use crate::query::validate::name_map::NameMap;
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    for list in &index.argument_lists {
        let location = |argument| index.document.argument_location(list.position, argument);
        let mut given = NameMap::new();
        for (argument, (name, _)) in list.given.iter().enumerate() {
            if violations.is_full() {
                return;
            }
            if let Some(before) = given.insert(name, argument) {
                let violation = Violation::DuplicateArgument((*name).into());
                violations.add(&violation, [argument, before].map(location));
            }
            let Some(declared) = list.declared else { continue };
            if list.declaration(name).is_some() {
                continue;
            }
            let suggestions = suggested(name, declared);
            let search_key = if suggestions.is_empty() { search_key(index.catalog, list.owner, name) } else { None };
            let violation = Violation::UnknownArgument {
                argument: (*name).into(),
                owner: list.owner.describe(index.catalog),
                suggestions: suggestions.into(),
                search_key,
                allowed: declared.iter().map(|argument| argument.name.clone()).collect(),
            };
            violations.add(&violation, [location(argument)]);
        }
    }
}

/// The arguments that an unknown one likely means.
pub(super) fn suggested<'a>(name: &str, declared: &'a [Argument]) -> Vec<&'a str> {
    match synonym(name, declared) {
        Some(argument) => vec![argument.name.as_str()],
        None => meant(name, declared.iter().map(|argument| argument.name.as_str())),
    }
}

/// The key of a connection's searches that an argument means, as other APIs have conditions.
fn search_key(catalog: &Catalog, owner: ArgumentOwner<'_>, name: &str) -> Option<String> {
    let ArgumentOwner::Field(Some(parent), field) = owner else { return None };
    let (_, binding) = catalog.fields_of(catalog.object(parent)?).find(|(known, _)| known.name == field)?;
    let keys = binding.searched()?.search_keys.iter().filter(|key| key.scope.is_none());
    clearly_meant(name, keys.map(|key| key.name.as_str())).map(str::to_owned)
}

/// The argument that is called so in other APIs.
fn synonym<'a>(name: &str, declared: &'a [Argument]) -> Option<&'a Argument> {
    declared.iter().find(|argument| synonyms(argument.role).iter().any(|synonym| synonym.eq_ignore_ascii_case(name)))
}

/// The names that other APIs have for an argument of a connection.
fn synonyms(role: ArgumentRole) -> &'static [&'static str] {
    match role {
        ArgumentRole::First => {
            &["limit", "take", "top", "count", "size", "pageSize", "page_size", "perPage", "per_page", "max", "rows"]
        }
        ArgumentRole::Query => &["filter", "filters", "where", "search", "q", "condition", "conditions"],
        ArgumentRole::SortKey => &["sort", "sortBy", "sort_by", "order", "orderBy", "order_by"],
        ArgumentRole::Reverse => &["desc", "descending", "reversed"],
        ArgumentRole::After => &["cursor"],
        ArgumentRole::Since => &["from", "updatedAfter", "updatedSince", "changedSince"],
        ArgumentRole::GroupBy => &["group", "group_by", "by", "keys"],
        ArgumentRole::OrderBy => &["sort", "sortBy", "sort_by", "order", "order_by"],
        ArgumentRole::Rows => &["window", "maxRows", "max_rows", "rowLimit"],
        ArgumentRole::TimeZone => &["timezone", "time_zone", "tz", "zone"],
        ArgumentRole::Last
        | ArgumentRole::Before
        | ArgumentRole::CountUpTo
        | ArgumentRole::Key(_)
        | ArgumentRole::TypeName
        | ArgumentRole::IncludeDeprecated
        | ArgumentRole::OfDirective => &[],
    }
}
