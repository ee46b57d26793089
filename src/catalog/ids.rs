//! Ids of the catalog's types and fields, so that later stages hold two bytes instead of a name.

/// A type of a catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub(crate) u16);

impl TypeId {
    /// The type's index in the catalog: the schema's own types come first, then the types of introspection.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A type of a catalog that is bound to a table or view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EntityId {
    pub(crate) ty: TypeId,
    /// The index among the catalog's entities.
    pub(crate) index: u16,
}

impl EntityId {
    /// The type.
    pub fn ty(self) -> TypeId {
        self.ty
    }
}

/// A field of an object type of a catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldId {
    /// The type that declares the field.
    pub object: TypeId,
    /// The field's index, for [`ObjectType::field`](crate::catalog::schema::ObjectType::field).
    pub index: u16,
}
