//! A client of the Model Context Protocol over standard input.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::support::command::orderql;
use crate::support::server::Server;

/// The revision that the client speaks.
pub const PROTOCOL: &str = "2025-06-18";

/// A running program. It ends with its standard input.
pub struct Agent {
    program: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next_id: u64,
}

/// What a tool returned.
#[derive(Debug)]
pub struct Called {
    pub is_error: bool,
    /// The text, which is JSON.
    pub content: Value,
    pub meta: Value,
    /// The bytes of the result.
    pub bytes: usize,
}

/// The request that begins.
pub fn initialize() -> Value {
    initialize_as(PROTOCOL)
}

/// The same of a client that speaks another revision.
fn initialize_as(revision: &str) -> Value {
    let info = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": info });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

/// A tool's result.
pub fn called(result: &Value) -> Called {
    let content = result["content"].as_array().unwrap();
    assert_eq!((content.len(), &content[0]["type"]), (1, &json!("text")), "{result}");
    Called {
        is_error: result["isError"] == true,
        content: serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap(),
        meta: result["_meta"].clone(),
        bytes: result.to_string().len(),
    }
}

impl Agent {
    /// Starts the program for a server and a caller.
    pub fn start(server: &Server, token: &str) -> Self {
        Self::start_with(server, &[], &[("ORDERQL_TOKEN", token)])
    }

    /// Starts the program with these arguments and environment variables.
    pub fn start_with(server: &Server, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::start_as(PROTOCOL, server, arguments, variables)
    }

    /// The same for a client that speaks another revision.
    pub fn start_as(revision: &str, server: &Server, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = orderql();
        command.args(["mcp", "--url", &format!("http://{}", server.address)]).args(arguments);
        command.env_remove("ORDERQL_TOKEN").envs(variables.iter().copied());
        let mut program = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (program.stdin.take(), BufReader::new(program.stdout.take().unwrap()));
        let mut agent = Self { program, input, output, next_id: 1 };
        let begun = agent.exchange(&initialize_as(revision));
        assert_eq!(begun["result"]["protocolVersion"], revision, "{begun}");
        agent.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        agent
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a message, and returns the next one.
    pub fn exchange(&mut self, message: &Value) -> Value {
        self.send(message);
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Sends a request and returns its result.
    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        let answer = self.exchange(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        assert_eq!(answer["id"], id, "{answer}");
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// Sends a request and returns its error.
    pub fn refused(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.exchange(&json!({ "jsonrpc": "2.0", "id": "r", "method": method, "params": params }));
        assert!(answer.get("result").is_none(), "{answer}");
        answer["error"].clone()
    }

    /// Calls a tool.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Called {
        called(&self.request("tools/call", &json!({ "name": tool, "arguments": arguments })))
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.program.wait();
    }
}
