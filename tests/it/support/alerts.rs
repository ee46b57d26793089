//! Evaluates the alert rules with `promtool`, on what the metrics read before and during an outage.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::metrics::Metrics;
use crate::support::test_folder::TestFolder;

/// Panics unless each of these alerts fires when the readings go on as they went from `before` to `during`, minute by minute. Before that,
/// no alert fires.
pub fn assert_fire(alerts: &[&str], before: &Metrics, during: &Metrics) {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/operations/alerts.yaml");
    let text = fs::read_to_string(&rules).unwrap();
    for alert in alerts {
        assert!(text.contains(&format!("- alert: {alert}\n")), "{alert}");
    }
    let mut test = format!("rule_files: [{}]\ntests:\n  - interval: 1m\n    input_series:\n", rules.display());
    for (name, value) in &during.samples {
        let earlier = before.samples.get(name).copied().unwrap_or_default();
        let family = name.split('{').next().unwrap();
        let is_gauge = during.kinds.get(family).is_some_and(|kind| kind == "gauge");
        let step = if is_gauge { 0.0 } else { value - earlier };
        let series = match name.split_once('{') {
            Some((family, labels)) => format!("{family}{{instance=\"a\",job=\"orderql\",{labels}"),
            None => format!("{name}{{instance=\"a\",job=\"orderql\"}}"),
        };
        writeln!(test, "      - {{series: '{series}', values: '{earlier}+0x29 {value}+{step}x40'}}").unwrap();
    }
    test.push_str("    promql_expr_test:\n");
    let mut expect = |expression: &str, minutes: u32, value: u32| {
        writeln!(test, "      - expr: '{expression}'\n        eval_time: {minutes}m").unwrap();
        writeln!(test, "        exp_samples: [{{labels: \"{{}}\", value: {value}}}]").unwrap();
    };
    expect("count(ALERTS{alertstate=\"firing\"}) or vector(0)", 25, 0);
    for alert in alerts {
        expect(&format!("min(ALERTS{{alertname=\"{alert}\",alertstate=\"firing\"}})"), 65, 1);
    }
    let folder = TestFolder::create("alerts");
    let file = folder.path().join("test.yaml");
    fs::write(&file, test).unwrap();
    match Command::new("promtool").args(["test", "rules"]).arg(&file).output() {
        Ok(output) => assert!(
            output.status.success(),
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(_) => println!("promtool is not installed, so that the alert rules are not evaluated"),
    }
}
