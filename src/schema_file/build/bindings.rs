//! Resolves the binding of a field: types to ids, columns to their scalar types.

use std::collections::BTreeSet;

use graphql_parser::Pos;

use crate::catalog::aggregate::Aggregate;
use crate::catalog::binding::{Entity, EntityScope, Lookup, One};
use crate::catalog::changes::{Changes, FeedRoute};
use crate::catalog::column::Column;
use crate::catalog::connection::{Connection, Join, ListIndex, SortKey};
use crate::catalog::ids::EntityId;
use crate::catalog::scope::ScopeSet;
use crate::catalog::search_key::{PairIndex, SearchKey, SemiJoin};
use crate::cursor::OrderingTag;
use crate::schema_file::build::feeds;
use crate::schema_file::build::key_description;
use crate::schema_file::build::type_names::TypeNames;
use crate::schema_file::definition::{
    AggregateDefinition, AggregatedRows, ArgumentDefinition, BindingDefinition, ColumnPairs, FieldDefinition,
    IndexDefinition, ManyDefinition, RelationDefinition, SchemaDefinition, ScopedRows, SearchKeyDefinition,
    SortKeyDefinition, TypeDefinition,
};
use crate::schema_file::error::{SchemaError, SchemaErrorKind};
use crate::search::Comparator;
use crate::value::ScalarType;

/// Makes the bindings of fields.
pub(super) struct Bindings<'a> {
    pub(super) schema: &'a SchemaDefinition,
    pub(super) names: &'a TypeNames<'a>,
}

