//! One visit to the console, from signing in to signing out, with real clicks and keys.
//!
//! Without Chromium and its driver the test passes with a message. With `ORDERQL_REQUIRE_BROWSER` set it fails instead. With
//! `UPDATE_DOCS` set it writes the pictures of the documentation.

use std::io::{self, Write as _};
use std::path::Path;
use std::{env, fs};

use orderql::access::profile::Profile;
use serde_json::{Value, json};

use crate::console::browser::{Browser, CONTROL, ENTER, ESCAPE};
use crate::support::database::loaded_database;
use crate::support::server::{Server, wait_until};
use crate::support::test_folder::TestFolder;
use crate::support::users::create_users;

const EDITOR: &str = ".graphiql-query-editor .view-lines";
const PRICE: &str = "[data-testid=price]";

/// The text of the editor.
const TEXT: &str = "__MONACO.editor.getModels().find(model => model.uri.path.endsWith('operation.graphql')).getValue()";

/// The program that finds barriers to people with disabilities.
static AXE: &[u8] = include_bytes!("axe.min.js.br");

#[tokio::test(flavor = "multi_thread")]
async fn somebody_writes_prices_runs_and_follows_queries_in_a_browser() {
    let folder = TestFolder::create("console");
    let Some(browser) = browser_or_skip(folder.path()) else { return };
    let database = loaded_database().await;
    let mut client = database.connect().await;
    // Credits come back within a second, so that no step waits for them.
    let profile = Profile { restore_rate: Some(1000), ..Profile::DEFAULT };
    create_users(&mut client, &[("demo", profile)]).await;
    client.execute("INSERT INTO orderql.artifact_grant VALUES ('API', 'PLAN')", &[]).await.unwrap();
    let server = Server::start(&database, &["--console", "on"]);
    let visit = Visit { browser, origin: format!("http://{}", server.address) };

    // The query of a link is written in several lines, and the tab has its name. The root leads to the console.
    visit.browser.open(&format!(
        "{}/rest/s1/graphql?query=query+Mine%7Borders(first:2)%7Bedges%7Bnode%7BorderId%7D%7D%7D%7D",
        visit.origin
    ));
    visit.browser.wait_for(
        "window.__MONACO !== undefined && document.querySelector('.graphiql-query-editor .view-line') !== null",
    );
    visit.browser.wait_for(&format!("{TEXT}.startsWith('query Mine {{\\n  orders(first: 2) {{\\n')"));
    assert_eq!(visit.browser.text(".graphiql-tab-button"), "Mine");
    // The page stores its tabs a moment after they have changed.
    visit.browser.wait_for("JSON.stringify(sessionStorage).includes('query Mine')");
    visit.browser.run("sessionStorage.clear()");
    visit.browser.open(&visit.origin);
    visit.sign_in();
    visit.price_and_run();
    visit.lose_the_server();
    visit.read_notices();
    visit.send_headers();
    visit.share(folder.path());
    visit.reload_the_page();
    visit.follow_suggestions();
    visit.choose_fields();
    visit.complete_a_search();
    visit.see_the_plan();
    visit.read_pages(folder.path());
    visit.draw_a_timeline();
    visit.read_documentation();
    visit.change_appearance();
    visit.sign_out();
    visit.check_requests();
}

/// The browser at the server's console.
pub(super) struct Visit {
    pub(super) browser: Browser,
    pub(super) origin: String,
}

