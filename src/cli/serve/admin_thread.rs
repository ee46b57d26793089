//! The thread of the operators' listener, with a runtime of its own: probes are answered whatever the threads that serve callers
//! do.

use std::sync::Arc;
use std::{io, thread};

use tokio::runtime;
use tokio::sync::oneshot;

use crate::http::handler::{Current, Handler};
use crate::http::listener::Listener;

/// The running thread.
pub(super) struct AdminThread(oneshot::Receiver<()>);

impl AdminThread {
    /// Serves operators until `stop` is ready, and what they have begun by then.
    pub(super) fn start<H: Handler>(
        listener: Listener,
        current: Arc<Current<H>>,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<Self> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let serving = {
            let _entered = runtime.enter();
            listener.serve(current, stop)?
        };
        let (send, ended) = oneshot::channel();
        thread::Builder::new().name("orderql-admin".to_owned()).spawn(move || {
            runtime.block_on(serving);
            // Nobody receives it if the server was given up.
            let _ = send.send(());
        })?;
        Ok(Self(ended))
    }

    /// Completes when the thread has served the last request.
    pub(super) async fn ended(self) -> io::Result<()> {
        self.0.await.map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use futures_util::FutureExt;
    use hyper::{Response, StatusCode};

    use super::*;
    use crate::config::settings::Config;
    use crate::config::values::SettingValues;
    use crate::http::connection::outgoing_body::{DeliveryRecord, OutgoingBody};
    use crate::http::handler::{ArrivedRequest, HttpState};
    use crate::http::listener_kind::ListenerKind;
    use crate::http::memory_budget::MemoryBudget;
    use crate::http::request_error::RequestError;
    use crate::http::response::{HttpResponse, empty_response};
    use crate::http::socket::address::ListenAddress;
    use crate::http::socket::inherited::InheritedSockets;
    use crate::http::socket::listening::BoundSocket;

    /// Responds to everything.
    #[derive(Debug)]
    struct Responder(HttpState);

    #[derive(Debug)]
    struct NoRecord;

    impl DeliveryRecord for NoRecord {
        fn end(&mut self, _: u64, _: u64, _: bool) {}
    }

    impl Handler for Responder {
        type Record = NoRecord;

        fn http(&self) -> &HttpState {
            &self.0
        }

        async fn respond(
            self: Arc<Self>,
            ArrivedRequest { in_flight, .. }: ArrivedRequest,
        ) -> Result<Response<OutgoingBody<NoRecord>>, Infallible> {
            Ok(empty_response(StatusCode::OK).map(|body| OutgoingBody::new(body, in_flight, NoRecord)))
        }

        fn reject(&self, _: RequestError) -> HttpResponse {
            empty_response(StatusCode::BAD_REQUEST)
        }
    }

    #[tokio::test]
    async fn operators_are_answered_while_the_threads_that_serve_callers_are_busy() {
        let options = Config::read(&SettingValues::default()).unwrap().http();
        // No memory for callers.
        let state = HttpState { options, memory: MemoryBudget::new(0, 0), tls: None, is_draining: Arc::default() };
        let address = ListenAddress::parse("127.0.0.1:0").unwrap();
        let socket =
            BoundSocket::bind(&address, ListenerKind::Admin, 0o600, &mut InheritedSockets::take()).await.unwrap();
        let ListenAddress::Tcp(address) = socket.address().clone() else { panic!("it is one of TCP") };
        let (stop, stopped) = oneshot::channel::<()>();
        let listener = Listener::new(socket, ListenerKind::Admin);
        let thread = AdminThread::start(listener, Current::new(Responder(state)), stopped.map(drop)).unwrap();

        // This runtime has one thread, which does nothing else until the response is there.
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
        drop((stream, stop));
        thread.ended().await.unwrap();
        assert!(TcpStream::connect(address).is_err());
    }
}
