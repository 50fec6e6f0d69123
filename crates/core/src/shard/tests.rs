//! Shards in one process, against a run on all examples.

use super::{Coordinator, Demand, Shard, ShardAnswer, ShardFound, ShardOrder, ShardRequest, Sharding};
use crate::average::Averaging;
use crate::certificate::GapTarget;
use crate::oracle::{MaxOracle, OracleResult, Quality};
use crate::plane::Plane;
use crate::regularizer::{Constraint, Regularizer};
use crate::rng::Rng;
use crate::run::{Run, Stop};
use crate::solvers::block_frank_wolfe::BlockFrankWolfe;
use crate::state;

const DIM: usize = 6;

/// Examples with some planes each; planes carry 1/n.
#[derive(Clone)]
struct Listed(Vec<Vec<(Vec<f64>, f64)>>);

impl Listed {
    fn random(examples: usize, seed: u64) -> Listed {
        let mut rng = Rng::new(seed, 0);
        let mut plane = || ((0..DIM).map(|_| 2.0 * rng.unit() - 1.0).collect(), rng.unit());
        Listed((0..examples).map(|_| (0..4).map(|_| plane()).collect()).collect())
    }

    fn part(&self, k: usize, of: usize) -> Listed {
        let n = self.0.len();
        Listed(self.0[n * k / of..n * (k + 1) / of].to_vec())
    }

    fn run(&self, regularizer: &Regularizer, gap: f64) -> Run<Listed> {
        let config = BlockFrankWolfe { averaging: Averaging::None, ..BlockFrankWolfe::auto() };
        let solver = config.solver(self.0.len(), DIM, regularizer.clone());
        let stop = Stop { gap: Some(GapTarget::Percent(gap)), ..Stop::default() };
        Run::new(self.clone(), self.clone(), solver, regularizer.clone(), stop)
    }
}

impl MaxOracle for Listed {
    fn blocks(&self) -> usize {
        self.0.len()
    }
    fn dim(&self) -> usize {
        DIM
    }
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> OracleResult {
        let share = 1.0 / self.0.len() as f64;
        let score = |(star, circ): &(Vec<f64>, f64)| star.iter().zip(w).map(|(s, w)| s * w).sum::<f64>() + circ;
        let best = self.0[block].iter().max_by(|a, b| score(a).total_cmp(&score(b)));
        out.clear();
        if let Some((star, circ)) = best.filter(|best| score(best) > 0.0) {
            (0..).zip(star).for_each(|(k, star)| out.push(k, share * star));
            out.set_circ(share * circ);
        }
        out.seal();
        Ok(Quality::Exact)
    }
}

/// Regularisers of all kinds.
fn regularizer(seed: u64) -> Regularizer {
    let (mut rng, lambda) = (Rng::new(seed, 7), [1.0, 0.1, 0.01][seed as usize % 3]);
    let plain = Regularizer::from(lambda);
    let prior: Vec<f64> = (0..DIM).map(|_| rng.unit() - 0.5).collect();
    let signs = [Constraint::Free, Constraint::NonNegative, Constraint::Frozen];
    let signs: Vec<Constraint> = (0..DIM).map(|k| signs[(k + seed as usize) % 3]).collect();
    match seed % 4 {
        0 => plain,
        1 => plain.with_prior(prior),
        2 => plain.with_constraints(signs),
        _ => plain.with_prior(prior).with_constraints(signs),
    }
}

fn sharding(gap: f64) -> Sharding {
    let target = Some(GapTarget::Percent(gap));
    Sharding { target, passes: Some(400.0), parts: 2, replays: 8, damping: 0.03, cuts: 2 }
}

fn open(data: &Listed, shards: usize, regularizer: &Regularizer, gap: f64) -> (Coordinator, Vec<Shard<Listed>>) {
    let n = data.0.len();
    let parts: Vec<Listed> = (0..shards).map(|k| data.part(k, shards)).collect();
    let shares: Vec<f64> = parts.iter().map(|part| part.0.len() as f64 / n as f64).collect();
    let coordinator = Coordinator::new(sharding(gap), regularizer.clone(), DIM, shares.clone(), n).unwrap();
    let open = |(part, share): (&Listed, &f64)| Shard::new(part.run(regularizer, gap), *share).unwrap();
    (coordinator, parts.iter().zip(&shares).map(open).collect())
}

