//! The account of a caller while a response goes on: it may be closed, lose a grant, or get other limits meanwhile.

use std::sync::Arc;

use crate::access::grants::{Artifact, Principal};
use crate::api::errors::access_error::AccessError;
use crate::api::service::Service;
use crate::catalog::grant_set::GrantSet;
use crate::catalog::scope::RowScope;

/// The caller's account as it is now. Fails if it has lost one of the schema's grants that it held when the response began, or sees other
/// rows.
pub(crate) fn current_account(
    service: &Service,
    caller: &Principal,
    grants: GrantSet,
    rows: &RowScope,
) -> Result<Arc<Principal>, AccessError> {
    let account = service.grants.current().principal(&caller.user_id);
    // If `tokens_from` is later, the account is another one of this name, or has a new password.
    let account = account.filter(|account| account.tokens_from <= caller.tokens_from);
    let account = account.ok_or(AccessError::AccountClosed)?;
    if !account.may(Artifact::Graphql) {
        return Err(AccessError::NotGranted { path: Artifact::Graphql.path() });
    }
    if !service.views.held(&account).contains(grants) {
        return Err(AccessError::GrantLost);
    }
    if service.views.rows(&account) == *rows { Ok(account) } else { Err(AccessError::ScopeChanged) }
}
