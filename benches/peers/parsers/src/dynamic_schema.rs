//! orderql's schema as a dynamic schema of async-graphql, for its validator.
//!
//! The validator is not public, so that a whole request runs, and an extension ends it after validation.

use std::sync::Arc;

use async_graphql::dynamic::{
    Enum, Field, FieldFuture, InputObject, InputValue, Object, Scalar, Schema, SchemaBuilder, SchemaError, TypeRef,
};
use async_graphql::extensions::{Extension, ExtensionContext, ExtensionFactory, NextValidation};
use async_graphql::{ServerError, ValidationResult};
use async_graphql_parser::parse_schema;
use async_graphql_parser::types::{
    BaseType, FieldDefinition, InputValueDefinition, Type, TypeDefinition, TypeKind, TypeSystemDefinition,
};

/// Builds a schema of scalars, objects, enums and input objects.
pub fn build(sdl: &str) -> Result<Schema, SchemaError> {
    let document = parse_schema(sdl).map_err(|error| SchemaError(error.to_string()))?;
    let mut schema = Schema::build("Query", None, None).extension(EndAfterValidation);
    for definition in document.definitions {
        if let TypeSystemDefinition::Type(definition) = definition {
            schema = register(schema, definition.node);
        }
    }
    schema.finish()
}

/// Parses and validates a document.
pub fn accepts(schema: &Schema, document: &str) -> bool {
    let response = futures_executor::block_on(schema.execute(document));
    response.errors.iter().all(|error| error.message == VALID)
}

/// The error of a request that is valid.
const VALID: &str = "valid";

struct EndAfterValidation;

impl ExtensionFactory for EndAfterValidation {
    fn create(&self) -> Arc<dyn Extension> {
        Arc::new(Self)
    }
}

#[async_graphql::async_trait::async_trait]
impl Extension for EndAfterValidation {
    async fn validation(
        &self,
        context: &ExtensionContext<'_>,
        next: NextValidation<'_>,
    ) -> Result<ValidationResult, Vec<ServerError>> {
        next.run(context).await?;
        Err(vec![ServerError::new(VALID, None)])
    }
}

fn register(schema: SchemaBuilder, definition: TypeDefinition) -> SchemaBuilder {
    let name = definition.name.node.to_string();
    match definition.kind {
        TypeKind::Scalar => schema.register(Scalar::new(name)),
        TypeKind::Object(object) => {
            let fields = object.fields.into_iter().map(|definition| field(definition.node));
            schema.register(fields.fold(Object::new(name), Object::field))
        }
        TypeKind::Enum(values) => {
            let items = values.values.into_iter().map(|value| value.node.value.node.to_string());
            schema.register(items.fold(Enum::new(name), Enum::item))
        }
        TypeKind::InputObject(object) => {
            let fields = object.fields.into_iter().map(|definition| input(definition.node));
            schema.register(fields.fold(InputObject::new(name), InputObject::field))
        }
        // orderql's schema has none.
        TypeKind::Interface(_) | TypeKind::Union(_) => schema,
    }
}

/// A field whose resolver never runs.
fn field(definition: FieldDefinition) -> Field {
    let ty = type_ref(&definition.ty.node);
    let field = Field::new(definition.name.node.to_string(), ty, |_| FieldFuture::from_value(None));
    definition.arguments.into_iter().fold(field, |field, argument| field.argument(input(argument.node)))
}

fn input(definition: InputValueDefinition) -> InputValue {
    let value = InputValue::new(definition.name.node.to_string(), type_ref(&definition.ty.node));
    match definition.default_value {
        Some(default) => value.default_value(default.node),
        None => value,
    }
}

fn type_ref(ty: &Type) -> TypeRef {
    let inner = match &ty.base {
        BaseType::Named(name) => TypeRef::named(name.as_str()),
        BaseType::List(item) => TypeRef::List(Box::new(type_ref(item))),
    };
    if ty.nullable { inner } else { TypeRef::NonNull(Box::new(inner)) }
}
