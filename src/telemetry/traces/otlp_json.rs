//! Spans as OTLP's JSON (`ExportTraceServiceRequest`).

use serde_json::{Value, json};

use crate::telemetry::traces::span::{Attribute, Span, Trace};

/// `STATUS_CODE_ERROR`.
const ERROR: u32 = 2;

/// A request that exports the traces of a server which the resource describes.
pub(super) fn request(resource: &[(String, String)], traces: &[Trace]) -> Value {
    let resource: Vec<_> =
        resource.iter().map(|(key, value)| json!({ "key": key, "value": { "stringValue": value } })).collect();
    let spans: Vec<_> = traces.iter().flat_map(|trace| trace.spans.iter().map(|span| encode(trace, span))).collect();
    json!({
        "resourceSpans": [{
            "resource": { "attributes": resource },
            "scopeSpans": [{
                "scope": { "name": "orderql", "version": env!("CARGO_PKG_VERSION") },
                "spans": spans,
            }],
        }],
    })
}

fn encode(trace: &Trace, span: &Span) -> Value {
    let attribute = |(key, value): &(&str, Attribute)| match value {
        Attribute::Text(text) => json!({ "key": key, "value": { "stringValue": text } }),
        // 64-bit numbers are texts in protobuf's JSON.
        Attribute::Number(number) => json!({ "key": key, "value": { "intValue": number.to_string() } }),
    };
    let mut object = json!({
        "traceId": trace.id.to_string(),
        "spanId": format!("{:016x}", span.id),
        "name": span.name,
        "kind": span.kind as u32,
        "startTimeUnixNano": span.times[0].to_string(),
        "endTimeUnixNano": span.times[1].to_string(),
        "attributes": span.attributes.iter().map(attribute).collect::<Vec<_>>(),
    });
    if let Some(parent) = span.parent {
        object["parentSpanId"] = format!("{parent:016x}").into();
    }
    if span.has_failed {
        object["status"] = json!({ "code": ERROR });
    }
    object
}
