//! `multiplane describe`: what there is, and every parameter with its default. All of it is read off the registries.

use multiplane::data::FORMATS;
use multiplane::params::{Param, ParamKind, from_schema, params_of};
use multiplane::solvers::SOLVERS;
use multiplane::tasks::TASKS;
use multiplane::{
    Error, GridOptions, OracleSpec, PathSpec, StreamSpec, find_solver, find_task, infer, run_parameters, unknown_name,
};
use serde_json::{Value, json};

use crate::args::DescribeArgs;
use crate::commands::done::Done;
use crate::commands::infer::{MAX_FLOW, MAX_FLOW_SUMMARY};
use crate::fill::{columns, filled};
use crate::help::WIDTH;
use crate::terminal::{print, print_json};

const KINDS: [&str; 10] = ["solver", "task", "run", "path", "stream", "oracle", "loss", "kernel", "format", "engine"];

/// Those that are choices of tasks: `task.kernel` is `kernel`.
const OF_TASKS: [&str; 2] = ["loss", "kernel"];

/// One thing that can be described.
#[derive(Default)]
struct DescribedItem {
    name: String,
    summary: String,
    /// Further facts: (what, text).
    facts: Vec<(&'static str, String)>,
    params: Vec<Param>,
    /// The values that a preset gives to the parameters.
    preset: Value,
    /// The beginning of the dotted names.
    prefix: String,
}

pub(crate) fn run(args: &DescribeArgs) -> Result<Done, Error> {
    let kinds: Vec<&str> = match &args.kind {
        None => KINDS.to_vec(),
        Some(kind) => {
            match KINDS.iter().find(|known| *known == kind || OF_TASKS.contains(known) && is_of_task(kind, known)) {
                Some(kind) => vec![kind],
                None if args.name.is_none() => return search(kind, args),
                None => return Err(Error::input(unknown_name("kind", kind, KINDS))),
            }
        }
    };
    let mut all = Vec::new();
    for kind in kinds {
        all.push((kind, items(kind, args.name.as_deref())?));
    }
    let detailed = args.name.is_some();
    if args.json {
        let json: serde_json::Map<String, Value> = all
            .iter()
            .map(|(kind, items)| ((*kind).into(), Value::Array(items.iter().map(DescribedItem::json).collect())))
            .collect();
        let text = serde_json::to_string_pretty(&json).map_err(|error| Error::failed(error.to_string()))?;
        print(&(text + "\n"))?;
    } else {
        let sections = all.iter().map(|(kind, items)| match detailed {
            true if *kind == "solver" && !args.all => items.iter().map(DescribedItem::brief).collect::<String>(),
            true => items.iter().map(DescribedItem::text).collect::<String>(),
            false => list(kind, items),
        });
        let mut text = sections.collect::<Vec<_>>().join("\n");
        if !detailed {
            text += "\n`multiplane describe KIND NAME` shows every parameter with its default.\n";
        }
        print(&filled(&text, Some(columns().unwrap_or(WIDTH))))?;
    }
    Ok(Done::Finished)
}

/// Owners of a parameter that are all named.
const MOST_OWNERS: usize = 6;

/// A parameter that was looked for.
struct FoundParam {
    name: String,
    doc: String,
    default: Value,
    /// The kind of those that have it, and their names.
    of: (&'static str, Vec<String>),
}

/// Describes what has this name, or lists the parameters whose names, or else whose texts, have this word.
fn search(word: &str, args: &DescribeArgs) -> Result<Done, Error> {
    let (word, mut all) = (&*word.to_lowercase(), Vec::new());
    for kind in KINDS {
        let items = items(kind, None)?;
        if items.iter().any(|item| item.name == word) {
            let (kind, name) = (Some(kind.to_owned()), Some(word.to_owned()));
            return run(&DescribeArgs { kind, name, all: args.all, json: args.json });
        }
        for item in items {
            walk(&item.params, &item.preset, &item.prefix, &mut |name, param, value| {
                let (doc, default) = (&param.doc, name_of(value));
                let same = |known: &&mut FoundParam| {
                    (known.of.0, &*known.name, &known.doc, &known.default) == (kind, name, doc, default)
                };
                match all.iter_mut().find(same) {
                    _ if matches!(param.kind, ParamKind::Table(_)) => {}
                    Some(known) if known.of.1.last() == Some(&item.name) => {}
                    Some(known) => known.of.1.push(item.name.clone()),
                    None => all.push(FoundParam {
                        name: name.to_owned(),
                        doc: doc.clone(),
                        default: default.clone(),
                        of: (kind, vec![item.name.clone()]),
                    }),
                }
            });
        }
    }
    let has = |text: &str| text.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|part| part == word);
    let ends = |param: &&FoundParam| param.name == word || param.name.rsplit('.').next() == Some(word);
    let mut found: Vec<&FoundParam> = all.iter().filter(|param| has(&param.name) || ends(param)).collect();
    if found.is_empty() {
        found = all.iter().filter(|param| has(&param.doc)).collect();
    }
    found.sort_by_key(|param| !ends(param));
    if found.is_empty() {
        return Err(Error::input(unknown_name("kind", word, KINDS)));
    }
    if args.json {
        let json = found.iter().map(
            |param| json!({"name": param.name, "doc": param.doc, "default": param.default, param.of.0: param.of.1}),
        );
        print_json(&json!({ "parameters": json.collect::<Vec<_>>() }))?;
        return Ok(Done::Finished);
    }
    let mut text = format!("parameters with `{word}` (--set NAME=VALUE):\n");
    for FoundParam { name, doc, default, of: (kind, owners) } in found {
        let shown = if owners.len() > MOST_OWNERS { 3 } else { owners.len() };
        let more = if shown < owners.len() { format!(" and {} more", owners.len() - shown) } else { String::new() };
        let owners = owners[..shown].join(", ");
        text += &format!("  {name} = {default}\n      {}\n      of {kind} {owners}{more}\n", first_sentence(doc));
    }
    print(&filled(&text, Some(columns().unwrap_or(WIDTH))))?;
    Ok(Done::Finished)
}

/// Calls `found` with the dotted name, the parameter and its value, for all parameters below a prefix.
pub(crate) fn walk(params: &[Param], preset: &Value, prefix: &str, found: &mut impl FnMut(&str, &Param, &Value)) {
    for param in params {
        let value = value_of(param, preset);
        let name = if prefix.is_empty() { param.name.clone() } else { format!("{prefix}.{}", param.name) };
        found(&name, param, value);
        match &param.kind {
            ParamKind::Table(params) => walk(params, value, &name, found),
            ParamKind::Choice(variants) => {
                variants.iter().for_each(|variant| walk(&variant.params, &Value::Null, &name, found));
            }
            ParamKind::Value(_) => {}
        }
    }
}

fn first_sentence(text: &str) -> &str {
    text.split_inclusive(". ").next().unwrap_or_default().trim_end()
}

fn list(kind: &str, items: &[DescribedItem]) -> String {
    let width = items.iter().map(|item| item.name.len()).max().unwrap_or(0);
    let lines = items.iter().map(|item| format!("  {:width$}  {}\n", item.name, item.summary));
    format!("{kind}\n{}", lines.collect::<String>())
}

fn items(kind: &str, name: Option<&str>) -> Result<Vec<DescribedItem>, Error> {
    Ok(match (kind, name) {
        ("solver", Some(name)) => vec![solver(find_solver(name)?)],
        ("solver", None) => SOLVERS.iter().map(solver).collect(),
        ("task", Some(name)) => vec![task(find_task(name)?)],
        ("task", None) => TASKS.iter().map(task).collect(),
        ("run", name) => pick(run_items(), "run", name)?,
        ("path", name) => pick(outer_loops(), "path", name)?,
        ("stream", name) => pick(streams(), "stream", name)?,
        ("oracle", name) => oracles(name)?,
        (kind @ ("loss" | "kernel"), name) => of_tasks(kind, name)?,
        ("format", name) => pick(formats(), "format", name)?,
        (_, name) => pick(engines(), "engine", name)?,
    })
}

fn solver(entry: &multiplane::solvers::SolverEntry) -> DescribedItem {
    let certificate = if entry.has_dual { "primal, dual and gap" } else { "none: it has no dual value" };
    let mut facts = vec![("source", entry.source.into()), ("certificate", certificate.into())];
    if !entry.minimises {
        facts.push(("lambda", "not used; the primal value told is that at lambda, and is not minimised".into()));
    }
    let item = DescribedItem::new(entry.name, entry.summary).with("solver", from_schema(&(entry.schema)()));
    DescribedItem { facts, preset: (entry.preset)(), ..item }
}

fn task(entry: &multiplane::entry::TaskEntry) -> DescribedItem {
    let formats = entry.formats.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    let mut facts = vec![("oracle", entry.oracle.into()), ("formats", formats), ("weights", entry.layout.into())];
    facts.extend(entry.lambda.map(|advice| ("lambda to begin with", advice.into())));
    let item = DescribedItem::new(entry.name, entry.summary).with("task", from_schema(&(entry.schema)()));
    DescribedItem { facts, preset: (entry.defaults)(), ..item }
}

/// The parameters that runs of all tasks and solvers have.
fn run_items() -> Vec<DescribedItem> {
    let of_param = |param: Param| {
        let item = DescribedItem::new(&param.name, &param.doc);
        match param.kind {
            ParamKind::Table(params) => DescribedItem { preset: param.default, ..item.with(&param.name, params) },
            _ => item.with("", vec![param]),
        }
    };
    run_parameters().into_iter().map(of_param).collect()
}

/// The loops of `path`.
fn outer_loops() -> Vec<DescribedItem> {
    let path = "the regularisation path: proven weights at every lambda, and what a grid has in common with it";
    let grid = "models at some lambdas only";
    vec![
        DescribedItem::new("path", path).with("path", params_of::<PathSpec>()),
        DescribedItem::new("grid", grid).with("grid", params_of::<GridOptions>()),
    ]
}

/// Returns the parameters of `train --stream` alone.
fn streams() -> Vec<DescribedItem> {
    let summary = "one pass over rows in windows (train --stream): memory for a few windows, no certificate";
    vec![DescribedItem::new("stream", summary).with("stream", params_of::<StreamSpec>())]
}

/// Formats of data sets, and of the single problems that `infer` solves.
fn formats() -> Vec<DescribedItem> {
    let data = FORMATS.iter().map(|format| DescribedItem::new(format.name, format.description));
    let problems = infer::format::FORMATS.iter().map(|format| DescribedItem {
        facts: vec![("read by", "infer, known by the ending of the file's name".into())],
        ..DescribedItem::new(format.name, format.description)
    });
    data.chain(problems).collect()
}

fn engines() -> Vec<DescribedItem> {
    let listed = infer::registry::ENGINES.iter().map(|entry| DescribedItem::new(entry.name, entry.summary));
    listed.chain([DescribedItem::new(MAX_FLOW, MAX_FLOW_SUMMARY)]).collect()
}

fn oracles(name: Option<&str>) -> Result<Vec<DescribedItem>, Error> {
    let mut items: Vec<DescribedItem> = TASKS
        .iter()
        .map(|task| {
            let exact = if task.is_exact { " (exact)" } else { "" };
            DescribedItem::new(task.name, &format!("{}{exact}, of task {}", task.oracle, task.name))
        })
        .collect();
    let wrapper = "a wrapper of any of them: every call costs oracle.delay_us microseconds more";
    items.push(DescribedItem::new("delayed", wrapper).with("oracle", params_of::<OracleSpec>()));
    pick(items, "oracle", name)
}

/// Returns true if this is the dotted name of a parameter of tasks.
fn is_of_task(name: &str, parameter: &str) -> bool {
    name.strip_prefix("task.") == Some(parameter)
}

/// The variants of a parameter in all tasks that have it; of those that several tasks have, what the first says.
fn of_tasks(kind: &str, name: Option<&str>) -> Result<Vec<DescribedItem>, Error> {
    let mut items: Vec<DescribedItem> = Vec::new();
    for task in TASKS.iter() {
        let params = from_schema(&(task.schema)());
        let choice = params.into_iter().find(|param| param.name == kind).map(|param| param.kind);
        let Some(ParamKind::Choice(variants)) = choice else { continue };
        for variant in variants {
            match items.iter_mut().find(|item| item.name == variant.name) {
                Some(known) => known.facts[0].1 += &format!(", {}", task.name),
                None => {
                    let item = DescribedItem::new(&variant.name, &variant.doc);
                    let facts = vec![("tasks", task.name.into())];
                    items.push(DescribedItem { facts, ..item.with(&format!("task.{kind}"), variant.params) });
                }
            }
        }
    }
    pick(items, kind, name)
}

fn pick(items: Vec<DescribedItem>, kind: &str, name: Option<&str>) -> Result<Vec<DescribedItem>, Error> {
    let Some(name) = name else { return Ok(items) };
    let known: Vec<String> = items.iter().map(|item| item.name.clone()).collect();
    let found: Vec<DescribedItem> = items.into_iter().filter(|item| item.name == name).collect();
    if found.is_empty() {
        return Err(Error::input(unknown_name(kind, name, known.iter().map(String::as_str))));
    }
    Ok(found)
}

impl DescribedItem {
    fn new(name: &str, summary: &str) -> DescribedItem {
        DescribedItem { name: name.into(), summary: summary.into(), ..DescribedItem::default() }
    }

