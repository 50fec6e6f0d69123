//! SIGKILL at random moments, again and again; each time the run is taken up by the command that a user would give.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::common::Running;
use crate::field::{Field, Files, Reference};
use crate::runs::{ALWAYS, Job, jobs};
use crate::{Chance, Failures, setting, spread};

/// Most kills of one run.
const MOST: u64 = 5;

/// Killed runs end with the bytes of undisturbed ones. `MULTIPLANE_KILLS` sets how many kills (12 if it is not set).
#[test]
fn killed_runs_end_the_same() {
    let wanted = setting("MULTIPLANE_KILLS", 12);
    let field = Field::new();
    let jobs = jobs();
    let each = (wanted as usize / jobs.len()).max(3) as u64;
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let (mut killed, mut trials, mut failures) = (0, 0, Failures::default());
    for number in 0.. {
        if killed >= wanted {
            break;
        }
        let job = &jobs[spread(number, wanted as usize / each as usize, jobs.len())];
        let reference = field.reference(job);
        let mut of_job = 0;
        for _ in 0..8 * each {
            if of_job >= each || killed >= wanted {
                break;
            }
            trials += 1;
            let most = (each - of_job).min(wanted - killed).min(MOST);
            let more = failures.of(|| trial(&field, job, &reference, trials, most)).unwrap_or(1);
            (of_job, killed) = (of_job + more, killed + more);
        }
        *counts.entry(job.to_string()).or_default() += of_job;
        assert!(number < 10 * jobs.len(), "runs end before they can be killed");
    }
    for (job, kills) in &counts {
        eprintln!("{kills:4} kills  {job}");
    }
    eprintln!("{killed} kills of {} jobs in {trials} runs, {} failures", counts.len(), failures.0);
    assert_eq!(failures.0, 0, "of {killed} kills");
}

/// One run of a job, killed up to `most` times; how often it was.
fn trial(field: &Field, job: &Job, reference: &Reference, number: u64, most: u64) -> u64 {
    let mut chance = Chance::of(number);
    let threads = *chance.one_of(&[1, 3]);
    let every = *chance.one_of(&[ALWAYS, ALWAYS, "0.005"]);
    let first = job.first(threads, Some(every));
    let context = format!("MULTIPLANE_SEED={}, trial {number}, {threads} threads", setting("MULTIPLANE_SEED", 1));
    field.reset();
    let mut running = Running::start(&mut field.scratch.command(&first));
    let (mut killed, mut newest) = (0, true);
    while killed < most {
        std::thread::sleep(Duration::from_secs_f64(1.1 * chance.share() * reference.seconds));
        running.kill();
        let ran = running.finish();
        if ran.code.is_some() {
            field.assert_ended(job, reference, &ran, &context);
            return killed;
        }
        killed += 1;
        let found = field.assert_whole(job, reference, &Files::new(), &format!("{context}, kill {killed}"));
        let command = if found.is_some() { job.again(*chance.one_of(&[1, 3])) } else { first.clone() };
        newest = found != Some(false);
        running = Running::start(&mut field.scratch.command(&command));
    }
    let ran = running.finish();
    field.assert_ended(job, reference, &ran, &context);
    let fell_back = ran.stderr.contains("going on from c.prev");
    assert!(fell_back != newest, "{context}: {job}: which generation? {}", ran.stderr);
    killed
}
