//! The address of a database with all that a connection needs: the operator's address, completed as libpq completes it from a
//! service file, the environment, a password file and the certificates in files.

use std::env;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_postgres::config::{Host, SslMode as Encryption};
use tokio_postgres::{Config, Error};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::database::address::connection_string::{ConnectionString, SessionTarget, SslMode};
use crate::database::address::error::AddressError;
use crate::database::address::libpq_files::{self, Environment, FilePassword, PasswordOf};
use crate::database::address::role::Role;
use crate::database::address::target_session::{self, OpenConnection};
use crate::database::address::tls::{self, Identity, Trust};
use crate::tls::pem_files::authorities;

/// How long connecting may take.
pub(in crate::database) const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// The variables of libpq's environment, and the parameters that they stand for.
const VARIABLES: [(&str, &str); 16] = [
    ("PGHOST", "host"),
    ("PGHOSTADDR", "hostaddr"),
    ("PGPORT", "port"),
    ("PGDATABASE", "dbname"),
    ("PGUSER", "user"),
    ("PGPASSWORD", "password"),
    ("PGPASSFILE", "passfile"),
    ("PGOPTIONS", "options"),
    ("PGAPPNAME", "application_name"),
    ("PGSSLMODE", "sslmode"),
    ("PGSSLROOTCERT", "sslrootcert"),
    ("PGSSLCERT", "sslcert"),
    ("PGSSLKEY", "sslkey"),
    ("PGCHANNELBINDING", "channel_binding"),
    ("PGCONNECT_TIMEOUT", "connect_timeout"),
    ("PGTARGETSESSIONATTRS", "target_session_attrs"),
];

/// A database that can be connected to.
#[derive(Clone)]
pub struct DatabaseAddress {
    /// All but the certificates and the kind of server.
    pub config: Config,
    pub(in crate::database) tls: MakeRustlsConnect,
    pub(in crate::database) target: SessionTarget,
    /// Whether connections ask for their settings when they start, which poolers refuse.
    pub(in crate::database) startup_options: bool,
    warnings: Vec<AddressWarning>,
    files: CertificateFiles,
    /// The file that a password was looked for in, if nothing else has one.
    password_file: Option<PathBuf>,
}

/// The files of certificates that connections need.
#[derive(Debug, Clone, Default)]
pub(crate) struct CertificateFiles {
    /// The authorities of servers.
    pub(crate) authorities: Option<PathBuf>,
    /// The certificate that is shown to servers.
    pub(crate) identity: Option<PathBuf>,
}

/// Something about an address that its operator should know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AddressWarning {
    #[error(
        "the connection to {host} is not safe from others in the network: with sslmode=verify-full it is encrypted, and only \
         with the right server"
    )]
    Unverified { host: String },
    #[error("{path} is not used, because others than its owner may read it: chmod 600 it", path = path.display())]
    OpenPasswordFile { path: PathBuf },
}

/// Shows no password.
impl fmt::Debug for DatabaseAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DatabaseAddress").field("config", &self.config).finish_non_exhaustive()
    }
}

/// The address of a server of this machine's own, without encryption.
impl From<&Config> for DatabaseAddress {
    fn from(config: &Config) -> Self {
        let mut config = config.clone();
        config.ssl_mode(Encryption::Disable);
        Self {
            config,
            tls: tls::local_connector(),
            target: SessionTarget::Any,
            startup_options: true,
            warnings: Vec::new(),
            files: CertificateFiles::default(),
            password_file: None,
        }
    }
}

impl From<&mut Config> for DatabaseAddress {
    fn from(config: &mut Config) -> Self {
        Self::from(&*config)
    }
}

impl From<Config> for DatabaseAddress {
    fn from(config: Config) -> Self {
        Self::from(&config)
    }
}

impl From<&DatabaseAddress> for DatabaseAddress {
    fn from(address: &DatabaseAddress) -> Self {
        address.clone()
    }
}

impl DatabaseAddress {
    /// Completes an address from the environment and the files that both name, and reads the certificates.
    pub(crate) fn complete(address: &ConnectionString) -> Result<Self, AddressError> {
        Self::complete_from(address, &Environment { variable: &|name| env::var(name).ok() })
    }

    fn complete_from(given: &ConnectionString, environment: &Environment<'_>) -> Result<Self, AddressError> {
        let mut given = given.clone();
        if let Some(name) = given.get("service").map(str::to_owned).or_else(|| environment.get("PGSERVICE")) {
            given = given.or(libpq_files::service(&name, environment)?)?;
        }
        let variables =
            VARIABLES.iter().filter_map(|(variable, name)| Some(((*name).to_owned(), environment.get(variable)?)));
        let given = given.or(variables)?;
        let mut config = given.config()?;
        complete_place(&mut config, environment);
        let mut warnings = Vec::new();
        let password_file = if config.get_password().is_none() {
            complete_password(&mut config, &given, environment, &mut warnings)?
        } else {
            None
        };
        let (tls, files) = encryption(&mut config, &given, environment, &mut warnings)?;
        let target = given.target()?.unwrap_or(SessionTarget::Any);
        Ok(Self { config, tls, target, startup_options: true, warnings, files, password_file })
    }

