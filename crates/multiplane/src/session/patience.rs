//! Where patience can be had: something held out, with labels that are known, and a single model to choose.

use super::open::Session;
use crate::error::Error;

impl Session {
    /// Refuses patience where there is nothing to watch. To be called before an output is touched.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] with what to give.
    pub fn check_patience(&self) -> Result<(), Error> {
        let Some(patience) = self.spec.stop.patience else { return Ok(()) };
        match self.test.as_deref() {
            None => Err(Error::input(format!(
                "stop.patience = {patience}: there are no test data whose loss could be watched: expected data.test, \
                 data.holdout or data.test_folds"
            ))),
            Some(test) if test.predictor().unlabelled() == test.blocks() => Err(Error::input(format!(
                "stop.patience = {patience}: none of the {} examples of the test data has a known label, so they have no loss to \
                 watch",
                test.blocks()
            ))),
            Some(_) => Ok(()),
        }
    }

    /// Refuses patience of what has no single model that held-out data could choose.
    pub(crate) fn refuse_patience(&self, what: &str) -> Result<(), Error> {
        match self.spec.stop.patience {
            Some(patience) => Err(Error::input(format!(
                "stop.patience = {patience}: {what} has many models, each trained to its gap; train with patience at single lambdas, \
                 or look at their losses on the test data"
            ))),
            None => Ok(()),
        }
    }
}
