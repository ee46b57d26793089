//! What the file declares.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::schema_draft::description::{Column, ColumnKind, Database, Relation, RelationKind};
use crate::schema_draft::index_match::{create_index, is_served};
use crate::schema_draft::joins::joins;
use crate::schema_draft::names::{Names, camel, pascal, plural, singular, upper};
use crate::value::ScalarType;

/// A schema file.
#[derive(Debug, Default)]
pub(super) struct Model<'d> {
    pub(super) types: Vec<TypeModel<'d>>,
    /// Why relations have no type.
    pub(super) left_out: Vec<String>,
}

/// A type of a table.
#[derive(Debug)]
pub(super) struct TypeModel<'d> {
    pub(super) relation: &'d Relation,
    pub(super) name: String,
    pub(super) key: &'d [String],
    pub(super) columns: Vec<ColumnField<'d>>,
    pub(super) joins: Vec<JoinField>,
    /// Why columns and joins have no fields.
    pub(super) left_out: Vec<String>,
    pub(super) root: RootModel<'d>,
}

/// A field of a column.
#[derive(Debug)]
pub(super) struct ColumnField<'d> {
    pub(super) name: String,
    pub(super) scalar: ScalarType,
    pub(super) column: &'d Column,
    pub(super) kind: ColumnKind,
}

/// A field of joined rows.
#[derive(Debug)]
pub(super) struct JoinField {
    pub(super) name: String,
    /// The name of the joined type.
    pub(super) target: String,
    pub(super) is_list: bool,
    pub(super) by: Vec<String>,
    pub(super) to: Vec<String>,
}

/// The root fields of a type.
#[derive(Debug, Default)]
pub(super) struct RootModel<'d> {
    /// The lookup by the key.
    pub(super) lookup: String,
    pub(super) list: String,
    pub(super) search_keys: Vec<SearchKeyModel<'d>>,
    pub(super) sort_keys: Vec<SortKeyModel<'d>>,
    /// Why columns cannot be searched or sorted by.
    pub(super) left_out: Vec<String>,
}

#[derive(Debug)]
pub(super) struct SearchKeyModel<'d> {
    pub(super) name: String,
    pub(super) column: &'d str,
    pub(super) scalar: ScalarType,
    /// The sort keys in whose order an index has the rows of one value.
    pub(super) in_order_of: Vec<String>,
}

#[derive(Debug)]
pub(super) struct SortKeyModel<'d> {
    pub(super) name: String,
    pub(super) column: &'d str,
}

impl<'d> TypeModel<'d> {
    /// The field of a column.
    pub(super) fn column(&self, name: &str) -> Option<&ColumnField<'d>> {
        self.columns.iter().find(|field| field.column.name == name)
    }
}

/// What a file declares for a database.
pub(super) fn model(database: &Database) -> Model<'_> {
    let mut model = Model::default();
    let key_columns = key_columns(database);
    let mut names = Names::default();
    let scalars = ScalarType::ALL.iter().map(|scalar| scalar.name());
    scalars.chain(["Query", "PageInfo"]).for_each(|name| names.reserve(name));
    for relation in &database.relations {
        match key(relation, &key_columns) {
            Ok(key) => {
                let name = type_name(&mut names, relation);
                model.types.push(columns(relation, name, key, &key_columns));
            }
            Err(reason) => model.left_out.push(format!("{}: {reason}", relation.path())),
        }
    }
    joins(&mut model.types);
    let mut names = Names::default();
    for ty in &mut model.types {
        ty.root = root(ty, &mut names);
    }
    model
}

/// The columns of keys and foreign keys, by relation.
type KeyColumns<'d> = BTreeMap<(&'d str, &'d str), BTreeSet<&'d str>>;

fn key_columns(database: &Database) -> KeyColumns<'_> {
    let mut columns = KeyColumns::new();
    for relation in &database.relations {
        let own = columns.entry((&relation.schema, &relation.name)).or_default();
        own.extend(relation.keys.first().into_iter().flatten().map(String::as_str));
        own.extend(relation.foreign_keys.iter().flat_map(|key| &key.columns).map(String::as_str));
        for foreign in &relation.foreign_keys {
            let (schema, name) = &foreign.target;
            columns.entry((schema, name)).or_default().extend(foreign.to.iter().map(String::as_str));
        }
    }
    columns
}

/// The scalar of a column's field, if it has one.
fn scalar(relation: &Relation, column: &Column, keys: &KeyColumns<'_>) -> Option<(ColumnKind, ScalarType)> {
    let is_key = keys.get(&(relation.schema.as_str(), relation.name.as_str()));
    let is_key = is_key.is_some_and(|columns| columns.contains(column.name.as_str()));
    column.kind.filter(|_| column.is_readable).map(|kind| (kind, kind.scalar(is_key)))
}