impl<'a> Bindings<'a> {
    /// The definition of a type with a relation.
    pub(super) fn node(&self, name: &str, position: Pos) -> Result<&'a TypeDefinition, SchemaError> {
        match self.schema.types.iter().find(|ty| ty.name == name && !ty.is_query()) {
            None => Err(unknown_type(name, position)),
            Some(ty) if ty.relation.is_none() => Err(SchemaError::new(ty.position, SchemaErrorKind::NoRelation)),
            Some(ty) => Ok(ty),
        }
    }

    /// Whether a root is a list of that type.
    pub(super) fn is_of_root(&self, node: &TypeDefinition) -> bool {
        let roots = self.schema.types.iter().filter(|ty| ty.is_query()).flat_map(|ty| &ty.fields);
        roots.into_iter().any(|root| root.is_list && root.binding.is_none() && root.ty == node.name)
    }

    /// The relation and primary key of a type.
    pub(super) fn entity(ty: &TypeDefinition) -> Result<Entity, SchemaError> {
        let Some(relation) = &ty.relation else {
            return Err(SchemaError::new(ty.position, SchemaErrorKind::NoRelation));
        };
        let key = key_columns(ty, &relation.key);
        Ok(Entity { relation: relation.name.clone(), key, bindings: Vec::new(), scopes: Vec::new() })
    }

    /// The columns that the scopes of a type need of its relation.
    pub(super) fn scopes(&self, ty: &TypeDefinition) -> Vec<EntityScope> {
        let mut needed = Vec::new();
        for scope in &ty.scopes {
            match &scope.rows {
                ScopedRows::Values { columns, .. } => needed.extend(columns.iter().cloned().map(EntityScope::Column)),
                ScopedRows::Through { ty, by, to, .. } => {
                    // A type that a view does not show has rows all the same.
                    let Some(RelationDefinition { name, key }) = self.schema.relation(ty) else { continue };
                    let key = if to.is_empty() { key.clone() } else { to.clone() };
                    needed.push(EntityScope::Row { relation: name.clone(), by: by.clone(), key });
                }
                ScopedRows::Open { .. } => {}
            }
        }
        needed
    }

    /// A scalar field's column.
    pub(super) fn column(field: &FieldDefinition) -> Result<Column, SchemaError> {
        Ok(Column::new(&field.column, Self::scalar(field)?))
    }

    /// The scalar type of a field.
    fn scalar(field: &FieldDefinition) -> Result<ScalarType, SchemaError> {
        field.scalar.ok_or_else(|| unknown_type(&field.ty, field.position))
    }

    /// The scalar type of an argument of a field at that position.
    pub(super) fn argument_scalar(argument: &ArgumentDefinition, position: Pos) -> Result<ScalarType, SchemaError> {
        argument.scalar.ok_or_else(|| unknown_type(&argument.ty, position))
    }

    /// A collection root's connection.
    pub(super) fn collection(&self, field: &FieldDefinition) -> Result<Connection, SchemaError> {
        let node = self.node(&field.ty, field.position)?;
        let Entity { relation, key, .. } = Self::entity(node)?;
        if field.sort_keys.is_empty() {
            return Err(SchemaError::new(field.position, SchemaErrorKind::NoSortKey));
        }
        check_key_names(field)?;
        let search_keys =
            field.search_keys.iter().map(|definition| search_key(&self.schema.types, node, field, definition));
        let search_keys = search_keys.collect::<Result<Vec<_>, _>>()?;
        let pair_indexes = field.indexes.iter().map(|definition| pair_index(field, &search_keys, definition));
        Ok(Connection {
            node: self.target(&field.ty, field.position)?,
            relation,
            join: Join::default(),
            found_by: ListIndex::Order,
            sort_keys: sort_keys(node, &key, field, &field.name)?,
            parent_columns: Vec::new(),
            pair_indexes: pair_indexes.collect::<Result<_, _>>()?,
            search_keys,
            limited_by: ScopeSet::default(),
            scope: None,
        })
    }

    /// A nested connection, sorted by the primary key unless it has sort keys.
    pub(super) fn nested(
        &self,
        ty: &TypeDefinition,
        field: &FieldDefinition,
        many: &ManyDefinition,
    ) -> Result<Connection, SchemaError> {
        let node = self.node(&field.ty, field.position)?;
        let Entity { relation, key, .. } = Self::entity(node)?;
        check_key_names(field)?;
        let path = format!("{}.{}", ty.name, field.name);
        let mut sort_keys = sort_keys(node, &key, field, &path)?;
        let join = join_of_list(ty, many);
        // A column has the type of the parent's column that it equals.
        let joined = join.by.iter().zip(&join.to).map(|(by, to)| Column::new(to, by.scalar));
        let parent_columns = joined.filter(|joined| key.iter().all(|column| column.name != joined.name)).collect();
        if sort_keys.is_empty() {
            let (tag, name) = (OrderingTag::new(&path, "KEY"), "KEY".to_owned());
            sort_keys.push(SortKey { tag, name, columns: key, nullable: false, ties: None });
        }
        Ok(Connection {
            node: self.target(&field.ty, field.position)?,
            relation: many.through.clone().unwrap_or(relation),
            join,
            found_by: many.found_by,
            sort_keys,
            parent_columns,
            search_keys: Vec::new(),
            pair_indexes: Vec::new(),
            limited_by: ScopeSet::default(),
            scope: None,
        })
    }

    /// A joined row.
    pub(super) fn one(
        &self,
        ty: &TypeDefinition,
        field: &FieldDefinition,
        ColumnPairs { by, to }: &ColumnPairs,
    ) -> Result<One, SchemaError> {
        let Entity { key, .. } = Self::entity(self.node(&field.ty, field.position)?)?;
        let unique = key.iter().all(|column| to.contains(&column.name));
        Ok(One { target: self.target(&field.ty, field.position)?, join: join(ty, by, to), unique, unlimited: None })
    }

    /// A value computed over the rows of a connection of the same type, or of a relation.
    pub(super) fn aggregate(
        &self,
        ty: &TypeDefinition,
        field: &FieldDefinition,
        aggregate: &AggregateDefinition,
    ) -> Result<Aggregate, SchemaError> {
        let (relation, join) = match &aggregate.rows {
            AggregatedRows::Relation(relation, by) => (relation.clone(), join(ty, by, by)),
            AggregatedRows::Connection(over) => {
                let connection = ty.fields.iter().find(|other| other.name == *over);
                let Some((connection, BindingDefinition::Many(many))) =
                    connection.and_then(|connection| Some((connection, connection.binding.as_ref()?)))
                else {
                    let kind = SchemaErrorKind::UnknownConnection { ty: ty.name.clone(), field: over.clone() };
                    return Err(SchemaError::new(field.position, kind));
                };
                let node = self.node(&connection.ty, connection.position)?;
                let Entity { relation, .. } = Self::entity(node)?;
                (many.through.clone().unwrap_or(relation), join_of_list(ty, many))
            }
        };
        let scalar = Self::scalar(field)?;
        let AggregateDefinition { function, ref column, .. } = *aggregate;
        Ok(Aggregate { function, scalar, column: column.clone(), relation, join, result: function.result(scalar) })
    }

    /// The changes of the type `of`. Fails unless it has parts.
    pub(super) fn changes(&self, field: &FieldDefinition, of: &str) -> Result<Changes, SchemaError> {
        let error = |kind| SchemaError::new(field.position, kind);
        let owner = self.node(of, field.position)?;
        let Entity { relation, key, .. } = Self::entity(owner)?;
        let parts = self.schema.types.iter().flat_map(|ty| &ty.parts).filter(|part| part.of == of);
        let [key] = <[Column; 1]>::try_from(key).map_err(|_| error(SchemaErrorKind::FeedWithoutKey(of.to_owned())))?;
        let (mut routes, mut has_parts) = (BTreeSet::new(), false);
        for part in parts {
            has_parts = true;
            routes.extend(part.through.as_ref().map(|through| {
                let (to, key) = (through.to.as_ref().unwrap_or(&part.by), through.key.as_ref().unwrap_or(&key.name));
                (&through.relation, to, key)
            }));
        }
        let node = self.node(&field.ty, field.position)?;
        let feed = feeds::relation_of(of);
        let (direct, indirect) = (format!("{feed}_direct"), format!("{feed}_indirect"));
        if !has_parts || node.relation.as_ref().is_none_or(|relation| relation.name != direct) {
            let (of, ty) = (of.to_owned(), field.ty.clone());
            return Err(error(SchemaErrorKind::NoChanges { of, ty, relation: direct }));
        }
        let route = |(relation, to, key): (&String, &String, &String)| {
            let to = Column::new(to, ScalarType::Id);
            FeedRoute { relation: relation.clone(), to, key: key.clone() }
        };
        let routes = routes.into_iter().map(route).collect();
        let tag = OrderingTag::new(&field.name, "CHANGE");
        let sort_key =
            SortKey { tag, name: "CHANGE".to_owned(), columns: vec![key.clone()], nullable: false, ties: None };
        Ok(Changes {
            connection: Connection {
                node: self.target(&field.ty, field.position)?,
                relation: direct.clone(),
                join: Join::default(),
                found_by: ListIndex::Order,
                sort_keys: vec![sort_key],
                parent_columns: Vec::new(),
                search_keys: Vec::new(),
                pair_indexes: Vec::new(),
                limited_by: ScopeSet::default(),
                scope: None,
            },
            direct,
            indirect,
            key,
            relation,
            routes,
        })
    }

    /// A lookup by the field's arguments.
    pub(super) fn lookup(&self, field: &FieldDefinition, through: Option<&str>) -> Result<Lookup, SchemaError> {
        let Entity { relation, .. } = Self::entity(self.node(&field.ty, field.position)?)?;
        let all_nullable = field.arguments.iter().all(|argument| !argument.is_non_null);
        let all_non_null = field.arguments.iter().all(|argument| argument.is_non_null);
        if field.arguments.is_empty() || !(all_nullable || all_non_null) {
            return Err(SchemaError::new(field.position, SchemaErrorKind::MixedArguments));
        }
        let key = |argument: &ArgumentDefinition| {
            let scalar = Self::argument_scalar(argument, field.position)?;
            Ok(Column::new(&argument.column, scalar))
        };
        Ok(Lookup {
            target: self.target(&field.ty, field.position)?,
            relation: through.map_or(relation, str::to_owned),
            keys: field.arguments.iter().map(key).collect::<Result<_, _>>()?,
            alternatives: all_nullable,
        })
    }

    /// The id of a type with a relation.
    pub(super) fn target(&self, name: &str, position: Pos) -> Result<EntityId, SchemaError> {
        let nodes = (0..).zip(self.schema.types.iter().filter(|ty| !ty.is_query()));
        let index = nodes.into_iter().find_map(|(index, ty)| (ty.name == name).then_some(index));
        let id = index.and_then(|index| Some(EntityId { ty: self.names.object(name)?, index }));
        id.ok_or_else(|| unknown_type(name, position))
    }
}

