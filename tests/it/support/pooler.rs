//! A private PgBouncer.

use std::fmt::Write as _;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::support::test_folder::TestFolder;

/// A PgBouncer before all databases of a cluster, which trusts everybody. Dropping it kills the process.
pub struct Pooler {
    program: Child,
    port: u16,
    folder: TestFolder,
}

/// The oldest version that can be used.
pub const OLDEST: (u32, u32) = (1, 21);

/// The version of the installed PgBouncer, as far as it can be compared; `None` where none is installed.
pub fn installed_version() -> Option<(u32, u32)> {
    let output = Command::new("pgbouncer").arg("--version").output();
    let Ok(output) = output else {
        println!("skipped: PgBouncer is not installed");
        return None;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let mut numbers = text.lines().next()?.rsplit(' ').next()?.split('.').map(|number| number.parse().unwrap_or(0));
    Some((numbers.next()?, numbers.next()?))
}

impl Pooler {
    /// Starts it with further lines of its configuration. `name` is unique among all tests.
    pub fn start(name: &str, cluster: &Config, role: &str, settings: &str) -> Self {
        let folder = TestFolder::create(name);
        let [Host::Unix(socket)] = cluster.get_hosts() else { panic!("tests use a Unix socket") };
        let file = folder.path().join("pgbouncer.ini");
        let users = folder.path().join("users.txt");
        fs::write(&users, format!("\"postgres\" \"\"\n\"{role}\" \"\"\n")).unwrap();
        // Somebody else may take the port in between.
        for _ in 0..10 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut text = format!(
                "[databases]\n* = host={} port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
                 unix_socket_dir =\nauth_type = trust\nauth_file = {}\ndefault_pool_size = 10\n",
                socket.display(),
                cluster.get_ports()[0],
                users.display(),
            );
            if is_root() {
                // It does not run as root.
                text += "user = postgres\n";
            }
            writeln!(text, "{settings}").unwrap();
            fs::write(&file, text).unwrap();
            let log = fs::File::create(folder.path().join("log")).unwrap();
            let mut program = Command::new("pgbouncer");
            let program = program.arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
            let mut program = program.spawn().unwrap();
            while program.try_wait().unwrap().is_none() {
                if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    return Self { program, port, folder };
                }
            }
        }
        panic!("PgBouncer does not start: {}", fs::read_to_string(folder.path().join("log")).unwrap());
    }

    /// The value of `--database-url` for a database behind it.
    pub fn address(&self, database: &str, role: &str) -> String {
        format!("host=127.0.0.1 port={} user={role} dbname={database}", self.port)
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().unwrap().stdout.starts_with(b"0")
}
