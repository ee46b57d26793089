//! The command `orderql load`.

use std::fs;

use orderql::cli;

use crate::load::loading::count;
use crate::support::database::migrated_database;
use crate::support::server::connection_string;
use crate::support::test_folder::TestFolder;

#[test]
fn loads_what_it_can_and_fails_if_there_are_bad_records() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let database = runtime.block_on(migrated_database());
    let test_folder = TestFolder::create("load");
    let folder = test_folder.path();
    fs::write(folder.join("a.xml"), "<entity-engine-xml><Party partyId='A'/><Party/></entity-engine-xml>").unwrap();
    fs::write(folder.join("b.xml"), "<entity-engine-xml><Party partyId='B'/></entity-engine-xml>").unwrap();
    let run = |files: &[&str]| {
        cli::load::run(cli::load::Args {
            database_url: connection_string(&database.config()).parse().unwrap(),
            verbose: false,
            files: files.iter().map(|file| folder.join(file)).collect(),
        })
    };
    let loaded = || {
        runtime.block_on(async {
            count(&database.connect().await, "SELECT count(*) FROM party WHERE party_id IN ('A', 'B')").await
        })
    };
    // Missing files and a folder without a load order are errors before any file is loaded.
    let error = run(&["b.xml", "missing.xml"]).unwrap_err();
    assert_eq!(error.to_string(), format!("{} cannot be read", folder.join("missing.xml").display()));
    let error = run(&["."]).unwrap_err();
    assert!(error.to_string().contains("LOAD_ORDER.txt cannot be read"), "{error}");
    assert_eq!(loaded(), 0);
    assert_eq!(run(&["a.xml", "b.xml"]).unwrap_err().to_string(), "1 bad records were left out; they are listed above");
    assert_eq!(loaded(), 2);
    // An invalid file ends the run. The files before it are loaded.
    fs::write(folder.join("c.xml"), "<entity-engine-xml>").unwrap();
    let error = run(&["b.xml", "c.xml", "a.xml"]).unwrap_err();
    assert!(error.to_string().ends_with("c.xml:1: the file ends inside <entity-engine-xml>"), "{error}");
    fs::write(folder.join("LOAD_ORDER.txt"), "# in this order\n\nb.xml\n").unwrap();
    run(&["."]).unwrap();
}
