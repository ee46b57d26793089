//! Decides what the file declares: types of tables, their fields, and roots with the searches and orders that indexes serve.

use std::collections::{BTreeMap, BTreeSet};

use crate::relations::column::DescribedColumn;
use crate::relations::description::DatabaseDescription;
use crate::relations::key_fault::KeyFault;
use crate::relations::relation::{Children, DescribedRelation, RelationKind};
use crate::relations::type_compatibility::is_compared;
use crate::schema_draft::existing::{Existing, ExistingType};
use crate::schema_draft::joins::{DRAFTED_ROWS, joins};
use crate::schema_draft::missing_index::{LeftOut, MissingIndex};
use crate::schema_draft::model::{
    ColumnField, Compared, ListBound, Model, RootModel, SearchKeyModel, SortKeyModel, TextKey, TypeModel,
};
use crate::schema_draft::names::{Names, camel, pascal, plural, singular, upper};
use crate::schema_draft::scalars::Scalars;
use crate::schema_file::SchemaFile;
use crate::value::{Enumeration, ScalarType};

/// The declarations of a file for a database, without the declarations that it has already.
pub(super) fn model<'d>(database: &'d DatabaseDescription, existing: &Existing) -> Model<'d> {
    let mut model = Model::default();
    let mut scalars = Scalars::new(database);
    let (mut named, mut names) = (Vec::new(), Names::default());
    let scalar_names = ScalarType::ALL.iter().map(|scalar| scalar.name());
    let enums = SchemaFile::DIRECTIVE_ENUMS.iter().copied();
    let others = existing.names.iter().map(String::as_str);
    scalar_names.chain(enums).chain(["Query", "PageInfo"]).chain(others).for_each(|name| names.reserve(name));
    for relation in &database.relations {
        match key(relation, &scalars) {
            Ok(key) => {
                let known = existing.of_relation(&relation.path());
                let name = known.map_or_else(|| type_name(&mut names, relation), |known| known.name.clone());
                named.push((relation, name, key, known));
            }
            Err(reason) => model.left_out.push(format!("{}: {reason}", relation.path())),
        }
    }
    scalars.published = published(&named.iter().map(|one| one.0).collect::<Vec<_>>(), &mut names, existing);
    for (relation, name, key, known) in named {
        model.types.push(columns(relation, name, key, &scalars, known));
    }
    model.enums = new_enums(&model.types, existing);
    joins(&mut model.types, existing);
    let mut names = Names::default();
    existing.roots.iter().for_each(|root| names.reserve(&root.name));
    for ty in &mut model.types {
        ty.root = root(ty, &mut names, existing);
    }
    model
}

/// The enums of the file for the enums of relations' columns: one that the file has with the same labels, or a new one.
fn published(
    relations: &[&DescribedRelation],
    names: &mut Names,
    existing: &Existing,
) -> BTreeMap<Enumeration, Enumeration> {
    let mut published = BTreeMap::new();
    for column in relations.iter().flat_map(|relation| &relation.columns).filter(|column| column.is_readable) {
        let Some(labels) = column.ty.value().labels() else { continue };
        published.entry(labels).or_insert_with(|| {
            let texts = |one: Enumeration| one.values().map(|(_, text)| text).collect::<BTreeSet<_>>();
            let known = existing.enums.iter().find(|known| texts(**known) == texts(labels));
            known.copied().unwrap_or_else(|| new_enum(labels, names))
        });
    }
    published
}

fn new_enum(labels: Enumeration, names: &mut Names) -> Enumeration {
    // The name in SQL is quoted where it has to be, with its schema.
    let (_, name) = labels.name().rsplit_once('.').unwrap_or(("", labels.name()));
    let name = pascal(name);
    let name = names.give(&[name.clone(), format!("{name}Value")], |name| vec![name.to_owned()]);
    let mut value_names = Names::default();
    let value = |label: &str| {
        let is_name = label.starts_with(|c: char| c.is_ascii_uppercase())
            && label.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        let candidate = match label {
            "" => "EMPTY".to_owned(),
            _ if is_name => label.to_owned(),
            _ => upper(label),
        };
        (value_names.give(&[candidate], |name| vec![name.to_owned()]), label.to_owned())
    };
    let values = labels.values().map(|(_, label)| label).map(value).collect();
    Enumeration::new(name, values)
}

