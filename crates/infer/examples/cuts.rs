//! Times the max-flow engine for `benchmarks/scripts/cuts.py`: reads graphs from a file, and for each line on standard
//! input solves all of them once and prints seconds and flows as JSON.
//!
//! The file, little-endian: u32 graphs, then for each: u32 nodes, u32 edges, u32 changes; f64 unary of each node
//! (positive: from the source); u32 tails, u32 heads, f64 forward, f64 backward; u32 changed nodes, f64 their unaries.

use std::io::{BufRead, Write};
use std::time::Instant;

use multiplane_infer::maxflow::Graph;

struct Instance {
    unary: Vec<f64>,
    tails: Vec<u32>,
    heads: Vec<u32>,
    forward: Vec<f64>,
    backward: Vec<f64>,
    changed: Vec<u32>,
    changed_unary: Vec<f64>,
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn integers(&mut self, count: usize) -> Vec<u32> {
        let (now, rest) = self.0.split_at(4 * count);
        self.0 = rest;
        now.chunks_exact(4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap())).collect()
    }

    fn reals(&mut self, count: usize) -> Vec<f64> {
        let (now, rest) = self.0.split_at(8 * count);
        self.0 = rest;
        now.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect()
    }

    fn instance(&mut self) -> Instance {
        let sizes = self.integers(3);
        let [nodes, edges, changes] = [sizes[0], sizes[1], sizes[2]].map(|size| size as usize);
        Instance {
            unary: self.reals(nodes),
            tails: self.integers(edges),
            heads: self.integers(edges),
            forward: self.reals(edges),
            backward: self.reals(edges),
            changed: self.integers(changes),
            changed_unary: self.reals(changes),
        }
    }
}

/// Seconds, summed over all graphs.
#[derive(Default)]
struct Seconds {
    build: f64,
    /// First solve after a build: the layout of the network is part of it.
    first: f64,
    solve: f64,
    /// Changes and the solve after them.
    resolve: f64,
    /// The changed graph from scratch.
    cold: f64,
}

fn build(graph: &mut Graph<f64>, instance: &Instance) {
    graph.clear();
    graph.add_nodes(instance.unary.len());
    for (node, &unary) in instance.unary.iter().enumerate() {
        graph.add_terminal(node as u32, unary.max(0.0), (-unary).max(0.0)).expect("a valid unary");
    }
    let ends = instance.tails.iter().zip(&instance.heads);
    for ((&tail, &head), (&forward, &backward)) in ends.zip(instance.forward.iter().zip(&instance.backward)) {
        graph.add_edge(tail, head, forward, backward).expect("a valid edge");
    }
}

fn timed<T>(seconds: &mut f64, action: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = action();
    *seconds += start.elapsed().as_secs_f64();
    result
}

fn main() {
    let path = std::env::args().nth(1).expect("usage: cuts FILE");
    let bytes = std::fs::read(path).expect("the file of graphs");
    let mut reader = Reader(&bytes);
    let count = reader.integers(1)[0];
    let instances: Vec<Instance> = (0..count).map(|_| reader.instance()).collect();
    let mut graph = Graph::<f64>::new();
    for _ in std::io::stdin().lock().lines() {
        let mut seconds = Seconds::default();
        let (mut flow, mut changed_flow, mut difference) = (0.0, 0.0, 0.0f64);
        for instance in &instances {
            timed(&mut seconds.build, || build(&mut graph, instance));
            flow += timed(&mut seconds.first, || graph.solve());
            graph.reset();
            timed(&mut seconds.solve, || graph.solve());
            let resolved = timed(&mut seconds.resolve, || {
                for (&node, &unary) in instance.changed.iter().zip(&instance.changed_unary) {
                    graph.set_terminal(node, unary.max(0.0), (-unary).max(0.0)).expect("a valid unary");
                }
                graph.solve()
            });
            graph.reset();
            let cold = timed(&mut seconds.cold, || graph.solve());
            changed_flow += resolved;
            difference = difference.max((resolved - cold).abs() / cold);
        }
        let Seconds { build, first, solve, resolve, cold } = seconds;
        println!(
            "{{\"build\": {build}, \"first\": {first}, \"solve\": {solve}, \"resolve\": {resolve}, \"cold\": {cold}, \
             \"flow\": {flow}, \"changed_flow\": {changed_flow}, \"difference\": {difference}}}"
        );
        std::io::stdout().flush().expect("standard output");
    }
}
