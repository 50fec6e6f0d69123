//! Checks that parents or edges make a tree. One walk up for every node, O(nodes).

use multiplane_infer::score_tree::ROOT;

use super::fault::TreeFault;

/// An edge as it is given: parent, child, and its type where it has one.
pub(super) type TreeEdge = (i64, i64, Option<String>);

/// Returns the parent of every node; [`ROOT`] is that of a root.
///
/// # Errors
///
/// A parent that is no node or the node itself, a cycle.
pub(super) fn of_parents(parents: &[Option<i64>]) -> Result<Vec<u32>, TreeFault> {
    let mut found = Vec::with_capacity(parents.len());
    for (node, &parent) in parents.iter().enumerate() {
        found.push(match parent {
            None => ROOT,
            Some(parent) if parent == node as i64 => {
                return Err(TreeFault::node(
                    node,
                    "found itself as parent, expected another node, or null at the root",
                ));
            }
            Some(parent) => in_range(parent, parents.len()).ok_or_else(|| {
                TreeFault::node(node, format!("found parent {parent}, expected {}", range(parents.len())))
            })?,
        });
    }
    refuse_cycles(&found)?;
    Ok(found)
}

/// Returns the parent and the type of the edge to it of every node.
///
/// # Errors
///
/// An edge of what is no node, from a node to itself or to one that has a parent; several nodes without an edge to
/// them.
#[allow(clippy::type_complexity)] // two lists
pub(super) fn of_edges(
    nodes: usize,
    edges: Vec<TreeEdge>,
) -> Result<(Vec<Option<i64>>, Vec<Option<String>>), TreeFault> {
    let (mut parents, mut types) = (vec![None; nodes], vec![None; nodes]);
    for (place, (parent, child, name)) in edges.into_iter().enumerate() {
        for end in [parent, child] {
            in_range(end, nodes)
                .ok_or_else(|| TreeFault::edge(place, format!("found node {end}, expected {}", range(nodes))))?;
        }
        if parent == child {
            return Err(TreeFault::edge(place, format!("found node {child} at both ends, expected two nodes")));
        }
        let child = child as usize;
        if let Some(before) = parents[child].replace(parent) {
            let message =
                format!("found a second parent {parent} of node {child} after {before}, expected at most one");
            return Err(TreeFault::edge(place, message));
        }
        types[child] = name;
    }
    let mut roots = (0..nodes).filter(|&node| parents[node].is_none());
    if let (Some(first), Some(second)) = (roots.next(), roots.next()) {
        return Err(TreeFault::second_root(first, second));
    }
    Ok((parents, types))
}

fn in_range(node: i64, nodes: usize) -> Option<u32> {
    u32::try_from(node).ok().filter(|&node| (node as usize) < nodes)
}

fn range(nodes: usize) -> String {
    format!("one of the {nodes} nodes, numbered from 0")
}

fn refuse_cycles(parents: &[u32]) -> Result<(), TreeFault> {
    // By node: the walk that came there first.
    let mut walks = vec![ROOT; parents.len()];
    for start in 0..parents.len() as u32 {
        let mut node = start;
        while node != ROOT && walks[node as usize] == ROOT {
            walks[node as usize] = start;
            node = parents[node as usize];
        }
        if node == ROOT || walks[node as usize] != start {
            continue;
        }
        let mut cycle = vec![node.to_string()];
        let mut next = parents[node as usize];
        while next != node && cycle.len() < 8 {
            cycle.push(next.to_string());
            next = parents[next as usize];
        }
        cycle.push(if next == node { next.to_string() } else { "...".into() });
        let message = format!("found the cycle {} of parents, expected a tree", cycle.join(" -> "));
        return Err(TreeFault::node(node as usize, message));
    }
    Ok(())
}