    /// The certificates that connections need.
    pub(crate) fn certificate_files(&self) -> &CertificateFiles {
        &self.files
    }

    /// The password file that a password was looked for in, if nothing else has one.
    pub(crate) fn password_file(&self) -> Option<&Path> {
        self.password_file.as_deref()
    }

    /// What the operator should know.
    pub(crate) fn warnings(&self) -> &[AddressWarning] {
        &self.warnings
    }

    /// The host and port, for people and metrics; of several the first.
    pub(crate) fn server_name(&self) -> String {
        let host = match self.config.get_hosts().first() {
            Some(Host::Tcp(name)) => name.clone(),
            Some(Host::Unix(folder)) => folder.display().to_string(),
            None => self.config.get_hostaddrs().first().map(ToString::to_string).unwrap_or_default(),
        };
        format!("{host}:{}", self.config.get_ports().first().copied().unwrap_or(5432))
    }

    /// The address of the same database, for connections with this role.
    #[must_use]
    pub(crate) fn for_role(&self, role: Role) -> Self {
        let mut address = self.clone();
        address.config.application_name(role.application_name(self.config.get_application_name()));
        address
    }

    /// The address with this kind of server, unless it says which one is meant.
    pub(in crate::database) fn with_default_target(self, target: SessionTarget) -> Self {
        if self.target == SessionTarget::Any { self.with_target(target) } else { self }
    }

    /// The address with this kind of server, whatever it says.
    pub(in crate::database) fn with_target(self, target: SessionTarget) -> Self {
        Self { target, ..self }
    }

    /// The address of the same database, whose connections ask for their settings when they start, or have those of their role.
    #[must_use]
    pub(crate) fn with_startup_options(self, startup_options: bool) -> Self {
        Self { startup_options, ..self }
    }

    /// The address of the same database, with other settings of its sessions.
    pub(in crate::database) fn with_options(&self, options: &str) -> Self {
        let mut address = self.clone();
        address.config.options(options);
        Self { warnings: Vec::new(), ..address }
    }

    /// Opens a connection. The client waits until its connection is polled.
    pub(crate) async fn open(&self) -> Result<OpenConnection, Error> {
        target_session::connect(&self.config, &self.tls, self.target).await
    }
}

/// Adds the host, user and database of libpq's defaults.
fn complete_place(config: &mut Config, environment: &Environment<'_>) {
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let sockets = ["/run/postgresql", "/var/run/postgresql", "/tmp"];
        let folder = sockets.iter().find(|folder| PathBuf::from(folder).join(format!(".s.PGSQL.{port}")).exists());
        match folder {
            Some(folder) => config.host_path(folder),
            None => config.host("localhost"),
        };
    }
    if config.get_user().is_none()
        && let Some(user) = environment.get("USER").or_else(|| environment.get("LOGNAME"))
    {
        config.user(user);
    }
}

/// Adds the password of a password file, if it has one, and returns the file.
fn complete_password(
    config: &mut Config,
    given: &ConnectionString,
    environment: &Environment<'_>,
    warnings: &mut Vec<AddressWarning>,
) -> Result<Option<PathBuf>, AddressError> {
    let file = given.get("passfile").map(PathBuf::from).or_else(|| environment.in_home(".pgpass"));
    let (Some(path), Some(user)) = (file, config.get_user()) else { return Ok(None) };
    let database = config.get_dbname().unwrap_or(user);
    // One password is sent to all hosts: that of the first one that has any.
    for (at, host) in config.get_hosts().iter().enumerate() {
        let host = match host {
            Host::Tcp(name) => name.as_str(),
            Host::Unix(_) => "localhost",
        };
        let port = config.get_ports().get(at).or(config.get_ports().first()).copied().unwrap_or(5432);
        match libpq_files::password(&path, &PasswordOf { host, port, database, user })? {
            FilePassword::Found(password) => {
                config.password(password);
                return Ok(Some(path));
            }
            FilePassword::NotFound => {}
            FilePassword::Open => {
                warnings.push(AddressWarning::OpenPasswordFile { path: path.clone() });
                break;
            }
        }
    }
    Ok(Some(path))
}

