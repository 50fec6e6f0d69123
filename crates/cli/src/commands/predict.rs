//! `multiplane predict`.

use std::fmt::Write;

use multiplane::{Error, check_writable, durable_write, threads_for};
use serde_json::json;

use crate::args::PredictArgs;
use crate::commands::done::Done;
use crate::commands::on_data::{open, threads, told};
use crate::commands::outputs::refuse_overwriting;
use crate::commands::several;
use crate::terminal::print;

pub(crate) fn run(args: &PredictArgs) -> Result<Done, Error> {
    refuse_overwriting([Some(&args.on.model), args.on.data.as_ref()].into_iter().flatten(), &args.out)?;
    if let Some(path) = &args.out {
        check_writable(path)
            .map_err(|error| Error::input(format!("{}: cannot be written: {error}", path.display())))?;
    }
    let threads = threads(&args.on)?;
    let asked = several::Asked::of(args)?;
    let (model, problem) = open(&args.on, false)?;
    if let Some(asked) = &asked {
        asked.refuse_others(&model)?;
    }
    let threads = threads_for(threads, &*problem)?;
    let (mut text, mut predictions) = (String::new(), Vec::new());
    let w = problem.from_file_layout(&model.w);
    let predicted = match &asked {
        None => problem.predict(&w, threads, &mut |prediction| match args.json {
            true => predictions.push(prediction.text),
            false => writeln!(text, "{}", prediction.text).unwrap_or_default(), // a String takes anything
        }),
        Some(asked) => asked.write(&*problem, &w, threads, &mut text),
    };
    told(&*problem, predicted.map_err(Error::from))?;
    if args.json && asked.is_none() {
        text = format!("{}\n", json!({ "task": problem.task(), "n": predictions.len(), "predictions": predictions }));
    }
    match &args.out {
        None => print(&text)?,
        Some(path) => durable_write(path, text.as_bytes())
            .map_err(|error| Error::failed(format!("{}: could not be written: {error}", path.display())))?,
    }
    Ok(Done::Finished)
}
