//! Code that only large graphs meet, on small ones.

use super::{Capacity, Graph};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    fn capacity(&mut self) -> i64 {
        self.below(12) as i64
    }
}

fn grid(width: u32, height: u32, random: &mut Random) -> Graph<i64> {
    let mut graph = Graph::new();
    graph.add_nodes((width * height) as usize);
    for node in 0..width * height {
        if random.below(3) > 0 {
            graph.add_terminal(node, random.capacity(), random.capacity()).unwrap();
        }
        for (next, inside) in [(node + 1, (node + 1) % width > 0), (node + width, node + width < width * height)] {
            if inside && random.below(8) > 0 {
                graph.add_edge(node, next, random.capacity(), random.capacity()).unwrap();
            }
        }
    }
    graph
}

fn found<C: Capacity>(graph: &mut Graph<C>) -> (C, Vec<i32>) {
    let flow = graph.solve();
    graph.verify(flow);
    (flow, graph.network.nodes.iter().map(|node| node.level.signum()).collect())
}

/// With the head start, flow and both extreme cuts are those without, cold and after changes, and proven smallest.
#[test]
fn head_start_changes_no_cut() {
    for seed in 0..400 {
        let mut random = Random(seed);
        let (width, height) = (2 + random.below(12) as u32, 2 + random.below(12) as u32);
        let mut plain = grid(width, height, &mut random);
        let mut ahead = plain.clone();
        (plain.large, ahead.large) = (usize::MAX, 0);
        for round in 0..6 {
            assert_eq!(found(&mut ahead), found(&mut plain), "seed {seed}, round {round}");
            for _ in 0..random.below([3, 200][round % 2]) {
                let node = random.below(plain.nodes() as u64) as u32;
                let edge = random.below(plain.edges() as u64) as u32;
                let now = [0; 4].map(|_| random.capacity());
                for graph in [&mut plain, &mut ahead] {
                    graph.set_terminal(node, now[0], now[1]).unwrap();
                    graph.set_edge(edge, now[2], now[3]).unwrap();
                }
            }
        }
    }
}

/// The head start alone leaves no residual path where its number of paths is not limited, and may be cut short
/// anywhere.
#[test]
fn head_start_ends_and_may_be_cut_short() {
    use super::boykov::HeadStart;
    use super::forest::TreeSearch;
    for seed in 0..200 {
        let mut random = Random(seed);
        let mut plain = grid(9, 9, &mut random);
        plain.reset();
        let mut ahead = plain.clone();
        let limit = if seed % 2 == 0 { i32::MAX } else { random.below(12) as i32 };
        HeadStart { network: &mut ahead.network, queues: &mut ahead.queues, time: 0 }.run(limit);
        let given = |graph: &Graph<i64>| graph.network.nodes.iter().map(|node| node.excess.max(0)).sum::<i64>();
        let (before, after) = (given(&plain), given(&ahead));
        let mut search = TreeSearch { network: &mut ahead.network, forest: &mut ahead.forest };
        search.plant();
        search.run();
        if limit == i32::MAX {
            assert_eq!(given(&ahead), after, "seed {seed}: flow was left to send, of {before}");
        }
        let mut direct = TreeSearch { network: &mut plain.network, forest: &mut plain.forest };
        direct.plant();
        direct.run();
        assert_eq!(given(&ahead), given(&plain), "seed {seed}: flow after {limit} paths");
    }
}
