//! From the schema file to the catalog: names become ids, lists become connections with their edges and arguments.

use std::collections::HashMap;

use graphql_parser::Pos;

use crate::catalog::binding::{
    Aggregate, Binding, Column, Connection, Entity, Join, One, PageFact, Point, SearchKey, SortKey, Within,
};
use crate::catalog::metatypes::{self, Metatype, Metatypes, Resolver};
use crate::catalog::schema::{Argument, ArgumentRole, EnumType, Field, ObjectType, Scalar, Type, TypeId, TypeRef};
use crate::catalog::source::{
    SchemaError, SchemaFault, Source, SourceArgument, SourceBinding, SourceField, SourceSearch, SourceType, fail,
};
use crate::catalog::{Catalog, sdl};
use crate::cursor::OrderingTag;
use crate::value::ScalarType;

/// The name of the type that queries begin at.
pub const QUERY: &str = "Query";

/// Resolves a schema file.
pub(super) fn build(source: &Source) -> Result<Catalog, SchemaError> {
    let metatypes = metatypes::read()?;
    let names = Names::assign(source, &metatypes)?;
    let query = names.object(QUERY).ok_or(fail(Pos { line: 1, column: 1 }, SchemaFault::NoQuery))?;
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

/// A type that is going to be published.
#[derive(Clone, Copy)]
enum Name<'a> {
    Object(&'a SourceType),
    Connection(&'a SourceType),
    Edge(&'a SourceType),
    PageInfo,
    SortEnum(&'a SourceField),
    Scalar(ScalarType),
    Meta(&'a Metatype),
}

impl Name<'_> {
    fn text(self) -> String {
        match self {
            Self::Object(ty) => ty.name.clone(),
            Self::Connection(node) => connection_name(&node.name),
            Self::Edge(node) => edge_name(&node.name),
            Self::PageInfo => PAGE_INFO.to_owned(),
            Self::SortEnum(root) => sort_enum_name(&root.name),
            Self::Scalar(scalar) => scalar.name().to_owned(),
            Self::Meta(metatype) => metatype.name().to_owned(),
        }
    }
}

/// The fault of a type that stands nowhere.
const UNBOUND: SchemaFault = SchemaFault::Misplaced("a type needs @relation");

const PAGE_INFO: &str = "PageInfo";

fn connection_name(node: &str) -> String {
    format!("{node}Connection")
}

fn edge_name(node: &str) -> String {
    format!("{node}Edge")
}

fn sort_enum_name(root: &str) -> String {
    let mut name = root.to_owned();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    name + "SortKey"
}

/// The names of all types, in the order of publication: the root, each node with its connection and edge, then the rest;
/// those of introspection last.
struct Names<'a> {
    order: Vec<Name<'a>>,
    ids: HashMap<String, TypeId>,
}

impl<'a> Names<'a> {
    fn assign(source: &'a Source, metatypes: &'a Metatypes) -> Result<Self, SchemaError> {
        let mut names = Self { order: Vec::new(), ids: HashMap::new() };
        let lists = || source.types.iter().flat_map(|ty| &ty.fields).filter(|field| field.list);
        let (roots, nodes): (Vec<_>, Vec<_>) = source.types.iter().partition(|ty| ty.name == QUERY);
        for ty in roots.into_iter().chain(nodes) {
            names.add(Name::Object(ty), ty.position)?;
            if lists().any(|field| field.ty == ty.name) {
                names.add(Name::Connection(ty), ty.position)?;
                names.add(Name::Edge(ty), ty.position)?;
            }
        }
        let top = Pos { line: 1, column: 1 };
        names.add(Name::PageInfo, top)?;
        for root in source.types.iter().filter(|ty| ty.name == QUERY).flat_map(|ty| &ty.fields) {
            if !root.sort.is_empty() {
                names.add(Name::SortEnum(root), root.position)?;
            }
        }
        for scalar in ScalarType::ALL {
            names.add(Name::Scalar(scalar), top)?;
        }
        for metatype in &metatypes.types {
            names.add(Name::Meta(metatype), metatype.position())?;
        }
        Ok(names)
    }

    fn add(&mut self, name: Name<'a>, position: Pos) -> Result<(), SchemaError> {
        let id = u16::try_from(self.order.len()).map_err(|_| fail(position, SchemaFault::TooMany))?;
        let text = name.text();
        self.order.push(name);
        match self.ids.insert(text.clone(), TypeId(id)) {
            None => Ok(()),
            Some(_) => Err(fail(position, SchemaFault::Duplicate(text))),
        }
    }

    fn object(&self, name: &str) -> Option<TypeId> {
        let id = self.ids.get(name)?;
        matches!(self.order[id.index()], Name::Object(_)).then_some(*id)
    }

    fn scalar(&self, scalar: ScalarType) -> TypeId {
        self.ids[scalar.name()]
    }
}

struct Builder<'a> {
    source: &'a Source,
    names: &'a Names<'a>,
}

impl<'a> Builder<'a> {
    fn ty(&self, name: &Name<'a>) -> Result<Type, SchemaError> {
        Ok(match name {
            Name::Object(ty) => Type::Object(self.object(ty)?),
            Name::Connection(node) => Type::Object(self.connection_type(node)),
            Name::Edge(node) => Type::Object(self.edge_type(node)),
            Name::PageInfo => Type::Object(self.page_info()),
            Name::SortEnum(root) => Type::Enum(EnumType {
                name: sort_enum_name(&root.name),
                description: Some(format!("The orders in which `{}` can be walked.", root.name)),
                values: root.sort.iter().map(|(key, _)| key.clone()).collect(),
            }),
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
            return Err(here(SchemaFault::Misplaced("@search and @sort stand on collection roots")));
        }
        let (binding, arguments, reference) = match &field.binding {
            None if is_collection => {
                let connection = self.collection(field)?;
                let mut arguments = self.paging(true);
                arguments.extend(self.searching(field));
                (Binding::Connection(connection), arguments, self.connection_ref(&field.ty, field.position)?)
            }
            Some(SourceBinding::Point { through }) if is_root && !field.list => {
                let point = self.point(field, through.as_deref())?;
                let arguments = self.keys(field)?;
                let reference = TypeRef::Named(point.target);
                (Binding::Point(point), arguments, reference)
            }
            Some(SourceBinding::Many { by, to, through }) if !is_root && field.list => {
                let path = format!("{}.{}", ty.name, field.name);
                let join = Self::join(ty, by, to);
                let connection = self.nested(field, &path, join, through.as_deref())?;
                (Binding::Connection(connection), self.paging(false), self.connection_ref(&field.ty, field.position)?)
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
                return Err(here(SchemaFault::Misplaced(
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
            None => Err(fail(position, SchemaFault::UnknownType(name.to_owned()))),
            Some(ty) if ty.relation.is_none() => Err(fail(ty.position, UNBOUND)),
            Some(ty) => Ok(ty),
        }
    }

    fn target(&self, name: &str, position: Pos) -> Result<TypeId, SchemaError> {
        self.names.object(name).ok_or_else(|| fail(position, SchemaFault::UnknownType(name.to_owned())))
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
            return Err(fail(field.position, SchemaFault::Misplaced("a collection root needs a sort key")));
        }
        let searched = field.search.iter().map(|search| &search.key);
        for keys in [searched.collect::<Vec<_>>(), field.sort.iter().map(|(key, _)| key).collect()] {
            let again = keys.iter().enumerate().find(|(place, key)| keys[..*place].contains(key));
            if let Some((_, key)) = again {
                return Err(fail(field.position, SchemaFault::Duplicate(format!("{}: {key}", field.name))));
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
            within: search.within.clone().map(|(relation, by)| Within { relation, by }),
        })
    }

    fn shown(node: &SourceType, column: &str, position: Pos) -> Result<ScalarType, SchemaError> {
        let unknown = SchemaFault::UnknownColumn { ty: node.name.clone(), column: column.to_owned() };
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
            let fault = SchemaFault::UnknownConnection { ty: ty.name.clone(), field: over.to_owned() };
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

    fn point(&self, field: &SourceField, through: Option<&str>) -> Result<Point, SchemaError> {
        let (relation, _) = Self::relation_and_key(self.node(&field.ty, field.position)?);
        let alternatives = field.arguments.iter().all(|argument| !argument.non_null);
        let all = field.arguments.iter().all(|argument| argument.non_null);
        if field.arguments.is_empty() || !(alternatives || all) {
            let rule = "the arguments of a point root are all nullable (exactly one is given) or all non-null";
            return Err(fail(field.position, SchemaFault::Misplaced(rule)));
        }
        let key = |argument: &SourceArgument| {
            let scalar = scalar(&argument.ty, field.position)?;
            Ok(Column { name: argument.column.clone(), scalar })
        };
        Ok(Point {
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

    /// The arguments of every connection; told at the roots alone, or they would drown the rest of the SDL.
    fn paging(&self, described: bool) -> Vec<Argument> {
        let argument = |name: &str, scalar, role, description: &str| Argument {
            name: name.to_owned(),
            description: described.then(|| description.to_owned()),
            ty: TypeRef::Named(self.names.scalar(scalar)),
            default: None,
            role,
        };
        vec![
            argument(
                "first",
                ScalarType::Int,
                ArgumentRole::First,
                "The page size, from the front; it or `last` is required.",
            ),
            argument(
                "last",
                ScalarType::Int,
                ArgumentRole::Last,
                "The page size, from the back; it or `first` is required.",
            ),
            argument(
                "after",
                ScalarType::String,
                ArgumentRole::After,
                "Only what follows this cursor: the `endCursor` of the page before.",
            ),
            argument(
                "before",
                ScalarType::String,
                ArgumentRole::Before,
                "Only what stands before this cursor: the `startCursor` of the page behind.",
            ),
        ]
    }

    fn searching(&self, field: &SourceField) -> Vec<Argument> {
        let argument = |name: &str, ty, role, description: &str| Argument {
            name: name.to_owned(),
            description: Some(description.to_owned()),
            ty: TypeRef::Named(ty),
            default: None,
            role,
        };
        let enumeration = self.names.ids[&sort_enum_name(&field.name)];
        let (text, truth) = (self.names.scalar(ScalarType::String), self.names.scalar(ScalarType::Boolean));
        vec![
            argument(
                "query",
                text,
                ArgumentRole::Query,
                "Space-separated `key:value` terms that all hold; the keys are told with the field.",
            ),
            argument(
                "sortKey",
                enumeration,
                ArgumentRole::SortKey,
                "The order of the walk; the first of the enum unless given.",
            ),
            argument("reverse", truth, ArgumentRole::Reverse, "Walks from the other end."),
        ]
    }

    fn connection_ref(&self, node: &str, position: Pos) -> Result<TypeRef, SchemaError> {
        self.node(node, position)?;
        Ok(TypeRef::Named(self.names.ids[&connection_name(node)]).non_null())
    }

    fn connection_type(&self, node: &SourceType) -> ObjectType {
        let edge = TypeRef::Named(self.names.ids[&edge_name(&node.name)]).non_null();
        let page_info = TypeRef::Named(self.names.ids[PAGE_INFO]).non_null();
        machinery(
            connection_name(&node.name),
            format!("A page of a walk over `{}`.", node.name),
            vec![
                plain("edges", "The rows of the page.", TypeRef::List(Box::new(edge)).non_null(), Binding::Edges),
                plain("pageInfo", "Where the page stands in the walk.", page_info, Binding::PageInfo),
            ],
        )
    }

    fn edge_type(&self, node: &SourceType) -> ObjectType {
        let text = TypeRef::Named(self.names.scalar(ScalarType::String)).non_null();
        let reference = TypeRef::Named(self.names.ids[&node.name]).non_null();
        machinery(
            edge_name(&node.name),
            format!("One `{}` of a page, and its place in the walk.", node.name),
            vec![
                plain("node", "The row.", reference, Binding::Node),
                plain("cursor", "The row's place in the walk, for `after` and `before`.", text, Binding::Cursor),
            ],
        )
    }

    fn page_info(&self) -> ObjectType {
        let truth = TypeRef::Named(self.names.scalar(ScalarType::Boolean)).non_null();
        let text = TypeRef::Named(self.names.scalar(ScalarType::String));
        let fact =
            |name, description, ty: &TypeRef, fact| plain(name, description, ty.clone(), Binding::PageFact(fact));
        machinery(
            PAGE_INFO.to_owned(),
            "Where a page stands in its walk. Both flags are exact in both directions.".to_owned(),
            vec![
                fact("hasNextPage", "Whether rows follow the page's last.", &truth, PageFact::HasNextPage),
                fact(
                    "hasPreviousPage",
                    "Whether rows stand before the page's first.",
                    &truth,
                    PageFact::HasPreviousPage,
                ),
                fact("startCursor", "The first row's cursor; null on an empty page.", &text, PageFact::StartCursor),
                fact("endCursor", "The last row's cursor; null on an empty page.", &text, PageFact::EndCursor),
            ],
        )
    }
}

fn scalar(name: &str, position: Pos) -> Result<ScalarType, SchemaError> {
    ScalarType::named(name).ok_or_else(|| fail(position, SchemaFault::UnknownType(name.to_owned())))
}

/// The scalar type of the field that shows a column.
fn shown(ty: &SourceType, column: &str) -> Option<ScalarType> {
    let shows = |field: &&SourceField| field.binding.is_none() && !field.list && field.column == column;
    ty.fields.iter().find(shows).and_then(|field| ScalarType::named(&field.ty))
}

fn plain(name: &str, description: &str, ty: TypeRef, binding: Binding) -> Field {
    let (name, description) = (name.to_owned(), Some(description.to_owned()));
    Field { name, description, arguments: Vec::new(), ty, binding, deprecation: None }
}

/// A type of our own making, whose few fields are surely distinct.
fn machinery(name: String, description: String, fields: Vec<Field>) -> ObjectType {
    let by_name = (0..).zip(&fields).map(|(place, field)| (field.name.clone(), place)).collect();
    ObjectType { name, description: Some(description), fields, entity: None, unlisted: Vec::new(), by_name }
}

fn assemble(
    name: String,
    description: Option<String>,
    entity: Option<Entity>,
    fields: Vec<Field>,
) -> Result<ObjectType, SchemaFault> {
    let mut by_name = HashMap::with_capacity(fields.len());
    for (place, field) in fields.iter().enumerate() {
        let place = u16::try_from(place).map_err(|_| SchemaFault::TooMany)?;
        if by_name.insert(field.name.clone(), place).is_some() {
            return Err(SchemaFault::Duplicate(format!("{name}.{}", field.name)));
        }
    }
    Ok(ObjectType { name, description, fields, entity, unlisted: Vec::new(), by_name })
}

/// Lets fields be found that are not published.
fn add_unlisted(object: &mut ObjectType, fields: Vec<Field>) -> Result<(), SchemaError> {
    for field in fields {
        let place = u16::try_from(object.fields.len() + object.unlisted.len());
        let place = place.map_err(|_| fail(Pos::default(), SchemaFault::TooMany))?;
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
