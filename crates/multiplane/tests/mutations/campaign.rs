//! One reader under fire: so many inputs of a seed, what became of each, and the worst of them.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use multiplane::Error;
use multiplane_core::rng::Rng;

use crate::bytes;
use crate::counting::{bytes_held, most_bytes};

/// The seed of all campaigns.
const SEED: u64 = 17;

/// Longest that an input may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Most memory that an input may take.
const MOST_BYTES: i64 = 1_000_000_000;

/// Longest error: messages quote some of a damaged file, not all of it.
const MOST_MESSAGE: usize = 4096;

/// Faults of a reader that are told; what follows is likely more of the same.
const MOST_FAULTS: usize = 5;

/// What became of an input.
pub(crate) enum Verdict {
    /// It was read, and what was read is sound.
    Accepted,
    /// It was refused, with this message.
    Refused(String),
    /// It was read, and should not have been: why.
    Unsound(String),
}

impl Verdict {
    /// That of an error.
    pub(crate) fn refused(error: impl Display) -> Verdict {
        Verdict::Refused(error.to_string())
    }

    /// Accepted where `sound` is, else unsound.
    pub(crate) fn of(sound: Result<(), String>) -> Verdict {
        sound.map_or_else(Verdict::Unsound, |()| Verdict::Accepted)
    }
}

/// Makes an input out of valid ones.
pub(crate) type Mutate = fn(&mut Rng, &[Vec<u8>]) -> Vec<u8>;

/// Reads a file of these bytes, and looks at what comes out.
pub(crate) type Read = dyn Fn(&Path, &[u8]) -> Verdict;

/// A reader with what it is fed.
pub(crate) struct Reader {
    /// Valid inputs: all of them must be accepted as they are.
    pub(crate) corpus: Vec<Vec<u8>>,
    /// How they are changed.
    pub(crate) mutate: Mutate,
    /// What reads them.
    pub(crate) read: Box<Read>,
    /// Whether messages name the file; those of values and bytes in memory do not.
    pub(crate) names_file: bool,
}

impl Reader {
    /// Files that are damaged: `load` may read none but those of the corpus.
    pub(crate) fn damaged(corpus: Vec<Vec<u8>>, load: fn(&Path) -> Result<(), Error>) -> Reader {
        let valid = corpus.clone();
        let read = move |path: &Path, bytes: &[u8]| match load(path) {
            Ok(()) if !valid.iter().any(|own| own == bytes) => Verdict::Unsound("a damaged file is read".into()),
            Ok(()) => Verdict::Accepted,
            Err(error) => Verdict::refused(error),
        };
        Reader { corpus, mutate: bytes::mutated, read: Box::new(read), names_file: true }
    }
}

/// What became of a reader's inputs.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) name: &'static str,
    pub(crate) inputs: u64,
    pub(crate) accepted: u64,
    pub(crate) refused: u64,
    pub(crate) slowest: Duration,
    pub(crate) most_bytes: i64,
    pub(crate) faults: Vec<String>,
}

thread_local! {
    /// Whether this thread is under fire: its panics are caught and told as faults.
    static QUIET: Cell<bool> = const { Cell::new(false) };
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Has panics of threads under fire kept, not printed.
fn keep_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| match QUIET.get() {
            true => LAST_PANIC.set(info.to_string().replace('\n', " ")),
            false => before(info),
        }));
    });
}

/// What is being read, for the one who watches: since when, and what to say of it.
type UnderWay = Arc<Mutex<Option<(Instant, String)>>>;

/// Ends the process where an input takes much too long: nobody could stop it otherwise.
fn watch(under_way: &UnderWay) {
    let watched = Arc::downgrade(under_way);
    std::thread::spawn(move || {
        while let Some(under_way) = watched.upgrade() {
            if let Some((since, what)) = &*under_way.lock().unwrap_or_else(PoisonError::into_inner)
                && since.elapsed() > 3 * LIMIT
            {
                eprintln!("HUNG: {what}");
                std::process::exit(1);
            }
            drop(under_way);
            std::thread::sleep(Duration::from_millis(200));
        }
    });
}

