//! Links that share a line: each has a queue of its own, and one of them sends at a time.

use std::collections::HashMap;

use crate::link::line::LineSpec;
use crate::link::{Link, LinkSpec};
use crate::queue::LinkInfo;
use crate::units::Time;

/// The lines that links share, and whose turn it is.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    /// By link, its line and its place there; empty if no links share a line.
    places: Vec<Option<(usize, Place)>>,
    /// By line, its links by priority, the highest first.
    all: Vec<Vec<Class>>,
}

/// Index of a class of a line, and of a link in the class.
type Place = (usize, usize);

/// Links of equal priority.
#[derive(Clone, Debug)]
struct Class {
    priority: u32,
    members: Vec<Member>,
    /// Index of the member whose turn it is.
    turn: usize,
}

#[derive(Clone, Debug)]
struct Member {
    link: usize,
    /// Bytes that a turn grants.
    quantum: f64,
    /// Bytes that it may still send in its turn.
    credit: f64,
}

/// Adds a link to its class among those of a line.
fn join(classes: &mut Vec<Class>, link: usize, spec: &LineSpec) {
    let at = classes.partition_point(|class| class.priority > spec.priority);
    if classes.get(at).is_none_or(|class| class.priority != spec.priority) {
        classes.insert(at, Class { priority: spec.priority, members: Vec::new(), turn: 0 });
    }
    classes[at].members.push(Member { link, quantum: spec.weight, credit: 0.0 });
}

impl Class {
    /// Turns weights into bytes, the smallest of which cover any packet, so that a turn lets one leave.
    fn set_quanta(&mut self, facts: &[LinkInfo]) {
        let least = self.members.iter().map(|member| member.quantum).fold(f64::MAX, f64::min);
        let largest = self.members.iter().map(|member| facts[member.link].packet_bytes).max();
        let unit = f64::from(largest.unwrap_or(0)) / least;
        self.members.iter_mut().for_each(|member| member.quantum *= unit);
    }

    /// The link that sends next, of those that are ready, at least one.
    fn next(&mut self, is_ready: impl Fn(usize) -> bool) -> usize {
        loop {
            let member = &mut self.members[self.turn];
            let has_packet = is_ready(member.link);
            if has_packet && member.credit > 0.0 {
                return member.link;
            }
            if !has_packet {
                member.credit = member.credit.min(0.0);
            }
            self.turn = (self.turn + 1) % self.members.len();
            let next = &mut self.members[self.turn];
            next.credit += if is_ready(next.link) { next.quantum } else { 0.0 };
        }
    }
}

impl Lines {
    /// The lines of these links, whose packets are as large as `facts` says.
    pub fn new(links: &[LinkSpec], facts: &[LinkInfo]) -> Self {
        let mut names: HashMap<&str, usize> = HashMap::new();
        let mut all: Vec<Vec<Class>> = Vec::new();
        for (link, spec) in links.iter().enumerate() {
            let Some(line) = &spec.line else { continue };
            let at = *names.entry(&line.name).or_insert(all.len());
            if at == all.len() {
                all.push(Vec::new());
            }
            join(&mut all[at], link, line);
        }
        let mut places = vec![None; if all.is_empty() { 0 } else { links.len() }];
        for (at, classes) in all.iter_mut().enumerate() {
            for (class_at, class) in classes.iter_mut().enumerate() {
                class.set_quanta(facts);
                for (index, member) in class.members.iter().enumerate() {
                    places[member.link] = Some((at, (class_at, index)));
                }
            }
        }
        Lines { places, all }
    }

    /// The link that sends when the line of `link` is free, which `link` is the first to want; `link`
    /// itself if it shares no line.
    pub fn choose(&mut self, link: usize, links: &[Link]) -> usize {
        let Some(&Some((at, _))) = self.places.get(link) else { return link };
        let now = links[link].next_packet();
        if now > links[link].next_service() {
            return link; // a pause begins or ends
        }
        let is_ready = |link: usize| links[link].next_packet() == now;
        let mut classes = self.all[at].iter_mut();
        let class = classes.find(|class| class.members.iter().any(|one| is_ready(one.link)));
        class.map_or(link, |class| class.next(is_ready))
    }

    /// A link that is to wait for its line until another time than the rest of the line; with the two times.
    pub fn unbalanced(&self, links: &[Link]) -> Option<(usize, [Time; 2])> {
        self.all.iter().find_map(|classes| {
            let mut members = classes.iter().flat_map(|class| &class.members);
            let free_at = links[members.next()?.link].sends_until();
            let other = members.find(|member| links[member.link].sends_until() != free_at)?;
            Some((other.link, [free_at, links[other.link].sends_until()]))
        })
    }

    /// A link sends a packet; returns the other links of its line, which
    /// [wait](Link::wait_for_line) meanwhile.
    pub fn send(&mut self, link: usize, bytes: u32) -> impl Iterator<Item = usize> + '_ {
        let place = self.places.get(link).copied().flatten();
        if let Some((at, (class, index))) = place {
            self.all[at][class].members[index].credit -= f64::from(bytes);
        }
        let classes = place.into_iter().flat_map(|(at, _)| &self.all[at]);
        let members = classes.flat_map(|class| &class.members).map(|member| member.link);
        members.filter(move |&member| member != link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(weights: &[f64]) -> Class {
        let members = weights.iter().enumerate();
        let members =
            members.map(|(link, weight)| Member { link, quantum: weight * 1_500.0, credit: 0.0 });
        Class { priority: 0, members: members.collect(), turn: 0 }
    }

    /// Bytes by link after so many packets of these sizes, while all links are ready that `is_ready`
    /// names.
    fn sent(class: &mut Class, sizes: &[u32], is_ready: impl Fn(usize) -> bool) -> Vec<f64> {
        let mut bytes = vec![0.0; class.members.len()];
        for _ in 0..3_000 {
            let link = class.next(&is_ready);
            bytes[link] += f64::from(sizes[link]);
            class.members[link].credit -= f64::from(sizes[link]);
        }
        bytes
    }

    /// What a link is behind its share is less than a quantum and a packet.
    #[test]
    fn links_of_equal_priority_share_in_proportion_to_their_weights() {
        for (weights, sizes) in [([1.0, 3.0], [1_500, 1_500]), ([2.5, 1.0], [64, 1_500])] {
            let bytes = sent(&mut class(&weights), &sizes, |_| true);
            let difference = bytes[0] / weights[0] - bytes[1] / weights[1];
            assert!(difference.abs() <= 3_000.0, "{bytes:?}");
        }
    }

    /// A link without packets gains no credit for later.
    #[test]
    fn a_link_that_was_idle_is_not_paid_for_it() {
        let mut class = class(&[1.0, 1.0]);
        assert_eq!(sent(&mut class, &[1_000, 1_000], |link| link == 0), [3_000_000.0, 0.0]);
        let bytes = sent(&mut class, &[1_000, 1_000], |_| true);
        assert!((bytes[0] - bytes[1]).abs() <= 3_000.0, "{bytes:?}");
    }
}