    fn with(self, prefix: &str, params: Vec<Param>) -> DescribedItem {
        DescribedItem { params, prefix: prefix.into(), ..self }
    }

    fn json(&self) -> Value {
        let facts: serde_json::Map<String, Value> =
            self.facts.iter().map(|(what, text)| ((*what).into(), json!(text))).collect();
        json!({
            "name": self.name,
            "summary": self.summary,
            "facts": facts,
            "parameters": params_json(&self.params, &self.preset),
        })
    }

    fn text(&self) -> String {
        let mut text = format!("{}: {}\n", self.name, self.summary);
        for (what, fact) in &self.facts {
            text += &format!("  {what}: {fact}\n");
        }
        if !self.params.is_empty() {
            text += "\nparameters (--set NAME=VALUE):\n";
            write_params(&mut text, &self.params, &self.preset, &self.prefix, 2);
        }
        text
    }

    /// Every parameter on one line, without the fields of what is chosen: what they are is in the full text.
    fn brief(&self) -> String {
        let bare = DescribedItem { facts: self.facts.clone(), ..DescribedItem::new(&self.name, &self.summary) };
        let mut text = bare.text();
        if !self.params.is_empty() {
            text += "\nparameters (--set NAME=VALUE):\n";
        }
        for param in &self.params {
            let value = value_of(param, &self.preset);
            let value = match &param.kind {
                ParamKind::Value(_) => format!(" = {value}"),
                ParamKind::Choice(_) => format!(" = {}", name_of(value).as_str().unwrap_or("null")),
                ParamKind::Table(_) => String::new(),
            };
            let doc = first_sentence(&param.doc);
            text += &format!("  {}.{}{value}\n      {doc}\n", self.prefix, param.name);
        }
        text + &format!(
            "\n`multiplane describe solver {} --all` has their fields, and what can be chosen.\n",
            self.name
        )
    }
}

/// The value that a preset gives, or the default; one that is left out where it is false is that.
fn value_of<'a>(param: &'a Param, preset: &'a Value) -> &'a Value {
    match preset.get(&param.name).unwrap_or(&param.default) {
        Value::Null if matches!(&param.kind, ParamKind::Value(kind) if kind.to_string() == "boolean") => {
            &Value::Bool(false)
        }
        value => value,
    }
}

/// The name in a choice's value; one that never has fields is its bare name.
fn name_of(value: &Value) -> &Value {
    if value.is_object() { &value["name"] } else { value }
}

fn params_json(params: &[Param], preset: &Value) -> Value {
    let json = params.iter().map(|param| {
        let value = value_of(param, preset);
        match &param.kind {
            ParamKind::Value(kind) => {
                json!({"name": param.name, "doc": param.doc, "type": kind.to_string(), "default": value})
            }
            ParamKind::Table(params) => {
                json!({"name": param.name, "doc": param.doc, "parameters": params_json(params, value)})
            }
            ParamKind::Choice(variants) => {
                let variants: Vec<Value> = variants
                    .iter()
                    .map(|variant| {
                        let chosen = if *name_of(value) == variant.name.as_str() { value } else { &Value::Null };
                        let params = params_json(&variant.params, chosen);
                        json!({"name": variant.name, "doc": variant.doc, "parameters": params})
                    })
                    .collect();
                json!({"name": param.name, "doc": param.doc, "default": name_of(value), "choices": variants})
            }
        }
    });
    Value::Array(json.collect())
}

fn write_params(text: &mut String, params: &[Param], preset: &Value, prefix: &str, indent: usize) {
    for param in params {
        let value = value_of(param, preset);
        let name = if prefix.is_empty() { param.name.clone() } else { format!("{prefix}.{}", param.name) };
        match &param.kind {
            ParamKind::Value(kind) => {
                *text += &format!("{:indent$}{name} = {value}  ({kind})\n", "");
                *text += &format!("{:indent$}    {}\n", "", param.doc);
            }
            ParamKind::Table(params) => {
                *text += &format!("{:indent$}{name}\n{:indent$}    {}\n", "", "", param.doc);
                write_params(text, params, value, &name, indent + 6);
            }
            ParamKind::Choice(variants) => {
                let chosen = name_of(value).as_str().unwrap_or("null");
                *text += &format!("{:indent$}{name} = {chosen}\n{:indent$}    {}\n", "", "", param.doc);
                for variant in variants {
                    *text += &format!("{:indent$}    {}: {}\n", "", variant.name, variant.doc);
                    let own = if variant.name == chosen { value } else { &Value::Null };
                    write_params(text, &variant.params, own, &name, indent + 6);
                }
            }
        }
    }
}
