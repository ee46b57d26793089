//! A proxy before PostgreSQL that delivers every byte later, as a network would. Threads, because the shortest sleep of an
//! asynchronous runtime is a millisecond.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{BenchError, Result};

/// Listens on a port of its own. Runs until the program ends.
pub fn start(socket: &Path, delay: Duration) -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(BenchError::io("listen"))?;
    let address = listener.local_addr().map_err(BenchError::io("listen"))?;
    let socket = PathBuf::from(socket);
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            if let Err(error) = join(&client, &socket, delay) {
                eprintln!("the proxy cannot connect to {}: {error}", socket.display());
            }
        }
    });
    Ok(address)
}

/// Connects to PostgreSQL, and moves the bytes of both directions.
fn join(client: &TcpStream, socket: &Path, delay: Duration) -> io::Result<()> {
    client.set_nodelay(true)?;
    let server = UnixStream::connect(socket)?;
    let (from_client, from_server) = (client.try_clone()?, server.try_clone()?);
    let (to_client, to_server) = (client.try_clone()?, server);
    forward(from_client, to_server, delay, |server| server.shutdown(Shutdown::Write));
    forward(from_server, to_client, delay, |client| client.shutdown(Shutdown::Write));
    Ok(())
}

/// Moves the bytes of one direction. A delay does not hold up the bytes that follow.
fn forward<R, W>(mut from: R, mut to: W, delay: Duration, end: fn(&W) -> io::Result<()>)
where
    R: Read + Send + 'static,
    W: Write + Send + 'static,
{
    let (sender, receiver) = mpsc::channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if sender.send((Instant::now() + delay, buffer[..count].to_vec())).is_err() {
                return;
            }
        }
    });
    thread::spawn(move || {
        for (due, bytes) in receiver {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                return;
            }
        }
        // The other side is gone if this fails.
        let _ = end(&to);
    });
}
