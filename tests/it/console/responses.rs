//! What the console says of a response above it, and the headers of requests.

use serde_json::{Value, json};

use crate::console::browser::{CONTROL, ENTER, ESCAPE};
use crate::console::walkthrough::Visit;

const NOTICE: &str = ".oq-notice";

impl Visit {
    /// Whether the response is that to the query, has all rows, and what can be done when there is none.
    pub(super) fn read_notices(&self) {
        let browser = &self.browser;
        let query = self.query();
        let throttled =
            json!([{ "message": "too few credits", "extensions": { "code": "THROTTLED", "retryAfterMs": 2500 } }]);
        self.answer_once(&json!({ "data": null, "errors": throttled }));
        browser.click(".graphiql-execute-button");
        browser.wait_for_text(NOTICE, "THROTTLED: 0 credits paid");
        self.check_accessibility("too few credits");
        browser.press("Wait and run, in about 3 seconds");
        browser.wait_for_text(".oq-paid", "190 credits paid");
        assert_eq!(browser.run("return window.lastHeaders.Prefer"), json!("wait=30"));

        let forbidden = json!([{ "message": "none of your user groups has the grant on /graphql", "extensions": { "code": "FORBIDDEN" } }]);
        self.answer_once(&json!({ "data": null, "errors": forbidden }));
        browser.click(".graphiql-execute-button");
        browser.wait_for_text(NOTICE, "Ask an operator of this server for it: orderql grant add GROUP /graphql");

        let ended = json!([{ "path": ["orders"], "rowsExamined": 4500, "inexact": ["hasNextPage"] }]);
        self.answer_once(&json!({ "data": { "orders": { "edges": [] } }, "extensions": { "search": ended } }));
        browser.click(".graphiql-execute-button");
        browser.wait_for_text(NOTICE, "orders has not all rows: its search ended after 4,500 rows");
        let above = "document.querySelector('.oq-notice').getBoundingClientRect().bottom <= document.querySelector('.result-window').getBoundingClientRect().top + 1";
        assert_eq!(browser.run(&format!("return {above}")), json!(true));

        // The errors of a query that is rejected are above the names that it could have used.
        browser.click(".graphiql-execute-button");
        browser.wait_for_text(".oq-paid", "190 credits paid");
        self.write("{ orders(first: 5) { edges { node { ordrId");
        browser.wait_for_text(NOTICE, "The response to an earlier query");
        browser.wait_for_text(".oq-paid", "190 credits paid");
        // The editor's suggestions are closed.
        browser.type_keys(ESCAPE);
        browser.wait_for("!document.querySelector('.suggest-widget.visible')");
        self.check_accessibility("an old response");
        browser.click(".graphiql-execute-button");
        browser.wait_for_text(".oq-notice .oq-problems", "did you mean \"orderId\"?");
        browser.wait_for(&format!("!document.querySelector('{NOTICE}').innerText.includes('earlier')"));

        // Another tab has a response and a price of its own.
        browser.click(".graphiql-tab-add");
        browser.wait_for_text(NOTICE, "Run the query to see its result here");
        self.check_accessibility("two tabs");
        browser.click(".graphiql-tab-active [aria-label='Close Tab']");
        browser.wait_for("document.querySelectorAll('.graphiql-tab').length === 1");
        self.replace("operation.graphql", &query);
        browser.click(".graphiql-execute-button");
        browser.wait_for_text(".oq-paid", "credits paid");
    }

    /// The header editor.
    pub(super) fn send_headers(&self) {
        let browser = &self.browser;
        browser.click(".graphiql-editor-tools [data-name=headers]");
        browser.click(".graphiql-editor-tool > :not(.hidden) .view-lines");
        browser.type_keys("{\"GraphQL-Cost\":\"validate\"");
        browser.type_keys(&format!("{CONTROL}{ENTER}"));
        browser.wait_for_text(".oq-paid", "A report in place of the data. The price of the query is");
        browser.type_keys(ESCAPE);
        browser.wait_for("!document.querySelector('.suggest-widget.visible')");
        self.check_accessibility("headers");
        // A token comes from signing in alone.
        self.replace("headers.json", "{\"Authorization\": \"Bearer x\"}");
        browser.click(".graphiql-execute-button");
        browser.wait_for_text(NOTICE, "The console sets the header Authorization itself");
        self.replace("headers.json", "{\"Prefer\": \"wait=7\"}");
        browser.click("[aria-label='Hide editor tools']");
        browser.click(".graphiql-execute-button");
        browser.wait_for_text(".oq-paid", "credits paid");
    }

    /// Answers the next query in the place of the server, and notes the headers of those after it.
    fn answer_once(&self, response: &Value) {
        self.browser.run(&format!(
            "const send = window.send ??= window.fetch.bind(window);
             window.fetch = (input, init) => {{
                 if (init?.method !== 'POST' || init.headers['GraphQL-Cost']) return send(input, init);
                 window.fetch = (input, init) => {{
                     if (init?.method === 'POST' && !init.headers['GraphQL-Cost']) window.lastHeaders = init.headers;
                     return send(input, init);
                 }};
                 return Promise.resolve(Response.json({response}));
             }};"
        ));
    }

    /// Replaces the text in an editor at once, where brackets must stay as they are.
    pub(super) fn replace(&self, editor: &str, text: &str) {
        let text = Value::from(text);
        self.browser.run(&format!(
            "__MONACO.editor.getModels().find(model => model.uri.path.endsWith('{editor}')).setValue({text})"
        ));
    }
}