/// Fails if two search keys or two sort keys have one name.
fn check_key_names(field: &FieldDefinition) -> Result<(), SchemaError> {
    let search_names = field.search_keys.iter().map(|search_key| &search_key.name);
    let sort_names = field.sort_keys.iter().map(|sort_key| &sort_key.name);
    for names in [search_names.collect::<Vec<_>>(), sort_names.collect()] {
        let duplicate = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name));
        if let Some((_, name)) = duplicate {
            let kind = SchemaErrorKind::Duplicate(format!("{}: {name}", field.name));
            return Err(SchemaError::new(field.position, kind));
        }
    }
    Ok(())
}

/// The sort keys of a connection, whose cursors are tagged with its path.
fn sort_keys(
    node: &TypeDefinition,
    key: &[Column],
    field: &FieldDefinition,
    path: &str,
) -> Result<Vec<SortKey>, SchemaError> {
    let sort_key = |SortKeyDefinition { name, column, ties }: &SortKeyDefinition| {
        let first = Column::new(column, column_type(node, column, field.position)?);
        let in_key = key.iter().any(|key_column| key_column.name == *column);
        let rest = key.iter().filter(|key_column| key_column.name != *column).cloned();
        // A cursor that was made while the key was bound to another column is rejected.
        let tag = if name.eq_ignore_ascii_case(column) {
            OrderingTag::new(path, name)
        } else {
            OrderingTag::new(path, &format!("{name} {column}"))
        };
        let columns = std::iter::once(first).chain(rest).collect();
        Ok(SortKey { tag, name: name.clone(), columns, nullable: !in_key, ties: *ties })
    };
    field.sort_keys.iter().map(sort_key).collect()
}

