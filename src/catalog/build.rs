//! From the schema file to the catalog: every type is made, and every field bound to what it stands for.

use fnv::FnvHashMap;
use graphql_parser::Pos;

use crate::catalog::binding::{
    Aggregate, Binding, Column, Connection, Entity, Join, Lookup, One, SearchKey, SemiJoin, SortKey,
};
use crate::catalog::connection;
use crate::catalog::metatypes::{self, Resolver};
use crate::catalog::names::{Name, Names, QUERY};
use crate::catalog::schema::{Argument, ArgumentRole, Field, ObjectType, Scalar, Type, TypeId, TypeRef};
use crate::catalog::sdl_source::{
    SchemaError, SchemaErrorKind, Source, SourceArgument, SourceBinding, SourceField, SourceSearch, SourceType, fail,
};
use crate::catalog::{Catalog, sdl};
use crate::cursor::OrderingTag;
use crate::value::ScalarType;

/// Resolves a schema file.
pub(super) fn build(source: &Source) -> Result<Catalog, SchemaError> {
    let metatypes = metatypes::read()?;
    let names = Names::assign(source, &metatypes)?;
    let query = names.object(QUERY).ok_or(fail(Pos { line: 1, column: 1 }, SchemaErrorKind::NoQuery))?;
    let builder = Builder { source, names: &names };
    let mut types = names.order.iter().map(|name| builder.ty(name)).collect::<Result<Vec<_>, _>>()?;
    let resolver = Resolver { ids: &names.ids };
    if let Type::Object(root) = &mut types[query.index()] {
        add_unlisted(root, resolver.root_fields(&metatypes)?)?;
    }
    let directives = resolver.directives(&metatypes)?;
    let own = types.len() - metatypes.types.len();
    let mut catalog = Catalog { types, own, directives, by_name: names.ids, query, sdl: String::new() };
    catalog.sdl = sdl::publish(&catalog);
    Ok(catalog)
}

/// The fault of a type that stands nowhere.
const UNBOUND: SchemaErrorKind = SchemaErrorKind::Misplaced("a type needs @relation");

struct Builder<'a> {
    source: &'a Source,
    names: &'a Names<'a>,
}

impl<'a> Builder<'a> {
    fn ty(&self, name: &Name<'a>) -> Result<Type, SchemaError> {
        Ok(match name {
            Name::Object(ty) => Type::Object(self.object(ty)?),
            Name::Connection(node) => Type::Object(connection::connection_type(self.names, node)),
            Name::Edge(node) => Type::Object(connection::edge_type(self.names, node)),
            Name::PageInfo => Type::Object(connection::page_info(self.names)),
            Name::SortEnum(root) => Type::Enum(connection::sort_enum(root)),
            Name::Scalar(scalar) => Type::Scalar(Scalar {
                scalar: *scalar,
                description: describe(*scalar),
                specified_by: specified_by(*scalar),
            }),
            Name::Meta(metatype) => Resolver { ids: &self.names.ids }.ty(metatype)?,
        })
    }

    fn object(&self, ty: &'a SourceType) -> Result<ObjectType, SchemaError> {
        let entity = match &ty.relation {
            Some((relation, key)) => Some(Entity {
                relation: relation.clone(),
                key: key.iter().map(|name| Self::key_column(ty, name)).collect(),
            }),
            None if ty.name == QUERY => None,
            None => return Err(fail(ty.position, UNBOUND)),
        };
        let fields = ty.fields.iter().map(|field| self.field(ty, field)).collect::<Result<Vec<_>, _>>()?;
        assemble(ty.name.clone(), ty.description.clone(), entity, fields).map_err(|fault| fail(ty.position, fault))
    }

