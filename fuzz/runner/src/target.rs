//! The targets and their folders.

use std::path::{Path, PathBuf};

use orderql_fuzz_corpora::unpacked;

/// A target.
pub struct Target {
    pub name: &'static str,
    /// The files and folders of the library that it is meant to reach.
    pub sources: &'static [&'static str],
    /// The file of words that its inputs have.
    pub dictionary: Option<&'static str>,
}

const GRAPHQL: Option<&str> = Some("graphql");

/// The targets that need no part of the service.
const PURE: [&str; 9] = ["parse", "validate", "compile", "document", "plan", "search", "cursor", "schema", "view"];

impl Target {
    pub const ALL: &[Self] = &[
        Self { name: "parse", sources: &["src/query/parse"], dictionary: GRAPHQL },
        Self { name: "validate", sources: &["src/query/validate"], dictionary: GRAPHQL },
        Self {
            name: "compile",
            sources: &["src/query/bind", "src/cost", "src/plan", "src/compile"],
            dictionary: GRAPHQL,
        },
        Self { name: "document", sources: &["src/query/parse", "src/query/validate"], dictionary: None },
        Self { name: "plan", sources: &["src/query/bind", "src/cost", "src/plan", "src/compile"], dictionary: None },
        Self { name: "search", sources: &["src/search"], dictionary: None },
        Self { name: "cursor", sources: &["src/cursor.rs"], dictionary: None },
        Self { name: "schema", sources: &["src/schema_file", "src/catalog"], dictionary: Some("schema") },
        Self {
            name: "view",
            sources: &["src/schema_file/mod.rs", "src/schema_file/visibility.rs", "src/catalog/grant_set.rs"],
            dictionary: None,
        },
        Self {
            name: "form",
            sources: &["src/orders/update_form.rs", "src/orders/update_request.rs", "src/orders/param_name.rs"],
            dictionary: Some("form"),
        },
        Self {
            name: "http_head",
            sources: &[
                "src/http/request/head.rs",
                "src/api/negotiate.rs",
                "src/http/quality.rs",
                "src/http/coding/mod.rs",
                "src/api/credentials.rs",
                "src/http/request/client_address.rs",
                "src/api/graphql/request/request_envelope.rs",
            ],
            dictionary: Some("http"),
        },
        Self {
            name: "token",
            sources: &["src/access/tokens/verify.rs", "src/access/tokens/external_issuer.rs"],
            dictionary: Some("token"),
        },
        Self {
            name: "load",
            sources: &[
                "src/load/xml_reader.rs",
                "src/load/xml_element.rs",
                "src/load/line_counter.rs",
                "src/load/value.rs",
            ],
            dictionary: Some("xml"),
        },
        Self { name: "json_out", sources: &["src/execute/encode.rs", "src/execute/digits.rs"], dictionary: None },
    ];

    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|target| target.name == name)
    }

    /// Whether its bytes are choices that make a request. No part of the request is in them, so nothing is learned from what the
    /// library compares.
    pub fn is_structured(&self) -> bool {
        ["document", "plan"].contains(&self.name)
    }

    /// Whether it needs the pure half of the library alone.
    pub fn is_pure(&self) -> bool {
        PURE.contains(&self.name)
    }

    /// The folder of the committed inputs, unpacked.
    pub fn corpus(&self) -> Result<PathBuf, String> {
        unpacked(fuzz_folder(), self.name).map_err(|error| format!("the corpus of {}: {error}", self.name))
    }

    /// Inputs that broke a promise once.
    pub fn regressions(&self) -> PathBuf {
        fuzz_folder().join("regressions").join(self.name)
    }

    /// What this machine has found since.
    pub fn found(&self) -> PathBuf {
        fuzz_folder().join("found").join(self.name)
    }

    /// The inputs that break a promise.
    pub fn artifacts(&self) -> PathBuf {
        fuzz_folder().join("artifacts").join(self.name)
    }
}

/// The folder `fuzz`.
pub fn fuzz_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the runner's folder is in `fuzz`")
}
