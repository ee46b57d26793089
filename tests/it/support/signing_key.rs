//! A server's key that signs tokens, for tests that make tokens of their own.

use std::fs;

use jwt_simple::algorithms::Ed25519KeyPair;

use crate::support::server::Server;

/// The server's signing key and its id.
pub fn signing_key(server: &Server) -> (String, Ed25519KeyPair) {
    let files: Vec<_> = fs::read_dir(server.folder.join("keys")).unwrap().map(|file| file.unwrap().path()).collect();
    let [file] = files.as_slice() else { panic!("{files:?}") };
    let id = file.file_stem().unwrap().to_str().unwrap().to_owned();
    let key = Ed25519KeyPair::from_pem(&fs::read_to_string(file).unwrap()).unwrap().with_key_id(&id);
    (id, key)
}
