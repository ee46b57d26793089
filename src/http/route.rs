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
            Self::Public => true,
            Self::Admin => matches!(route, Route::Live | Route::Ready),
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
}

impl Route {
    /// The endpoint at the path. The token operation is there under each path that clients use as their REST base.
    fn of(path: &str) -> Option<Self> {
        match path {
            "/auth/token" | "/rest/auth/token" | "/rest/s1/auth/token" | "/api/auth/token" => Some(Self::Token),
            "/rest/s1/graphql" => Some(Self::Graphql),
            "/api/updateOrder" => Some(Self::UpdateOrder),
            "/rest/s1/graphql/sdl" => Some(Self::Sdl),
            "/.well-known/jwks.json" => Some(Self::Jwks),
            "/health/live" => Some(Self::Live),
            "/health/ready" => Some(Self::Ready),
            _ => None,
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
        }
    }

    /// The endpoint's methods, as in `Allow`.
    pub(crate) const fn allow(self) -> &'static str {
        match self {
            Self::Token | Self::UpdateOrder => "POST, OPTIONS",
            Self::Graphql => "GET, HEAD, POST, OPTIONS",
            Self::Sdl | Self::Jwks | Self::Live | Self::Ready => "GET, HEAD, OPTIONS",
        }
    }

    /// Whether the endpoint has the method. Does not cover `OPTIONS`, which all endpoints have.
    pub(crate) fn allows(self, method: &Method) -> bool {
        let reads = method == Method::GET || method == Method::HEAD;
        match self {
            Self::Token | Self::UpdateOrder => method == Method::POST,
            Self::Graphql => reads || method == Method::POST,
            Self::Sdl | Self::Jwks | Self::Live | Self::Ready => reads,
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
    fn operators_have_the_probes_only() {
        for (path, route) in
            [("/health/live", Some(Route::Live)), ("/health/ready", Some(Route::Ready)), ("/auth/token", None)]
        {
            assert_eq!(Endpoints::Admin.route(path), route, "{path}");
            assert_eq!(Endpoints::Public.route(path), Route::of(path), "{path}");
        }
    }

    #[test]
    fn allow_lists_the_allowed_methods() {
        for route in
            [Route::Token, Route::Graphql, Route::UpdateOrder, Route::Sdl, Route::Jwks, Route::Live, Route::Ready]
        {
            for method in [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
                let allowed = route.allow().split(", ").any(|name| name == method.as_str());
                assert_eq!(route.allows(&method), allowed, "{route:?} {method}");
            }
        }
    }
}
