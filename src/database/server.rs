//! The server of a private cluster: who runs it, its `initdb`, start, stop, and the file that tells whether it runs.

use std::fs::{self, DirBuilder, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cluster::{Address, ClusterError, Durability, Options};
use super::programs::Programs;

/// The superuser of the cluster. Not called orderql: a role finds the schema of its own name before all others.
pub(super) const SUPERUSER: &str = "postgres";

/// The port is part of the socket's name and nothing else: nobody listens on the network.
const PORT: u16 = 5432;

/// The longest socket path that every system takes, without the NUL at its end: macOS has 104 bytes, Linux 108.
const LONGEST_SOCKET_PATH: usize = 103;

/// The user id of root.
const ROOT: u32 = 0;

/// Seconds that PostgreSQL may take to start (it may have to recover) or to stop.
const PATIENCE: &str = "120";

/// What `postmaster.pid` says of a server.
pub(super) struct Server {
    pub(super) address: Address,
    ready: bool,
}

/// The server that has the data, or claims to. Lines of `postmaster.pid`: process, data, start time, port, socket folder, address
/// listened on, shared memory, state.
pub(super) fn running(data: &Path) -> Option<Server> {
    let text = fs::read_to_string(data.join("postmaster.pid")).ok()?;
    let mut lines = text.lines().skip(3);
    let port = lines.next().and_then(|line| line.trim().parse().ok()).unwrap_or(PORT);
    let socket = PathBuf::from(lines.next().unwrap_or_default().trim());
    Some(Server { address: Address { socket, port }, ready: lines.nth(2).is_some_and(|state| state.trim() == "ready") })
}

impl Server {
    /// Whether it takes connections.
    pub(super) fn answers(&self) -> bool {
        let Address { socket, port } = &self.address;
        self.ready && UnixStream::connect(socket.join(format!(".s.PGSQL.{port}"))).is_ok()
    }
}

/// A user and its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Owner {
    user: u32,
    group: u32,
}

/// Runs PostgreSQL's programs, as another user where this one is root.
#[derive(Debug)]
pub(super) struct Runner {
    programs: Programs,
    /// Who owns the data and runs the server.
    owner: Owner,
    /// Whether that is another user than we are.
    other: bool,
    folder: PathBuf,
}

