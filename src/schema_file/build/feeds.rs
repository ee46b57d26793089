//! The change feeds that the types of a schema file declare.

use std::collections::BTreeMap;

use crate::catalog::binding::Entity;
use crate::catalog::feed::{Feed, FeedPart, Through};
use crate::catalog::ids::EntityId;
use crate::schema_file::build::type_names::TypeNames;
use crate::schema_file::definition::{PartDefinition, TypeDefinition};
use crate::schema_file::error::{SchemaError, SchemaErrorKind};
use crate::schema_file::sdl_reader::snake_case;

/// The most bytes of a type's name in snake case if it has a feed: PostgreSQL's names have 63, and `pk_…_change_indirect` is one.
const LONGEST_TYPE: usize = 44;

/// The name of a type's feed.
fn name(ty: &str) -> String {
    format!("{}_change", snake_case(ty).trim_start_matches('_'))
}

/// The relation to read of a type's feed.
pub(super) fn relation_of(ty: &str) -> String {
    format!("orderql.{}", name(ty))
}

/// The feeds that types declare, in the order of publication.
pub(super) fn build(
    types: &[TypeDefinition],
    names: &TypeNames<'_>,
    entities: &[Entity],
    entity_id: impl Fn(&str) -> Option<EntityId>,
) -> Result<Vec<Feed>, SchemaError> {
    let mut parts: BTreeMap<&str, Vec<(&PartDefinition, &str)>> = BTreeMap::new();
    for ty in types {
        let own = ty.relation.as_ref().map_or("", |relation| relation.name.as_str());
        for part in &ty.parts {
            if names.object(&part.of).is_none() {
                return Err(SchemaError::new(part.position, SchemaErrorKind::UnknownType(part.of.clone())));
            }
            parts.entry(&part.of).or_default().push((part, own));
        }
    }
    let owners = types.iter().filter_map(|ty| Some((ty, parts.remove(ty.name.as_str())?)));
    owners
        .map(|(ty, parts)| {
            let error = || SchemaError::new(ty.position, SchemaErrorKind::FeedWithoutKey(ty.name.clone()));
            let entity = entity_id(&ty.name).ok_or_else(error)?;
            let Entity { relation, key, .. } = &entities[usize::from(entity.index)];
            let [key] = key.as_slice() else { return Err(error()) };
            let own = FeedPart { relation: relation.clone(), by: key.name.clone(), through: None };
            let mut parts: Vec<_> = parts.into_iter().map(|(part, of)| resolve(part, of, &key.name)).collect();
            parts.push(own);
            parts.sort();
            parts.dedup();
            let (name, table) = (name(&ty.name), relation_of(&ty.name));
            if name.len() > LONGEST_TYPE + "_change".len() {
                return Err(SchemaError::new(
                    ty.position,
                    SchemaErrorKind::LongFeedName { ty: ty.name.clone(), longest: LONGEST_TYPE },
                ));
            }
            Ok(Feed { entity, name, table, relation: relation.clone(), key: key.name.clone(), parts })
        })
        .collect()
}

/// A part with its defaults.
fn resolve(part: &PartDefinition, own: &str, key: &str) -> FeedPart {
    let PartDefinition { relation, by, through, .. } = part;
    FeedPart {
        relation: relation.clone().unwrap_or_else(|| own.to_owned()),
        by: by.clone(),
        through: through.as_ref().map(|through| Through {
            relation: through.relation.clone(),
            to: through.to.clone().unwrap_or_else(|| by.clone()),
            key: through.key.clone().unwrap_or_else(|| key.to_owned()),
        }),
    }
}
