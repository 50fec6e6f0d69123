//! What the tests of bad input share: a folder with something to lose, and what it means to be refused.

use super::{Scratch, samples};

/// Good data of both kinds, models trained on them, and old outputs that no refused run may touch.
pub(crate) fn folder() -> Scratch {
    let scratch = Scratch::new()
        .with("good.svm", samples::rows(40, &[-1, 1], 4))
        .with("letter.data", samples::letters(12, 16))
        .with("out", "an old model")
        .with("record", "an old record")
        .with("labels", "old labels");
    std::fs::create_dir(scratch.path("folder")).unwrap();
    scratch.succeed("train --task binary --data good.svm --quiet --out svm.model");
    scratch.succeed("train --task chain --data letter.data --quiet --out letter.model");
    scratch
}

/// That a run is refused as bad input: exit code 2, one line `error:` that holds `message`, nothing on standard
/// output, and no file of the folder changed, added or lost.
pub(crate) fn assert_refused(scratch: &Scratch, arguments: &str, message: &str) {
    let before = scratch.snapshot();
    let ran = scratch.run(arguments);
    assert_eq!(ran.code, Some(2), "`{arguments}`: {}{}", ran.stdout, ran.stderr);
    let [error] = ran.complaints("error:")[..] else { panic!("`{arguments}` complained: {}", ran.stderr) };
    assert!(error.contains(message), "`{arguments}`: {error}\nexpected: {message}");
    assert_eq!(ran.stdout, "", "`{arguments}`");
    let after = scratch.snapshot();
    assert!(after.keys().eq(before.keys()), "`{arguments}`: {:?} became {:?}", before.keys(), after.keys());
    assert!(after == before, "`{arguments}` changed a file");
}

/// A training in [`folder`], which must not touch the old files there if it is refused.
pub(crate) const TRAIN: &str = "train --task binary --data good.svm --out out --record record";

/// Asserts that a command is refused with each of these arguments, and with the message given with them.
pub(crate) fn assert_all_refused<'a, A: AsRef<str>>(
    scratch: &Scratch,
    command: &str,
    cases: impl IntoIterator<Item = (A, &'a str)>,
) {
    for (arguments, message) in cases {
        assert_refused(scratch, &format!("{command} {}", arguments.as_ref()), message);
    }
}
