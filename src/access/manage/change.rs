//! The part that all changes share: checks of names, and the commit with its audit event.

use serde_json::{Map, Value};
use tokio_postgres::GenericClient;

use crate::access::audit::{self, Action, AuditEvent};
use crate::access::manage::error::{LONGEST_NAME, ManageError, NameKind};
use crate::access::manage::operator::Change;
use crate::nearest::closest;

/// Fails for a name that cannot be sent as a Basic credential, or that looks like another.
pub(super) fn check_name(kind: NameKind, name: &str) -> Result<(), ManageError> {
    let is_valid = (1..=LONGEST_NAME).contains(&name.len())
        && !name.chars().any(|c| c.is_control() || c == ':')
        && name.trim() == name;
    if is_valid { Ok(()) } else { Err(ManageError::BadName { kind, name: name.to_owned() }) }
}

/// The error for an unknown name. It suggests the most similar known one.
pub(super) async fn unknown(client: &impl GenericClient, kind: NameKind, name: &str) -> ManageError {
    let mut names: Vec<String> = match client.query(kind.select_names(), &[]).await {
        Ok(rows) => rows.iter().filter_map(|row| row.try_get(0).ok()).collect(),
        Err(error) => return error.into(),
    };
    names.sort_unstable();
    if kind == NameKind::Artifact {
        return ManageError::UnknownArtifact { path: name.to_owned(), known: names };
    }
    let folded: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let wanted = name.to_lowercase();
    // A third of the letters may be wrong, and one more.
    let max_distance = 1 + wanted.chars().count() / 3;
    let closest = closest(&wanted, folded.iter().map(String::as_str));
    let nearest = closest.filter(|closest| closest.distance <= max_distance);
    let nearest = nearest.map(|closest| names.swap_remove(closest.index));
    ManageError::Unknown { kind, name: name.to_owned(), nearest }
}

/// Fails if nothing has the name.
pub(super) async fn require(client: &impl GenericClient, kind: NameKind, name: &str) -> Result<(), ManageError> {
    let select = format!("SELECT FROM ({}) AS known (name) WHERE name = $1", kind.select_names());
    match client.query_opt(&select, &[&name]).await? {
        Some(_) => Ok(()),
        None => Err(unknown(client, kind, name).await),
    }
}

impl Change<'_> {
    /// Commits it with its audit event. If nothing changed, no event is written. Returns `changed`.
    pub(super) async fn commit<const N: usize>(
        self,
        changed: bool,
        action: Action,
        subject: &str,
        details: [(&str, Value); N],
    ) -> Result<bool, ManageError> {
        if changed {
            let details: Map<_, _> = details.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
            let (actor, subject) = (self.operator.to_owned(), Some(subject.to_owned()));
            let event = AuditEvent { actor, address: None, action, subject, details };
            audit::store(&self.transaction, &[event]).await?;
        }
        self.transaction.commit().await?;
        Ok(changed)
    }
}
