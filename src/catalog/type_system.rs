//! The catalog: the types and directives of a schema, by id and by name.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::catalog::binding::{
    Binding, ConnectionField, EdgeField, Entity, EntityBinding, FieldBindings, One, PageInfoField, RootBinding,
};
use crate::catalog::characters::Characters;
use crate::catalog::column::Column;
use crate::catalog::feed::Feed;
use crate::catalog::grant_set::GrantSet;
use crate::catalog::ids::{EntityId, FieldId, TypeId};
use crate::catalog::meta_field::MetaField;
use crate::catalog::name_index::Places;
use crate::catalog::schema::{Directive, Field, ObjectKind, ObjectType, Type, TypeRef, TypeSystem};
use crate::catalog::scoped_relation::ScopedRelation;
use crate::catalog::search_window::SearchWindow;
use crate::catalog::stored_type::StoredTypes;
use crate::catalog::totals::{FieldPath, GroupField, TotalsField};

/// The types of a schema, each field bound to the database. Immutable once built.
#[derive(Debug)]
pub struct Catalog {
    /// The schema's own types in the order of publication, then the types of introspection.
    pub(super) types: Vec<Type>,
    /// How many of the types are the schema's own.
    pub(super) own_types: usize,
    pub(super) directives: Vec<Directive>,
    pub(super) by_name: HashMap<String, TypeId>,
    pub(super) query: TypeId,
    /// The bindings of the query root's fields: the fields of introspection follow the published ones.
    pub(super) root: Vec<RootBinding>,
    /// By [`EntityId`].
    pub(super) entities: Vec<Entity>,
    pub(super) feeds: Vec<Feed>,
    /// The grants of the callers for whom it is; `None` for callers with all grants.
    pub(super) held: Option<GrantSet>,
    /// The relations whose rows are limited. A relation comes before the relations that lead to it.
    pub(super) scoped: Vec<ScopedRelation>,
    /// The fields of the introspection types, by the type's index among them.
    pub(super) introspection: Vec<Vec<MetaField>>,
    pub(super) description: String,
    pub(super) sdl: String,
    pub(super) search_window: SearchWindow,
    pub(super) characters: Characters,
    /// Made when a name is first looked for in it.
    pub(super) places: OnceLock<Places>,
}

impl Catalog {
    /// The catalog of a schema for callers with all grants, and without limits on rows. It has no SDL and no description yet.
    pub(crate) fn new(type_system: TypeSystem, bindings: FieldBindings, feeds: Vec<Feed>) -> Self {
        let TypeSystem { types, directives, query } = type_system;
        let FieldBindings { root, entities, introspection } = bindings;
        Self {
            by_name: (0..).zip(&types).map(|(index, ty)| (ty.name().to_owned(), TypeId(index))).collect(),
            own_types: types.len() - introspection.len(),
            types,
            directives,
            query,
            root,
            entities,
            feeds,
            held: None,
            scoped: Vec::new(),
            introspection,
            description: String::new(),
            sdl: String::new(),
            search_window: SearchWindow::DEFAULT,
            characters: Characters::All,
            places: OnceLock::new(),
        }
    }

    /// The catalog for callers who hold these grants and no others.
    pub(crate) fn with_grants(self, held: GrantSet) -> Self {
        Self { held: Some(held), ..self }
    }

    /// The grants of the callers for whom it is; `None` for callers with all grants.
    pub(crate) fn held(&self) -> Option<GrantSet> {
        self.held
    }

    /// The published SDL: without binding directives, with search and sort keys.
    pub fn sdl(&self) -> &str {
        &self.sdl
    }

    /// The parts and the use of the schema, in Markdown.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// How many rows a search may examine.
    pub fn search_window(&self) -> SearchWindow {
        self.search_window
    }

    /// The characters that the texts of the database can have.
    pub(crate) fn characters(&self) -> &Characters {
        &self.characters
    }

    /// The catalog with another search window.
    #[must_use]
    pub fn with_search_window(self, search_window: SearchWindow) -> Self {
        Self { search_window, ..self }
    }

    /// The catalog for a database that stores its columns in this way.
    #[must_use]
    pub fn with_stored_types(mut self, stored: &StoredTypes) -> Self {
        self.root.iter_mut().for_each(|binding| binding.set_stored_types(stored));
        let relations: Vec<_> = self.entities.iter().map(|entity| entity.relation.clone()).collect();
        self.entities.iter_mut().for_each(|entity| entity.set_stored_types(stored, &relations));
        self.characters = stored.characters.clone();
        self
    }

    /// The schema's own types, in the order of publication.
    pub fn types(&self) -> &[Type] {
        &self.types[..self.own_types]
    }

    /// The ids of all types, also of the types of introspection.
    pub fn type_ids(&self) -> impl Iterator<Item = TypeId> {
        (0..).take(self.types.len()).map(TypeId)
    }

    /// The change feeds of types that have parts, in the order of publication.
    pub fn feeds(&self) -> &[Feed] {
        &self.feeds
    }

    /// The relations whose rows are limited. A relation comes before the relations that lead to it. In this catalog, connections and
    /// objects have the names of these relations that statements with a limit define.
    pub(crate) fn scoped(&self) -> &[ScopedRelation] {
        &self.scoped
    }