fn search_key(
    types: &[TypeDefinition],
    node: &TypeDefinition,
    field: &FieldDefinition,
    definition: &SearchKeyDefinition,
) -> Result<SearchKey, SchemaError> {
    let scalar = match &definition.within {
        // No scalar is a tsvector, so no field shows it.
        None if definition.language.is_some() => ScalarType::String,
        None => column_type(node, &definition.column, field.position)?,
        Some((relation, _)) => type_within(types, node, relation, &definition.column).unwrap_or(ScalarType::Id),
    };
    if definition.vocabulary.is_some() && !matches!(scalar, ScalarType::Id | ScalarType::String) {
        let kind = SchemaErrorKind::VocabularyOfOtherType(definition.name.clone());
        return Err(SchemaError::new(field.position, kind));
    }
    let indexed = if definition.language.is_some() { Some(false) } else { definition.indexed };
    if indexed != Some(false) && !definition.lookup {
        return Err(SchemaError::new(field.position, SchemaErrorKind::IndexedWithoutLookup(definition.name.clone())));
    }
    if let Some((_, by)) = &definition.within {
        let is_merged = by.len() == 1 && !definition.computed;
        if !definition.include.is_empty() || !definition.in_order_of.is_empty() && !is_merged {
            return Err(SchemaError::new(field.position, SchemaErrorKind::InOrderOfSemiJoin(definition.name.clone())));
        }
    }
    let in_order_of = sort_key_indexes(field, &definition.in_order_of)?;
    let (joined_in_order_of, in_order_of) =
        if definition.within.is_some() { (in_order_of, Vec::new()) } else { (Vec::new(), in_order_of) };
    let example = key_description::example_term(definition, scalar);
    Ok(SearchKey {
        name: definition.name.clone(),
        example,
        column: Column::new(&definition.column, scalar),
        comparators: definition.comparators.clone(),
        indexed: indexed.unwrap_or_else(|| !joins_many_rows(node, definition)),
        is_computed: definition.computed,
        lookup: definition.lookup,
        in_order_of,
        include: definition.include.clone(),
        semi_join: definition.within.clone().map(|(relation, by)| SemiJoin {
            relation,
            by,
            in_order_of: joined_in_order_of,
            unlimited: None,
        }),
        vocabulary: definition.vocabulary.clone(),
        normalization: definition.normalization,
        language: definition.language.clone(),
        scope: None,
    })
}

/// Whether a row of another relation may join many rows of a type: it has not the whole primary key. Then one value of a search key
/// in that relation may match any number of rows, which no index has in an order.
fn joins_many_rows(node: &TypeDefinition, definition: &SearchKeyDefinition) -> bool {
    let Some((_, by)) = &definition.within else { return false };
    node.relation.as_ref().is_some_and(|relation| relation.key.iter().any(|column| !by.contains(column)))
}

