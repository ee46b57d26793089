//! Unix sockets, and sockets that a service manager has opened.

use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};

use crate::support::command::{orderql_on, run};
use crate::support::database::{Database, migrated_database};
use crate::support::test_folder::TestFolder;

/// A server that listens. Killed when dropped.
struct Program(Child);

impl Program {
    /// Waits until the program has logged that it listens on that address.
    fn listening(mut command: Command, address: &str) -> Self {
        let mut program = Self(command.stderr(Stdio::piped()).spawn().unwrap());
        let log = BufReader::new(program.0.stderr.take().unwrap());
        let expected = format!(r#""address":"{address}","endpoints":"public""#);
        let mut read = Vec::new();
        for line in log.lines() {
            read.push(line.unwrap());
            if read.last().unwrap().contains(&expected) {
                return program;
            }
        }
        panic!("{read:#?}");
    }

    fn terminate(mut self) {
        assert!(Command::new("kill").arg(self.0.id().to_string()).status().unwrap().success());
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(database: &Database, folder: &TestFolder, flags: &[&str]) -> Command {
    let mut command = orderql_on(database);
    command.args(["serve", "--log-format", "json", "--key-folder"]).arg(folder.path().join("keys")).args(flags);
    command
}

/// The status line of the response to a probe.
fn probe(mut stream: impl Read + Write) -> String {
    stream.write_all(b"GET /health/ready HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response.lines().next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn listens_on_a_unix_socket_with_its_permissions() {
    let (database, folder) = (migrated_database().await, TestFolder::create("unix-socket"));
    let path = folder.path().join("orderql.sock");
    let address = format!("unix:{}", path.display());
    // A socket of a server that has crashed.
    drop(UnixListener::bind(&path).unwrap());
    let flags = ["--listen", &address, "--listen-mode", "0600"];
    let program = Program::listening(serve(&database, &folder, &flags), &address);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(probe(UnixStream::connect(&path).unwrap()), "HTTP/1.1 200 OK");

    // Nobody takes the place of a server that listens, or of another file.
    let second = run(&mut serve(&database, &folder, &flags), "").stderr;
    assert!(second.contains("cannot listen on unix:") && second.contains("another process listens there"), "{second}");
    assert_eq!(probe(UnixStream::connect(&path).unwrap()), "HTTP/1.1 200 OK");
    program.terminate();
    assert!(!path.exists());
    fs::write(&path, "").unwrap();
    let third = run(&mut serve(&database, &folder, &flags), "").stderr;
    assert!(third.contains("there is a file that is no socket"), "{third}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "the file and the folder of keys");
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_the_sockets_of_the_service_manager() {
    let (database, folder) = (migrated_database().await, TestFolder::create("socket-activation"));
    // As the service manager passes them on: from the third descriptor on, for the process with that id.
    let inherit = |first: OwnedFd, second: OwnedFd, names: &str, flags: &[&str]| {
        let serve = serve(&database, &folder, flags);
        let mut command = Command::new("sh");
        let start = r#"exec 3<&0 4<&1; LISTEN_PID=$$ LISTEN_FDS=2 exec "$@""#;
        command.args(["-c", start, "sh"]).arg(serve.get_program()).args(serve.get_args()).env("LISTEN_FDNAMES", names);
        command.envs(serve.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdin(first).stdout(second);
        command
    };
    let path = folder.path().join("manager.sock");
    let (tcp, unix) = (TcpListener::bind("127.0.0.1:0").unwrap(), UnixListener::bind(&path).unwrap());
    // A client that was there before the server.
    let early = TcpStream::connect(tcp.local_addr().unwrap()).unwrap();
    let address = tcp.local_addr().unwrap();
    let flags = ["--listen", "systemd:api", "--admin-listen", "systemd:admin"];
    let command = inherit(unix.into(), tcp.try_clone().unwrap().into(), "admin:api", &flags);
    let program = Program::listening(command, &address.to_string());
    assert_eq!(probe(early), "HTTP/1.1 200 OK");
    assert_eq!(probe(UnixStream::connect(&path).unwrap()), "HTTP/1.1 200 OK");
    program.terminate();
    assert!(path.exists(), "the file is the service manager's");

    let missing = run(&mut serve(&database, &folder, &["--listen", "systemd"]), "").stderr;
    assert!(missing.contains("cannot listen on systemd") && missing.contains("no such socket"), "{missing}");
}