    fn field(&self, ty: &'a SourceType, field: &'a SourceField) -> Result<Field, SchemaError> {
        let here = |fault| fail(field.position, fault);
        let is_root = ty.name == QUERY;
        let is_collection = is_root && field.list;
        if !is_collection && (!field.search.is_empty() || !field.sort.is_empty()) {
            return Err(here(SchemaErrorKind::Misplaced("@search and @sort stand on collection roots")));
        }
        let (binding, arguments, reference) = match &field.binding {
            None if is_collection => {
                let connection = self.collection(field)?;
                let mut arguments = connection::paging(self.names, true);
                arguments.extend(connection::searching(self.names, field));
                (Binding::Connection(connection), arguments, self.connection_ref(&field.ty, field.position)?)
            }
            Some(SourceBinding::Lookup { through }) if is_root && !field.list => {
                let point = self.point(field, through.as_deref())?;
                let arguments = self.keys(field)?;
                let reference = TypeRef::Named(point.target);
                (Binding::Lookup(point), arguments, reference)
            }
            Some(SourceBinding::Many { by, to, through }) if !is_root && field.list => {
                let path = format!("{}.{}", ty.name, field.name);
                let join = Self::join(ty, by, to);
                let connection = self.nested(field, &path, join, through.as_deref())?;
                (
                    Binding::Connection(connection),
                    connection::paging(self.names, false),
                    self.connection_ref(&field.ty, field.position)?,
                )
            }
            Some(SourceBinding::One { by, to }) if !is_root && !field.list => {
                let target = self.node(&field.ty, field.position)?;
                let key = target.relation.as_ref().map_or(&[][..], |(_, key)| key);
                let unique = key.iter().all(|column| to.contains(column));
                let target = self.target(&field.ty, field.position)?;
                let join = Self::join(ty, by, to);
                (Binding::One(One { target, join, unique }), Vec::new(), TypeRef::Named(target))
            }
            Some(SourceBinding::Aggregate { count_distinct, over }) if !is_root && field.ty == "Int" => {
                let aggregate = self.aggregate(ty, field, count_distinct, over)?;
                (Binding::Aggregate(aggregate), Vec::new(), TypeRef::Named(self.names.scalar(ScalarType::Int)))
            }
            None if !is_root && !field.list && self.names.object(&field.ty).is_none() => {
                let scalar = scalar(&field.ty, field.position)?;
                let column = Column { name: field.column.clone(), scalar };
                (Binding::Column(column), Vec::new(), TypeRef::Named(self.names.scalar(scalar)))
            }
            _ => {
                return Err(here(SchemaErrorKind::Misplaced(
                    "lists are bound by @many (collection roots by nothing), objects by @one, roots that are no lists \
                     by @point, and @aggregate makes an Int",
                )));
            }
        };
        let ty = if field.non_null { reference.non_null() } else { reference };
        let (name, description) = (field.name.clone(), field.description.clone());
        Ok(Field { name, description, arguments, ty, binding, deprecation: field.deprecation.clone() })
    }

