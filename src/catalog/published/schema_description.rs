//! The description of the schema itself: what a client needs beside the types. Its numbers are the constants of the program.

use crate::catalog::aggregate::AggregateFunction;
use crate::catalog::binding::{Binding, EntityBinding};
use crate::catalog::connection::{Connection, ListIndex};
use crate::catalog::prices::{AGGREGATE, OBJECT, ROWS_LISTED, ROWS_SUMMED, SCALAR, UNINDEXED_TERM};
use crate::catalog::schema::{Field, ObjectType};
use crate::catalog::search_key::SearchKey;
use crate::catalog::type_system::Catalog;
use crate::limits::default_of;
use crate::search::Comparator;
use crate::search::bounds::{MAX_REQUEST_VALUES, MAX_VALUES};

/// How many examples of searches there are at most.
const EXAMPLES: usize = 3;

/// The description, in Markdown. It begins with the description of the query root in the schema file.
pub(super) fn write(catalog: &Catalog) -> String {
    let query = catalog.object(catalog.query());
    let own = query.and_then(|query| query.description.clone());
    let sections =
        [own, Some(limits()), Some(cost(catalog)), paging(catalog), search(catalog), Some(values()), Some(errors())];
    sections.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

fn limits() -> String {
    format!(
        "Limits of a caller, unless its operator has set others: a page has {} rows at most, a query nests {} levels of objects \
         (the fields of the root are the first; `edges`, `node` and `pageInfo` count as none) and costs {} credits at most. A caller has a bucket of {} credits \
         that regains {} a second. A query that is rejected costs nothing.",
        default_of("max-page-size"),
        default_of("max-depth"),
        default_of("max-cost"),
        default_of("bucket-size"),
        default_of("restore-rate"),
    )
}

fn cost(catalog: &Catalog) -> String {
    let count = catalog.fields().find(|(_, _, binding)| {
        matches!(binding, Binding::Entity(EntityBinding::Aggregate(one)) if one.function == AggregateFunction::CountDistinct)
    });
    let totals = catalog.root_fields().find(|(_, binding)| binding.totals().is_some());
    let totals = totals.map(|(root, _)| {
        format!(
            "- totals, such as `{}`: 1 for every {ROWS_SUMMED} of their `rows`, and as much for each object that is joined to the \
             rows; what is selected from them once, however many groups there are\n",
            root.name
        )
    });
    let totals = totals.unwrap_or_default();
    let bounded = catalog
        .fields()
        .find(|(_, _, binding)| binding.connection().is_some_and(|connection| connection.found_by != ListIndex::Order));
    let bounded = bounded.map(|(object, field, _)| {
        format!(
            "- a connection that may be null, such as `{}.{}`: 1 more for every {ROWS_LISTED} rows that it can have; with more rows it is \
             null, with the error LIST_TOO_LONG\n",
            object.name, field.name
        )
    });
    let bounded = bounded.unwrap_or_default();
    let such_as = count.map(|(_, field, _)| format!(", such as `{}`", field.name)).unwrap_or_default();
    format!(
        "What a query costs is computed before it runs, from its text and page sizes:\n\
         - a scalar field: {SCALAR}\n\
         - an object: {OBJECT} + what is selected from it\n\
         - a connection: page size × ({OBJECT} + what is selected from one node), however many rows there are\n\
         - a count{such_as}: {AGGREGATE}\n\
         - a search term on a key that is not selective: {UNINDEXED_TERM} more\n\
         {bounded}{totals}\
         - `edges`, `node`, `cursor`, `pageInfo`, `__typename` and introspection: nothing\n\n\
         `extensions.cost` of a response has the cost and the state of the bucket. With the header `GraphQL-Cost: validate` the \
         cost is reported and the query not run. With `Prefer: wait=30` a query waits for its credits."
    )
}

fn paging(catalog: &Catalog) -> Option<String> {
    let (root, node, _) = collections(catalog).next()?;
    let (field, _) = catalog.fields_of(node).find(|(_, binding)| binding.column().is_some())?;
    Some(format!(
        "Every list is a connection: `{root}(first: 20) {{ edges {{ node {{ {field} }} }} pageInfo {{ hasNextPage endCursor }} }}`. \
         `first` or `last` is required. Go on with `after:` set to `endCursor` until `hasNextPage` is false, or backward with \
         `last`, `before:` and `startCursor`. A search can end before its page is full: the page is short or empty then, and \
         `hasNextPage` true all the same; go on. Nested connections are in the order of their primary \
         keys unless they take `sortKey`.",
        root = root.name,
        field = field.name,
    ))
}

fn search(catalog: &Catalog) -> Option<String> {
    let examples: Vec<_> = collections(catalog)
        .filter_map(|(root, _, connection)| {
            Some(format!("\n- `{}(first: 20, query: \"{}\")`", root.name, example(connection)?))
        })
        .take(EXAMPLES)
        .collect();
    if examples.is_empty() {
        return None;
    }
    Some(format!(
        "The argument `query` of root connections is a search: terms with spaces between them, all of which a row has to match. \
         A term is `key:value`, `key:a,b,c` (one of {MAX_VALUES} values at most), `key:>value`, `key:>=value`, `key:<value` or \
         `key:<=value`. A value with a space is put in quotes. There is no OR, no negation and no pattern. The argument's \
         description lists the keys of each root; a request has {MAX_REQUEST_VALUES} values at most.{}",
        examples.concat()
    ))
}

fn values() -> String {
    "Times are in UTC, as in 2026-05-01T08:30:00Z; a search also takes 2026-05-01 for midnight. Decimals and ids are strings. A \
     field without `!` is null where the database has no value."
        .to_owned()
}

fn errors() -> String {
    "Every error has `extensions.code` and what is needed to fix the query, such as `suggestions`, `allowed`, `fields` or \
     `example`. All errors of a document are reported together. Only THROTTLED and SERVICE_UNAVAILABLE are worth a retry \
     without a change."
        .to_owned()
}

/// The collection roots, with the types of their nodes.
fn collections(catalog: &Catalog) -> impl Iterator<Item = (&Field, &ObjectType, &Connection)> {
    catalog.root_fields().filter_map(|(root, binding)| {
        let connection = binding.connection()?;
        Some((root, catalog.entity_type(connection.node), connection))
    })
}

/// A search by a known value and by a range, or by the first key if the root has neither.
fn example(connection: &Connection) -> Option<String> {
    let keys = &connection.search_keys;
    let known = keys.iter().find(|key| key.vocabulary.is_some());
    let is_own_range =
        |key: &&SearchKey| key.semi_join.is_none() && key.comparators.contains(&Comparator::GreaterOrEqual);
    let range = keys.iter().find(is_own_range);
    let terms: Vec<_> = [known, range].into_iter().flatten().map(|key| key.example.as_str()).collect();
    if terms.is_empty() { keys.first().map(|key| key.example.clone()) } else { Some(terms.join(" ")) }
}
