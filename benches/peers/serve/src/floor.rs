//! The floor of HTTP: responds to every POST with the file that `BODY` names.

use std::{env, fs, io};

use bytes::Bytes;
use peer_serve::{Respond, serve};

#[derive(Clone)]
struct Constant(Bytes);

impl Respond for Constant {
    async fn respond(&self, _: Bytes) -> Bytes {
        self.0.clone()
    }
}

fn main() -> io::Result<()> {
    serve(async {
        let file = env::var_os("BODY").ok_or_else(|| io::Error::other("BODY is missing"))?;
        Ok::<_, io::Error>(Constant(fs::read(file)?.into()))
    })
}