    fn node(&self, name: &str, position: Pos) -> Result<&'a SourceType, SchemaError> {
        match self.source.types.iter().find(|ty| ty.name == name && ty.name != QUERY) {
            None => Err(fail(position, SchemaErrorKind::UnknownType(name.to_owned()))),
            Some(ty) if ty.relation.is_none() => Err(fail(ty.position, UNBOUND)),
            Some(ty) => Ok(ty),
        }
    }

    fn target(&self, name: &str, position: Pos) -> Result<TypeId, SchemaError> {
        self.names.object(name).ok_or_else(|| fail(position, SchemaErrorKind::UnknownType(name.to_owned())))
    }

    /// A column that identifies rows. Its scalar type is the one of the field that shows it; a hidden one is an id.
    fn key_column(ty: &SourceType, name: &str) -> Column {
        let scalar = shown(ty, name).unwrap_or(ScalarType::Id);
        Column { name: name.to_owned(), scalar }
    }

    fn join(parent: &SourceType, by: &[String], to: &[String]) -> Join {
        Join { by: by.iter().map(|name| Self::key_column(parent, name)).collect(), to: to.to_vec() }
    }

    fn relation_and_key(node: &SourceType) -> (String, Vec<Column>) {
        match &node.relation {
            Some((relation, key)) => (relation.clone(), key.iter().map(|name| Self::key_column(node, name)).collect()),
            None => (String::new(), Vec::new()),
        }
    }

    fn nested(
        &self,
        field: &SourceField,
        path: &str,
        join: Join,
        through: Option<&str>,
    ) -> Result<Connection, SchemaError> {
        let (relation, key) = Self::relation_and_key(self.node(&field.ty, field.position)?);
        let sort_key =
            SortKey { tag: OrderingTag::new(path, "KEY"), name: "KEY".to_owned(), columns: key, nullable: false };
        Ok(Connection {
            node: self.target(&field.ty, field.position)?,
            relation: through.map_or(relation, str::to_owned),
            join,
            sort_keys: vec![sort_key],
            search_keys: Vec::new(),
        })
    }

    fn collection(&self, field: &SourceField) -> Result<Connection, SchemaError> {
        let node = self.node(&field.ty, field.position)?;
        let (relation, key) = Self::relation_and_key(node);
        if field.sort.is_empty() {
            return Err(fail(field.position, SchemaErrorKind::Misplaced("a collection root needs a sort key")));
        }
        let searched = field.search.iter().map(|search| &search.key);
        for keys in [searched.collect::<Vec<_>>(), field.sort.iter().map(|(key, _)| key).collect()] {
            let again = keys.iter().enumerate().find(|(place, key)| keys[..*place].contains(key));
            if let Some((_, key)) = again {
                return Err(fail(field.position, SchemaErrorKind::Duplicate(format!("{}: {key}", field.name))));
            }
        }
        let sort_key = |(name, column): &(String, String)| {
            let scalar = Self::shown(node, column, field.position)?;
            let in_key = key.iter().any(|part| part.name == *column);
            let first = Column { name: column.clone(), scalar };
            let rest = key.iter().filter(|part| part.name != *column).cloned();
            Ok(SortKey {
                tag: OrderingTag::new(&field.name, name),
                name: name.clone(),
                columns: std::iter::once(first).chain(rest).collect(),
                nullable: !in_key,
            })
        };
        Ok(Connection {
            node: self.target(&field.ty, field.position)?,
            relation,
            join: Join::default(),
            sort_keys: field.sort.iter().map(sort_key).collect::<Result<_, _>>()?,
            search_keys: field
                .search
                .iter()
                .map(|search| Self::search_key(node, field, search))
                .collect::<Result<_, _>>()?,
        })
    }

    fn search_key(node: &SourceType, field: &SourceField, search: &SourceSearch) -> Result<SearchKey, SchemaError> {
        let scalar = match &search.within {
            None => Self::shown(node, &search.column, field.position)?,
            Some(_) => ScalarType::Id,
        };
        Ok(SearchKey {
            name: search.key.clone(),
            column: Column { name: search.column.clone(), scalar },
            comparators: search.comparators.clone(),
            indexed: search.indexed,
            within: search.within.clone().map(|(relation, by)| SemiJoin { relation, by }),
        })
    }

    fn shown(node: &SourceType, column: &str, position: Pos) -> Result<ScalarType, SchemaError> {
        let unknown = SchemaErrorKind::UnknownColumn { ty: node.name.clone(), column: column.to_owned() };
        shown(node, column).ok_or_else(|| fail(position, unknown))
    }

    fn aggregate(
        &self,
        ty: &'a SourceType,
        field: &SourceField,
        column: &str,
        over: &str,
    ) -> Result<Aggregate, SchemaError> {
        let connection = ty.fields.iter().find(|other| other.name == over);
        let Some((connection, SourceBinding::Many { by, to, through })) =
            connection.and_then(|connection| Some((connection, connection.binding.as_ref()?)))
        else {
            let fault = SchemaErrorKind::UnknownConnection { ty: ty.name.clone(), field: over.to_owned() };
            return Err(fail(field.position, fault));
        };
        let node = self.node(&connection.ty, connection.position)?;
        Self::shown(node, column, field.position)?;
        let (relation, _) = Self::relation_and_key(node);
        Ok(Aggregate {
            column: column.to_owned(),
            relation: through.clone().unwrap_or(relation),
            join: Self::join(ty, by, to),
        })
    }

    fn point(&self, field: &SourceField, through: Option<&str>) -> Result<Lookup, SchemaError> {
        let (relation, _) = Self::relation_and_key(self.node(&field.ty, field.position)?);
        let alternatives = field.arguments.iter().all(|argument| !argument.non_null);
        let all = field.arguments.iter().all(|argument| argument.non_null);
        if field.arguments.is_empty() || !(alternatives || all) {
            let rule = "the arguments of a point root are all nullable (exactly one is given) or all non-null";
            return Err(fail(field.position, SchemaErrorKind::Misplaced(rule)));
        }
        let key = |argument: &SourceArgument| {
            let scalar = scalar(&argument.ty, field.position)?;
            Ok(Column { name: argument.column.clone(), scalar })
        };
        Ok(Lookup {
            target: self.target(&field.ty, field.position)?,
            relation: through.map_or(relation, str::to_owned),
            keys: field.arguments.iter().map(key).collect::<Result<_, _>>()?,
            alternatives,
        })
    }

    fn keys(&self, field: &SourceField) -> Result<Vec<Argument>, SchemaError> {
        let argument = |(place, argument): (usize, &SourceArgument)| {
            let named = TypeRef::Named(self.names.scalar(scalar(&argument.ty, field.position)?));
            Ok(Argument {
                name: argument.name.clone(),
                description: argument.description.clone(),
                ty: if argument.non_null { named.non_null() } else { named },
                default: None,
                role: ArgumentRole::Key(place),
            })
        };
        field.arguments.iter().enumerate().map(argument).collect()
    }

    fn connection_ref(&self, node: &str, position: Pos) -> Result<TypeRef, SchemaError> {
        self.node(node, position)?;
        Ok(TypeRef::Named(self.names.connection(node)).non_null())
    }
}

