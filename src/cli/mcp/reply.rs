//! The replies of tools: JSON texts. A refusal is a result too, so that the agent reads it.

use std::collections::BTreeSet;
use std::error::Error;

use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Map, Value, json};

use crate::cli::query::response::Ordered;
use crate::outline::typed_paths::DataPath;
use crate::telemetry::error_chain::ErrorChain;

/// The member of `_meta` that lists the JSON pointers of what people outside wrote; `*` stands for the elements of a list.
pub(super) const UNTRUSTED: &str = "orderql/untrusted";

/// The bytes of the errors of a refusal; further errors are left out.
const MAX_ERROR_BYTES: usize = 6000;

/// The reply of a tool.
#[derive(Debug)]
pub(super) struct Reply {
    /// The members of an object, in this order.
    pub(super) members: Vec<(&'static str, Ordered)>,
    /// The paths of what people outside wrote, in the member `data`.
    pub(super) untrusted: BTreeSet<DataPath>,
}

/// Why a tool does not do what it is asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolRefusal(Map<String, Value>);

impl Reply {
    pub(super) fn new(members: Vec<(&'static str, Ordered)>) -> Self {
        Self { members, untrusted: BTreeSet::new() }
    }
}

impl ToolRefusal {
    /// By this program.
    pub(super) fn new(code: &str, message: &str) -> Self {
        Self::by_server(&json!([{ "message": message, "extensions": { "code": code } }]))
    }

    /// By the server, with these errors.
    pub(super) fn by_server(errors: &Value) -> Self {
        let mut room = MAX_ERROR_BYTES;
        let mut shown = Vec::new();
        for error in errors.as_array().into_iter().flatten() {
            let rest = room.checked_sub(error.to_string().len());
            if shown.is_empty() || rest.is_some() {
                room = rest.unwrap_or(0);
                shown.push(error.clone());
            }
        }
        Self(Map::from_iter([("errors".to_owned(), shown.into())]))
    }

    /// The server cannot be asked.
    pub(super) fn unreachable(error: &(dyn Error + 'static)) -> Self {
        Self::new("SERVER_UNREACHABLE", &ErrorChain(error).to_string())
    }

    /// The same with one more fact.
    pub(super) fn with(mut self, name: &str, value: Value) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }
}

/// The result as the protocol has it.
pub(super) fn result(outcome: Result<Reply, ToolRefusal>) -> CallToolResult {
    match outcome {
        Ok(reply) => {
            let object =
                Ordered::Object(reply.members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
            let mut result = CallToolResult::success(vec![ContentBlock::text(text(&object))]);
            if !reply.untrusted.is_empty() {
                let pointers = reply.untrusted.iter().map(|path| Value::from(format!("/data/{}", path.join("/"))));
                result.meta = Some(MetaObject(Map::from_iter([(UNTRUSTED.to_owned(), pointers.collect())])));
            }
            result
        }
        Err(refusal) => CallToolResult::error(vec![ContentBlock::text(Value::Object(refusal.0).to_string())]),
    }
}

/// Its JSON. Values that came from JSON can be written.
pub(super) fn text(value: &Ordered) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
