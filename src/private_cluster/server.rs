//! The server of a private cluster: `initdb`, start and stop.

use std::fs::{self, DirBuilder, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::private_cluster::address::{ClusterAddress, SUPERUSER};
use crate::private_cluster::error::ClusterError;
use crate::private_cluster::options::{ClusterOptions, Durability};
use crate::private_cluster::postmaster::{PORT, pid_file, process_id};
use crate::private_cluster::programs::Programs;
use crate::private_cluster::server_user::ServerUser;

/// The longest socket path that all systems accept, without the NUL at its end: macOS has 104 bytes, Linux 108.
const MAX_SOCKET_PATH: usize = 103;

/// Seconds that PostgreSQL may take to start (it may have to recover) or to stop.
const TIMEOUT_SECONDS: &str = "120";

/// Runs PostgreSQL's programs on a cluster's folder, as another user if this process is root.
#[derive(Debug)]
pub(super) struct ServerPrograms {
    programs: Programs,
    user: ServerUser,
    folder: PathBuf,
}

impl ServerPrograms {
    /// Finds the user to run the server. Fails if that user cannot reach the folder.
    pub(super) fn new(programs: Programs, folder: &Path, data: &Path) -> Result<Self, ClusterError> {
        let user = ServerUser::find(data)?;
        user.check_access(folder)?;
        Ok(Self { programs, user, folder: folder.to_owned() })
    }

    /// Creates the data directory under a temporary name and then renames it, so that an existing one is complete.
    pub(super) fn init(&self, data: &Path, durability: Durability) -> Result<(), ClusterError> {
        let unfinished = self.folder.join("data.unfinished");
        match fs::remove_dir_all(&unfinished) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(ClusterError::File { path: unfinished, source });
            }
            _ => {}
        }
        self.create_private_folder(&unfinished)?;
        let mut arguments = vec![
            "--username",
            SUPERUSER,
            "--encoding=UTF8",
            "--locale=C",
            "--auth-local=trust",
            "--auth-host=reject",
            "--no-instructions",
        ];
        if durability == Durability::ThrowAway {
            arguments.push("--no-sync");
        }
        self.run("initdb", &arguments, &unfinished)?;
        fs::rename(&unfinished, data).map_err(|source| ClusterError::File { path: data.to_owned(), source })
    }

    /// Starts the server and waits until it accepts connections.
    pub(super) fn start(&self, data: &Path, options: &ClusterOptions) -> Result<ClusterAddress, ClusterError> {
        let socket = self.socket_folder()?;
        let log = data.join("server.log");
        let settings = server_settings(&socket, options);
        let arguments = [
            "start",
            "--wait",
            "--timeout",
            TIMEOUT_SECONDS,
            "--log",
            &self.relative(&log).to_string_lossy(),
            "--options",
            &settings,
        ];
        match self.run("pg_ctl", &arguments, data) {
            Ok(()) => Ok(ClusterAddress { socket, port: PORT }),
            Err(ClusterError::ProgramFailed { program, output }) => {
                Err(ClusterError::ProgramFailed { program, output: last_lines(&log, 10).unwrap_or(output) })
            }
            Err(other) => Err(other),
        }
    }

    /// Closes all connections, keeps committed data, and waits until the server has exited.
    pub(super) fn stop(&self, data: &Path) -> Result<(), ClusterError> {
        self.run("pg_ctl", &["stop", "--mode=fast", "--wait", "--timeout", TIMEOUT_SECONDS], data)
    }

    /// Stops a server that has the data directory but accepts no connections, or removes the pid file of one that is gone.
    /// Other programs are not stopped.
    pub(super) fn clear_stale(&self, data: &Path) -> Result<(), ClusterError> {
        // The process id may belong to another program since. Where /proc exists, the program's name shows it.
        let name = process_id(data).and_then(|process| fs::read_to_string(format!("/proc/{process}/comm")).ok());
        let is_server = name.as_deref().is_none_or(|name| name.starts_with("postgres"));
        if is_server && self.run("pg_ctl", &["status"], data).is_ok() {
            return self.stop(data);
        }
        let path = pid_file(data);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(ClusterError::File { path, source }),
            _ => Ok(()),
        }
    }

    fn run(&self, program: &'static str, arguments: &[&str], data: &Path) -> Result<(), ClusterError> {
        // A file rather than a pipe: the server that pg_ctl starts would keep a pipe open.
        let path = self.folder.join(format!("{program}.log"));
        let stdout = File::create(&path).map_err(|source| ClusterError::File { path: path.clone(), source })?;
        let stderr = stdout.try_clone().map_err(|source| ClusterError::File { path: path.clone(), source })?;
        let status = self
            .command(program)
            .arg("-D")
            .arg(self.relative(data))
            .args(arguments)
            .stdout(stdout)
            .stderr(stderr)
            .status()
            .map_err(|source| ClusterError::File { path: self.programs.path(program), source })?;
        if status.success() {
            return Ok(());
        }
        let output = fs::read(&path).map(|output| String::from_utf8_lossy(&output).trim().to_owned());
        Err(ClusterError::ProgramFailed { program, output: output.unwrap_or_default() })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.path(program));
        // The cluster's folder as working directory, because the server's user may not be allowed in ours. A process group
        // of its own, because a terminal sends Ctrl-C to all of ours, and PostgreSQL must outlive its clients.
        command.current_dir(&self.folder).process_group(0).env("LC_ALL", "C").stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("PG")) {
                command.env_remove(name);
            }
        }
        if self.user.differs {
            command.uid(self.user.uid).gid(self.user.gid);
        }
        command
    }

    /// The path relative to the cluster's folder. `pg_ctl` passes paths to a shell, which would interpret an absolute one.
    fn relative<'path>(&self, path: &'path Path) -> &'path Path {
        path.strip_prefix(&self.folder).unwrap_or(path)
    }

    /// The socket's folder: in the cluster's folder, or in /tmp under a name derived from it if that path is too long.
    fn socket_folder(&self) -> Result<PathBuf, ClusterError> {
        let fits = |socket: &Path| socket.join(".s.PGSQL.65535").as_os_str().len() <= MAX_SOCKET_PATH;
        let mut socket = self.folder.join("socket");
        if !fits(&socket) {
            let mut hasher = DefaultHasher::new();
            self.folder.hash(&mut hasher);
            socket = PathBuf::from(format!("/tmp/orderql-{:016x}", hasher.finish()));
        }
        if !fits(&socket) {
            return Err(ClusterError::SocketPathTooLong { path: socket });
        }
        if let Ok(metadata) = fs::symlink_metadata(&socket) {
            if !metadata.is_dir() || metadata.uid() != self.user.uid || metadata.mode() & 0o077 != 0 {
                return Err(ClusterError::SocketFolderTaken { folder: socket });
            }
        } else {
            self.create_private_folder(&socket)?;
        }
        Ok(socket)
    }

    fn create_private_folder(&self, path: &Path) -> Result<(), ClusterError> {
        let file_error = |source| ClusterError::File { path: path.to_owned(), source };
        DirBuilder::new().mode(0o700).create(path).map_err(file_error)?;
        if self.user.differs {
            chown(path, Some(self.user.uid), Some(self.user.gid)).map_err(file_error)?;
        }
        Ok(())
    }
}