fn scalar(name: &str, position: Pos) -> Result<ScalarType, SchemaError> {
    ScalarType::named(name).ok_or_else(|| fail(position, SchemaErrorKind::UnknownType(name.to_owned())))
}

/// The scalar type of the field that shows a column.
fn shown(ty: &SourceType, column: &str) -> Option<ScalarType> {
    let shows = |field: &&SourceField| field.binding.is_none() && !field.list && field.column == column;
    ty.fields.iter().find(shows).and_then(|field| ScalarType::named(&field.ty))
}

fn assemble(
    name: String,
    description: Option<String>,
    entity: Option<Entity>,
    fields: Vec<Field>,
) -> Result<ObjectType, SchemaErrorKind> {
    let mut by_name = FnvHashMap::default();
    for (place, field) in fields.iter().enumerate() {
        let place = u16::try_from(place).map_err(|_| SchemaErrorKind::TooMany)?;
        if by_name.insert(field.name.clone(), place).is_some() {
            return Err(SchemaErrorKind::Duplicate(format!("{name}.{}", field.name)));
        }
    }
    Ok(ObjectType { name, description, fields, entity, unlisted: Vec::new(), by_name })
}

/// Lets fields be found that are not published.
fn add_unlisted(object: &mut ObjectType, fields: Vec<Field>) -> Result<(), SchemaError> {
    for field in fields {
        let place = u16::try_from(object.fields.len() + object.unlisted.len());
        let place = place.map_err(|_| fail(Pos::default(), SchemaErrorKind::TooMany))?;
        object.by_name.insert(field.name.clone(), place);
        object.unlisted.push(field);
    }
    Ok(())
}

fn describe(scalar: ScalarType) -> Option<&'static str> {
    match scalar {
        ScalarType::Decimal => Some(
            "Money or a quantity: an exact decimal number as a string. Parse it with a decimal library, never as a float.",
        ),
        ScalarType::DateTime => Some("A moment in UTC as an ISO-8601 string with a trailing Z."),
        ScalarType::Id | ScalarType::String | ScalarType::Int | ScalarType::Boolean => None,
    }
}

fn specified_by(scalar: ScalarType) -> Option<&'static str> {
    match scalar {
        // What is written is of its profile: UTC, with a Z.
        ScalarType::DateTime => Some("https://www.rfc-editor.org/rfc/rfc3339"),
        ScalarType::Id | ScalarType::String | ScalarType::Int | ScalarType::Boolean | ScalarType::Decimal => None,
    }
}
