//! The order of departures, checked against plain lists of packets that are searched completely.
//! The lists do not determine the order of packets with equal tags.

use std::collections::BTreeMap;

use super::*;

/// Units of a tag per byte at weight 1, so that the weights below divide tags exactly.
const UNIT: u64 = 8;

/// A discipline as a plain list of packets, with one tag per packet, set at its arrival.
trait Reference {
    /// Adds a packet that arrives.
    fn arrive(&mut self, number: usize, arrival: Arrival);
    /// Removes a packet; fails unless it may leave next.
    fn depart(&mut self, number: usize);
    /// Records that the link becomes idle.
    fn rest(&mut self);
}

/// Start-time fair queueing as Goyal, Vin and Cheng (1996) sec. 2 define it.
#[derive(Default)]
struct StartTimeList {
    weights: BTreeMap<u32, u64>,
    finish: BTreeMap<u32, u64>,
    waiting: Vec<(u64, usize)>,
    virtual_time: u64,
    last_finish: u64,
    finishes: BTreeMap<usize, u64>,
}

impl Reference for StartTimeList {
    fn arrive(&mut self, number: usize, Arrival { flow, bytes, .. }: Arrival) {
        let start = self.virtual_time.max(self.finish.get(&flow).copied().unwrap_or(0));
        let eighths = self.weights.get(&flow).copied().unwrap_or(8);
        let finish = start + u64::from(bytes) * UNIT * 8 / eighths;
        self.finish.insert(flow, finish);
        self.finishes.insert(number, finish);
        self.waiting.push((start, number));
    }

    fn depart(&mut self, number: usize) {
        let least = self.waiting.iter().map(|&(start, _)| start).min().expect("one packet waits");
        let at = self.waiting.iter().position(|&packet| packet == (least, number));
        self.waiting.remove(at.expect("the packet has the smallest tag"));
        self.virtual_time = least;
        self.last_finish = self.last_finish.max(self.finishes[&number]);
    }

    fn rest(&mut self) {
        self.virtual_time = self.last_finish;
    }
}

/// Priority fair queueing by the pseudocode of Kortebi, Oueslati and Roberts (2004) sec. III: a
/// list into which packets are pushed, and a pointer behind the last packet with priority.
#[derive(Default)]
struct PriorityList {
    /// Time stamp and bytes of the flows in the active flow list.
    active: BTreeMap<u32, (u64, u64)>,
    waiting: Vec<(u64, usize)>,
    pointer: usize,
    virtual_time: u64,
}

/// The largest packet of the link.
const MTU: u64 = 1_000;

impl Reference for PriorityList {
    fn arrive(&mut self, number: usize, Arrival { flow, bytes, .. }: Arrival) {
        let bytes = u64::from(bytes);
        match self.active.get_mut(&flow) {
            Some((stamp, sent)) if *sent >= MTU => {
                let at = self.waiting.partition_point(|&(tag, _)| tag <= *stamp);
                self.waiting.insert(at.max(self.pointer), (*stamp, number));
                *stamp += bytes;
                return;
            }
            Some((stamp, sent)) => (*stamp, *sent) = (*stamp + bytes, *sent + bytes),
            None => _ = self.active.insert(flow, (self.virtual_time + bytes, bytes)),
        }
        self.waiting.insert(self.pointer, (self.virtual_time, number));
        self.pointer += 1;
    }

    fn depart(&mut self, number: usize) {
        let tag = self.waiting[0].0;
        // Packets with priority leave strictly in order of arrival.
        let ties = if self.pointer > 0 { 1 } else { self.waiting.len() };
        let at = self.waiting[..ties].iter().position(|&packet| packet == (tag, number));
        self.waiting.remove(at.expect("the packet is first"));
        self.pointer = self.pointer.saturating_sub(1);
        if tag != self.virtual_time {
            self.virtual_time = tag;
            self.active.retain(|_, (stamp, _)| *stamp > tag);
        }
    }

    fn rest(&mut self) {
        self.active.clear();
    }
}

