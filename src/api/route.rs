//! The endpoints: their paths and methods, and which of them a listener has.

use hyper::Method;

use crate::api::console_mode::ConsoleMode;
use crate::http::listener_kind::ListenerKind;

/// Whether the listener has the console.
pub(crate) fn has_console(listener: ListenerKind, console: ConsoleMode) -> bool {
    console
        == match listener {
            ListenerKind::Public => ConsoleMode::On,
            ListenerKind::Admin => ConsoleMode::Admin,
        }
}

/// The listener's endpoint at the path.
pub(crate) fn find(listener: ListenerKind, path: &str, console: ConsoleMode) -> Option<Route> {
    let has_console = has_console(listener, console);
    // Some clients end every path with a slash.
    Route::of(path).or_else(|| Route::of(path.strip_suffix('/')?)).filter(|route| match route {
        // The root leads to the console.
        Route::Console | Route::Root => has_console,
        Route::Live | Route::Ready => true,
        Route::Metrics | Route::Settings => listener == ListenerKind::Admin,
        // The console calls these, and only where it came from.
        Route::Token | Route::Graphql | Route::Sdl => listener == ListenerKind::Public || has_console,
        Route::UpdateOrder | Route::Jwks => listener == ListenerKind::Public,
    })
}

/// An endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// The token operation.
    Token,
    /// The GraphQL endpoint.
    Graphql,
    /// The order update.
    UpdateOrder,
    /// The schema's SDL.
    Sdl,
    /// The files of the console.
    Console,
    /// Leads browsers to the console.
    Root,
    /// The public keys of tokens.
    Jwks,
    /// The liveness probe.
    Live,
    /// The readiness probe.
    Ready,
    Metrics,
    /// The settings in force.
    Settings,
}

impl Route {
    /// All endpoints, in the order of their declaration.
    pub(crate) const ALL: [Self; 11] = [
        Self::Token,
        Self::Graphql,
        Self::UpdateOrder,
        Self::Sdl,
        Self::Console,
        Self::Root,
        Self::Jwks,
        Self::Live,
        Self::Ready,
        Self::Metrics,
        Self::Settings,
    ];

    /// The endpoint at the path. The token operation is there under each path that clients use as their REST base.
    fn of(path: &str) -> Option<Self> {
        match path {
            "/auth/token" | "/rest/auth/token" | "/rest/s1/auth/token" | "/api/auth/token" => Some(Self::Token),
            "/rest/s1/graphql" => Some(Self::Graphql),
            "/api/updateOrder" => Some(Self::UpdateOrder),
            // Tools that take a URL of a schema decide by its ending.
            "/rest/s1/graphql/sdl" | "/rest/s1/graphql/schema.graphql" => Some(Self::Sdl),
            "/" => Some(Self::Root),
            "/.well-known/jwks.json" => Some(Self::Jwks),
            "/health/live" => Some(Self::Live),
            "/health/ready" => Some(Self::Ready),
            "/metrics" => Some(Self::Metrics),
            "/config" => Some(Self::Settings),
            _ => path.starts_with(Self::Console.path()).then_some(Self::Console),
        }
    }

    /// The endpoint's path; of several, the first, and of the console's files what their paths begin with.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Token => "/auth/token",
            Self::Graphql => "/rest/s1/graphql",
            Self::UpdateOrder => "/api/updateOrder",
            Self::Sdl => "/rest/s1/graphql/sdl",
            Self::Console => "/rest/s1/graphql/console/",
            Self::Root => "/",
            Self::Jwks => "/.well-known/jwks.json",
            Self::Live => "/health/live",
            Self::Ready => "/health/ready",
            Self::Metrics => "/metrics",
            Self::Settings => "/config",
        }
    }

    /// The endpoint's name in the log.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Graphql => "graphql",
            Self::UpdateOrder => "updateOrder",
            Self::Sdl => "sdl",
            Self::Console => "console",
            Self::Root => "root",
            Self::Jwks => "jwks",
            Self::Live => "live",
            Self::Ready => "ready",
            Self::Metrics => "metrics",
            Self::Settings => "config",
        }
    }

    /// The endpoint's methods, as in `Allow`.
    pub(crate) const fn allow(self) -> &'static str {
        match self {
            Self::Token | Self::UpdateOrder => "POST, OPTIONS",
            Self::Graphql => "GET, HEAD, POST, OPTIONS",
            Self::Sdl
            | Self::Console
            | Self::Root
            | Self::Jwks
            | Self::Live
            | Self::Ready
            | Self::Metrics
            | Self::Settings => "GET, HEAD, OPTIONS",
        }
    }

    /// Whether the endpoint is for operators, and answers at once from the server's memory.
    pub(crate) const fn is_for_operators(self) -> bool {
        match self {
            Self::Live | Self::Ready | Self::Metrics | Self::Settings => true,
            Self::Token | Self::Graphql | Self::UpdateOrder | Self::Sdl | Self::Console | Self::Root | Self::Jwks => {
                false
            }
        }
    }

    /// Whether the endpoint has the method. Does not cover `OPTIONS`, which all endpoints have.
    pub(crate) fn allows(self, method: &Method) -> bool {
        let reads = method == Method::GET || method == Method::HEAD;
        match self {
            Self::Token | Self::UpdateOrder => method == Method::POST,
            Self::Graphql => reads || method == Method::POST,
            Self::Sdl
            | Self::Console
            | Self::Root
            | Self::Jwks
            | Self::Live
            | Self::Ready
            | Self::Metrics
            | Self::Settings => reads,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODES: [ConsoleMode; 3] = [ConsoleMode::On, ConsoleMode::Admin, ConsoleMode::Off];

    #[test]
    fn paths_are_exact() {
        assert_eq!(Route::of("/rest/s1/graphql"), Some(Route::Graphql));
        for path in
            ["", "//", "*", "/rest/s1/graphql/", "//rest/s1/graphql", "/REST/s1/graphql", "/rest/s1/graphql/sdl/x"]
        {
            assert_eq!(Route::of(path), None, "{path}");
        }
    }

    #[test]
    fn each_listener_has_its_endpoints_and_both_have_the_probes() {
        for (route, console) in Route::ALL.into_iter().flat_map(|route| MODES.map(|console| (route, console))) {
            let [public, admin] = ListenerKind::ALL.map(|listener| find(listener, route.path(), console));
            let is_probe = matches!(route, Route::Live | Route::Ready);
            let is_for_operators = matches!(route, Route::Metrics | Route::Settings);
            let is_called = matches!(route, Route::Token | Route::Graphql | Route::Sdl);
            let is_console = matches!(route, Route::Console | Route::Root);
            let is_public = if is_console { console == ConsoleMode::On } else { !is_for_operators };
            let is_admin = is_for_operators || is_probe || (console == ConsoleMode::Admin && (is_called || is_console));
            assert_eq!((public.is_some(), admin.is_some()), (is_public, is_admin), "{route:?} {console:?}");
            assert!([public, admin].into_iter().flatten().all(|found| found == route));
        }
    }

    #[test]
    fn allow_lists_the_allowed_methods() {
        for route in Route::ALL {
            for method in [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
                let allowed = route.allow().split(", ").any(|name| name == method.as_str());
                assert_eq!(route.allows(&method), allowed, "{route:?} {method}");
            }
        }
    }
}
