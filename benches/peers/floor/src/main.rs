//! The floor of HTTP: the file that `BODY` names, as the answer to every POST.

use std::{env, fs, io};

use bytes::Bytes;
use peer_serve::{Answer, serve};

#[derive(Clone)]
struct Constant(Bytes);

impl Answer for Constant {
    async fn answer(&self, _: Bytes) -> Bytes {
        self.0.clone()
    }
}

fn main() -> io::Result<()> {
    serve(async {
        let file = env::var_os("BODY").ok_or_else(|| io::Error::other("BODY is to name the file that is answered"))?;
        Ok::<_, io::Error>(Constant(fs::read(file)?.into()))
    })
}
