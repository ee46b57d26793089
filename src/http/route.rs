//! The endpoints: their paths and methods, and which of them a listener has.

use hyper::Method;

/// The endpoints of a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoints {
    /// All that callers use, and the probes.
    Public,
    /// Those of the operators, which respond however busy the others are.
    Admin,
}

impl Endpoints {
    /// The name in the log.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Admin => "admin",
        }
    }

    /// The endpoint at the path.
    pub(crate) fn route(self, path: &str) -> Option<Route> {
        Route::of(path).filter(|route| match self {
            Self::Public => !matches!(route, Route::Metrics | Route::Settings),
            Self::Admin => matches!(route, Route::Live | Route::Ready | Route::Metrics | Route::Settings),
        })
    }
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
    /// The public keys of tokens.
    Jwks,
    /// The liveness probe.
    Live,
    /// The readiness probe.
    Ready,
    /// The metrics.
    Metrics,
    /// The settings in force.
    Settings,
}

impl Route {
    /// All endpoints, in the order of their declaration.
    pub(crate) const ALL: [Self; 9] = [
        Self::Token,
        Self::Graphql,
        Self::UpdateOrder,
        Self::Sdl,
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
            "/.well-known/jwks.json" => Some(Self::Jwks),
            "/health/live" => Some(Self::Live),
            "/health/ready" => Some(Self::Ready),
            "/metrics" => Some(Self::Metrics),
            "/config" => Some(Self::Settings),
            _ => None,
        }
    }

    /// The endpoint's path; of several, the first.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Token => "/auth/token",
            Self::Graphql => "/rest/s1/graphql",
            Self::UpdateOrder => "/api/updateOrder",
            Self::Sdl => "/rest/s1/graphql/sdl",
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
            Self::Sdl | Self::Jwks | Self::Live | Self::Ready | Self::Metrics | Self::Settings => "GET, HEAD, OPTIONS",
        }
    }

    /// Whether the endpoint has the method. Does not cover `OPTIONS`, which all endpoints have.
    pub(crate) fn allows(self, method: &Method) -> bool {
        let reads = method == Method::GET || method == Method::HEAD;
        match self {
            Self::Token | Self::UpdateOrder => method == Method::POST,
            Self::Graphql => reads || method == Method::POST,
            Self::Sdl | Self::Jwks | Self::Live | Self::Ready | Self::Metrics | Self::Settings => reads,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_exact() {
        assert_eq!(Route::of("/rest/s1/graphql"), Some(Route::Graphql));
        for path in
            ["", "/", "*", "/rest/s1/graphql/", "//rest/s1/graphql", "/REST/s1/graphql", "/rest/s1/graphql/sdl/x"]
        {
            assert_eq!(Route::of(path), None, "{path}");
        }
    }

    #[test]
    fn each_listener_has_its_endpoints_and_both_have_the_probes() {
        for route in Route::ALL {
            let [public, admin] = [Endpoints::Public, Endpoints::Admin].map(|endpoints| endpoints.route(route.path()));
            let is_probe = matches!(route, Route::Live | Route::Ready);
            let is_for_operators = matches!(route, Route::Metrics | Route::Settings);
            assert_eq!(public, (!is_for_operators).then_some(route));
            assert_eq!(admin, (is_for_operators || is_probe).then_some(route));
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
