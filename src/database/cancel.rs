//! Ending what runs on a connection that nobody waits for any more.

use deadpool_postgres::Object;
use tokio::runtime::Handle;
use tokio_postgres::NoTls;

use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// Takes a connection out of its pool, cancels what runs on it and closes it. It is not used again, because a
/// cancellation may arrive late and would then hit whatever runs next.
pub fn abandon(connection: Object) {
    let client = Object::take(connection);
    if client.is_closed() {
        return;
    }
    // Outside a runtime the program is ending, and closing the connection is all that is left to do.
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(async move {
            if let Err(error) = client.cancel_token().cancel_query(NoTls).await {
                emit(&Event::CancelFailed { error: &error });
            }
        });
    }
}