/// Checks that packets may leave a link with an unlimited buffer in this order.
fn check(reference: &mut dyn Reference, arrivals: &[Arrival], order: &[usize]) {
    assert_eq!(order.len(), arrivals.len());
    let (mut left, mut free_at) = (order.iter(), 0);
    let mut is_idle = true;
    for (number, &arrival) in arrivals.iter().enumerate() {
        // `number` packets have arrived; those that are due by now leave first.
        while free_at <= arrival.at && order.len() - left.len() < number {
            let &next = left.next().expect("one packet waits");
            reference.depart(next);
            free_at += u64::from(arrivals[next].bytes);
            is_idle = false;
        }
        if free_at <= arrival.at {
            if !is_idle {
                reference.rest();
            }
            reference.arrive(number, arrival);
            assert_eq!(left.next(), Some(&number), "the link was idle");
            reference.depart(number);
            free_at = arrival.at + u64::from(arrival.bytes);
            is_idle = false;
        } else {
            reference.arrive(number, arrival);
        }
    }
    left.for_each(|&next| reference.depart(next));
}

fn numbers(bench: &Bench) -> Vec<usize> {
    bench.sent.iter().map(|sent| sent.number).collect()
}

/// Returns how many packets were overtaken by the next packet to leave.
fn overtaken(order: &[usize]) -> usize {
    order.windows(2).filter(|pair| pair[1] < pair[0]).count()
}

#[test]
fn the_start_time_order_is_that_of_a_sorted_list_of_packets() {
    let mut overtakings = 0;
    for seed in 0..40 {
        // Light loads end many busy periods, heavy loads none.
        let load = [0.5, 0.8, 0.95, 1.2][seed as usize % 4];
        let arrivals = traffic(seed, 1_500, 12, load);
        let mut fair = params(FairScheduler::StartTime, 1_000_000);
        fair.weights = [("group0", 2.0), ("group1", 0.5), ("group3", 4.0)]
            .map(|(name, weight)| (name.to_owned(), weight))
            .into();
        let weights = [(0, 16), (1, 4), (3, 32)].into();
        let mut reference = StartTimeList { weights, ..StartTimeList::default() };
        let order = numbers(&run(&fair, &arrivals));
        check(&mut reference, &arrivals, &order);
        overtakings += overtaken(&order);
    }
    assert!(overtakings > 4_000, "{overtakings}");
}

#[test]
fn the_priority_order_is_that_of_the_published_pseudocode() {
    let mut overtakings = 0;
    for seed in 0..40 {
        let load = [0.5, 0.8, 0.95, 1.2][seed as usize % 4];
        let arrivals = traffic(seed, 1_500, 40, load);
        let order = numbers(&run(&params(FairScheduler::PriorityFair, 1_000_000), &arrivals));
        check(&mut PriorityList::default(), &arrivals, &order);
        overtakings += overtaken(&order);
    }
    assert!(overtakings > 4_000, "{overtakings}");
}

/// The tags of the remaining packets are right: they leave as if the dropped packets had never
/// arrived.
#[test]
fn the_start_time_order_after_drops_is_that_without_the_dropped_packets() {
    for (seed, drop_from) in (0..10)
        .flat_map(|seed| [DropFrom::Front, DropFrom::Tail].map(|drop_from| (seed, drop_from)))
    {
        let arrivals = traffic(seed, 2_000, 12, 1.3);
        let fair = FairParams { drop_from, ..params(FairScheduler::StartTime, 12) };
        let bench = run(&fair, &arrivals);
        assert!(bench.dropped.len() > 200, "{}", bench.dropped.len());
        let is_kept = |number: &usize| bench.dropped.iter().all(|(_, drop)| drop != number);
        let kept: Vec<usize> = (0..arrivals.len()).filter(is_kept).collect();
        let rest: Vec<Arrival> = kept.iter().map(|&number| arrivals[number]).collect();
        let place = |number| kept.binary_search(&number).expect("the packet was not dropped");
        let order: Vec<usize> = numbers(&bench).into_iter().map(place).collect();
        check(&mut StartTimeList::default(), &rest, &order);
    }
}
