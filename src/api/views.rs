//! The views of the served schema. Callers with the same grants and scopes of the schema file share a view. The view of a request is chosen
//! once, before its query is compiled: from the text to the rows, no stage looks at grants. The values of scopes are parameters of the
//! request's statement. A response that lasts compares the caller's grants with its view again, between its parts (`current_account`).
//!
//! The views of callers with all grants and with none are made when the schema is read. The others are made when somebody needs
//! them, off the threads that serve.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::access::grants::Principal;
use crate::api::cpu_tasks::CpuTasks;
use crate::api::errors::api_error::ApiError;
use crate::api::errors::service_error::ServiceError;
use crate::api::sdl_document::SdlDocument;
use crate::catalog::Catalog;
use crate::catalog::grant_set::GrantSet;
use crate::catalog::scope::{RowScope, ScopeSet};
use crate::catalog::stored_type::StoredTypes;
use crate::compile::compiler::Compiler;
use crate::outline::Outline;
use crate::schema_file::SchemaFile;
use crate::schema_file::error::SchemaError;

/// Views that are kept beside the two that are made at the start. The views that were not used for longest are dropped.
const MAX_VIEWS: usize = 64;

/// The schema for callers who hold the same grants and are limited by the same scopes.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) grants: GrantSet,
    limiting: ScopeSet,
    pub(crate) compiler: Arc<Compiler>,
    sdl: Arc<OnceLock<SdlDocument>>,
    short_sdl: Arc<OnceLock<SdlDocument>>,
    /// The rows that the caller sees.
    pub(crate) rows: RowScope,
}

/// The grants that are held, and the scopes that limit the rows.
type ViewKey = (GrantSet, ScopeSet);

/// The views of a schema.
#[derive(Debug)]
pub(crate) struct Views {
    file: SchemaFile,
    stored: StoredTypes,
    /// The view of callers who hold all grants, and whom no scope limits.
    whole: Arc<View>,
    /// The view without grants, of all rows.
    public: Arc<View>,
    /// The other views. The view that was used last is at the end.
    others: Mutex<VecDeque<Arc<View>>>,
}

impl View {
    fn new((grants, limiting): ViewKey, compiler: Compiler) -> Arc<Self> {
        let (sdl, short_sdl, rows) = Default::default();
        Self { grants, limiting, compiler: compiler.into(), sdl, short_sdl, rows }.into()
    }

    fn is_for(&self, (grants, limiting): ViewKey) -> bool {
        self.grants == grants && self.limiting == limiting
    }

    /// The published text.
    pub(crate) fn sdl(&self) -> &SdlDocument {
        self.sdl.get_or_init(|| SdlDocument::new(self.compiler.catalog().sdl().to_owned()))
    }

    /// The published text without descriptions.
    pub(crate) fn short_sdl(&self) -> &SdlDocument {
        self.short_sdl.get_or_init(|| {
            let whole = self.compiler.catalog().sdl();
            // The published SDL can be read. If it could not, there would be nothing to shorten.
            SdlDocument::new(Outline::parse(whole).map_or_else(|_| whole.to_owned(), |outline| outline.short_sdl()))
        })
    }
}

impl Views {
    /// The views of a schema file with this catalog, for a database that stores columns so.
    pub(crate) fn new(
        file: SchemaFile,
        catalog: Arc<Catalog>,
        stored: StoredTypes,
        cache_bytes: usize,
    ) -> Result<Self, SchemaError> {
        let (all, none) = (file.all_grants(), GrantSet::default());
        let unlimited = ScopeSet::default();
        let whole = View::new((all, unlimited), Compiler::new(catalog, cache_bytes));
        let public =
            if all == none { Arc::clone(&whole) } else { make(&file, &stored, &whole.compiler, (none, unlimited))? };
        Ok(Self { file, stored, whole, public, others: Mutex::default() })
    }

    /// The catalog for callers who hold all grants.
    pub(crate) fn whole(&self) -> &View {
        &self.whole
    }

    /// The view without grants.
    pub(crate) fn public(&self) -> &View {
        &self.public
    }

    /// The grants of the schema that the caller holds.
    pub(crate) fn held(&self, caller: &Principal) -> GrantSet {
        self.file.held(|name| caller.holds(name))
    }

    /// The rows that the caller sees.
    pub(crate) fn rows(&self, caller: &Principal) -> RowScope {
        let scopes = self.file.scopes().iter();
        RowScope::new(scopes.map(|scope| (scope.as_str(), caller.values_in(scope))), caller.secret)
    }

    /// The caller's values in a scope, if the schema has one of that name and it limits the caller.
    pub(crate) fn values_in(&self, caller: &Principal, scope: &str) -> Option<Vec<String>> {
        self.file.scopes().iter().find(|name| *name == scope)?;
        Some(caller.values_in(scope)?.into_iter().map(str::to_owned).collect())
    }

    /// The view of a caller. Waits until it is made, if no request had the same view lately.
    pub(crate) async fn of(self: &Arc<Self>, tasks: &CpuTasks, caller: &Principal) -> Result<Arc<View>, ApiError> {
        let rows = self.rows(caller);
        let key = (self.held(caller), rows.limiting());
        let view = match self.known(key) {
            Some(view) => view,
            // Boxed, so that the futures of other requests stay small.
            None => Box::pin(self.make(tasks, caller, key)).await?,
        };
        Ok(if key.1.is_empty() { view } else { Arc::new(View { rows: rows.for_request(), ..View::clone(&view) }) })
    }

    /// The view for these grants and scopes, if it has been made.
    fn known(&self, key: ViewKey) -> Option<Arc<View>> {
        for view in [&self.whole, &self.public] {
            if view.is_for(key) {
                return Some(Arc::clone(view));
            }
        }
        let mut others = self.others();
        let index = others.iter().rposition(|view| view.is_for(key))?;
        let view = others.remove(index)?;
        others.push_back(Arc::clone(&view));
        Some(view)
    }

    async fn make(self: &Arc<Self>, tasks: &CpuTasks, caller: &Principal, key: ViewKey) -> Result<Arc<View>, ApiError> {
        let views = Arc::clone(self);
        let work = move || views.known(key).map_or_else(|| views.insert(key), Ok);
        let made = tasks.run(&caller.user_id, caller.limits.deadline, work).await?;
        Ok(made.map_err(|error| ServiceError::Unavailable(error.into()))?)
    }

    /// Makes a view, and keeps it.
    fn insert(&self, key: ViewKey) -> Result<Arc<View>, SchemaError> {
        let view = make(&self.file, &self.stored, &self.whole.compiler, key)?;
        let mut others = self.others();
        others.retain(|other| !other.is_for(key));
        others.push_back(Arc::clone(&view));
        if others.len() > MAX_VIEWS {
            others.pop_front();
        }
        Ok(view)
    }

    /// A panic elsewhere cannot leave them inconsistent.
    fn others(&self) -> MutexGuard<'_, VecDeque<Arc<View>>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a view beside the view of callers who hold all grants.
fn make(
    file: &SchemaFile,
    stored: &StoredTypes,
    whole: &Compiler,
    (held, limiting): ViewKey,
) -> Result<Arc<View>, SchemaError> {
    let catalog = file.view(held)?.with_search_window(whole.catalog().search_window()).with_stored_types(stored);
    Ok(View::new((held, limiting), whole.for_view(file.limit(catalog, limiting).into())))
}