/// The enums of new fields that the file does not have, in the order of the fields.
fn new_enums(types: &[TypeModel<'_>], existing: &Existing) -> Vec<Enumeration> {
    let mut enums = Vec::new();
    for field in types.iter().flat_map(|ty| &ty.columns).filter(|field| !field.is_known) {
        let ScalarType::Enum(one) = field.scalar else { continue };
        if !existing.enums.contains(&one) && !enums.contains(&one) {
            enums.push(one);
        }
    }
    enums
}

/// The key of a type, or why there is none.
fn key<'d>(relation: &'d DescribedRelation, scalars: &Scalars<'_>) -> Result<&'d [String], String> {
    let names = relation.columns.iter().map(|column| &column.name).chain([&relation.schema, &relation.name]);
    if relation.schema.contains('.') || relation.name.contains('.') || names.into_iter().any(|name| is_odd(name)) {
        return Err("its name cannot be written in a schema file".to_owned());
    }
    if relation.children == Children::Inheriting {
        return Err(KeyFault::Inherited.to_string());
    }
    let mut keys = relation.keys().peekable();
    let first = keys.peek().copied();
    if first.is_none() && relation.kind != RelationKind::Table {
        let what = match relation.kind {
            RelationKind::View => "a view",
            RelationKind::Foreign => "a table of another server",
            _ => "a materialized view without a unique index",
        };
        return Err(format!("{what} has no key that PostgreSQL knows; declare it: --key {}=COLUMN,…", relation.path()));
    }
    let is_usable = |key: &&[String]| {
        key.iter().all(|name| {
            let column = relation.readable_column(name);
            column.is_some_and(|column| scalars.of(relation, column).is_some_and(|scalar| is_compared(column, scalar)))
        })
    };
    let usable: Vec<_> = keys.filter(is_usable).collect();
    let is_ordered = |key: &&&[String]| relation.has_order(&[], &key.iter().map(String::as_str).collect::<Vec<_>>());
    match (usable.iter().find(is_ordered), usable.first(), first) {
        (Some(key), ..) => Ok(key),
        // A declared key need not have one.
        (None, Some(key), _) => Err(format!("no index has its rows in the order of its key ({})", key.join(", "))),
        (None, None, None) => {
            let mut unique = relation.indexes.iter().filter(|index| index.is_unique);
            let fault = unique.find_map(|index| relation.key_faults(&index.columns).into_iter().next());
            Err(fault.map_or_else(
                || format!("it has no primary key; declare one: --key {}=COLUMN,…", relation.path()),
                |fault| fault.to_string(),
            ))
        }
        (None, None, Some(key)) => {
            let columns = relation.columns.iter().filter(|column| key.contains(&column.name));
            let faults = columns.filter_map(|column| {
                let fault = match scalars.of(relation, column) {
                    None if !column.is_readable => "the role may not read it".to_owned(),
                    None => format!("no scalar for {}", column.type_name),
                    Some(scalar) if !is_compared(column, scalar) => not_compared(column),
                    Some(_) => return None,
                };
                Some(format!("{}: {fault}", column.name))
            });
            Err(format!("its key has columns that cannot be read in order: {}", faults.collect::<Vec<_>>().join("; ")))
        }
    }
}

/// Why a column with a scalar is neither searched nor sorted by.
fn not_compared(DescribedColumn { type_name, collation, .. }: &DescribedColumn) -> String {
    match collation.nondeterministic() {
        Some(collation) => format!("different texts are equal in its collation {collation}"),
        None => format!("{type_name} is not compared"),
    }
}

/// Whether a name has what no line of a schema file can have.
fn is_odd(name: &str) -> bool {
    name.chars().any(char::is_control)
}

fn type_name(names: &mut Names, relation: &DescribedRelation) -> String {
    let schema = pascal(&relation.schema);
    let singular = pascal(&singular(&relation.name));
    let exact = pascal(&relation.name);
    let prefixed = [format!("{schema}{singular}"), format!("{schema}{exact}")];
    let candidates: Vec<_> = [singular, exact].into_iter().chain(prefixed).collect();
    let made = |name: &str| ["", "Connection", "Edge", "SortKey"].map(|end| format!("{name}{end}")).to_vec();
    names.give(&candidates, made)
}

fn columns<'d>(
    relation: &'d DescribedRelation,
    name: String,
    key: &[String],
    scalars: &Scalars<'_>,
    known: Option<&ExistingType>,
) -> TypeModel<'d> {
    let (mut columns, mut left_out, mut names) = (Vec::new(), Vec::new(), Names::default());
    known.into_iter().flat_map(|known| &known.fields).for_each(|field| names.reserve(&field.name));
    for column in relation.columns.iter().filter(|column| !column.has_words()) {
        match scalars.of(relation, column) {
            Some(scalar) => {
                let shown = known.and_then(|known| known.of_column(&column.name));
                let new_name = || names.give(&[camel(&column.name)], |name| vec![name.to_owned()]);
                let name = shown.map_or_else(new_name, |field| field.name.clone());
                let scalar = shown.and_then(|field| field.column.as_ref()).map_or(scalar, |(_, scalar)| *scalar);
                columns.push(ColumnField { name, scalar, column, is_known: shown.is_some() });
            }
            None => left_out.push(format!("{}: the role may not read it", column.name).into()),
        }
    }
    if relation.declared_key.is_some() && relation.kind == RelationKind::Table {
        left_out
            .push("no unique index guarantees its key: serve it with --schema-constraints trusted".to_owned().into());
    }
    if relation.kind == RelationKind::MaterializedView && relation.declared_key.is_none() {
        let key = key.join(", ");
        let reason =
            format!("a materialized view has no constraints: delete the type if rows have a null in its key ({key})");
        left_out.push(reason.into());
    }
    let text_key = |column: &'d DescribedColumn| {
        let name = names.give(&[camel(&column.name)], |name| vec![name.to_owned()]);
        TextKey { name, column }
    };
    let text_keys = relation.columns.iter().filter(|column| column.has_words()).map(text_key).collect();
    let own =
        known.map(|known| &known.key).filter(|key| key.iter().all(|column| relation.readable_column(column).is_some()));
    let key = own.map_or(key, Vec::as_slice).to_vec();
    let (joins, root, is_known) = (Vec::new(), RootModel::default(), known.is_some());
    TypeModel { relation, name, is_known, key, columns, text_keys, joins, left_out, root }
}