/// The indexes of sort keys among the sort keys of a root.
fn sort_key_indexes(field: &FieldDefinition, names: &[String]) -> Result<Vec<usize>, SchemaError> {
    let index = |name: &String| {
        let index = field.sort_keys.iter().position(|sort_key| sort_key.name == *name);
        let unknown = || SchemaErrorKind::UnknownSortKey { root: field.name.clone(), sort_key: name.clone() };
        index.ok_or_else(|| SchemaError::new(field.position, unknown()))
    };
    names.iter().map(index).collect()
}

fn pair_index(
    field: &FieldDefinition,
    search_keys: &[SearchKey],
    definition: &IndexDefinition,
) -> Result<PairIndex, SchemaError> {
    // A range of an index compares values of a type that the statement names. The type of a Boolean column is not known.
    let serves = |key: &SearchKey| {
        let is_compared = key.comparators.contains(&Comparator::Equals) && key.column.scalar != ScalarType::Boolean;
        is_compared && !key.is_computed && key.semi_join.is_none() != definition.in_order_of.is_empty()
    };
    let index = |name: &String| search_keys.iter().position(|key| key.name == *name && serves(key));
    let keys: Option<Vec<_>> = definition.keys.iter().map(index).collect();
    let in_order_of = sort_key_indexes(field, &definition.in_order_of)?;
    // A cursor would be no bound of the index: all rows of the range have one value of the sort key's column.
    let is_sort_column = |key: usize| {
        in_order_of.iter().any(|sort_key| field.sort_keys[*sort_key].column == search_keys[key].column.name)
    };
    match keys.as_deref() {
        Some(&[first, second])
            if first != second
                && search_keys[first].semi_join == search_keys[second].semi_join
                && !is_sort_column(first)
                && !is_sort_column(second) =>
        {
            Ok(PairIndex { keys: [first, second], in_order_of, include: definition.include.clone() })
        }
        _ => {
            let kind = SchemaErrorKind::BadIndexKeys(definition.keys.join(", "));
            Err(SchemaError::new(field.position, kind))
        }
    }
}

fn join(parent: &TypeDefinition, by: &[String], to: &[String]) -> Join {
    Join { by: key_columns(parent, by), to: to.to_vec(), where_null: None }
}

fn join_of_list(parent: &TypeDefinition, ManyDefinition { pairs, where_null, .. }: &ManyDefinition) -> Join {
    Join { where_null: where_null.clone(), ..join(parent, &pairs.by, &pairs.to) }
}

/// Columns that identify rows. A column that no field shows is an id.
fn key_columns(ty: &TypeDefinition, names: &[String]) -> Vec<Column> {
    let column = |name: &String| {
        let scalar = shown_type(ty, name).unwrap_or(ScalarType::Id);
        Column::new(name, scalar)
    };
    names.iter().map(column).collect()
}

/// The scalar type of a column that a field must show.
fn column_type(node: &TypeDefinition, column: &str, position: Pos) -> Result<ScalarType, SchemaError> {
    let unknown = || SchemaErrorKind::UnknownColumn { ty: node.name.clone(), column: column.to_owned() };
    shown_type(node, column).ok_or_else(|| SchemaError::new(position, unknown()))
}

/// The scalar type of the field that shows a column.
fn shown_type(ty: &TypeDefinition, column: &str) -> Option<ScalarType> {
    ty.field_of(column).and_then(|field| field.scalar)
}

/// The scalar type of the field that shows a column of another relation: of this type, of the type with that relation, or else one
/// that shows a column of that name.
fn type_within(types: &[TypeDefinition], ty: &TypeDefinition, relation: &str, column: &str) -> Option<ScalarType> {
    let aggregates = |field: &&FieldDefinition| match &field.binding {
        Some(BindingDefinition::Aggregate(AggregateDefinition {
            column: other,
            rows: AggregatedRows::Relation(of, _),
            ..
        })) => of == relation && other == column,
        _ => false,
    };
    let shown = ty.fields.iter().find(aggregates).and_then(|field| field.scalar);
    let mut others = types.iter().filter(|ty| ty.relation.as_ref().is_some_and(|its| its.name == relation));
    shown.or_else(|| others.find_map(|other| shown_type(other, column))).or_else(|| shown_type(ty, column))
}

fn unknown_type(name: &str, position: Pos) -> SchemaError {
    SchemaError::new(position, SchemaErrorKind::UnknownType(name.to_owned()))
}
