//! A model with the engine that solved it last, which the next solve starts from.

use multiplane::infer::engine::Watch;
use multiplane::infer::grid::{Grid, GridCut};
use multiplane::infer::persistency::{Persistency, ProvenFor, Splits};
use multiplane::infer::restricted::{Recombined, Restricted};
use multiplane::infer::{Answer, InferError, MBest, Mrf, registry};

/// What engines solve: a grid, a model, or both, with the same energies.
pub(crate) struct EnergySolver {
    pub(crate) grid: Option<Grid>,
    pub(crate) mrf: Option<Mrf>,
    direct: GridCut,
    /// Whether the next cut of the grid is made straight from its arrays.
    is_direct: bool,
    engine: Option<(&'static str, Box<dyn MBest>)>,
    restricted: Restricted,
}

/// The engine that cuts grids.
const MIN_CUT: &str = "min-cut";

/// Grids with a larger share of nodes that need a cut are solved again in a network that keeps its flow.
const FEW: f64 = 0.5;

impl EnergySolver {
    pub(crate) fn of_grid(grid: Grid) -> Self {
        EnergySolver { grid: Some(grid), mrf: None, is_direct: true, ..EnergySolver::of_model(Mrf::new()) }
    }

    pub(crate) fn of_model(mrf: Mrf) -> Self {
        let (direct, restricted) = (GridCut::default(), Restricted::default());
        EnergySolver { grid: None, mrf: Some(mrf), direct, is_direct: false, engine: None, restricted }
    }

    /// The model, made of the grid where it is not there yet.
    pub(crate) fn model(&mut self) -> Result<&mut Mrf, InferError> {
        let mrf = match (self.mrf.take(), &self.grid) {
            (Some(mrf), _) => mrf,
            (None, Some(grid)) => grid.to_mrf()?,
            (None, None) => Mrf::new(),
        };
        Ok(self.mrf.insert(mrf))
    }

    pub(crate) fn nodes(&self) -> usize {
        self.grid.as_ref().map(Grid::nodes).or(self.mrf.as_ref().map(Mrf::nodes)).unwrap_or(0)
    }

    pub(crate) fn edges(&self) -> usize {
        self.grid.as_ref().map(Grid::edges).or(self.mrf.as_ref().map(|mrf| mrf.edges().len())).unwrap_or(0)
    }

    pub(crate) fn labels(&self, node: usize) -> usize {
        match (&self.grid, &self.mrf) {
            (Some(grid), _) => grid.labels(),
            (None, Some(mrf)) => mrf.labels(node as u32),
            (None, None) => 0,
        }
    }

    pub(crate) fn energy(&self, labels: &[u32]) -> f64 {
        match (&self.grid, &self.mrf) {
            (Some(grid), _) => grid.energy(labels),
            (None, Some(mrf)) => mrf.energy(labels),
            (None, None) => 0.0,
        }
    }

    /// Makes the next solve start from nothing.
    pub(crate) fn forget(&mut self) {
        self.engine = None;
        self.is_direct = true;
    }

    /// Solves the model by an engine of this name, or by the first that applies; `search` says how long TRW-S goes on
    /// where its bound has stalled. Returns the engine's name.
    pub(crate) fn solve(
        &mut self,
        engine: Option<&str>,
        search: u64,
        watch: Watch<'_>,
        labels: &mut Vec<u32>,
    ) -> Result<(&'static str, Answer), InferError> {
        if let Some(grid) = &self.grid
            && self.is_direct
            && engine.is_none_or(|name| name == MIN_CUT)
            && let Ok(answer) = self.direct.solve(grid, labels)
        {
            self.is_direct = self.direct.free() as f64 <= FEW * grid.nodes() as f64;
            return Ok((MIN_CUT, answer));
        }
        self.with_engine(engine, search, |engine, mrf| engine.solve(mrf, watch, labels))
    }

    /// Lets an engine work on the model: the last one if it will do, else one that is made anew.
    pub(crate) fn with_engine<T>(
        &mut self,
        name: Option<&str>,
        search: u64,
        mut work: impl FnMut(&mut dyn MBest, &Mrf) -> Result<T, InferError>,
    ) -> Result<(&'static str, T), InferError> {
        self.model()?;
        let Some(mrf) = &self.mrf else { return Err(InferError::Invalid("found no model".into())) };
        if let Some((last, engine)) = &mut self.engine
            && name.is_none_or(|name| name == *last)
        {
            engine.set_search(search);
            match work(engine.as_mut(), mrf) {
                // New energies may want another engine.
                Err(InferError::DoesNotApply { .. }) if name.is_none() => {}
                result => return result.map(|found| (*last, found)),
            }
        }
        let (entry, mut engine) = match name {
            None => registry::automatic(mrf)?,
            Some(name) => {
                let known = registry::ENGINES.iter().map(|entry| entry.name);
                let entry = registry::find(name)
                    .ok_or_else(|| InferError::Invalid(multiplane::unknown_name("engine", name, known)))?;
                let mut engine = (entry.make)();
                engine.prepare(mrf)?;
                (entry, engine)
            }
        };
        engine.set_search(search);
        let found = work(engine.as_mut(), mrf)?;
        self.engine = Some((entry.name, engine));
        Ok((entry.name, found))
    }

    /// The labels that every optimum, or some optimum, has.
    pub(crate) fn persistency(&mut self, every: bool) -> Result<Vec<Option<u32>>, InferError> {
        let proven_for = if every { ProvenFor::EveryOptimum } else { ProvenFor::SomeOptimum };
        let mut labels = Vec::new();
        Persistency::default().solve(self.model()?, Splits::Halving, proven_for, &mut labels)?;
        Ok(labels)
    }

    /// The best combination of labellings.
    pub(crate) fn fuse(&mut self, known: &[Vec<u32>], labels: &mut Vec<u32>) -> Result<Recombined, InferError> {
        self.model()?;
        let Some(mrf) = &self.mrf else { return Err(InferError::Invalid("found no model".into())) };
        self.restricted.solve(mrf, known.iter().map(Vec::as_slice), labels)
    }
}
