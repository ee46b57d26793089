//! A headless Chromium, driven over `WebDriver`, JSON over HTTP with `chromedriver`, as a person would use the page.

use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

/// The name of an element's reference in `WebDriver`.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A step that takes longer than this has failed. No test measures it.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The keys of `WebDriver` that are no characters.
pub const CONTROL: &str = "\u{e009}";
pub const ENTER: &str = "\u{e007}";
pub const ESCAPE: &str = "\u{e00c}";

/// A browser with one page. Dropping it ends the browser.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

/// A driver, and its port. One that finds its port taken on one of the machine's addresses ends at once: then another is started.
fn start_driver() -> Result<(Child, u16), String> {
    for _ in 0..5 {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|_| "ChromeDriver is not installed")?;
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map(Result::unwrap);
        let port =
            lines.find_map(|line| line.split_once("started successfully on port ").map(|(_, port)| port.to_owned()));
        match port {
            Some(port) => return Ok((driver, port.trim_end_matches('.').parse().unwrap())),
            None => driver.wait().map(drop).unwrap(),
        }
    }
    Err("ChromeDriver does not start".to_owned())
}

impl Browser {
    /// Starts a browser that saves its downloads in a folder. Fails with what is missing.
    pub fn start(downloads: &Path) -> Result<Self, String> {
        let chromium = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| is_installed(name));
        let chromium = chromium.ok_or("Chromium is not installed")?;
        let (driver, port) = start_driver()?;
        let mut browser = Self { driver, port, session: String::new() };
        let arguments = [
            "--headless=new",
            // The tests may run as root.
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--force-device-scale-factor=1",
            "--window-size=1360,860",
            "--lang=en",
        ];
        let preferences = json!({ "download.default_directory": downloads, "credentials_enable_service": false });
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "binary": path_of(chromium), "args": arguments, "prefs": preferences },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
            "timeouts": { "script": TIMEOUT.as_millis() },
        } } });
        let session = browser.send("POST /session", &capabilities);
        session["sessionId"].as_str().unwrap().clone_into(&mut browser.session);
        Ok(browser)
    }

    /// Opens a page.
    pub fn open(&self, url: &str) {
        self.post("url", &json!({ "url": url }));
    }

    /// Runs a script, the body of a function, and returns its result.
    pub fn run(&self, script: &str) -> Value {
        self.post("execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Runs a script that calls `done` with its result.
    pub fn run_async(&self, script: &str) -> Value {
        let script = format!("const done = arguments[arguments.length - 1]; {script}");
        self.post("execute/async", &json!({ "script": script, "args": [] }))
    }

    /// Waits until an expression in the page is true, or something like it, and returns it.
    pub fn wait_for(&self, expression: &str) -> Value {
        // Looks with each frame that the page draws.
        self.run_async(&format!(
            "const look = () => {{ const found = ({expression}); found ? done(found) : requestAnimationFrame(look) }}; look();"
        ))
    }

    /// Waits until the text of an element contains a text.
    pub fn wait_for_text(&self, selector: &str, text: &str) {
        let (selector, text) = (Value::from(selector), Value::from(text));
        self.wait_for(&format!("document.querySelector({selector})?.innerText.includes({text})"));
    }

    /// The text of the first element.
    pub fn text(&self, selector: &str) -> String {
        let text = self.wait_for(&format!("document.querySelector({})?.innerText", Value::from(selector)));
        text.as_str().unwrap().to_owned()
    }

    /// Clicks the first element.
    pub fn click(&self, selector: &str) {
        self.wait_for(&format!("document.querySelector({})", Value::from(selector)));
        self.click_element(&self.find("css selector", selector));
    }

    /// Clicks the button that has this text, or whose text begins with it.
    pub fn press(&self, text: &str) {
        let path = format!("//button[starts-with(normalize-space(.), '{text}') and not(@disabled)]");
        let quoted = Value::from(path.as_str());
        self.wait_for(&format!("document.evaluate({quoted}, document, null, 9).singleNodeValue"));
        self.click_element(&self.find("xpath", &path));
    }

    /// Types into the element that has the focus. A control key is held down until the end.
    pub fn type_keys(&self, text: &str) {
        let active = self.request("GET", "element/active", &Value::Null);
        let id = active[ELEMENT].as_str().unwrap();
        self.post(&format!("element/{id}/value"), &json!({ "text": text }));
    }

    /// Types into an element.
    pub fn type_into(&self, selector: &str, text: &str) {
        self.click(selector);
        self.type_keys(text);
    }

    /// The page as it looks, a PNG.
    pub fn screenshot(&self) -> Vec<u8> {
        let image = self.request("GET", "screenshot", &Value::Null);
        BASE64_STANDARD.decode(image.as_str().unwrap()).unwrap()
    }

    /// Sends a command of Chromium's own protocol.
    pub fn command(&self, name: &str, parameters: &Value) -> Value {
        self.post("goog/cdp/execute", &json!({ "cmd": name, "params": parameters }))
    }

    /// The entries of a log since the last call.
    pub fn log(&self, kind: &str) -> Vec<Value> {
        self.post("se/log", &json!({ "type": kind })).as_array().unwrap().clone()
    }

    fn find(&self, strategy: &str, value: &str) -> String {
        let found = self.post("element", &json!({ "using": strategy, "value": value }));
        found[ELEMENT].as_str().unwrap().to_owned()
    }

    fn click_element(&self, id: &str) {
        self.post(&format!("element/{id}/click"), &json!({}));
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.request("POST", path, body)
    }

    fn request(&self, method: &str, path: &str, body: &Value) -> Value {
        self.send(&format!("{method} /session/{}/{path}", self.session), body)
    }

    fn send(&self, line: &str, body: &Value) -> Value {
        let (status, mut answer) = self.exchange(line, body).unwrap();
        assert_eq!(status, 200, "{line} {body}: {:#}", answer["value"]["message"]);
        answer["value"].take()
    }

    fn exchange(&self, line: &str, body: &Value) -> io::Result<(u16, Value)> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(2 * TIMEOUT))?;
        let head = format!(
            "{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes())?;
        // The driver leaves the connection open.
        let mut reader = BufReader::new(stream);
        let (mut head, mut length) = (String::new(), 0);
        while reader.read_line(&mut head)? > 2 {
            let line = head.lines().last().unwrap_or_default().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer)?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
        Ok((status, serde_json::from_slice(&answer)?))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Ends the browser, also after a failure.
        let _ = self.exchange(&format!("DELETE /session/{}", self.session), &Value::Null);
        let _ = Command::new("kill").arg(self.driver.id().to_string()).status();
        let _ = self.driver.wait();
    }
}

fn is_installed(program: &str) -> bool {
    !path_of(program).is_empty()
}

fn path_of(program: &str) -> String {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap();
    String::from_utf8(found.stdout).unwrap().trim().to_owned()
}
