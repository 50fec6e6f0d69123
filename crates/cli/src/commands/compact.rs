//! `multiplane compact`: a copy of a model with weights of 32 bits.

use multiplane::{Error, ModelFile, check_writable};

use crate::args::CompactArgs;
use crate::commands::done::Done;
use crate::commands::on_data::choose;
use crate::commands::outputs::{refuse_overwriting, save_model};

pub(crate) fn run(args: &CompactArgs) -> Result<Done, Error> {
    refuse_overwriting([&args.model], [&args.out])?;
    check_writable(&args.out)?;
    let model = choose(&args.model, args.lambda.as_deref(), ModelFile::load(&args.model)?)?.narrowed()?;
    save_model(&args.out, |path| model.save(path))?;
    Ok(Done::Finished)
}
