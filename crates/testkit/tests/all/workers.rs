//! Workers that break down: what they held is answered by others, no bit depends on it, and with nobody left there is
//! one error.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use multiplane_core::executor::{
    BatchItem, BatchQuestion, Executor, HandOut, Job, Lost, PoolSize, PoolStats, PublishedWeights, Reply, Sequential,
    Threads, Version, Worker, WorkerPool,
};
use multiplane_core::oracle::{BoxedOracle, MaxOracle};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_testkit::small::{self, Small, weights};

/// What a worker does at one of its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Breaks down without having answered anything.
    Dies,
    /// Breaks down after the first of the questions in hand.
    DiesBetween,
    /// Answers for other weights.
    WrongVersion,
    /// Panics.
    Panics,
}

/// An oracle that does its work until a given call, counted from 1.
struct Frail {
    oracle: BoxedOracle,
    calls: usize,
    fault: Option<(usize, Fault)>,
    /// A block on which everybody breaks down.
    poison: Option<usize>,
    together: usize,
    answered: Arc<AtomicUsize>,
}

impl Worker for Frail {
    fn hand_out(&self) -> HandOut {
        HandOut::of(self.together)
    }
    fn answer(&mut self, weights: &PublishedWeights, wanted: Reply, jobs: &mut [Job]) -> Result<Version, Lost> {
        self.calls += 1;
        let fault = self.fault.filter(|(call, _)| *call == self.calls).map(|(_, fault)| fault);
        match fault {
            Some(Fault::Dies) => return Err(Lost::now("it died")),
            Some(Fault::Panics) => panic!("it died"),
            _ => {}
        }
        let mut scratch = Plane::new();
        for Job { item, result, .. } in jobs {
            if self.poison == Some(item.block) {
                return Err(Lost::now(format!("block {} killed it", item.block)));
            }
            let one = std::slice::from_mut(item);
            // What is for other weights must not be taken, so it is wrong as well.
            let w = if fault == Some(Fault::WrongVersion) { vec![1e3; weights.w.len()] } else { weights.w.clone() };
            let answered = Sequential::new(&mut self.oracle, &mut scratch).answer(&w, wanted, one);
            *result = Some(answered.map_err(|one| one.error));
            self.answered.fetch_add(1, Ordering::Relaxed);
            if fault == Some(Fault::DiesBetween) {
                return Err(Lost::now("it died"));
            }
        }
        Ok(weights.version - u64::from(fault == Some(Fault::WrongVersion)))
    }
}

struct Made {
    pool: WorkerPool<Frail>,
    stats: Arc<PoolStats>,
    answered: Arc<AtomicUsize>,
}

/// A pool on `problem`; `fault` says what is wrong with the worker of a place.
fn pool(
    problem: &Arc<Small>,
    workers: usize,
    together: usize,
    fault: impl Fn(usize) -> Option<(usize, Fault)> + Send + Sync + 'static,
    poison: Option<usize>,
) -> Made {
    let (stats, answered) = (Arc::new(PoolStats::default()), Arc::new(AtomicUsize::new(0)));
    let (of_workers, problem) = (answered.clone(), problem.clone());
    let spawn = move |place: usize| {
        let (oracle, answered) = (problem.oracle(), of_workers.clone());
        Ok(Frail { oracle, calls: 0, fault: fault(place), poison, together, answered })
    };
    Made { pool: WorkerPool::new(PoolSize::of(workers), Arc::new(spawn), stats.clone()).unwrap(), stats, answered }
}

fn batch(problem: &Small, count: usize) -> Vec<BatchItem> {
    (0..count).map(|k| BatchItem::new(k % problem.blocks())).collect()
}

/// Whatever happens to workers, as long as one is left all questions get the answers of one oracle, and it is told how
/// many were lost and how many questions were asked elsewhere.
#[test]
fn others_answer_what_a_lost_worker_held() {
    let mut rng = Rng::new(0, 5);
    for fault in [Fault::Dies, Fault::DiesBetween, Fault::WrongVersion, Fault::Panics] {
        for (workers, together, call) in [(2, 1, 1), (2, 5, 2), (3, 4, 1), (7, 1, 2), (4, 64, 1)] {
            for seed in 0..8 {
                let problem = Arc::new(small::random(seed));
                let faulty = move |place: usize| (place < 2 && place + 1 < workers).then_some((call, fault));
                let Made { mut pool, stats, answered } = pool(&problem, workers, together, faulty, None);
                let (mut oracle, mut scratch) = (problem.oracle(), Plane::new());
                let mut round = 0;
                while round < 4 || stats.summary().is_none() {
                    round += 1; // until it was a faulty one's turn
                    let w = weights(&mut rng, problem.dim);
                    let mut asked = batch(&problem, 60);
                    let label =
                        format!("{fault:?}, {workers} workers, together {together}, seed {seed}, round {round}");
                    pool.answer(&w, Reply::Planes, &mut asked).unwrap_or_else(|error| panic!("{label}: {error}"));
                    for item in &asked {
                        let quality = oracle.maximize(item.block, &w, &mut scratch).unwrap();
                        assert_eq!((item.plane.view(), item.quality), (scratch.view(), quality), "{label}");
                    }
                }
                assert!(stats.summary().is_some_and(|told| told.contains("lost")), "{:?}", stats.summary());
                assert!(answered.load(Ordering::Relaxed) >= 240);
            }
        }
    }
}