/// The roots of a type: a lookup by its key, and a list with the searches and orders that indexes serve.
fn root<'d>(ty: &TypeModel<'d>, names: &mut Names, existing: &Existing) -> RootModel<'d> {
    let only = |name: &str| vec![name.to_owned()];
    let known = |is_list| existing.root_of(&ty.name, is_list);
    let lookup = known(false).map(|root| root.name.clone());
    let list = known(true).map(|root| root.name.clone());
    let (is_lookup_known, is_list_known) = (lookup.is_some(), list.is_some());
    let lookup = lookup.unwrap_or_else(|| names.give(&[camel(&ty.name)], only));
    let many = camel(&plural(&ty.name));
    let list = list.unwrap_or_else(|| names.give(&[many.clone(), format!("{many}List")], only));
    let mut root = RootModel { lookup, list, is_lookup_known, is_list_known, ..RootModel::default() };
    sort_keys(ty, &mut root, known(true).map_or(&[], |root| &root.sort_keys));
    let known_keys = known(true).map_or(&[][..], |root| &root.search_keys);
    search_keys(ty, &mut root, known_keys);
    text_keys(ty, &mut root, known_keys);
    root
}

/// The fields whose columns can be searched and sorted by.
fn compared<'t, 'd>(ty: &'t TypeModel<'d>) -> impl Iterator<Item = &'t ColumnField<'d>> {
    ty.columns.iter().filter(|field| field.is_compared())
}

/// The columns of an order by a column: it, and the rest of the key.
fn order<'t>(ty: &'t TypeModel<'_>, column: &'t str) -> Vec<&'t str> {
    let rest = ty.key.iter().map(String::as_str).filter(|other| *other != column);
    std::iter::once(column).chain(rest).collect()
}