impl Visit {
    fn sign_in(&self) {
        let browser = &self.browser;
        browser.wait_for("document.querySelector('.oq-dialog[open]')");
        self.check_accessibility("signing in");
        for scheme in ["dark", "light"] {
            self.prefer(scheme);
            // What is behind the dialog is not seen through it, and its fields have borders.
            let colours = browser.run(
                "const colour = (selector, name) => getComputedStyle(document.querySelector(selector))[name];
                 return [colour('.oq-dialog', 'backgroundColor'), colour('.oq-dialog input', 'borderTopColor'), colour('.oq-dialog', 'color')]",
            );
            let [background, border, text] = [0, 1, 2].map(|index| colours[index].as_str().unwrap());
            let is_light = scheme == "light";
            assert_eq!(background, if is_light { "rgb(255, 255, 255)" } else { "rgb(33, 42, 59)" }, "{colours}");
            assert!(border != background && !border.ends_with(", 0)"), "{colours}");
            assert_ne!(text, background);
        }
        // The field has the focus. Enter sends the form.
        browser.type_keys("demo");
        browser.type_into(".oq-dialog input[name=password]", &format!("wrong{ENTER}"));
        browser.wait_for_text(".oq-dialog [role=alert]", "the name or the password is wrong");
        browser.type_into(".oq-dialog input[name=password]", &format!("{CONTROL}a"));
        browser.type_keys("demo");
        browser.click(".oq-dialog [type=submit]");
        browser.wait_for("!document.querySelector('.oq-dialog[open]')");
        assert_eq!(browser.text(".oq-user"), "demo");
        // The token is in the tab's storage alone.
        let stored = browser.run("return JSON.stringify([{...localStorage}, document.cookie])");
        assert!(!stored.as_str().unwrap().contains("eyJ"), "{stored}");
    }

    fn price_and_run(&self) {
        let browser = &self.browser;
        // The query of the beginning is priced at once, and each field has a mark.
        assert_eq!(browser.text(PRICE), "190");
        browser.wait_for("document.querySelectorAll('.oq-mark').length === 8");
        // No line is wrapped.
        let lines = self.query().lines().count() + 1;
        browser.wait_for(&format!("document.querySelectorAll('.graphiql-query-editor .view-line').length === {lines}"));
        // Asking costs nothing.
        assert_eq!(self.credits(), 1000);
        browser.click(".graphiql-execute-button");
        browser.wait_for_text(".oq-paid", "190 credits paid");
        browser.wait_for_text(".oq-gauge", "credits left");
        browser.wait_for_text(".oq-panel", "each search term on a key that is not selective");
        // The name of the tab is that of the first field.
        assert_eq!(browser.text(".graphiql-tab-button"), "orders");
        // The panel is as wide as its table. Below each tool is its name, whole.
        let panel = "document.querySelector('.graphiql-plugin')";
        assert_eq!(browser.run(&format!("return {panel}.scrollWidth - {panel}.clientWidth")), json!(0));
        let cut = "[...document.querySelectorAll('.oq-tool')].filter(({ scrollWidth, clientWidth, innerText }) => scrollWidth > clientWidth || !innerText)";
        assert_eq!(browser.run(&format!("return {cut}.length")), json!(0));
        browser.wait_for_text(".graphiql-response .view-lines", "\"data\"");
        browser.wait_for_text("#paid", "190 credits");
        self.picture("console.png");
        self.check_accessibility("the price");
    }

    fn follow_suggestions(&self) {
        let browser = &self.browser;
        let paid = browser.text("#paid");
        self.write(
            "{ orders(first: 100) { edges { node { orderId orderItems(first: 100) { edges { node { productId quantity",
        );
        browser.wait_for(&format!("Number(document.querySelector('{PRICE}')?.innerText.replace(',', '')) === 30200"));
        browser.press("Smaller outer pages");
        browser.wait_for(&format!("Number(document.querySelector('{PRICE}')?.innerText.replace(',', '')) === 906"));
        assert!(self.query().contains("orders(first: 3)"), "{}", self.query());
        // A page without a size, and a misspelt field.
        self.write("{ orders { edges { node { ordrId");
        // Each button shows what it changes.
        let shown = "[...document.querySelectorAll('.oq-difference')].map(({ textContent }) => textContent)";
        browser.wait_for(&format!("{shown}.includes('ordrId orderId')"));
        browser.press("Add first: 10");
        browser.press("Use orderId");
        browser.wait_for(&format!("Number(document.querySelector('{PRICE}')?.innerText.replace(',', '')) === 20"));
        assert_eq!(self.query(), "{ orders(first: 10) { edges { node { orderId}}}}");
        // A change can be undone.
        browser.click(EDITOR);
        browser.type_keys(&format!("{CONTROL}z"));
        browser.wait_for(&format!("{TEXT}.includes('ordrId')"));
        browser.wait_for("document.querySelector('.oq-problems button')");
        self.check_accessibility("an error");
        assert_eq!(browser.text("#paid"), paid);
    }