/// Feeds a reader so many inputs. Each stands in a file of its own name while it is read, so that it is there even where the
/// process is ended; those with faults are kept.
pub(crate) fn run(name: &'static str, reader: &Reader, inputs: u64) -> Report {
    keep_panics();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("mutations");
    std::fs::create_dir_all(&folder).unwrap();
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let under_way = UnderWay::default();
    watch(&under_way);
    let stream = plain.bytes().fold(0, |hash: u64, byte| hash.wrapping_mul(1_000_003) ^ u64::from(byte));
    let mut report = Report { name, ..Report::default() };
    for iteration in 0..reader.corpus.len() as u64 + inputs {
        let valid = reader.corpus.get(iteration as usize);
        let mut rng = Rng::new(SEED + iteration, stream);
        let bytes = valid.cloned().unwrap_or_else(|| (reader.mutate)(&mut rng, &reader.corpus));
        let path = folder.join(&plain);
        std::fs::write(&path, &bytes).unwrap();
        let what = format!("reader `{name}`, seed {SEED}, iteration {iteration}, bytes in {}", path.display());
        *under_way.lock().unwrap() = Some((Instant::now(), what));
        let (verdict, time, most) = tried(reader, &path, &bytes);
        *under_way.lock().unwrap() = None;
        report.inputs += 1;
        report.slowest = report.slowest.max(time);
        report.most_bytes = report.most_bytes.max(most);
        if let Some(fault) = judged(&mut report, reader, &path, verdict, time, most, valid.is_some()) {
            let kept = folder.join(format!("{plain}-{iteration}"));
            std::fs::write(&kept, &bytes).unwrap();
            let kept = kept.display();
            report.faults.push(format!(
                "reader `{name}`, seed {SEED}, iteration {iteration}: {fault}\n  again: MULTIPLANE_REPLAY='{name}:{kept}'"
            ));
            if report.faults.len() == MOST_FAULTS {
                break;
            }
        }
    }
    report
}

/// Reads one file again, as it was kept.
pub(crate) fn replay(name: &str, reader: &Reader, path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).unwrap();
    let verdict = (reader.read)(path, &bytes);
    let text = match &verdict {
        Verdict::Accepted => "accepted".into(),
        Verdict::Refused(message) => format!("refused: {message}"),
        Verdict::Unsound(why) => format!("accepted and unsound: {why}"),
    };
    println!("{name}: {text}");
    let nothing = Duration::default();
    judged(&mut Report::default(), reader, path, Ok(verdict), nothing, 0, false)
}

/// Reads an input: what became of it, in what time and memory.
fn tried(reader: &Reader, path: &Path, bytes: &[u8]) -> (Result<Verdict, String>, Duration, i64) {
    let (start, held) = (Instant::now(), bytes_held());
    QUIET.set(true);
    let verdict = catch_unwind(AssertUnwindSafe(|| (reader.read)(path, bytes)));
    QUIET.set(false);
    let most = most_bytes() - held;
    (verdict.map_err(|_| LAST_PANIC.take()), start.elapsed(), most)
}

/// Counts an outcome, and says what is wrong with it.
fn judged(
    report: &mut Report,
    reader: &Reader,
    path: &Path,
    verdict: Result<Verdict, String>,
    time: Duration,
    most: i64,
    valid: bool,
) -> Option<String> {
    let fault = match verdict {
        Err(panic) => Some(format!("panic: {panic}")),
        Ok(Verdict::Unsound(why)) => Some(format!("accepted: {why}")),
        Ok(Verdict::Refused(message)) if valid => Some(format!("a valid input is refused: {message}")),
        Ok(Verdict::Refused(message)) => {
            report.refused += 1;
            let is_named = !reader.names_file || message.contains(&*path.to_string_lossy());
            let is_fit = !message.trim().is_empty() && message.len() <= MOST_MESSAGE && !message.contains('\n');
            (!is_named || !is_fit).then(|| format!("an error that is no line of text about the file: {message:?}"))
        }
        Ok(Verdict::Accepted) => {
            report.accepted += 1;
            None
        }
    };
    let dear = (most > MOST_BYTES).then(|| format!("{most} bytes of memory"));
    fault.or(dear).or_else(|| (time > LIMIT).then(|| format!("{time:?}")))
}
