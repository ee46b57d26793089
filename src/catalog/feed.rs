//! Change feeds: which tables' rows belong to the rows of a type, so that a change of one is a change of the other.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::catalog::binding::Entity;
use crate::catalog::definition::{PartDefinition, TypeDefinition};
use crate::catalog::error::{SchemaError, SchemaErrorKind};
use crate::catalog::ids::EntityId;
use crate::catalog::type_names::TypeNames;

/// The change feed of a type that has parts.
#[derive(Debug)]
pub struct Feed {
    /// The type.
    pub entity: EntityId,
    /// The feed's name: the name of the type in snake case, and `_change`.
    pub name: String,
    /// The relation to read, with its schema: transaction ids in the column `xid`, and the type's key.
    pub table: String,
    /// The type's table.
    pub relation: String,
    /// The column of the type's key.
    pub key: String,
    /// The tables whose rows belong to the type's, the type's own among them. Sorted, each once.
    pub parts: Vec<Part>,
}

/// A table whose rows belong to rows of a feed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// The table's name.
    pub relation: String,
    /// Its column with the key of the feed's row, or with what `through` has.
    pub by: String,
    /// The relation in between, if there is one.
    pub through: Option<Through>,
}

/// A relation that says to which rows of a feed a row belongs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Through {
    /// The relation's name.
    pub relation: String,
    /// The column that equals the column of the part.
    pub to: String,
    /// The column with the key of the feed's row.
    pub key: String,
}

impl Feed {
    /// The argument of the database's function `orderql.make_feed`.
    pub fn definition(&self) -> Value {
        let parts = self.parts.iter().map(|Part { relation, by, through }| match through {
            None => json!({ "relation": relation, "by": by }),
            Some(Through { relation: through, to, key }) => {
                json!({ "relation": relation, "by": by, "through": through, "to": to, "key": key })
            }
        });
        json!({ "feed": self.name, "relation": self.relation, "key": self.key, "parts": parts.collect::<Value>() })
    }
}

/// The most bytes of a type's name in snake case if it has a feed: PostgreSQL's names have 63, and `pk_…_change_indirect` is one.
const LONGEST_TYPE: usize = 44;

/// The name of a type's feed.
fn name(ty: &str) -> String {
    format!("{}_change", super::sdl_reader::snake_case(ty).trim_start_matches('_'))
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
            let own = Part { relation: relation.clone(), by: key.name.clone(), through: None };
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
fn resolve(part: &PartDefinition, own: &str, key: &str) -> Part {
    let PartDefinition { relation, by, through, .. } = part;
    Part {
        relation: relation.clone().unwrap_or_else(|| own.to_owned()),
        by: by.clone(),
        through: through.as_ref().map(|through| Through {
            relation: through.relation.clone(),
            to: through.to.clone().unwrap_or_else(|| by.clone()),
            key: through.key.clone().unwrap_or_else(|| key.to_owned()),
        }),
    }
}
