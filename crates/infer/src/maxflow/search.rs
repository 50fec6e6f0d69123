//! Shortest augmenting paths, one breadth-first search each (Edmonds and Karp): the simplest thing that is right.

use super::{Arc, Capacity, NONE};

#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    /// Whether the last search reached a node from the source.
    pub(super) reached: Vec<bool>,
    /// Arc by which it was reached; NONE: from the source.
    by: Vec<u32>,
    queue: Vec<u32>,
}

pub(super) fn maximise<C: Capacity>(
    terminal: &mut [C],
    first: &[u32],
    arcs: &mut [Arc<C>],
    flow: &mut C,
    search: &mut Search,
) {
    while let Some(end) = find(terminal, first, arcs, search) {
        let mut amount = C::ZERO - terminal[end];
        let mut node = end;
        while search.by[node] != NONE {
            let arc = search.by[node] as usize;
            amount = amount.min(arcs[arc].residual);
            node = arcs[arc ^ 1].head as usize;
        }
        amount = amount.min(terminal[node]);
        terminal[node] = terminal[node] - amount;
        terminal[end] = terminal[end] + amount;
        let mut node = end;
        while search.by[node] != NONE {
            let arc = search.by[node] as usize;
            arcs[arc].residual = arcs[arc].residual - amount;
            arcs[arc ^ 1].residual = arcs[arc ^ 1].residual + amount;
            node = arcs[arc ^ 1].head as usize;
        }
        *flow = *flow + amount;
    }
}

fn find<C: Capacity>(terminal: &[C], first: &[u32], arcs: &[Arc<C>], search: &mut Search) -> Option<usize> {
    search.reached.clear();
    search.reached.resize(terminal.len(), false);
    search.by.clear();
    search.by.resize(terminal.len(), NONE);
    search.queue.clear();
    for (node, &residual) in terminal.iter().enumerate() {
        if residual > C::ZERO {
            search.reached[node] = true;
            search.queue.push(node as u32);
        }
    }
    let mut next = 0;
    while let Some(&node) = search.queue.get(next) {
        next += 1;
        let mut at = first[node as usize];
        while at != NONE {
            let arc = arcs[at as usize];
            let head = arc.head as usize;
            if arc.residual > C::ZERO && !search.reached[head] {
                search.reached[head] = true;
                search.by[head] = at;
                if terminal[head] < C::ZERO {
                    return Some(head);
                }
                search.queue.push(arc.head);
            }
            at = arc.next;
        }
    }
    None
}
