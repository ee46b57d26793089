//! Archives of inputs.

use std::env;
use std::fs;
use std::process;

use orderql_fuzz_corpora::{pack, unpacked};

#[test]
fn an_archive_has_the_inputs_and_depends_on_them_alone() {
    let fuzz = env::temp_dir().join(format!("orderql-corpora-{}", process::id()));
    let (inputs, archive) = (fuzz.join("inputs"), fuzz.join("corpus/search.tar.gz"));
    fs::create_dir_all(&inputs).unwrap();
    fs::create_dir_all(fuzz.join("corpus")).unwrap();
    fs::write(inputs.join("b"), b"\0two").unwrap();
    fs::write(inputs.join("a"), "one").unwrap();
    pack(&fuzz, "search", &inputs).unwrap();
    let first = fs::read(&archive).unwrap();
    fs::write(inputs.join("a"), "one").unwrap();
    pack(&fuzz, "search", &inputs).unwrap();
    assert_eq!(fs::read(&archive).unwrap(), first);
    let folder = unpacked(&fuzz, "search").unwrap();
    assert_eq!(fs::read(folder.join("a")).unwrap(), b"one");
    assert_eq!(fs::read(folder.join("b")).unwrap(), b"\0two");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    fs::remove_dir_all(&fuzz).unwrap();
}
