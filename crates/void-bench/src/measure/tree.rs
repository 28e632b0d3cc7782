//! The tree of agents: how long it takes to say how two stand to each other, to make the index anew after a change, and to
//! bring the tree in line with who there is, the commit included.

use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use void_channels::{MetaAuthor, MetaFolder};
use void_control::Clock;
use void_domain::agents::AgentName;
use void_tree::{DEPTH_MAX, Index, Intervals, Position, ROOT, Topology};

use crate::Outcome;
use crate::plan::Plan;
use crate::servers::folder_in;
use crate::statistics::rounded;

/// The fastest counts: it computes only, so whatever else runs here can but slow it.
const TIMES: usize = 5;
/// Pairs in an order that no cache foresees, and how often they are gone through.
const PAIRS: usize = 1 << 16;
const ROUNDS: usize = 16;

pub(crate) async fn measure(plan: &Plan, place: &Path) -> Outcome<Value> {
    let agents = plan.tree_agents;
    let mut shapes = Vec::new();
    for (name, parent) in [
        ("deep", deep as fn(usize) -> usize),
        ("wide", |_| 0),
        ("random", |at| scattered(at).checked_rem(at).unwrap_or(0)),
    ] {
        shapes.push(shape(name, agents, parent)?);
    }
    let chain_ns = chain(agents)?;
    let worst = |member: &str| {
        let all = shapes
            .iter()
            .filter_map(|shape| shape.get(member)?.as_f64());
        all.fold(0.0, f64::max)
    };
    let reconciled = reconcile(plan.reconciled_agents, place).await?;
    Ok(json!({
        "agents": agents,
        "check_ns": rounded(worst("check_ns").max(chain_ns)),
        "index_ms": rounded(worst("index_ms")),
        "chain_check_ns": rounded(chain_ns),
        "reconciled": plan.reconciled_agents,
        "reconcile_ms": rounded(milliseconds(reconciled)),
        "shapes": shapes,
    }))
}

/// Chains as long as they may be, side by side.
fn deep(at: usize) -> usize {
    match at % usize::from(DEPTH_MAX) {
        1 => 0,
        _ => at.saturating_sub(1),
    }
}

/// One chain of all of them, deeper than a tree of agents may be.
fn chain(agents: usize) -> Outcome<f64> {
    let parents: Vec<u32> = (0..u32::try_from(agents)?)
        .map(|at| at.saturating_sub(1))
        .collect();
    let (chain, _) = Intervals::of(&parents);
    let number = |at: usize| u32::try_from(at).unwrap_or(0);
    let pairs: Vec<(u32, u32)> = pairs(agents)
        .map(|(one, other)| (number(one), number(other)))
        .collect();
    Ok(fastest_ns(&pairs, |(one, other)| {
        chain.is_above(*one, *other)
    }))
}

fn shape(name: &str, agents: usize, parent: fn(usize) -> usize) -> Outcome<Value> {
    let names: Vec<AgentName> = (0..agents).map(named).collect::<Outcome<_>>()?;
    let mut entries = BTreeMap::new();
    for (at, own) in names.iter().enumerate() {
        let above = names.get(parent(at)).filter(|_| at > 0);
        entries.insert(own.clone(), above.cloned());
    }
    let (topology, problems) = Topology::of(entries);
    if !problems.is_empty() || topology.len() != agents {
        return Err(format!(
            "a tree of this measurement is wrong: {:?}",
            problems.first()
        )
        .into());
    }
    let mut index_ms = f64::MAX;
    for _ in 0..TIMES {
        let begun = Instant::now();
        black_box(Index::of(&topology));
        index_ms = index_ms.min(milliseconds(begun.elapsed()));
    }
    let index = Index::of(&topology);
    let named: Vec<(&AgentName, &AgentName)> = pairs(agents)
        .filter_map(|(one, other)| Some((names.get(one)?, names.get(other)?)))
        .collect();
    let positions: Vec<(Position<'_>, Position<'_>)> = named
        .iter()
        .filter_map(|(one, other)| Some((index.position(one)?, index.position(other)?)))
        .collect();
    let check = fastest_ns(&positions, |(one, other)| one.is_above(*other));
    let relation = fastest_ns(&positions, |(one, other)| one.relation_to(*other));
    let by_name = fastest_ns(&named, |(one, other)| index.relation(one, other));
    Ok(json!({
        "shape": name,
        "check_ns": rounded(check),
        "relation_ns": rounded(relation),
        "by_name_ns": rounded(by_name),
        "index_ms": rounded(index_ms),
    }))
}

fn pairs(agents: usize) -> impl Iterator<Item = (usize, usize)> {
    let one = move |at: usize| scattered(at).checked_rem(agents).unwrap_or(0);
    (0..PAIRS).map(move |at| (one(at), one(at.saturating_add(PAIRS))))
}

fn fastest_ns<P, T>(pairs: &[P], check: impl Fn(&P) -> T) -> f64 {
    let mut fastest = Duration::MAX;
    for _ in 0..TIMES {
        let begun = Instant::now();
        for _ in 0..ROUNDS {
            for pair in pairs {
                black_box(check(black_box(pair)));
            }
        }
        fastest = fastest.min(begun.elapsed());
    }
    let checks = u32::try_from(pairs.len().saturating_mul(ROUNDS)).unwrap_or(u32::MAX);
    fastest.as_secs_f64() * 1e9 / f64::from(checks.max(1))
}

/// Half of them are there, everybody else comes, and the tree is read, brought in line, committed and indexed.
async fn reconcile(agents: usize, place: &Path) -> Outcome<Duration> {
    let folder = folder_in(place)?;
    let meta = MetaFolder::new(folder.path().join("meta"));
    let all: BTreeSet<AgentName> = (1..agents).map(named).collect::<Outcome<_>>()?;
    let half: BTreeSet<AgentName> = all.iter().take(agents / 2).cloned().collect();
    let author = MetaAuthor {
        name: "void-bench".to_owned(),
        at: Clock::system().now(),
    };
    meta.open().await?;
    let before = Topology::empty().reconciled(&half).topology.to_json();
    let commit = meta.commit(&before, None, &author, "half").await?;
    let begun = Instant::now();
    let tree = Topology::read(Some(&before)).topology.reconciled(&all);
    if tree.topology.len() != agents {
        return Err(format!("{} of {agents} are in the tree", tree.topology.len()).into());
    }
    let text = tree.topology.to_json();
    meta.commit(&text, Some(&commit), &author, "all").await?;
    black_box(Index::of(&tree.topology));
    Ok(begun.elapsed())
}

/// A name for each number, none of which reads like another; the first is the root.
fn named(number: usize) -> Outcome<AgentName> {
    const LETTERS: [char; 16] = [
        'a', 'c', 'd', 'e', 'f', 'g', 'h', 'j', 'k', 'p', 'q', 't', 'u', 'x', 'y', 'z',
    ];
    let digits = (0..5).filter_map(|at| LETTERS.get((number >> (4 * at)) % LETTERS.len()));
    match number {
        0 => Ok(ROOT.parse()?),
        _ => Ok(digits.collect::<String>().parse()?),
    }
}

/// Far from its neighbours.
fn scattered(at: usize) -> usize {
    let at = u64::try_from(at).unwrap_or(0).wrapping_add(1);
    let mixed = at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
    usize::try_from(mixed).unwrap_or(0)
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
