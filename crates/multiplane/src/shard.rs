//! A shard of a data set: a session on its examples, and the run that a coordinator drives.

use multiplane_core::oracle::BoxedOracle;
use multiplane_core::regularizer::Regularizer;
use multiplane_core::shard::{Answer, Request, Shard, ShardError};
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::problem::{Problem, Vocabulary};

use crate::error::Error;
use crate::session::{RunOptions, Session};
use crate::spec::{Lambda, RunSpec};

/// The examples of one place, with the run on them.
pub struct ShardSession {
    session: Session,
    shard: Shard<BoxedOracle>,
}

impl ShardSession {
    /// Opens the task on the examples of a shard, by the labels and features of all shards. `total_weight` is the sum of
    /// the weights of all examples of all shards, their number if all count the same.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where the data or the solver does not fit.
    pub fn open(
        mut spec: RunSpec,
        data: Dataset,
        vocabulary: Option<&Vocabulary>,
        total_weight: f64,
    ) -> Result<ShardSession, Error> {
        let lambda = spec.lambda.value(total_weight);
        spec.lambda = Lambda::Value(lambda.ok_or_else(|| {
            Error::input("lambda: examples lie in several places; expected a number, 1/n or c:X with X > 0")
        })?);
        let session = Session::on_known(spec, data, None, vocabulary)?;
        let run = session.prepare(session.lambda(), None, RunOptions::default())?;
        let share = session.problem().facts().total_weight / total_weight;
        let shard = Shard::new(run, share).map_err(refused)?;
        Ok(ShardSession { session, shard })
    }

    /// Returns the task on the examples.
    pub fn problem(&self) -> &dyn Problem {
        self.session.problem()
    }

    /// Returns the regulariser of the whole.
    pub fn regularizer(&self) -> &Regularizer {
        &self.session.regularizer
    }

    /// Does what a request asks for.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] where an oracle fails.
    pub fn answer(&mut self, request: &Request) -> Result<Answer, Error> {
        self.shard.answer(request).map_err(refused)
    }

    /// Returns the state as bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] where it cannot be encoded.
    pub fn save(&mut self) -> Result<Vec<u8>, Error> {
        let mut state = Vec::new();
        self.shard.save(&mut state).map_err(|error| Error::failed(error.to_string()))?;
        Ok(state)
    }

    /// Goes on from a state that a shard of the same examples has saved.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where it is none of this shard.
    pub fn restore(&mut self, state: &[u8]) -> Result<(), Error> {
        self.shard.restore(state).map_err(|error| Error::input(format!("the state of a shard: {error}")))
    }
}

fn refused(error: ShardError) -> Error {
    match error {
        ShardError::Run(error) => error.into(),
        ShardError::Misfit(reason) => Error::Input(reason),
    }
}
