//! A file of weights of either kind: at one lambda or at several.

use std::path::Path;

use super::model::{self, Model};
use super::path_model::PathModel;
use crate::error::Error;

/// The content of a model file.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelFile {
    /// Weights at one lambda.
    Model(Model),
    /// Weights at several.
    Path(PathModel),
}

impl ModelFile {
    /// Reads a file of either kind.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where it cannot be read or is no sound model.
    pub fn load(path: &Path) -> Result<ModelFile, Error> {
        model::load(path, ModelFile::from_bytes)
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    ///
    /// The first fault. Any change to any byte is refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<ModelFile, String> {
        let parts = model::unpack(bytes)?;
        match parts.0["kind"].is_null() {
            true => Model::from_parts(parts).map(ModelFile::Model),
            false => PathModel::from_parts(parts).map(ModelFile::Path),
        }
    }
}
