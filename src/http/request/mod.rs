//! Requests: `head` checks a head, `body` reads a body, and `client_address` is where a request comes from.

pub(crate) mod body;
pub(crate) mod client_address;
pub(crate) mod head;