/// The key of a type, or why there is none.
fn key<'d>(relation: &'d Relation, keys: &KeyColumns<'_>) -> Result<&'d [String], String> {
    let names = relation.columns.iter().map(|column| &column.name).chain([&relation.schema, &relation.name]);
    if relation.schema.contains('.') || relation.name.contains('.') || names.into_iter().any(|name| is_odd(name)) {
        return Err("its name cannot be written in a schema file".to_owned());
    }
    match relation.kind {
        RelationKind::View => {
            return Err("a view has no key that PostgreSQL knows; add a type with @relation(key:) by hand".to_owned());
        }
        RelationKind::Foreign => {
            return Err("a table of another server has no key; add a type with @relation(key:) by hand".to_owned());
        }
        RelationKind::Parent => return Err("other tables inherit from it, so its key is not unique".to_owned()),
        RelationKind::Table | RelationKind::MaterializedView => {}
    }
    let is_usable = |key: &&Vec<String>| {
        key.iter().all(|name| {
            let column = relation.column(name).and_then(|column| scalar(relation, column, keys));
            column.is_some_and(|(kind, scalar)| kind.is_compared(scalar))
        })
    };
    match relation.keys.iter().find(is_usable) {
        Some(key) => Ok(key),
        None if relation.keys.is_empty() => Err("it has no primary key".to_owned()),
        None => Err("its key has columns of types that cannot be compared, or that the role may not read".to_owned()),
    }
}

/// Whether a name has what no line of a schema file can have.
fn is_odd(name: &str) -> bool {
    name.chars().any(char::is_control)
}

fn type_name(names: &mut Names, relation: &Relation) -> String {
    let schema = pascal(&relation.schema);
    let singular = pascal(&singular(&relation.name));
    let exact = pascal(&relation.name);
    let prefixed = [format!("{schema}{singular}"), format!("{schema}{exact}")];
    let candidates: Vec<_> = [singular, exact].into_iter().chain(prefixed).collect();
    let made = |name: &str| ["", "Connection", "Edge", "SortKey"].map(|end| format!("{name}{end}")).to_vec();
    names.give(&candidates, made)
}

fn columns<'d>(relation: &'d Relation, name: String, key: &'d [String], keys: &KeyColumns<'_>) -> TypeModel<'d> {
    let (mut columns, mut left_out, mut names) = (Vec::new(), Vec::new(), Names::default());
    for column in &relation.columns {
        match scalar(relation, column, keys) {
            Some((kind, scalar)) => {
                let name = names.give(&[camel(&column.name)], |name| vec![name.to_owned()]);
                columns.push(ColumnField { name, scalar, column, kind });
            }
            None if column.is_readable => left_out.push(format!("{}: no scalar for {}", column.name, column.type_name)),
            None => left_out.push(format!("{}: the role may not read it", column.name)),
        }
    }
    TypeModel { relation, name, key, columns, joins: Vec::new(), left_out, root: RootModel::default() }
}

/// The roots of a type: a lookup by its key, and a list with the searches and orders that indexes serve.
fn root<'d>(ty: &TypeModel<'d>, names: &mut Names) -> RootModel<'d> {
    let only = |name: &str| vec![name.to_owned()];
    let lookup = names.give(&[camel(&ty.name)], only);
    let many = camel(&plural(&ty.name));
    let list = names.give(&[many.clone(), format!("{many}List")], only);
    let mut root = RootModel { lookup, list, ..RootModel::default() };
    let rest = |column: &'d str| ty.key.iter().map(String::as_str).filter(move |other| *other != column);
    let mut sort_names = HashSet::new();
    let first_key = ty.key.first().map(String::as_str);
    let compared = || ty.columns.iter().filter(|field| field.kind.is_compared(field.scalar));
    // The key is the default order.
    let by_key = compared().filter(|field| Some(field.column.name.as_str()) == first_key);
    let others = compared().filter(|field| Some(field.column.name.as_str()) != first_key);
    for field in by_key.chain(others) {
        let column = field.column.name.as_str();
        let order: Vec<_> = std::iter::once(column).chain(rest(column)).collect();
        if is_served(ty.relation, &[], &order) && sort_names.insert(upper(&field.name)) {
            root.sort_keys.push(SortKeyModel { name: upper(&field.name), column });
        }
    }
    for field in ty.columns.iter().filter(|field| !field.kind.is_compared(field.scalar)) {
        root.left_out.push(format!(
            "no search and no order by {}: {} is not compared",
            field.column.name, field.column.type_name
        ));
    }
    for field in compared() {
        let column = field.column.name.as_str();
        let is_sorted = root.sort_keys.iter().any(|key| key.column == column);
        if is_served(ty.relation, &[], &[column]) {
            let orders = root.sort_keys.iter().filter(|key| key.column != column);
            let in_order_of = orders.filter(|sort_key| {
                let order = std::iter::once(sort_key.column).chain(rest(sort_key.column));
                let order: Vec<_> = order.filter(|other| *other != column).collect();
                is_served(ty.relation, &[column], &order)
            });
            let in_order_of = in_order_of.map(|key| key.name.clone()).collect();
            root.search_keys.push(SearchKeyModel {
                name: field.name.clone(),
                column,
                scalar: field.scalar,
                in_order_of,
            });
        }
        let index = create_index(ty.relation, std::iter::once(column).chain(rest(column)));
        if !is_served(ty.relation, &[], &[column]) {
            root.left_out.push(format!("no index begins with {column}, to search and sort by: {index}"));
        } else if !is_sorted {
            root.left_out.push(format!("no index sorts by {column}: {index}"));
        }
    }
    root
}
