//! The protocol at standard input and output, a message or a batch on each line.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::ServiceExt;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, Stdout, duplex, stdin, stdout};
use tokio::sync;

use crate::cli::mcp::batch::{PendingBatches, Sent};
use crate::cli::mcp::protocol_server::ProtocolServer;
use crate::cli::outcome::Outcome;

/// Bytes between the lines and the protocol's library, in each direction.
const BUFFER: usize = 64 << 10;

/// The facts about the client, and its output.
struct Client {
    state: Mutex<State>,
    output: sync::Mutex<Stdout>,
}

#[derive(Default)]
struct State {
    /// The revision of the protocol, once it is agreed on.
    revision: Option<String>,
    batches: PendingBatches,
}

/// Serves until standard input ends.
pub(super) async fn serve(protocol_server: ProtocolServer) -> Outcome {
    let client = Arc::new(Client { state: Mutex::default(), output: sync::Mutex::new(stdout()) });
    let (requests, to_server) = duplex(BUFFER);
    let (from_server, responses) = duplex(BUFFER);
    tokio::spawn(pass_requests(Arc::clone(&client), to_server));
    let passing = tokio::spawn(pass_responses(client, responses));
    let served = answer(protocol_server, requests, from_server).await;
    // The last lines that the library wrote.
    passing.await??;
    served
}

/// Answers requests until there are no more.
async fn answer(protocol_server: ProtocolServer, requests: DuplexStream, responses: DuplexStream) -> Outcome {
    let running = Box::pin(Arc::new(protocol_server).serve((requests, responses))).await?;
    running.waiting().await?;
    Ok(())
}

/// Passes lines to the library, each message of a batch as a line.
async fn pass_requests(client: Arc<Client>, mut server: DuplexStream) -> io::Result<()> {
    let mut input = BufReader::new(stdin());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).await? > 0 {
        let sent = Sent::read(&line, client.state().revision.as_deref());
        match sent {
            Sent::Message => server.write_all(&line).await?,
            Sent::Rejected(response) => client.write(&response).await?,
            Sent::Batch(batch) => {
                let (messages, responses) = client.state().batches.begin(batch);
                for message in messages {
                    // A message may have line breaks nowhere, as a line has none.
                    write_line(&mut server, message.get().as_bytes()).await?;
                }
                if let Some(responses) = responses {
                    client.write(&responses).await?;
                }
            }
        }
        line.clear();
    }
    Ok(())
}

/// Passes the library's lines to the client, the lines of a batch together.
async fn pass_responses(client: Arc<Client>, server: DuplexStream) -> io::Result<()> {
    let mut input = BufReader::new(server);
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).await? > 0 {
        if client.is_looked_into() {
            let response = serde_json::from_slice(&line)?;
            if let Some(response) = client.take(response) {
                client.write(&response).await?;
            }
        } else {
            write_line(&mut *client.output.lock().await, line.trim_ascii_end()).await?;
        }
        line.clear();
    }
    Ok(())
}

impl Client {
    /// A panic elsewhere cannot leave it inconsistent.
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the library's next line may be the one that names the revision, or one of a batch.
    fn is_looked_into(&self) -> bool {
        let state = self.state();
        state.revision.is_none() || !state.batches.is_empty()
    }

    /// The text to send in place of a line of the library.
    fn take(&self, response: Value) -> Option<Value> {
        let mut state = self.state();
        if let Some(revision) = response["result"]["protocolVersion"].as_str() {
            state.revision = Some(revision.to_owned());
        }
        state.batches.add(response)
    }

    async fn write(&self, message: &Value) -> io::Result<()> {
        write_line(&mut *self.output.lock().await, message.to_string().as_bytes()).await
    }
}

async fn write_line(output: &mut (impl AsyncWrite + Unpin), line: &[u8]) -> io::Result<()> {
    output.write_all(line).await?;
    output.write_all(b"\n").await?;
    output.flush().await
}