/// With nobody left there is one error, of the first question without an answer, with the reason of the last who left;
/// so there is at every later question.
#[test]
fn with_nobody_left_there_is_one_error() {
    for workers in [1, 2, 3, 7] {
        let problem = Arc::new(small::random(3));
        let Made { mut pool, .. } = pool(&problem, workers, 1, |_| Some((3, Fault::Dies)), None);
        let w = vec![0.1; problem.dim];
        let mut asked = batch(&problem, 100);
        let unanswered = pool.answer(&w, Reply::Scores, &mut asked).unwrap_err();
        assert_eq!(unanswered.error.block, asked[unanswered.slot].block);
        assert!(unanswered.error.reason.ends_with("it died"), "{}", unanswered.error);
        // Two calls each were answered before.
        assert!(unanswered.slot <= 2 * workers, "{workers} workers: slot {}", unanswered.slot);
        let again = pool.answer(&w, Reply::Scores, &mut batch(&problem, 5)).unwrap_err();
        assert_eq!((again.slot, again.error.reason.as_str()), (0, "it died"));
    }
}

/// A question on which workers break down again and again does not cost all of them: after three it is an error.
#[test]
fn a_question_that_kills_is_given_up() {
    let problem = Arc::new(small::random(1));
    let poison = problem.blocks() - 1;
    let Made { mut pool, stats, .. } = pool(&problem, 7, 1, |_| None, Some(poison));
    let w = vec![0.1; problem.dim];
    let mut asked: Vec<BatchItem> = (0..problem.blocks()).map(BatchItem::new).collect();
    let unanswered = pool.answer(&w, Reply::Planes, &mut asked).unwrap_err();
    assert_eq!((unanswered.slot, unanswered.error.block), (poison, poison));
    assert!(unanswered.error.reason.contains("3 workers were lost on it: block"), "{}", unanswered.error);
    assert!(stats.summary().unwrap().starts_with("3 workers were lost"), "{:?}", stats.summary());
    // Four are left for what else there is.
    pool.answer(&w, Reply::Planes, &mut [BatchItem::new(0), BatchItem::new(0)]).unwrap();
}

/// Answers come as they are ready, each with its place and the number of the weights that it was asked at; what was
/// taken back never comes, and questions at several weights may be out together.
#[test]
fn answers_come_with_their_weights() {
    let problem = Arc::new(small::random(5));
    let mut rng = Rng::new(1, 5);
    for workers in [1, 2, 3, 7] {
        let Made { mut pool, .. } = pool(&problem, workers, 2, |_| None, None);
        let question = |slot: usize| BatchQuestion { slot, item: BatchItem::new(slot % problem.blocks()) };
        pool.publish(&vec![0.0; problem.dim]);
        pool.submit(Reply::Planes, (0..50).map(question).collect());
        pool.cancel();
        let published: Vec<(Version, Vec<f64>)> = (0..3)
            .map(|k| {
                let w = weights(&mut rng, problem.dim);
                let version = pool.publish(&w);
                pool.submit(Reply::Planes, (20 * k..20 * (k + 1)).map(question).collect());
                (version, w)
            })
            .collect();
        let (mut oracle, mut scratch, mut seen) = (problem.oracle(), Plane::new(), [0; 60]);
        while let Some(completed) = pool.next() {
            let (version, w) = &published[completed.slot / 20];
            assert_eq!(completed.version, *version, "{workers} workers");
            oracle.maximize(completed.item.block, w, &mut scratch).unwrap();
            assert_eq!(completed.item.plane.view(), scratch.view(), "{workers} workers");
            assert_eq!(completed.result, Ok(()));
            seen[completed.slot] += 1;
        }
        assert_eq!(seen, [1; 60], "{workers} workers");
        assert!(pool.ready().is_none() && pool.next().is_none());
    }
}

/// Takes a while, so that calls are worth another worker.
struct Slow(BoxedOracle);

impl MaxOracle for Slow {
    fn blocks(&self) -> usize {
        self.0.blocks()
    }
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> multiplane_core::oracle::OracleResult {
        multiplane_core::clock::sleep(2e-3);
        self.0.maximize(block, w, out)
    }
}

/// If calls turn out to be slow, workers are spawned up to the limit; if they are fast, none is. Who cannot come costs
/// nothing but a note.
#[test]
fn workers_are_spawned_where_calls_are_slow() {
    let problem = Arc::new(small::random(2));
    let w = vec![0.1; problem.dim];
    for (slow, refuses, expected) in [(true, false, 3), (false, false, 1), (true, true, 2)] {
        let (stats, of_threads) = (Arc::new(PoolStats::default()), problem.clone());
        let make = move |place: usize| -> Result<BoxedOracle, String> {
            let oracle = of_threads.oracle();
            match (slow, place) {
                (_, 2) if refuses => Err("there is no room".into()),
                (true, _) => Ok(Box::new(Slow(oracle))),
                (false, _) => Ok(oracle),
            }
        };
        let mut threads = Threads::spawning(PoolSize { first: 1, most: 3 }, make, stats.clone()).unwrap();
        for _ in 0..8 {
            threads.answer(&w, Reply::Scores, &mut batch(&problem, 60)).unwrap();
        }
        assert_eq!(stats.workers(), expected, "slow: {slow}, refuses: {refuses}");
    }
}
