//! What only some files may contain.

/// Files that may hold `unsafe`: a prefetch, calls of the C functions of HiGHS, and the counting allocator of tests.
const UNSAFE: [&str; 3] = ["core/src/linalg", "infer/src/programme/highs.rs", "infer/tests/common/counting.rs"];

/// The folders of libraries: their code does not print, and is given time and settings by its caller.
const LIBRARIES: [&str; 7] = [
    "crates/infer/src",
    "crates/core/src",
    "crates/solvers/src",
    "crates/data/src",
    "crates/tasks/src",
    "crates/multiplane/src",
    "crates/lab/src",
];

/// Most lines of a source file.
const MOST_LINES: usize = 500;

/// Lines of code, numbered from 1: no comments, nothing from the tests at a file's end.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).enumerate();
    lines.map(|(number, line)| (number + 1, line)).filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Returns what a file contains that it may not. Its path goes from the workspace's root.
pub(crate) fn content_faults(path: &str, text: &str) -> Vec<String> {
    let in_library = LIBRARIES.iter().any(|library| path.starts_with(library));
    let mut faults = Vec::new();
    for (number, line) in code(text) {
        let mut refuse = |rule: &str| faults.push(format!("{path}:{number}: {rule}"));
        let is_unsafe = line.contains("unsafe {") || line.contains("unsafe fn") || line.contains("unsafe impl");
        if is_unsafe && !UNSAFE.iter().any(|allowed| path.contains(allowed)) {
            refuse("unsafe code where none may be");
        }
        let prints = ["println!", "eprintln!", "print!(", "dbg!("].iter().any(|word| line.contains(word));
        if in_library && prints {
            refuse("a library prints");
        }
        let reads_time = ["Instant::", "SystemTime"].iter().any(|word| line.contains(word));
        if in_library && reads_time && path != "crates/core/src/clock.rs" {
            refuse("the time is read outside clock");
        }
        if in_library && (line.contains("env::var") || line.contains("env::args")) {
            refuse("a library reads the environment");
        }
    }
    if text.lines().count() > MOST_LINES {
        faults.push(format!("{path}: more than {MOST_LINES} lines: is it one thing?"));
    }
    faults
}