    /// The directives of documents and schemas.
    pub fn directives(&self) -> &[Directive] {
        &self.directives
    }

    /// The query root type.
    pub fn query(&self) -> TypeId {
        self.query
    }

    /// The type with that id.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.index()]
    }

    /// The id of the type with that name.
    pub fn named(&self, name: &str) -> Option<TypeId> {
        self.by_name.get(name).copied()
    }

    /// The object type with that id; `None` for scalars and enums.
    pub fn object(&self, id: TypeId) -> Option<&ObjectType> {
        self.get(id).as_object()
    }

    /// The object type of the query root, of an entity or of a field's id.
    fn object_type(&self, id: TypeId) -> &ObjectType {
        match self.get(id) {
            Type::Object(object) => object,
            Type::Scalar(_) | Type::Enum(_) => {
                unreachable!("the ids of fields and entities are made from object types")
            }
        }
    }

    /// The field with that id.
    pub fn field(&self, id: FieldId) -> &Field {
        self.object_type(id.object).field(id.index)
    }

    /// The binding of the field with this id.
    pub fn binding(&self, id: FieldId) -> Binding<'_> {
        self.binding_in(self.object_type(id.object), id.index)
    }

    fn binding_in(&self, object: &ObjectType, index: u16) -> Binding<'_> {
        let index = usize::from(index);
        match object.kind {
            ObjectKind::Root => Binding::Root(&self.root[index]),
            ObjectKind::Entity(id) => Binding::Entity(&self.entity(id).bindings[index]),
            ObjectKind::Connection => Binding::Connection(ConnectionField::ALL[index]),
            ObjectKind::Edge => Binding::Edge(EdgeField::ALL[index]),
            ObjectKind::PageInfo => Binding::PageInfo(PageInfoField::ALL[index]),
            ObjectKind::Totals => Binding::Totals(TotalsField::ALL[index]),
            ObjectKind::Group { keys } => Binding::Group(GroupField::at(index, keys)),
            ObjectKind::Introspection => Binding::Introspection,
        }
    }

    /// The field of the query root with that index.
    pub(crate) fn root_field(&self, index: u16) -> (&Field, &RootBinding) {
        (self.object_type(self.query).field(index), &self.root[usize::from(index)])
    }

    /// The field of an entity with that index.
    pub(crate) fn entity_field(&self, id: EntityId, index: u16) -> (&Field, &EntityBinding) {
        (self.entity_type(id).field(index), &self.entity(id).bindings[usize::from(index)])
    }

    /// The field of an introspection type with that id.
    pub(crate) fn meta_field(&self, id: FieldId) -> MetaField {
        self.introspection[id.object.index() - self.own_types][usize::from(id.index)]
    }

    /// The published fields of the query root, in the order of publication.
    pub(crate) fn root_fields(&self) -> impl Iterator<Item = (&Field, &RootBinding)> {
        self.object_type(self.query).fields.iter().zip(&self.root)
    }

    /// The table or view that a type is bound to.
    pub fn entity(&self, id: EntityId) -> &Entity {
        &self.entities[usize::from(id.index)]
    }

    /// The objects that a path leads through from a row of the type, and its column.
    pub fn follow<'a>(&'a self, from: EntityId, path: &FieldPath) -> (Vec<&'a One>, &'a Column) {
        let mut objects = Vec::with_capacity(path.objects.len());
        let mut entity = from;
        for index in &path.objects {
            if let (_, EntityBinding::One(one)) = self.entity_field(entity, *index) {
                objects.push(one);
                entity = one.target;
            }
        }
        match self.entity_field(entity, path.column) {
            (_, EntityBinding::Column(column)) => (objects, column),
            _ => unreachable!("paths are made from the fields of columns"),
        }
    }

    /// The type that is bound to a table or view.
    pub(crate) fn entity_type(&self, id: EntityId) -> &ObjectType {
        self.object_type(id.ty)
    }

    /// The types that are bound to tables and views, in the order of publication.
    pub fn entities(&self) -> impl Iterator<Item = (&ObjectType, &Entity)> {
        self.types().iter().filter_map(Type::as_object).filter_map(|object| match object.kind {
            ObjectKind::Entity(id) => Some((object, self.entity(id))),
            _ => None,
        })
    }

    /// The published fields of an object type of this catalog, in the order of publication.
    pub fn fields_of<'a>(&'a self, object: &'a ObjectType) -> impl Iterator<Item = (&'a Field, Binding<'a>)> {
        (0..).zip(&object.fields).map(|(index, field)| (field, self.binding_in(object, index)))
    }

    /// Every field of the schema's own object types, in the order of publication.
    pub fn fields(&self) -> impl Iterator<Item = (&ObjectType, &Field, Binding<'_>)> {
        let objects = self.types().iter().filter_map(Type::as_object);
        objects.flat_map(|object| self.fields_of(object).map(move |(field, binding)| (object, field, binding)))
    }
}

impl TypeRef {
    /// The type reference in SDL notation.
    pub fn display(&self, catalog: &Catalog) -> String {
        match self {
            Self::Named(id) => catalog.get(*id).name().to_owned(),
            Self::List(inner) => format!("[{}]", inner.display(catalog)),
            Self::NonNull(inner) => format!("{}!", inner.display(catalog)),
        }
    }
}
