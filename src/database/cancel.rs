//! Cancelling the statements of a connection whose result is no longer wanted.

use deadpool_postgres::Object;
use tokio::runtime::Handle;
use tokio::time;
use tokio_postgres::NoTls;

use crate::database::options::CONNECT_TIMEOUT;
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// Removes a connection from its pool, cancels its statements and closes it. The connection is not used again, because a
/// cancellation may arrive late and would then cancel a later statement.
pub(super) fn abandon(connection: Object) {
    let client = Object::take(connection);
    if client.is_closed() {
        return;
    }
    // Outside a runtime the process is ending, and dropping the client closes the connection.
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(async move {
            // A server that does not answer must not collect waiting tasks and their sockets.
            match time::timeout(CONNECT_TIMEOUT, client.cancel_token().cancel_query(NoTls)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => emit(&Event::CancelFailed { error: &error }),
                Err(timeout) => emit(&Event::CancelFailed { error: &timeout }),
            }
        });
    }
}