/// Adds the orders that indexes have. The order of the key is the default. `known` are the names and columns of the orders in the file.
fn sort_keys<'d>(ty: &TypeModel<'d>, root: &mut RootModel<'d>, known: &[(String, String)]) {
    let is_first = |field: &&ColumnField<'_>| ty.key.first() == Some(&field.column.name);
    let others = compared(ty).filter(|field| !is_first(field));
    for field in compared(ty).filter(is_first).chain(others) {
        let column = field.column.name.as_str();
        let shown = known.iter().find(|(_, other)| other == column);
        let name = shown.map_or_else(|| upper(&field.name), |(name, _)| name.clone());
        let is_taken = root.sort_keys.iter().any(|key| key.name == name)
            || shown.is_none() && known.iter().any(|(other, _)| *other == name);
        let is_known = shown.is_some();
        let has_order = ty.relation.has_order(&[], &order(ty, column));
        // A list of the file may have an exclamation mark, or totals.
        let ties = if has_order || root.is_list_known && !is_known { None } else { ties(ty, field) };
        if !is_taken && (has_order || ties.is_some()) {
            root.sort_keys.push(SortKeyModel { name, column, ties, is_known });
        }
    }
}

/// The bound of an order by a column that has an index without the key, if few rows can be expected to have one value.
fn ties(ty: &TypeModel<'_>, field: &ColumnField<'_>) -> Option<ListBound> {
    let column = field.column.name.as_str();
    if !field.column.is_not_null || !ty.relation.has_order(&[], &[column]) {
        return None;
    }
    if ty.relation.are_unique(&[column]) {
        return Some(ListBound { at_most: 1, index: None });
    }
    let is_varied = match field.scalar {
        ScalarType::Id
        | ScalarType::Boolean
        | ScalarType::Enum(_)
        | ScalarType::Uuid
        | ScalarType::Bytes
        | ScalarType::Json => false,
        ScalarType::String
        | ScalarType::Int
        | ScalarType::BigInt
        | ScalarType::Decimal
        | ScalarType::Float
        | ScalarType::DateTime
        | ScalarType::Date
        | ScalarType::Time
        | ScalarType::Interval => true,
    };
    let index = || MissingIndex::of_columns(ty.relation, order(ty, column).into_iter());
    is_varied.then(|| ListBound { at_most: DRAFTED_ROWS, index: Some(index()) })
}

/// Adds the searches that indexes serve.
fn search_keys<'d>(ty: &TypeModel<'d>, root: &mut RootModel<'d>, known: &[(String, String)]) {
    for field in ty.columns.iter().filter(|field| !field.is_compared()) {
        let reason = format!("no search and no order by {}: {}", field.column.name, not_compared(field.column));
        root.left_out.push(reason.into());
    }
    for field in compared(ty) {
        let column = field.column.name.as_str();
        let index = || MissingIndex::of_columns(ty.relation, order(ty, column).into_iter());
        if !ty.relation.has_order(&[], &[column]) {
            let reason = format!("no index begins with {column}, to search and sort by");
            root.left_out.push(LeftOut::without(index(), reason));
            continue;
        }
        if !root.sort_keys.iter().any(|key| key.column == column) {
            root.left_out.push(LeftOut::without(index(), format!("no index sorts by {column}")));
        }
        let orders = root.sort_keys.iter().filter(|key| key.column != column);
        let in_order_of = orders.filter(|key| {
            let order: Vec<_> = order(ty, key.column).into_iter().filter(|other| *other != column).collect();
            ty.relation.has_order(&[column], &order)
        });
        let in_order_of = in_order_of.map(|key| key.name.clone()).collect();
        let is_known = known.iter().any(|(name, other)| other == column || *name == field.name);
        let compared = Compared::Values { scalar: field.scalar, in_order_of };
        root.search_keys.push(SearchKeyModel { name: field.name.clone(), column, compared, is_known });
    }
}

/// Adds the searches for words that indexes serve.
fn text_keys<'d>(ty: &TypeModel<'d>, root: &mut RootModel<'d>, known: &[(String, String)]) {
    for TextKey { name, column: DescribedColumn { name: column, language, .. } } in &ty.text_keys {
        if !ty.relation.has_text_index(column) {
            let index = MissingIndex::of_words(ty.relation, column);
            root.left_out.push(LeftOut::without(index, format!("no index has the words of {column}")));
            continue;
        }
        if language.is_none() {
            let reason = format!(
                "the words of {column} are searched as they are; add `language` to {name} if a text search configuration made them"
            );
            root.left_out.push(reason.into());
        }
        let compared = Compared::Words { language: language.as_deref() };
        let is_known = known.iter().any(|(other, of)| of == column || other == name);
        root.search_keys.push(SearchKeyModel { name: name.clone(), column, compared, is_known });
    }
}