    fn choose_fields(&self) {
        let browser = &self.browser;
        let text = |query: &str| browser.wait_for(&format!("{TEXT}.replace(/\\s+/g, ' ').trim() === {}", json!(query)));
        let field = |name: &str| {
            format!(
                "[...document.querySelectorAll('.oq-tree label')].find(label => label.innerText.startsWith('{name}'))"
            )
        };
        browser.click("[aria-label='Show Explorer']");
        browser.wait_for("document.querySelectorAll('.oq-group').length === 3");
        // Half a query cannot be changed.
        self.write("{ orders(first: 5) { edges { node { orderId");
        browser.type_keys(" @");
        browser.wait_for_text(".oq-panel", "an error of syntax");
        self.write("# What is left\n{ __typename }");
        browser.wait_for(&field("shipments"));
        browser.run(&format!("{}.click()", field("shipments")));
        text("# What is left { __typename shipments(first: 10) { edges { node { shipmentId } } } }");
        // With the keyboard, on a field of the nodes.
        browser.run(&format!("{}.control.focus()", field("statusId")));
        browser.type_keys(" ");
        text("# What is left { __typename shipments(first: 10) { edges { node { shipmentId statusId } } } }");
        let argument = "[...document.querySelectorAll('.oq-tree .oq-buttons label')].find(label => label.innerText.trim() === 'query')";
        browser.run(&format!("{argument}.control.focus()"));
        browser.type_keys(&format!("statusId:SHIPMENT_SHIPPED{ENTER}"));
        text(
            "# What is left { __typename shipments(first: 10, query: \"statusId:SHIPMENT_SHIPPED\") { edges { node { shipmentId statusId } } } }",
        );
        self.check_accessibility("the explorer");
        // The last field of a connection takes the connection with it.
        for name in ["shipmentId", "statusId"] {
            browser.run(&format!("{}.click()", field(name)));
        }
        text("# What is left { __typename }");
        // A field that is searched is added with all around it.
        browser.type_into(".oq-search input", "trackingcode");
        browser.wait_for_text(".oq-panel [role=status]", "1 field");
        self.check_accessibility("a search in the explorer");
        browser.click(".oq-panel .oq-tree input");
        let expected = "# What is left { __typename shipments(first: 10) { edges { node { routeSegments(first: 10) { edges { node { \
                        packages(first: 10) { edges { node { trackingCode } } } } } } } } } }";
        text(expected);
        browser.click("[aria-label='Show Price']");
    }

    fn complete_a_search(&self) {
        let browser = &self.browser;
        let choose = |text: &str| {
            browser.wait_for(&format!(
                "[...document.querySelectorAll('.suggest-widget.visible .monaco-list-row')][0]?.innerText.includes('{text}')"
            ));
            browser.type_keys(ENTER);
        };
        self.write("{ orders(first: 5, query: \"sta");
        choose("statusId");
        browser.wait_for(&format!("{TEXT}.includes('\"statusId:\"')"));
        browser.type_keys("ORDER_APP");
        choose("ORDER_APPROVED");
        browser.wait_for(&format!("{TEXT}.includes('\"statusId:ORDER_APPROVED\"')"));
        browser.type_keys(" orderDa");
        choose("orderDate");
        browser.type_keys(">");
        browser.type_keys(ESCAPE);
        browser.wait_for(&format!("{TEXT}.includes('orderDate:>')"));
    }

