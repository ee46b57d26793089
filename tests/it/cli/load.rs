//! The command `orderql load`.

use std::fs;

use orderql::cli;
use orderql::cli::database_flags::DatabaseFlags;

use crate::load::loading::{parties, rows_as_text};
use crate::support::database::migrated_database;
use crate::support::server::connection_string;
use crate::support::test_folder::TestFolder;

#[test]
fn loads_what_it_can_and_fails_if_records_or_files_were_left_out() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let database = runtime.block_on(migrated_database());
    let test_folder = TestFolder::create("load");
    let folder = test_folder.path();
    let write = |name: &str, rows: &str| fs::write(folder.join(name), format!("<entity-engine-xml>{rows}")).unwrap();
    write("a.xml", "<Party partyId='A'/><Party/></entity-engine-xml>");
    write("b.xml", "<Party partyId='B'/></entity-engine-xml>");
    write("c.xml", &format!("\n<Party partyId='C'/>{}", parties(5000)));
    write("d.xml", "<Party partyId='D'/></entity-engine-xml>");
    let run = |files: &[&str]| {
        cli::load::run(cli::load::Args {
            database: DatabaseFlags { database_url: Some(connection_string(&database.config())), config: None },
            verbose: false,
            files: files.iter().map(|file| folder.join(file)).collect(),
        })
    };
    let loaded = || {
        runtime.block_on(async {
            let parties =
                "SELECT string_agg(party_id, '' ORDER BY party_id) FROM party WHERE party_id ~ '^[A-D]$|^P[0-9]+$'";
            rows_as_text(&database.connect().await, parties).await.concat()
        })
    };
    let path = |name: &str| folder.join(name).display().to_string();
    assert_eq!(run(&["a.xml"]).unwrap_err().to_string(), "1 bad records were left out; they are listed above");
    assert_eq!(loaded(), "(A)");
    // Of a malformed file nothing is loaded; the files before and after it are.
    let error = run(&["b.xml", "c.xml", "a.xml", "d.xml"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "1 bad records were left out; they are listed above; 1 of 4 files not loaded: {}:5002: the file ends inside \
             <entity-engine-xml>",
            path("c.xml")
        )
    );
    assert_eq!(loaded(), "(ABD)");
    // Likewise of a missing file, and of a folder without a load order.
    write("e.xml", "<Party partyId='C'/></entity-engine-xml>");
    let error = run(&["missing.xml", ".", "e.xml"]).unwrap_err().to_string();
    let missing = format!("2 of 3 files not loaded: {} cannot be read: No such file", path("missing.xml"));
    assert!(error.starts_with(&missing), "{error}");
    assert!(error.contains('\n') && error.contains("LOAD_ORDER.txt cannot be read: it names"), "{error}");
    assert_eq!(loaded(), "(ABCD)");
    fs::write(folder.join("LOAD_ORDER.txt"), "# in this order\n\nmissing.xml\nb.xml\n").unwrap();
    assert!(run(&["."]).unwrap_err().to_string().starts_with("1 of 2 files not loaded: "));
    fs::write(folder.join("LOAD_ORDER.txt"), "# in this order\n\nb.xml\n").unwrap();
    run(&["."]).unwrap();
}
