//! `multiplane data make`.

use multiplane::data::{conll, letter, multilabel, trees};
use multiplane::synth::{
    synthetic_boxes, synthetic_chunks, synthetic_graphs, synthetic_poses, synthetic_rotamers, synthetic_scenes,
    synthetic_trees, synthetic_words,
};
use multiplane::{Error, check_writable, durable_write, unknown_name};

use crate::args::{DataArgs, DataCommand, MakeArgs};
use crate::commands::done::Done;

/// The synthetic data sets there are.
const NAMES: [&str; 8] = ["letters", "chunks", "trees", "graphs", "scenes", "rotamers", "boxes", "poses"];

/// More words, sentences or scenes than this would not fit the memory of an ordinary machine.
const MAX_EXAMPLES: usize = 10_000_000;

pub(crate) fn run(args: &DataArgs) -> Result<Done, Error> {
    let DataCommand::Make(args) = &args.command;
    make(args)
}

fn make(args: &MakeArgs) -> Result<Done, Error> {
    if !NAMES.contains(&args.name.as_str()) {
        return Err(Error::input(unknown_name("synthetic data set", &args.name, NAMES)));
    }
    if args.n == 0 || args.n > MAX_EXAMPLES {
        return Err(Error::input(format!("--n {}: must be between 1 and {MAX_EXAMPLES}", args.n)));
    }
    check_writable(&args.out)?;
    let mut bytes = Vec::new();
    match args.name.as_str() {
        "chunks" => conll::write(&synthetic_chunks(args.n, args.seed), &mut bytes),
        "graphs" => {
            bytes = synthetic_graphs(args.n, args.seed).to_bytes();
            Ok(())
        }
        "boxes" => {
            bytes = synthetic_boxes(args.n, args.seed).to_bytes();
            Ok(())
        }
        "poses" => {
            bytes = synthetic_poses(args.n, args.seed).to_bytes();
            Ok(())
        }
        "rotamers" => {
            bytes = synthetic_rotamers(args.n, args.seed).to_bytes();
            Ok(())
        }
        "trees" => trees::write(&synthetic_trees(args.n, args.seed), &mut bytes),
        "scenes" => multilabel::write(&synthetic_scenes(args.n, args.seed), &mut bytes),
        _ => letter::write(&synthetic_words(args.n, args.seed), &mut bytes),
    }
    .map_err(|error| Error::failed(format!("{}: could not be written: {error}", args.out.display())))?;
    durable_write(&args.out, &bytes)?;
    Ok(Done::Finished)
}
