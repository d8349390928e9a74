//! The order of departures against lists of packets, searched from end to end.

use std::collections::BTreeMap;

use super::*;

/// Tags count eighths of a byte at weight 1, so that the weights below divide them.
const UNIT: u64 = 8;

/// What a plain list of packets does, one tag a packet, set at its arrival.
trait Reference {
    /// A packet arrives; returns nothing, and forgets nothing.
    fn arrive(&mut self, number: usize, arrival: Arrival);
    /// The number of the packet that leaves next.
    fn depart(&mut self) -> Option<usize>;
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

    fn depart(&mut self) -> Option<usize> {
        let &first = self.waiting.iter().min()?;
        self.waiting.retain(|&packet| packet != first);
        self.virtual_time = first.0;
        self.last_finish = self.last_finish.max(self.finishes[&first.1]);
        Some(first.1)
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

    fn depart(&mut self) -> Option<usize> {
        if self.waiting.is_empty() {
            return None;
        }
        let (tag, number) = self.waiting.remove(0);
        self.pointer = self.pointer.saturating_sub(1);
        if tag != self.virtual_time {
            self.virtual_time = tag;
            self.active.retain(|_, (stamp, _)| *stamp > tag);
        }
        Some(number)
    }

    fn rest(&mut self) {
        self.active.clear();
    }
}

/// Numbers of the packets in the order in which they leave a link with an endless buffer.
fn departures(reference: &mut dyn Reference, arrivals: &[Arrival]) -> Vec<usize> {
    let (mut order, mut free_at, mut waiting) = (Vec::new(), 0, 0);
    let mut is_at_rest = true;
    for number in 0..=arrivals.len() {
        let until = arrivals.get(number).map_or(u64::MAX, |arrival| arrival.at);
        while free_at <= until && waiting > 0 {
            let next = reference.depart().expect("one waits");
            free_at += u64::from(arrivals[next].bytes);
            (waiting, is_at_rest) = (waiting - 1, false);
            order.push(next);
        }
        if free_at <= until && !is_at_rest {
            reference.rest();
            is_at_rest = true;
        }
        if let Some(&arrival) = arrivals.get(number) {
            reference.arrive(number, arrival);
            waiting += 1;
            if free_at <= until {
                let next = reference.depart().expect("it waits");
                free_at = until + u64::from(arrivals[next].bytes);
                (waiting, is_at_rest) = (waiting - 1, false);
                order.push(next);
            }
        }
    }
    order
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
        let expected = departures(&mut reference, &arrivals);
        overtakings += overtaken(&expected);
        assert_eq!(numbers(&run(&fair, &arrivals)), expected, "seed {seed}");
    }
    assert!(overtakings > 4_000, "{overtakings}");
}

#[test]
fn priority_order_is_that_of_the_published_pseudo_code() {
    let mut overtakings = 0;
    for seed in 0..40 {
        let load = [0.5, 0.8, 0.95, 1.2][seed as usize % 4];
        let arrivals = traffic(seed, 1_500, 40, load);
        let expected = departures(&mut PriorityList::default(), &arrivals);
        overtakings += overtaken(&expected);
        let fair = params(FairScheduler::PriorityFair, 1_000_000);
        assert_eq!(numbers(&run(&fair, &arrivals)), expected, "seed {seed}");
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
        let order = departures(&mut StartTimeList::default(), &rest);
        let expected: Vec<usize> = order.iter().map(|&number| kept[number]).collect();
        assert_eq!(numbers(&bench), expected, "seed {seed}, {drop_from:?}");
    }
}
