//! The order of departures against lists of packets, searched from end to end. Who of those with
//! equal tags goes first is not theirs to say.

use std::collections::BTreeMap;

use super::*;

/// Tags count eighths of a byte at weight 1, so that the weights below divide them.
const UNIT: u64 = 8;

/// What a plain list of packets does, one tag a packet, set at its arrival.
trait Reference {
    /// A packet arrives; returns nothing, and forgets nothing.
    fn arrive(&mut self, number: usize, arrival: Arrival);
    /// A packet leaves, which must be one that may.
    fn depart(&mut self, number: usize);
    /// The link has nothing left to send.
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
        let least = self.waiting.iter().map(|&(start, _)| start).min().expect("one waits");
        let at = self.waiting.iter().position(|&packet| packet == (least, number));
        self.waiting.remove(at.expect("it has the smallest tag"));
        self.virtual_time = least;
        self.last_finish = self.last_finish.max(self.finishes[&number]);
    }

    fn rest(&mut self) {
        self.virtual_time = self.last_finish;
    }
}

/// Priority fair queueing by the pseudo-code of Kortebi, Oueslati and Roberts (2004) sec. III: a
/// list that packets are pushed into, and a pointer behind the last one with priority.
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
        // With priority strictly in order of arrival.
        let ties = if self.pointer > 0 { 1 } else { self.waiting.len() };
        let at = self.waiting[..ties].iter().position(|&packet| packet == (tag, number));
        self.waiting.remove(at.expect("it is first"));
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

/// Whether packets may leave a link with an endless buffer in this order; fails if not.
fn check(reference: &mut dyn Reference, arrivals: &[Arrival], order: &[usize]) {
    assert_eq!(order.len(), arrivals.len());
    let (mut left, mut free_at) = (order.iter(), 0);
    let mut is_at_rest = true;
    for (number, &arrival) in arrivals.iter().enumerate() {
        // `number` packets have come, and at the latest now those leave that have their time.
        while free_at <= arrival.at && order.len() - left.len() < number {
            let &next = left.next().expect("one waits");
            reference.depart(next);
            free_at += u64::from(arrivals[next].bytes);
            is_at_rest = false;
        }
        if free_at <= arrival.at {
            if !is_at_rest {
                reference.rest();
            }
            reference.arrive(number, arrival);
            assert_eq!(left.next(), Some(&number), "the link was idle");
            reference.depart(number);
            free_at = arrival.at + u64::from(arrival.bytes);
            is_at_rest = false;
        } else {
            reference.arrive(number, arrival);
        }
    }
    left.for_each(|&next| reference.depart(next));
}

fn numbers(bench: &Bench) -> Vec<usize> {
    bench.sent.iter().map(|sent| sent.number).collect()
}

/// How many packets did not leave in the order of their arrival.
fn overtaken(order: &[usize]) -> usize {
    order.windows(2).filter(|pair| pair[1] < pair[0]).count()
}

#[test]
fn start_time_order_is_that_of_a_sorted_list_of_packets() {
    let mut overtakings = 0;
    for seed in 0..40 {
        // Light loads end many busy periods, heavy ones none.
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
fn priority_order_is_that_of_the_published_pseudo_code() {
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

/// The tags of what stays are right: it leaves as if the dropped packets had never come.
#[test]
fn start_time_order_after_drops_is_that_without_the_dropped_packets() {
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
        let place = |number| kept.binary_search(&number).expect("it was not dropped");
        let order: Vec<usize> = numbers(&bench).into_iter().map(place).collect();
        check(&mut StartTimeList::default(), &rest, &order);
    }
}