/// Makes rounds to the end; `answers` may hold some back. F never falls.
fn drive(coordinator: &mut Coordinator, shards: &mut [Shard<Listed>], answers: impl Fn(usize, usize) -> bool) -> usize {
    let (mut rounds, mut dual) = (0, f64::NEG_INFINITY);
    while let Demand::Answers(_) = coordinator.demand() {
        let ask = |(k, shard): (usize, &mut Shard<Listed>)| {
            let request = coordinator.request(k).filter(|_| answers(rounds, k))?;
            Some(shard.answer(&request).unwrap())
        };
        let found = shards.iter_mut().enumerate().map(ask).collect();
        let report = coordinator.take(found).unwrap();
        assert!(report.dual >= dual, "round {rounds}: F fell from {dual} to {}", report.dual);
        (rounds, dual) = (rounds + 1, report.dual);
        assert!(rounds < 20_000, "no end");
    }
    rounds
}

/// Without replays shards may call in every round, and no sum over the planes kept is asked for.
#[test]
fn without_replays_every_round_may_call() {
    for seed in 0..4 {
        let (data, regularizer) = (Listed::random(24, seed), regularizer(seed));
        let (_, mut parts) = open(&data, 3, &regularizer, 1.0);
        let sharding = Sharding { parts: 1, replays: 0, ..sharding(1.0) };
        let mut coordinator = Coordinator::new(sharding, regularizer, DIM, vec![1.0 / 3.0; 3], 24).unwrap();
        while let Demand::Answers(order) = coordinator.demand() {
            assert!(!matches!(order, ShardOrder::Floor | ShardOrder::Work { parts: 0, .. }), "seed {seed}: {order:?}");
            let answer = |(k, part): (usize, &mut Shard<Listed>)| part.answer(&coordinator.request(k)?).ok();
            let found = parts.iter_mut().enumerate().map(answer).collect();
            coordinator.take(found).unwrap();
        }
        assert_eq!(coordinator.demand(), Demand::Reached, "seed {seed}: {:?}", coordinator.certificate());
    }
}

/// Any number of shards comes to the optimum of one run, with priors, signs and frozen weights; weights that are
/// frozen stay.
#[test]
fn shards_come_to_the_optimum_of_one_run() {
    for seed in 0..12 {
        let (data, regularizer) = (Listed::random(24, seed), regularizer(seed));
        let whole = data.run(&regularizer, 0.01).to_end().unwrap().certificate;
        for shards in [1, 3, 24] {
            let (mut coordinator, mut parts) = open(&data, shards, &regularizer, 0.5);
            drive(&mut coordinator, &mut parts, |_, _| true);
            let found = coordinator.certificate();
            let named = format!("seed {seed}, {shards} shards: {found:?}, whole {whole:?}");
            assert!(coordinator.demand() == Demand::Reached && found.certified, "{named}");
            assert!(
                found.dual.unwrap() <= whole.primal + 1e-12 && found.primal >= whole.dual.unwrap() - 1e-12,
                "{named}"
            );
            assert!(found.primal - found.dual.unwrap() <= 0.005 * found.primal, "{named}");
            let w = coordinator.weights();
            let hinges: f64 = (0..24).map(|block| hinge(&data, block, &w)).sum();
            assert!((regularizer.penalty(&w) + hinges - found.primal).abs() < 1e-9, "{named}");
            for (k, w) in w.iter().enumerate() {
                assert!(*w == regularizer.clip(k, *w), "{named}: weight {k} is {w}");
            }
        }
    }
}

fn hinge(data: &Listed, block: usize, w: &[f64]) -> f64 {
    let mut plane = Plane::new();
    data.clone().maximize(block, w, &mut plane).unwrap();
    plane.view().score(w).max(0.0)
}