/// Decides whether connections are encrypted and whom they trust.
fn encryption(
    config: &mut Config,
    given: &ConnectionString,
    environment: &Environment<'_>,
    warnings: &mut Vec<AddressWarning>,
) -> Result<(MakeRustlsConnect, CertificateFiles), AddressError> {
    let root = given.get("sslrootcert");
    let is_system = root == Some("system");
    let mode = given.ssl_mode()?.unwrap_or(if is_system { SslMode::VerifyFull } else { SslMode::Prefer });
    let other = config.get_hosts().iter().find_map(other_machine);
    if mode != SslMode::VerifyFull
        && let Some(host) = other
    {
        warnings.push(AddressWarning::Unverified { host: host.to_owned() });
    }
    // Nobody listens between the ends of a socket, and libpq does not encrypt it either.
    let is_local =
        config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_))) && config.get_hostaddrs().is_empty();
    if is_local || mode == SslMode::Disable {
        config.ssl_mode(Encryption::Disable);
        return Ok((tls::local_connector(), CertificateFiles::default()));
    }
    config.ssl_mode(if mode == SslMode::Prefer { Encryption::Prefer } else { Encryption::Require });

    let in_home = |name: &str| environment.in_home(&format!(".postgresql/{name}"));
    let root_file = root.filter(|_| !is_system).map(PathBuf::from).or_else(|| in_home("root.crt"));
    let has_root_file = root.is_some() || root_file.as_ref().is_some_and(|path| path.exists());
    let roots = || match &root_file {
        _ if is_system => Ok(authorities(None)?),
        Some(path) if path.exists() => Ok(authorities(Some(path))?),
        path => Err(AddressError::NoRootCertificate { path: path.clone().unwrap_or_default() }),
    };
    let trust = match mode {
        SslMode::VerifyFull => Trust::Host(roots()?),
        _ if is_system => return Err(AddressError::SystemNeedsHost),
        SslMode::VerifyCa => Trust::Authority(roots()?),
        SslMode::Require if has_root_file => Trust::Authority(roots()?),
        SslMode::Require | SslMode::Prefer | SslMode::Disable => Trust::Any,
    };
    let file = |name: &str, default: &str| match given.get(name) {
        Some(path) => Some(PathBuf::from(path)),
        None => in_home(default).filter(|path| path.exists()),
    };
    let identity = match (file("sslcert", "postgresql.crt"), file("sslkey", "postgresql.key")) {
        (Some(certificate), Some(key)) => Some(Identity { certificate, key }),
        (None, None) => None,
        _ => return Err(AddressError::HalfIdentity),
    };
    let files = CertificateFiles {
        authorities: root_file.filter(|path| !is_system && path.exists()),
        identity: identity.as_ref().map(|identity| identity.certificate.clone()),
    };
    Ok((tls::connector(trust, identity.as_ref())?, files))
}

/// The name of a host that is not this machine.
fn other_machine(host: &Host) -> Option<&str> {
    match host {
        Host::Unix(_) => None,
        Host::Tcp(name) => {
            let is_local = name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
            (!is_local).then_some(name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(text: &str, variables: &[(&str, &str)]) -> Result<DatabaseAddress, AddressError> {
        let variable =
            |name: &str| variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned());
        DatabaseAddress::complete_from(&text.parse().unwrap(), &Environment { variable: &variable })
    }

    #[test]
    fn takes_the_environment_for_what_the_address_leaves_open() {
        let variables = [
            ("PGHOST", "db.example"),
            ("PGPORT", "5433"),
            ("PGUSER", "ann"),
            ("PGPASSWORD", "x y"),
            ("PGDATABASE", "o"),
        ];
        let config = complete("", &variables).unwrap().config;
        assert_eq!(config.get_hosts(), [Host::Tcp("db.example".to_owned())]);
        assert_eq!((config.get_ports(), config.get_user()), (&[5433][..], Some("ann")));
        assert_eq!((config.get_password(), config.get_dbname()), (Some(&b"x y"[..]), Some("o")));
        let config = complete("host=one user=me", &variables).unwrap().config;
        assert_eq!(config.get_hosts(), [Host::Tcp("one".to_owned())]);
        assert_eq!((config.get_ports(), config.get_user()), (&[5433][..], Some("me")));
        assert!(complete("", &[("PGSSLMODE", "on")]).is_err());
    }

    #[test]
    fn warns_of_connections_that_others_may_read() {
        let unverified = |host: &str| vec![AddressWarning::Unverified { host: host.to_owned() }];
        for (text, expected) in [
            ("host=db.example user=a", unverified("db.example")),
            ("host=db.example user=a sslmode=require", unverified("db.example")),
            ("host=localhost,db.example user=a sslmode=disable", unverified("db.example")),
            ("host=127.0.0.1 user=a sslmode=disable", vec![]),
            ("host=/run/postgresql user=a", vec![]),
        ] {
            assert_eq!(complete(text, &[]).unwrap().warnings(), expected, "{text}");
        }
    }

    #[test]
    fn refuses_what_it_cannot_verify() {
        for (text, expected) in [
            ("host=db user=a sslmode=verify-full sslrootcert=/nowhere/root.crt", "/nowhere/root.crt does not exist"),
            ("host=db user=a sslmode=verify-ca sslrootcert=system", "needs sslmode=verify-full"),
            ("host=db user=a sslmode=require sslcert=/nowhere/a.crt", "belong together"),
            ("host=db user=a service=nothing", "no service file has [nothing]"),
        ] {
            let error = complete(text, &[("HOME", "/nowhere"), ("PGSYSCONFDIR", "/nowhere")]).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        // A socket is not encrypted, so nothing is to be verified.
        assert!(complete("host=/run/postgresql user=a sslmode=verify-full", &[]).is_ok());
    }
}
