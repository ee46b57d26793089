//! Commands, links and files of a query, and what stays when the page is loaded again.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::console::walkthrough::Visit;
use crate::support::server::wait_until;

impl Visit {
    pub(super) fn share(&self, downloads: &Path) {
        let browser = &self.browser;
        browser.click("[aria-label='Show Share']");
        let command = "[aria-label=curl]";
        browser.wait_for_text(command, "-H \"Authorization: Bearer $TOKEN\"");
        browser.wait_for_text(command, "-H 'Prefer: wait=7'");
        assert!(!browser.text(".oq-panel").contains("eyJ"));
        browser.wait_for_text("[aria-label='token command']", "-u 'demo'");
        browser.press("Copy curl");
        browser.wait_for_text(".oq-panel", "Copied.");
        self.check_accessibility("sharing");
        // The token is in a command of somebody who asks for it.
        browser.click(".oq-panel input[type=checkbox]");
        browser.wait_for_text(command, "Bearer eyJ");
        let link = browser.text("[aria-label=link]");
        assert!(link.starts_with(&format!("{}/rest/s1/graphql?query=", self.origin)), "{link}");

        for name in ["response.json", "orders.csv", "schema.graphql"] {
            browser.press(name);
        }
        let read = |name: &str| {
            let path = downloads.join(name);
            wait_until(|| fs::metadata(&path).is_ok_and(|file| file.len() > 0));
            fs::read_to_string(path).unwrap()
        };
        let response: Value = serde_json::from_str(&read("response.json")).unwrap();
        assert_eq!(response["data"]["orders"]["edges"].as_array().unwrap().len(), 10);
        assert_eq!(read("orders.csv").lines().count(), 11);
        assert!(read("schema.graphql").contains("type Query"));

        browser.click("[aria-label='Show History']");
        browser.click("[aria-labelledby=runs] .oq-star");
        browser.wait_for_text("[aria-labelledby=favourites]", "ORDER_APPROVED");
        self.check_accessibility("the history");
    }

    /// Loading the page again signs nobody out, and keeps the query, its headers and what was run.
    pub(super) fn reload_the_page(&self) {
        let browser = &self.browser;
        let (query, runs) = (self.query(), "document.querySelectorAll('[aria-labelledby=runs] .oq-query').length");
        let before = browser.run(&format!("return {runs}"));
        let stored = "JSON.parse(sessionStorage['graphiql:tabState'] ?? '{}').tabs?.[0].query";
        browser.wait_for(&format!("{stored} === {}", Value::from(query.as_str())));
        browser.open(&format!("{}/rest/s1/graphql", self.origin));
        assert_eq!(browser.text(".oq-user"), "demo");
        browser.wait_for(&format!("{runs} === {before}"));
        browser.wait_for_text("[aria-labelledby=favourites]", "ORDER_APPROVED");
        browser.wait_for("window.__MONACO?.editor.getModels().length >= 3");
        assert_eq!(self.query(), query);
        assert!(browser.run("return document.querySelector('.oq-dialog[open]')").is_null());
        self.replace("headers.json", "");
        browser.click("[aria-label='Hide editor tools']");
        browser.click("[aria-label='Show Price']");
    }
}
