//! The end of systemd's notification socket.

use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use crate::support::test_folder::TestFolder;

/// A test that waits longer than this for a notification has failed. No test measures it.
const TIMEOUT: Duration = Duration::from_mins(1);

/// What a server tells its service manager.
pub struct ServiceManager {
    socket: UnixDatagram,
    /// The value of `NOTIFY_SOCKET`.
    pub path: String,
    pub folder: TestFolder,
}

impl ServiceManager {
    /// Listens in a folder of its own. `name` is unique among all tests.
    pub fn start(name: &str) -> Self {
        let folder = TestFolder::create(name);
        let path = folder.path().join("notify.sock");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_read_timeout(Some(TIMEOUT)).unwrap();
        Self { socket, path: path.display().to_string(), folder }
    }

    /// Waits for a notification with that line, and returns it.
    pub fn wait_for(&self, line: &str) -> String {
        let mut before = Vec::new();
        loop {
            let mut buffer = [0; 1000];
            let length =
                self.socket.recv(&mut buffer).unwrap_or_else(|error| panic!("{error}: {line} after {before:?}"));
            let notification = String::from_utf8(buffer[..length].to_vec()).unwrap();
            if notification.lines().any(|found| found.starts_with(line)) {
                return notification;
            }
            before.push(notification);
        }
    }
}