    fn see_the_plan(&self) {
        let browser = &self.browser;
        self.write("{ orders(first: 5, sortKey: ORDER_ID) { edges { node { orderId grandTotal shipGroups(first: 2) { edges { node { facilityId");
        browser.click("[aria-label='Show Plan']");
        browser.wait_for_text(".oq-panel", "1 statement, 2 branches");
        browser.wait_for("document.querySelectorAll('.oq-panel pre').length === 1");
        browser.wait_for("document.querySelectorAll('.oq-tree .oq-tree li').length === 1");
        browser.wait_for_text(".oq-panel", "Examines 6 rows at most");
        browser.wait_for_text(".oq-panel pre", "FROM \"order_header\"");
        browser.click(".graphiql-execute-button");
        browser.wait_for_text(".oq-panel [role=status]", " ms.");
        browser.wait_for_text(".oq-tree > li > p", "orders, 5 rows");
        self.check_accessibility("the plan");
        self.prefer("dark");
        browser.wait_for("document.querySelector('.monaco-editor.vs-dark')");
        self.check_accessibility("the plan in the dark");
        self.prefer("light");
        browser.wait_for("document.querySelector('.monaco-editor.vs')");
    }

    fn read_pages(&self, downloads: &Path) {
        let browser = &self.browser;
        let first = "document.querySelector('.oq-scroll td')?.innerText";
        browser.click("[aria-label='Show Pages']");
        browser.press("First");
        browser.wait_for_text(".oq-panel [role=status]", "5 rows here, 5 read on 1 page,");
        let first_page = browser.wait_for(first);
        browser.press("Next");
        browser.wait_for_text(".oq-panel [role=status]", "5 rows here, 10 read on 2 pages");
        let second_page = browser.wait_for(first);
        assert_ne!(first_page, second_page);
        browser.press("Previous");
        browser.wait_for(&format!("{first} === {first_page}"));
        // Backward from the end.
        browser.press("Last");
        browser.wait_for_text(".oq-panel [role=status]", "5 rows here, 5 read on 1 page,");
        browser.press("Previous");
        browser.wait_for_text(".oq-panel [role=status]", "10 read on 2 pages");
        self.check_accessibility("pages");

        browser.press("Export CSV");
        browser.press("Export NDJSON");
        let read = |name: &str| {
            let path = downloads.join(name);
            // The file is there, empty, before its content is.
            wait_until(|| fs::metadata(&path).is_ok_and(|file| file.len() > 0));
            fs::read_to_string(path).unwrap()
        };
        // Another list of that name was saved before.
        let csv = read("orders (1).csv");
        assert!(csv.starts_with("orderId,grandTotal,shipGroups\r\n"), "{csv}");
        assert_eq!(csv.lines().count(), 11, "{csv}");
        let lines = read("orders.ndjson");
        let ids: Vec<_> =
            lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["orderId"].clone()).collect();
        assert_eq!(ids.len(), 10);
        assert!(ids.is_sorted_by_key(|id| id.as_str().unwrap().to_owned()), "{ids:?}");
    }

    fn draw_a_timeline(&self) {
        let browser = &self.browser;
        browser.click("[aria-label='Show Timeline']");
        browser.type_into(".oq-panel input", &format!("{CONTROL}a"));
        browser.type_keys(&format!("DEMO10090{ENTER}"));
        // A short first page, and the rest of its lists.
        browser.wait_for_text(".oq-panel [role=status]", "2 requests, 171 credits");
        let events = browser.text(".oq-timeline");
        let order = ["Order placed", "Order approved", "Shipment 9998 created"].map(|event| events.find(event));
        assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{events}");
        self.picture("timeline.png");
        self.check_accessibility("the timeline");
        browser.type_into(".oq-panel input", &format!("{CONTROL}a"));
        browser.type_keys(&format!("NO_SUCH_ORDER{ENTER}"));
        browser.wait_for_text(".oq-panel [role=status]", "There is no such order");
    }

    fn read_documentation(&self) {
        let browser = &self.browser;
        browser.click("[aria-label='Show Docs']");
        browser.wait_for_text(".graphiql-doc-explorer-content", "Order management over Apache OFBiz");
        self.check_accessibility("the documentation");
    }

    /// Dark, and as narrow as a phone.
    fn change_appearance(&self) {
        let browser = &self.browser;
        browser.click("[aria-label='Show Price']");
        self.prefer("dark");
        browser.wait_for("document.querySelector('.monaco-editor.vs-dark')");
        self.check_accessibility("in the dark");
        let phone = json!({ "width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": true });
        browser.command("Emulation.setDeviceMetricsOverride", &phone);
        browser.wait_for("innerWidth === 390");
        browser.wait_for("document.documentElement.scrollWidth <= 390");
        self.check_accessibility("on a phone");
        for tool in ["Docs", "Explorer", "Plan", "Pages", "Timeline", "Price"] {
            browser.run("document.querySelector('.graphiql-container').scrollTo(0, 0)");
            browser.click(&format!("[aria-label='Show {tool}']"));
            // What it opens is seen at once, and below it, not above each other, the editor and its variables.
            browser.wait_for(&format!("document.querySelector('[aria-label=\"Hide {tool}\"]')"));
            let boxes = browser.run(
                "const box = (selector) => document.querySelector(selector).getBoundingClientRect();
                 const [tools, panel, editor, variables, response] = ['.graphiql-sidebar', '.graphiql-plugin', '.graphiql-query-editor',
                   '.graphiql-editor-tools', '.graphiql-response'].map(box);
                 const text = getComputedStyle(document.querySelector('.graphiql-query-editor')).overflow;
                 return [tools.bottom <= panel.top, panel.height > 40, panel.bottom <= editor.top, editor.top < innerHeight - 100,
                   editor.bottom <= variables.top + 1, variables.bottom <= response.top + 1, text === 'hidden']",
            );
            assert_eq!(boxes, json!([true, true, true, true, true, true, true]), "{tool}");
        }
        browser.click(".graphiql-execute-button");
        browser.wait_for_text(".oq-paid", "credits paid");
        // Wherever the page is scrolled to, one sees that the server is away.
        self.connect(false);
        browser.click(".graphiql-execute-button");
        browser.run("document.querySelector('.graphiql-container').scrollTo(0, 0)");
        browser.wait_for("document.querySelector('.oq-away')?.getBoundingClientRect().bottom <= innerHeight");
        self.check_accessibility("on a phone without the server");
        self.connect(true);
        browser.press("Try again");
        browser.wait_for_text(".oq-paid", "credits paid");
    }

    /// What was read stays while the server is away.
    fn lose_the_server(&self) {
        let browser = &self.browser;
        self.connect(false);
        browser.click(".graphiql-execute-button");
        browser.wait_for_text(".oq-away", "The server cannot be reached. The result is old");
        browser.wait_for_text(".graphiql-response .view-lines", "\"data\"");
        self.check_accessibility("without the server");
        self.connect(true);
        browser.press("Try again");
        browser.wait_for_text(".oq-paid", "190 credits paid");
    }

    fn sign_out(&self) {
        self.browser.press("Sign out");
        self.browser.wait_for("document.querySelector('.oq-dialog[open]')");
        let stored = self.browser.run("return JSON.stringify({...sessionStorage})");
        assert!(
            !stored.as_str().unwrap().contains("eyJ") && !stored.as_str().unwrap().contains("shipGroups"),
            "{stored}"
        );
        self.browser.type_keys("demo");
        self.browser.type_into(".oq-dialog input[name=password]", &format!("demo{ENTER}"));
        self.browser.wait_for("!document.querySelector('.oq-dialog[open]')");
        // What was marked is still there, and what was run is not.
        self.browser.click("[aria-label='Show History']");
        self.browser.wait_for_text(".oq-query", "ORDER_APPROVED");
        assert_eq!(self.browser.run("return document.querySelectorAll('.oq-query').length"), json!(1));
    }

    /// Nothing was asked of anybody else, and nothing was tried that the page must not do.
    fn check_requests(&self) {
        let complaints = self.browser.log("browser");
        // Signing in with a wrong password is one, and losing the server another.
        let others = complaints.iter().filter(|entry| {
            let message = entry["message"].as_str().unwrap();
            !message
                .contains("/rest/s1/auth/token - Failed to load resource: the server responded with a status of 401")
                && !message.contains("net::ERR_INTERNET_DISCONNECTED")
        });
        let others: Vec<_> = others.filter(|entry| entry["level"] == "SEVERE" || entry["level"] == "WARNING").collect();
        assert!(others.is_empty(), "{others:#?}");
        let mut requests = 0;
        for entry in self.browser.log("performance") {
            let event: Value = serde_json::from_str(entry["message"].as_str().unwrap()).unwrap();
            if event["message"]["method"] != "Network.requestWillBeSent" {
                continue;
            }
            let url = event["message"]["params"]["request"]["url"].as_str().unwrap();
            let is_own = url.starts_with(&format!("{}/", self.origin));
            assert!(is_own || url.starts_with("data:") || url.starts_with("blob:"), "{url}");
            requests += usize::from(is_own);
        }
        assert!(requests > 20, "{requests}");
    }

    /// Replaces the text in the editor by keys, as somebody types. The editor closes brackets by itself.
    pub(super) fn write(&self, text: &str) {
        self.browser.click(EDITOR);
        self.browser.type_keys(&format!("{CONTROL}a"));
        self.browser.type_keys(text);
    }

    pub(super) fn query(&self) -> String {
        self.browser.wait_for(TEXT).as_str().unwrap().to_owned()
    }

    fn credits(&self) -> u64 {
        self.browser.text(".oq-number").replace(',', "").parse().unwrap()
    }

    /// Has the system prefer light or dark pages.
    fn prefer(&self, scheme: &str) {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.browser.command("Emulation.setEmulatedMedia", &features);
        self.browser.wait_for(&format!("matchMedia('(prefers-color-scheme: {scheme})').matches"));
    }

    /// Connects the browser to the network, or not.
    fn connect(&self, is_online: bool) {
        self.browser.command("Network.enable", &json!({}));
        let conditions =
            json!({ "offline": !is_online, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
        self.browser.command("Network.emulateNetworkConditions", &conditions);
    }

    pub(super) fn check_accessibility(&self, state: &str) {
        let mut script = String::new();
        io::Read::read_to_string(&mut brotli::Decompressor::new(AXE, 4096), &mut script).unwrap();
        // Opacity changes while panels appear.
        self.browser.wait_for("document.getAnimations().every(animation => animation.playState !== 'running')");
        self.browser.run(&script);
        let found = self.browser.run_async(
            "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => done(violations
               .map(({ id, nodes }) => [id, ...nodes.map(({ html, any }) => html.slice(0, 200) + ' ' + (any[0]?.message ?? ''))])))",
        );
        assert_eq!(found, json!([]), "{state}: {found:#}");
    }

    /// Writes a picture for the documentation.
    fn picture(&self, name: &str) {
        if env::var_os("UPDATE_DOCS").is_some() {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/images").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, self.browser.screenshot()).unwrap();
        }
    }
}

fn browser_or_skip(downloads: &Path) -> Option<Browser> {
    match Browser::start(downloads) {
        Ok(browser) => Some(browser),
        Err(missing) if env::var_os("ORDERQL_REQUIRE_BROWSER").is_some_and(|value| !value.is_empty()) => {
            panic!("ORDERQL_REQUIRE_BROWSER is set, and {missing}")
        }
        Err(missing) => {
            say(&format!("skipped, {missing}"));
            None
        }
    }
}

/// Writes to the stream itself, because the test harness hides the output of `eprintln!` in passing tests.
#[allow(clippy::explicit_write, reason = "the harness captures the macro's output")]
fn say(what: &str) {
    writeln!(io::stderr(), "console: {what}").unwrap();
}
