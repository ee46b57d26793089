//! Which server a read goes to: the primary, or one of its replicas.
//!
//! - `options`: the servers, and how far a replica may lag
//! - `read_server`: the connections to one server
//! - `samples`, `positions`: how far each server is, and which replicas may be read
//! - `watcher`: asks the servers for that
//! - `caller_positions`: what each caller has written and seen
//! - `rendezvous`: which replica a caller reads from
//! - `read_servers`: all of it together
//!
//! A query, a streamed response and an export each read from one server. It is a replica
//!
//! - that fits the schema, answers, and has replayed all that the primary had written a moment ago;
//! - that has replayed the caller's last order update, and the position that the request asks for;
//! - that is not behind the data that the caller has read elsewhere, so that the pages of a collection do not go back in time.
//!
//! If there is none, it is the primary. The servers are asked how far they are ten times a second, and not for each request: a replica is
//! as far as it was found to be, or farther, because replay only advances. If a caller has seen more than any replica is known to have, the
//! servers are asked at once, and the caller's request waits for 20 ms at most.

mod caller_positions;
pub(crate) mod options;
pub(crate) mod positions;
pub(crate) mod read_server;
pub(crate) mod read_servers;
mod rendezvous;
mod samples;
mod watcher;
