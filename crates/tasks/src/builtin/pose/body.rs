//! The tree of a body, read from its limbs.

use multiplane_core::parameter::{ParameterError, require};

use super::spec::PoseSpec;

/// Joints that a body may have.
pub(super) const MOST: usize = 256;

/// Limbs and torso of a body.
#[derive(Clone, Debug)]
pub(super) struct Body {
    /// Parent and child of each limb, as listed; the root is the first joint named.
    pub(super) limbs: Vec<[usize; 2]>,
    /// The limbs from the leaves on.
    pub(super) leaves_first: Vec<usize>,
    /// The pairs that a torso is measured between.
    pub(super) torso: Vec<[usize; 2]>,
    /// The number of types of a joint.
    pub(super) types: usize,
}

impl Body {
    /// Reads limbs and torso, and checks the other parameters.
    pub(super) fn read(spec: &PoseSpec) -> Result<Body, ParameterError> {
        require(spec.alpha > 0.0 && spec.alpha.is_finite(), "alpha", spec.alpha, "must be a number above 0")?;
        let is_odd = spec.template <= 9 && spec.template % 2 == 1;
        require(is_odd, "template", spec.template, "must be an odd number of cells, at most 9")?;
        require((1..=16).contains(&spec.types), "types", spec.types, "must be 1 to 16")?;
        let fault = |rule: String| ParameterError::new("edges", &spec.edges, rule);
        let mut limbs = pairs(&spec.edges).map_err(fault)?;
        let joints = limbs.len() + 1;
        let (mut is_reached, mut order) = (vec![false; joints], Vec::with_capacity(limbs.len()));
        if let Some(&[root, _]) = limbs.first().filter(|limb| limb[0] < joints) {
            is_reached[root] = true;
        }
        // Limb by limb away from the root; each reaches a joint that none did before.
        while order.len() < limbs.len() {
            let reached = |joint: usize| is_reached.get(joint) == Some(&true);
            let next = limbs.iter().position(|&[a, b]| reached(a) != reached(b) && a.max(b) < joints);
            let Some(next) = next else {
                return Err(fault(format!("must join {joints} joints, from 0 to {}, in a tree", joints - 1)));
            };
            if !reached(limbs[next][0]) {
                limbs[next].swap(0, 1);
            }
            is_reached[limbs[next][1]] = true;
            order.push(next);
        }
        order.reverse();
        let torso = pairs(&spec.torso).map_err(|rule| ParameterError::new("torso", &spec.torso, rule))?;
        let is_there = torso.iter().flatten().all(|&joint| joint < joints);
        require(is_there, "torso", &spec.torso, &format!("must be of joints 0 to {}", joints - 1))?;
        Ok(Body { limbs, leaves_first: order, torso, types: spec.types })
    }

    /// Returns the number of joints.
    pub(super) fn joints(&self) -> usize {
        self.limbs.len() + 1
    }

    /// Returns the limb whose offset tells the type of a joint: the one that it ends, or the first one of the root.
    pub(super) fn limb_of(&self, joint: usize) -> usize {
        let ends = |limb: &[usize; 2]| limb[1] == joint;
        self.limbs.iter().position(ends).or_else(|| self.limbs.iter().position(|limb| limb[0] == joint)).unwrap_or(0)
    }
}

/// Reads pairs of different joints.
fn pairs(text: &str) -> Result<Vec<[usize; 2]>, String> {
    let joint = |name: &str| name.trim().parse::<usize>().ok();
    let pair = |pair: &str| {
        let (a, b) = pair.split_once('-')?;
        Some([joint(a)?, joint(b)?]).filter(|[a, b]| a != b)
    };
    let rule = format!("must be less than {MOST} pairs of joints from 0, such as 0-1,1-2");
    let numbered = text.split(',').enumerate();
    let found: Vec<[usize; 2]> = numbered
        .map(|(k, one)| pair(one).ok_or_else(|| format!("{rule}; found {:?} as pair {}", one.trim(), k + 1)))
        .collect::<Result<_, _>>()?;
    if found.len() < MOST { Ok(found) } else { Err(rule) }
}