impl Runner {
    /// Finds who is to run the server, and whether that user can reach the folder.
    pub(super) fn new(programs: Programs, folder: &Path, data: &Path) -> Result<Self, ClusterError> {
        let (owner, other) = server_owner(data)?;
        let runner = Self { programs, owner, other, folder: folder.to_owned() };
        runner.check_way()?;
        Ok(runner)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.path(program));
        // Our own folder, since the other user may not be allowed where we stand. A process group of its own, since a
        // terminal sends Ctrl-C to all of ours, and PostgreSQL has to live until its clients are done.
        command.current_dir(&self.folder).process_group(0).env("LC_ALL", "C").stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("PG")) {
                command.env_remove(name);
            }
        }
        if self.other {
            command.uid(self.owner.user).gid(self.owner.group);
        }
        command
    }

    fn run(&self, program: &'static str, arguments: &[&str], data: &Path) -> Result<(), ClusterError> {
        // Not a pipe: the server that pg_ctl starts would hold it open for ever.
        let path = self.folder.join(format!("{program}.log"));
        let said = File::create(&path).map_err(|source| ClusterError::File { path: path.clone(), source })?;
        let errors = said.try_clone().map_err(|source| ClusterError::File { path: path.clone(), source })?;
        let status = self
            .command(program)
            .arg("-D")
            .arg(self.relative(data))
            .args(arguments)
            .stdout(said)
            .stderr(errors)
            .status()
            .map_err(|source| ClusterError::File { path: self.programs.path(program), source })?;
        if status.success() {
            return Ok(());
        }
        let said = fs::read(&path).map(|said| String::from_utf8_lossy(&said).trim().to_owned()).unwrap_or_default();
        Err(ClusterError::ProgramFailed { program, said })
    }

    /// A path below our folder, where the programs run: `pg_ctl` hands paths to a shell, which would read ours in its way.
    fn relative<'path>(&self, path: &'path Path) -> &'path Path {
        path.strip_prefix(&self.folder).unwrap_or(path)
    }

    /// Every folder down to ours must let the server's user through.
    fn check_way(&self) -> Result<(), ClusterError> {
        let Owner { user, group } = self.owner;
        for closed in self.folder.ancestors() {
            let metadata = metadata(closed)?;
            let enter = match metadata {
                _ if metadata.uid() == user => 0o100,
                _ if metadata.gid() == group => 0o010,
                _ => 0o001,
            };
            if metadata.mode() & enter == 0 {
                return Err(ClusterError::FolderClosed { closed: closed.to_owned(), user });
            }
        }
        Ok(())
    }

    /// Makes the data beside its place and then moves it there, so that what is there is whole.
    pub(super) fn init(&self, data: &Path, durability: Durability) -> Result<(), ClusterError> {
        let unfinished = self.folder.join("data.unfinished");
        match fs::remove_dir_all(&unfinished) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(ClusterError::File { path: unfinished, source });
            }
            _ => {}
        }
        self.make_private_folder(&unfinished)?;
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

    /// Starts the server, and waits until it takes connections.
    pub(super) fn start(&self, data: &Path, options: &Options) -> Result<Address, ClusterError> {
        let folder = self.socket_folder()?;
        let log = data.join("server.log");
        let port = PORT.to_string();
        let socket = format!("\"{}\"", folder.display());
        let mut settings = vec![
            ("listen_addresses", ""),
            // A list, hence the quotes.
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
        let settings: Vec<String> =
            settings.iter().map(|(name, value)| shell_quoted(&format!("--{name}={value}"))).collect();
        let arguments = [
            "start",
            "--wait",
            "--timeout",
            PATIENCE,
            "--log",
            &self.relative(&log).to_string_lossy(),
            "--options",
            &settings.join(" "),
        ];
        match self.run("pg_ctl", &arguments, data) {
            Ok(()) => Ok(Address { socket: folder, port: PORT }),
            Err(ClusterError::ProgramFailed { program, said }) => {
                Err(ClusterError::ProgramFailed { program, said: last_lines(&log, 10).unwrap_or(said) })
            }
            Err(other) => Err(other),
        }
    }

    /// Cuts off who is connected, keeps what is committed, and waits for the server's end.
    pub(super) fn stop(&self, data: &Path) -> Result<(), ClusterError> {
        self.run("pg_ctl", &["stop", "--mode=fast", "--wait", "--timeout", PATIENCE], data)
    }

    /// Ends what has the data without serving it.
    pub(super) fn end_half_running(&self, data: &Path) -> Result<(), ClusterError> {
        let claim = data.join("postmaster.pid");
        let process = fs::read_to_string(&claim).ok().and_then(|text| text.lines().next()?.trim().parse::<u32>().ok());
        // Where there is /proc, it tells a server from a program that has got a dead one's number.
        let name = process.and_then(|process| fs::read_to_string(format!("/proc/{process}/comm")).ok());
        let server = name.as_deref().is_none_or(|name| name.starts_with("postgres"));
        if server && self.run("pg_ctl", &["status"], data).is_ok() {
            return self.stop(data);
        }
        match fs::remove_file(&claim) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(ClusterError::File { path: claim, source }),
            _ => Ok(()),
        }
    }

    /// The socket's folder: in ours, or where that is too deep, one in /tmp of a name that follows from ours.
    fn socket_folder(&self) -> Result<PathBuf, ClusterError> {
        let fits = |socket: &Path| socket.join(".s.PGSQL.65535").as_os_str().len() <= LONGEST_SOCKET_PATH;
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
            if !metadata.is_dir() || metadata.uid() != self.owner.user || metadata.mode() & 0o077 != 0 {
                return Err(ClusterError::SocketFolderTaken { folder: socket });
            }
        } else {
            self.make_private_folder(&socket)?;
        }
        Ok(socket)
    }

    fn make_private_folder(&self, path: &Path) -> Result<(), ClusterError> {
        let file = |source| ClusterError::File { path: path.to_owned(), source };
        DirBuilder::new().mode(0o700).create(path).map_err(file)?;
        if self.other {
            chown(path, Some(self.owner.user), Some(self.owner.group)).map_err(file)?;
        }
        Ok(())
    }
}

/// The major version of PostgreSQL that made the data.
pub(super) fn data_version(data: &Path) -> Option<u32> {
    fs::read_to_string(data.join("PG_VERSION")).ok()?.trim().parse().ok()
}

/// Who is to own the data and run the server, and whether that is another user than we are: for root it is whoever owns
/// the data already, else `postgres`, else `nobody`.
fn server_owner(data: &Path) -> Result<(Owner, bool), ClusterError> {
    let own = owner(None).ok_or(ClusterError::NoUser)?;
    if own.user != ROOT {
        return Ok((own, false));
    }
    let of_data = fs::metadata(data).ok().map(|data| Owner { user: data.uid(), group: data.gid() });
    [of_data, owner(Some("postgres")), owner(Some("nobody"))]
        .into_iter()
        .flatten()
        .find(|owner| owner.user != ROOT)
        .map(|owner| (owner, true))
        .ok_or(ClusterError::NoUser)
}

/// Whether this program runs as root.
pub(super) fn is_root() -> bool {
    owner(None).is_some_and(|own| own.user == ROOT)
}

/// The numbers of a user, or of ourselves, as `id` knows them.
fn owner(name: Option<&str>) -> Option<Owner> {
    let number = |which: &str| {
        let output = Command::new("id").arg(which).args(name).output().ok()?;
        String::from_utf8(output.stdout).ok()?.trim().parse().ok()
    };
    Some(Owner { user: number("-u")?, group: number("-g")? })
}

fn metadata(path: &Path) -> Result<fs::Metadata, ClusterError> {
    fs::metadata(path).map_err(|source| ClusterError::File { path: path.to_owned(), source })
}

fn last_lines(path: &Path, count: usize) -> Option<String> {
    let text = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    Some(lines[lines.len().saturating_sub(count)..].join("\n"))
}

/// For the shell that `pg_ctl` hands its options to.
fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