/// The major version of PostgreSQL that created the data directory.
pub(super) fn data_version(data: &Path) -> Option<u32> {
    fs::read_to_string(data.join("PG_VERSION")).ok()?.trim().parse().ok()
}

/// The server's command line options, quoted for `pg_ctl`.
fn server_settings(socket: &Path, options: &ClusterOptions) -> String {
    let port = PORT.to_string();
    // A list of folders, hence the quotes.
    let socket = format!("\"{}\"", socket.display());
    let mut settings = vec![
        ("listen_addresses", ""),
        ("unix_socket_directories", &socket),
        ("unix_socket_permissions", "0700"),
        ("port", &port),
        ("timezone", "UTC"),
        ("log_timezone", "UTC"),
        ("jit", "off"),
    ];
    if options.durability == Durability::ThrowAway {
        settings.extend([
            ("fsync", "off"),
            ("synchronous_commit", "off"),
            ("full_page_writes", "off"),
            ("max_connections", "400"),
        ]);
    }
    settings.extend(options.settings.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let quoted: Vec<String> = settings.iter().map(|(name, value)| quote_shell(&format!("--{name}={value}"))).collect();
    quoted.join(" ")
}

fn last_lines(path: &Path, count: usize) -> Option<String> {
    let text = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    Some(lines[lines.len().saturating_sub(count)..].join("\n"))
}

/// Quotes for the shell that `pg_ctl` passes its options to.
fn quote_shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