/// A thousand shards of an example each, some of which answer late, as a seed draws them: F never falls, and the gap is
/// proven.
#[test]
fn stragglers_cost_rounds_and_no_proof() {
    let regularizer = Regularizer::from(0.1);
    for (examples, shards, late) in [(24, 3, 0.3), (60, 60, 0.1), (1000, 1000, 0.0005)] {
        let data = Listed::random(examples, 1);
        let (mut coordinator, mut parts) = open(&data, shards, &regularizer, 5.0);
        let is_there = |round: usize, shard: usize| Rng::new(round as u64, shard as u64).unit() >= late;
        drive(&mut coordinator, &mut parts, is_there);
        assert_eq!(coordinator.demand(), Demand::Reached, "{shards} shards");
    }
}

/// A run that is saved and restored at any round ends with the same bits as one that never is; one whose shard begins
/// anew ends with a valid proof.
#[test]
fn saved_runs_go_on() {
    let (data, regularizer) = (Listed::random(24, 5), regularizer(3));
    let ends = |saved: fn(usize) -> bool, lost: bool| {
        let (mut coordinator, mut shards) = open(&data, 3, &regularizer, 0.1);
        for round in 0.. {
            let Demand::Answers(_) = coordinator.demand() else { break };
            let ask = |(k, shard): (usize, &mut Shard<Listed>)| shard.answer(&coordinator.request(k)?).ok();
            let found = shards.iter_mut().enumerate().map(ask).collect();
            coordinator.take(found).unwrap();
            if saved(round) {
                let (mut fresh, others) = open(&data, 3, &regularizer, 0.1);
                let mut state = Vec::new();
                state::encode(&coordinator, &mut state).unwrap();
                fresh = fresh.continued(state::decode(&state, |_| Ok(())).unwrap()).unwrap();
                let mut old = std::mem::replace(&mut shards, others);
                for (shard, old) in shards.iter_mut().zip(&mut old) {
                    let mut state = Vec::new();
                    old.save(&mut state).unwrap();
                    shard.restore(&state).unwrap();
                }
                coordinator = fresh;
            }
            if lost && round == 7 {
                shards[1] = open(&data, 3, &regularizer, 0.1).1.remove(1);
            }
        }
        assert_eq!(coordinator.demand(), Demand::Reached);
        coordinator.weights()
    };
    let straight = ends(|_| false, false);
    assert_eq!(ends(|round| round == 7, false), straight);
    assert_eq!(ends(|_| true, false), straight);
    ends(|_| false, true);
}

/// Requests and answers that do not fit are refused, and so are solvers without masses.
#[test]
fn misfits_are_refused() {
    let (data, regularizer) = (Listed::random(6, 0), Regularizer::from(0.1));
    let (mut coordinator, mut shards) = open(&data, 2, &regularizer, 1.0);
    let request = ShardRequest { vector: vec![0.0; DIM + 1], order: ShardOrder::Floor };
    let refused = |error: super::ShardError| error.to_string();
    assert!(shards[0].answer(&request).map_err(refused).unwrap_err().contains("7 numbers: expected 6"));
    let answer = ShardAnswer { found: ShardFound::Floor(0.0), gap: 0.0, calls: 0 };
    assert!(coordinator.take(vec![Some(answer), None]).unwrap_err().to_string().starts_with("shard 0: "));
    let stop = Stop { gap: Some(GapTarget::Percent(1.0)), ..Stop::default() };
    let solver = BlockFrankWolfe::bcfw().solver(6, DIM, regularizer.clone());
    let run = Run::new(data.clone(), data.clone(), solver, regularizer.clone(), stop);
    assert!(Shard::new(run, 0.5).map_err(refused).err().unwrap().contains("masses"));
    assert!(Shard::new(data.run(&regularizer, 1.0), 0.0).map_err(refused).err().unwrap().contains("share = 0"));
    assert!(Coordinator::new(sharding(1.0), regularizer, DIM, Vec::new(), 0).is_err());
}
