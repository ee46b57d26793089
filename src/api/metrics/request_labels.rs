//! The labels that distinguish requests in metrics. Clients can invent methods and paths, so unknown ones share a value.

use hyper::Method;

use crate::api::route::Route;
use crate::error::code::ErrorCode;
use crate::telemetry::metrics::label::Label;

/// A request's method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestMethod {
    Get,
    Head,
    Post,
    Put,
    Delete,
    Options,
    Patch,
    /// Another one.
    Other,
    /// The label of a request whose head cannot be parsed.
    Unreadable,
}

impl RequestMethod {
    /// The name in the log.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
            Self::Patch => "PATCH",
            Self::Other => "other",
            Self::Unreadable => "none",
        }
    }
}

impl From<&Method> for RequestMethod {
    fn from(method: &Method) -> Self {
        match *method {
            Method::GET => Self::Get,
            Method::HEAD => Self::Head,
            Method::POST => Self::Post,
            Method::PUT => Self::Put,
            Method::DELETE => Self::Delete,
            Method::OPTIONS => Self::Options,
            Method::PATCH => Self::Patch,
            _ => Self::Other,
        }
    }
}

impl Label for RequestMethod {
    const NAME: &'static str = "http_request_method";
    const COUNT: usize = 8;

    fn index(self) -> usize {
        (self as usize).min(Self::Other as usize)
    }

    fn text(index: usize) -> &'static str {
        ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "_OTHER"][index]
    }
}

/// The endpoint, by its path; none for other paths.
impl Label for Option<Route> {
    const NAME: &'static str = "http_route";
    const COUNT: usize = Route::ALL.len() + 1;

    fn index(self) -> usize {
        self.map_or(Route::ALL.len(), |route| route as usize)
    }

    fn text(index: usize) -> &'static str {
        Route::ALL.get(index).map_or("", |route| route.path())
    }
}

/// A response's status; none if the client was gone before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResponseStatus(pub(crate) Option<u16>);

/// The statuses of the service's responses.
const STATUSES: [(u16, &str); 24] = [
    (200, "200"),
    (204, "204"),
    (304, "304"),
    (400, "400"),
    (401, "401"),
    (403, "403"),
    (404, "404"),
    (405, "405"),
    (406, "406"),
    (408, "408"),
    (409, "409"),
    (410, "410"),
    (413, "413"),
    (414, "414"),
    (415, "415"),
    (422, "422"),
    (429, "429"),
    (431, "431"),
    (500, "500"),
    (501, "501"),
    (503, "503"),
    (504, "504"),
    (505, "505"),
    (0, "other"),
];

impl Label for ResponseStatus {
    const NAME: &'static str = "http_response_status_code";
    const COUNT: usize = STATUSES.len() + 1;

    fn index(self) -> usize {
        let Self(Some(status)) = self else { return STATUSES.len() };
        STATUSES.iter().position(|(known, _)| *known == status).unwrap_or(STATUSES.len() - 1)
    }

    fn text(index: usize) -> &'static str {
        STATUSES.get(index).map_or("", |(_, text)| text)
    }
}

impl Label for ErrorCode {
    const NAME: &'static str = "code";
    const COUNT: usize = Self::ALL.len();

    fn index(self) -> usize {
        self as usize
    }

    fn text(index: usize) -> &'static str {
        Self::ALL[index].as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::listener_kind::ListenerKind;

    #[test]
    fn every_value_has_a_text() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::text(code.index()), code.as_str());
            assert_eq!(ResponseStatus::text(ResponseStatus(Some(code.status())).index()), code.status().to_string());
        }
        for route in Route::ALL {
            assert_eq!(<Option<Route>>::text(Some(route).index()), route.path());
        }
        for method in [Method::GET, Method::PATCH] {
            assert_eq!(RequestMethod::text(RequestMethod::from(&method).index()), method.as_str());
        }
        for listener in ListenerKind::ALL {
            assert_eq!(ListenerKind::text(listener.index()), listener.name());
        }
    }

    #[test]
    fn invented_values_share_one() {
        let method = Method::from_bytes(b"INVENTED").unwrap();
        assert_eq!(RequestMethod::text(RequestMethod::from(&method).index()), "_OTHER");
        assert_eq!(RequestMethod::text(RequestMethod::Unreadable.index()), "_OTHER");
        assert_eq!(ResponseStatus::text(ResponseStatus(Some(299)).index()), "other");
        assert_eq!(
            (ResponseStatus::text(ResponseStatus(None).index()), <Option<Route>>::text(None::<Route>.index())),
            ("", "")
        );
    }
}
