//! Ending the statements of a connection whose result is no longer wanted.

use std::time::Duration;

use deadpool_postgres::Object;
use tokio::runtime::Handle;
use tokio::time;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::database::address::database_address::CONNECT_TIMEOUT;
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// How long statements may take to end by themselves. Most take a fraction of it.
const ROLLBACK_TIMEOUT: Duration = Duration::from_millis(100);

/// How long a connection stays open for the statement that was cancelled to end.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

/// Ends the transaction of a connection and returns the connection to its pool. If its statements take long, they are
/// cancelled. Clients that disconnect from many short queries cannot empty the pool: to cancel a statement and to replace its
/// connection takes PostgreSQL several times as long as to finish the statement.
pub(in crate::database) fn end(connection: Object, tls: MakeRustlsConnect) {
    if connection.is_closed() {
        return;
    }
    // Outside a runtime the process is ending, and dropping the client closes the connection.
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(async move {
            // It is executed after all statements that were sent before, and the results of those are discarded.
            let rolled_back = time::timeout(ROLLBACK_TIMEOUT, connection.batch_execute("ROLLBACK")).await;
            if !matches!(rolled_back, Ok(Ok(()))) {
                abandon(connection, tls);
            }
        });
    } else {
        drop(Object::take(connection));
    }
}

/// Removes a connection from its pool, cancels its statements and closes it. The connection is not used again, because a
/// cancellation may arrive late and would then cancel a later statement.
pub(in crate::database) fn abandon(connection: Object, tls: MakeRustlsConnect) {
    let client = Object::take(connection);
    if client.is_closed() {
        return;
    }
    // Outside a runtime the process is ending, and dropping the client closes the connection.
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(async move {
            // A server that does not answer must not collect waiting tasks and their sockets.
            match time::timeout(CONNECT_TIMEOUT, client.cancel_token().cancel_query(tls)).await {
                // A pooler forwards no cancellation for a connection that is closed. This is executed after the statement.
                Ok(Ok(())) => drop(time::timeout(CANCEL_TIMEOUT, client.batch_execute("ROLLBACK")).await),
                Ok(Err(error)) => emit(&Event::CancelFailed { error: &error }),
                Err(timeout) => emit(&Event::CancelFailed { error: &timeout }),
            }
        });
    }
}
