//! Checks what the server finds on its machine: settings, descriptors, keys and certificates.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::process::{Resource, geteuid, getrlimit};

use crate::access::tokens::error::TokenError;
use crate::access::tokens::jwt::Tokens;
use crate::catalog::Catalog;
use crate::cli::doctor::certificates;
use crate::cli::doctor::finding::Finding;
use crate::cli::serve::served_documents;
use crate::cli::{health, schema};
use crate::config::settings::Config;
use crate::http::listener_kind::ListenerKind;
use crate::http::socket::address::ListenAddress;
use crate::http::socket::listening::BoundSocket;
use crate::http::socket::tls;

/// Descriptors that a server has beside connections: its log, its listeners, files, and what the runtime needs.
const OTHER_DESCRIPTORS: usize = 64;

/// Checks everything but the database. The settings are valid.
pub(super) fn check(config: &Config) -> Vec<Finding> {
    let mut findings =
        vec![Finding::ok("settings", "all values are valid"), descriptors(config), keys(config), encryption(config)];
    match schema::read(config.schema.as_deref()) {
        Ok(catalog) => {
            findings.push(Finding::ok("schema file", "it is a schema"));
            findings.extend(documents(config, &catalog));
        }
        Err(error) => findings.push(Finding::error("schema file", &error)),
    }
    findings.extend(config.http().tls.and_then(|files| certificates::of_listener(&files.certificate)));
    findings
}

/// Whether the documents that clients name can be read, and fit the schema.
fn documents(config: &Config, catalog: &Catalog) -> Option<Finding> {
    let path = config.documents.as_deref()?;
    Some(match served_documents::read(Some(path), catalog) {
        Ok(_) => Finding::ok("documents", format!("the schema has all that those in {} ask for", path.display())),
        Err(error) => Finding::error("documents", &*error),
    })
}

/// Whether files can be made in a folder, which may not exist yet.
fn can_make(folder: &Path) -> bool {
    let folder = absolute(folder);
    let nearest = folder.ancestors().find(|ancestor| ancestor.exists());
    nearest.is_some_and(|nearest| nearest.is_dir() && access(nearest, Access::WRITE_OK | Access::EXEC_OK).is_ok())
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn keys(config: &Config) -> Finding {
    let options = match config.tokens() {
        Ok(options) => options,
        Err(error) => return Finding::error("keys", &error),
    };
    match Tokens::check(&options).and_then(|()| Tokens::open_existing(options)) {
        Ok(_) => Finding::ok("keys", "nobody else can read or replace them"),
        Err(TokenError::NoKeyIn { folder, .. }) if !can_make(&folder) => Finding::failure(
            "keys",
            format!("the server may not make the key folder {}, which key-folder names", absolute(&folder).display()),
            format!("install -d -m 700 -o {} '{}'", geteuid().as_raw(), absolute(&folder).display()),
        ),
        Err(error @ TokenError::NoKeyIn { .. }) => Finding::warning(
            "keys",
            error.to_string(),
            "the server makes one at its start; several servers need the same",
        ),
        Err(error) => Finding::error("keys", &error),
    }
}

/// Whether the addresses can be listened on, or a server listens there already.
pub(super) async fn addresses(config: &Config) -> Vec<Finding> {
    let admin = config.admin_listen.as_ref().map(|address| (address, ListenerKind::Admin));
    let mut findings = Vec::new();
    for (address, listener) in admin.into_iter().chain([(&config.listen, ListenerKind::Public)]) {
        let Err(error) = BoundSocket::check(address, listener).await else { continue };
        findings.push(if health::is_server(address, config).await {
            Finding::ok("addresses", format!("a server of this program listens on {address}"))
        } else {
            Finding::error("addresses", &error)
        });
    }
    if findings.is_empty() {
        findings.push(Finding::ok("addresses", "they are free"));
    }
    if let Some(ListenAddress::Tcp(address)) = &config.admin_listen
        && address.ip().is_unspecified()
    {
        findings.push(Finding::warning(
            "addresses",
            format!("admin-listen is {address}: whoever reaches this machine reads metrics and settings"),
            format!("admin-listen = '127.0.0.1:{}', or another address that operators alone reach", address.port()),
        ));
    }
    findings
}

fn descriptors(config: &Config) -> Finding {
    let needed = (config.connection_limit + config.connections() + OTHER_DESCRIPTORS) as u64;
    match getrlimit(Resource::Nofile).current {
        Some(limit) if limit < needed => Finding::warning(
            "descriptors",
            format!("{limit} files may be open, and connections of clients and to the database need {needed}"),
            format!("ulimit -n {needed}, or LimitNOFILE={needed} in the unit; or lower connection-limit"),
        ),
        limit => Finding::ok(
            "descriptors",
            limit.map_or("no limit".to_owned(), |limit| format!("{limit} files may be open")),
        ),
    }
}

fn encryption(config: &Config) -> Finding {
    match (&config.http().tls, &config.listen) {
        (Some(files), _) => match tls::read(files) {
            Ok(_) => Finding::ok("encryption", "the certificate and its key go together"),
            Err(error) => Finding::error("encryption", &error),
        },
        (None, ListenAddress::Tcp(address)) if !address.ip().is_loopback() && config.trusted_proxies.is_empty() => {
            Finding::warning(
                "encryption",
                format!("passwords and tokens cross the network to {address} as they are"),
                "set tls-cert and tls-key; or have a proxy encrypt, and name it in trusted-proxies",
            )
        }
        (None, _) => Finding::ok("encryption", "only this machine or a proxy connects"),
    }
}
