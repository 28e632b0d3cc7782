//! A tree as intervals: everybody is numbered in the order of a walk, so whoever is below somebody lies in one stretch
//! right after them. Whether one is above another is then one comparison, however deep or wide the tree is.

/// What is below the number at an index lies between it and the end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Intervals {
    nodes: Vec<Node>,
}

/// Together, because they are read together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Node {
    /// The last number of whoever is below.
    last: u32,
    depth: u32,
    /// Of the first: itself.
    parent: u32,
}

impl Intervals {
    /// Numbers whoever is below the first of `parents`; `parents` has of each the index of its parent, and of the first
    /// anything. Also gives the index of each number. Whoever is not below the first has no number. Takes time in
    /// proportion to their count, and no stack.
    pub fn of(parents: &[u32]) -> (Self, Vec<u32>) {
        let below = Below::of(parents);
        let mut nodes: Vec<Node> = Vec::with_capacity(parents.len());
        let mut indexes: Vec<u32> = Vec::with_capacity(parents.len());
        let mut waiting: Vec<(u32, u32, u32)> = Vec::new();
        if !parents.is_empty() {
            waiting.push((0, 0, 0));
        }
        while let Some((index, parent, depth)) = waiting.pop() {
            let number = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
            nodes.push(Node {
                last: number,
                depth,
                parent,
            });
            indexes.push(index);
            let children = below.of_one(index).iter().rev();
            waiting.extend(children.map(|child| (*child, number, depth.saturating_add(1))));
        }
        // From the back, everybody is done before their parent is.
        for number in (1..nodes.len()).rev() {
            let Some(Node { last, parent, .. }) = nodes.get(number).copied() else {
                continue;
            };
            let parent = usize::try_from(parent).unwrap_or(usize::MAX);
            if let Some(parent) = nodes.get_mut(parent) {
                parent.last = parent.last.max(last);
            }
        }
        (Self { nodes }, indexes)
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    fn node(&self, number: u32) -> Option<Node> {
        self.nodes.get(usize::try_from(number).ok()?).copied()
    }

    /// Whether the one is above the other.
    pub fn is_above(&self, one: u32, other: u32) -> bool {
        self.node(one)
            .is_some_and(|node| one < other && other <= node.last)
    }

    /// How many generations somebody is below the first.
    pub fn depth(&self, number: u32) -> Option<u32> {
        self.node(number).map(|node| node.depth)
    }

    /// `None` for the first.
    pub fn parent(&self, number: u32) -> Option<u32> {
        self.node(number)
            .map(|node| node.parent)
            .filter(|parent| *parent != number)
    }

    /// The last number of whoever is below.
    pub fn last(&self, number: u32) -> Option<u32> {
        self.node(number).map(|node| node.last)
    }
}

/// The children of each, one after the other in one list.
struct Below {
    starts: Vec<u32>,
    children: Vec<u32>,
}

impl Below {
    fn of(parents: &[u32]) -> Self {
        let mut starts = vec![0_u32; parents.len().saturating_add(1)];
        let at = |index: u32| usize::try_from(index).unwrap_or(usize::MAX);
        for parent in parents.iter().skip(1) {
            if let Some(count) = starts.get_mut(at(*parent).saturating_add(1)) {
                *count = count.saturating_add(1);
            }
        }
        let mut sum = 0_u32;
        for start in &mut starts {
            sum = sum.saturating_add(*start);
            *start = sum;
        }
        let mut next = starts.clone();
        let mut children = vec![0_u32; parents.len().saturating_sub(1)];
        for (child, parent) in (0_u32..).zip(parents).skip(1) {
            let Some(next) = next.get_mut(at(*parent)) else {
                continue;
            };
            if let Some(slot) = children.get_mut(at(*next)) {
                *slot = child;
                *next = next.saturating_add(1);
            }
        }
        Self { starts, children }
    }

    fn of_one(&self, parent: u32) -> &[u32] {
        let start = |index: Option<usize>| {
            let start = self.starts.get(index?).copied()?;
            usize::try_from(start).ok()
        };
        let index = usize::try_from(parent).ok();
        let range = start(index).zip(start(index.and_then(|index| index.checked_add(1))));
        range
            .and_then(|(from, to)| self.children.get(from..to))
            .unwrap_or_default()
    }
}
