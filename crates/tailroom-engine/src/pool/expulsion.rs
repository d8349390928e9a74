//! The heads of queues above their thresholds, which a pool drops in the background while its memory
//! has bandwidth to spare.
//!
//! Queues rise above their thresholds only when a packet takes memory. From then on an event is due
//! when the tokens are there, and no event is due while no queue is above its threshold.

use super::policy::ExpulsionSpec;
use super::{Pool, Pools};
use crate::serializer::Serializer;
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time, float};

/// Which head is dropped next, and when.
#[derive(Clone, Debug)]
pub(super) struct Expulsion {
    tokens: Tokens,
    /// The place of the queue whose turn is next.
    turn: usize,
    /// Whether an event is due.
    is_due: bool,
}

impl Expulsion {
    /// Nothing is due, the bucket is full, and it is the first queue's turn. `ports` has a link of each port of
    /// the pool, and how it sends.
    pub(super) fn new(spec: ExpulsionSpec, ports: Vec<(usize, Serializer)>) -> Self {
        let ports = match spec.rate {
            Some(rate) => vec![(NO_LINK, Serializer::constant(rate))],
            None => ports,
        };
        Expulsion { tokens: Tokens::new(ports, spec.bucket_bytes), turn: 0, is_due: false }
    }

    /// A transmission that begins at `start` reads this many bytes.
    #[inline(never)]
    pub(super) fn read(&mut self, start: Time, bytes: u64) {
        self.tokens.take(start, bytes);
    }
}

/// Stands for the link of a rate that no link has.
const NO_LINK: usize = usize::MAX;

/// A bucket of tokens that may owe some, exactly: a token is what a rate of 1 bit/s makes in 1 ps. They are made
/// at the rates of some links together.
#[derive(Clone, Debug)]
struct Tokens {
    /// The links whose rates are constant so far, and the sum of these.
    constant: Vec<usize>,
    rate: i128,
    /// The others, and how they send.
    varying: Vec<(usize, Serializer)>,
    most: i128,
    held: i128,
    /// When so many were held.
    at: Time,
}

impl Tokens {
    fn new(ports: Vec<(usize, Serializer)>, bucket_bytes: u64) -> Self {
        let most = tokens_of(bucket_bytes);
        let (varying, constant): (Vec<_>, Vec<_>) =
            ports.into_iter().partition(|(_, serializer)| serializer.varies());
        let rates = constant.iter().map(|(_, serializer)| bits_per_second(serializer, Time::ZERO));
        Tokens {
            rate: rates.sum(),
            constant: constant.iter().map(|(link, _)| *link).collect(),
            varying,
            most,
            held: most,
            at: Time::ZERO,
        }
    }

    fn fill(&mut self, now: Time) {
        let mut made = self.rate * i128::from(now.since(self.at).picoseconds());
        for (_, serializer) in &self.varying {
            made += serializer.capacity(self.at, now).cast_signed();
        }
        self.held = self.most.min(self.held + made);
        self.at = now;
    }

    /// Takes the tokens of this many bytes, whether or not they are there.
    fn take(&mut self, now: Time, bytes: u64) {
        self.fill(now);
        self.held -= tokens_of(bytes);
    }

    /// When to ask whether the bucket owes nothing if nothing is taken meanwhile: `now` if it does, and no
    /// later than a change of rate.
    fn ready_at(&mut self, now: Time) -> Time {
        self.fill(now);
        let owed = (-self.held).max(0);
        if owed == 0 {
            return now;
        }
        let (mut rate, mut next) = (self.rate, Time::NEVER);
        for (_, serializer) in &self.varying {
            rate += bits_per_second(serializer, now);
            next = next.min(serializer.next_change(now));
        }
        let wait = (owed + rate - 1).checked_div(rate).unwrap_or(i128::MAX);
        let wait = Time::from_picoseconds(u64::try_from(wait).unwrap_or(u64::MAX));
        now.saturating_add(wait).min(next)
    }

    /// A link sends at another rate from `now` on.
    fn change_rate(&mut self, link: usize, now: Time, [before, rate]: [Rate; 2]) {
        self.fill(now);
        let rate = Serializer::constant(rate);
        if let Some(at) = self.constant.iter().position(|one| *one == link) {
            self.constant.swap_remove(at);
            self.rate -= i128::from(before.bits_per_second());
            self.varying.push((link, rate));
        } else if let Some(port) = self.varying.iter_mut().find(|port| port.0 == link) {
            port.1 = rate;
        }
    }
}

fn bits_per_second(serializer: &Serializer, at: Time) -> i128 {
    i128::from(serializer.rate_at(at).bits_per_second())
}

fn tokens_of(bytes: u64) -> i128 {
    8 * i128::from(PICOSECONDS_PER_SECOND) * i128::from(bytes)
}

impl Pool {
    /// Whether the queue of a member is above its threshold, as far as the pool has caught up.
    fn is_above(&self, member: usize) -> bool {
        let member = &self.members[member];
        float(member.shared()) > member.alpha * float(self.shared - self.shared_occupied)
    }

    fn is_any_above(&self) -> bool {
        (0..self.members.len()).any(|member| self.is_above(member))
    }

    /// After a packet has taken memory at `now`: when a head is to be dropped, unless that is known.
    fn await_expulsion(&mut self, now: Time) -> Option<Time> {
        if self.expulsion.as_ref().is_none_or(|expulsion| expulsion.is_due) || !self.is_any_above()
        {
            return None;
        }
        self.catch_up(now);
        let is_above = self.is_any_above();
        let expulsion = self.expulsion.as_mut().filter(|_| is_above)?;
        expulsion.is_due = true;
        Some(expulsion.tokens.ready_at(now))
    }

    /// The member whose head is dropped at `now`, or else when to ask again, if at all: of those above
    /// their thresholds that hold a packet which can be dropped, the first from the turn on.
    fn expel(&mut self, now: Time, can_drop: impl Fn(usize) -> bool) -> Result<usize, Time> {
        self.catch_up(now);
        let queues = self.members.len();
        let turn = self.expulsion.as_ref().map_or(0, |expulsion| expulsion.turn);
        let mut from_turn = (0..queues).map(|step| (turn + step) % queues);
        let next = from_turn.find(|&member| self.is_above(member) && can_drop(member));
        let Some(expulsion) = &mut self.expulsion else { return Err(Time::NEVER) };
        let ready_at = next.map_or(Time::NEVER, |_| expulsion.tokens.ready_at(now));
        expulsion.is_due = ready_at < Time::NEVER;
        match next.filter(|_| ready_at <= now) {
            None => Err(ready_at),
            Some(member) => {
                expulsion.turn = (member + 1) % queues;
                Ok(member)
            }
        }
    }
}

impl Pools {
    /// Whether a pool drops heads in the background.
    pub fn expel_any(&self) -> bool {
        self.list().iter().any(|pool| pool.expulsion.is_some())
    }

    /// After a packet has taken memory of the pool of a link at `now`: the pool's index, and when to
    /// call [`expel`](Self::expel), unless nothing has changed about that.
    pub fn await_expulsion(&mut self, link: usize, now: Time) -> Option<(usize, Time)> {
        let (index, _) = self.places[link]?;
        let index = index as usize;
        Some((index, self.all[index].await_expulsion(now)?))
    }

    /// The link of a pool whose first waiting packet is dropped at `now`; then come
    /// [`drop`](Self::drop) and [`read`](Self::read).
    ///
    /// # Errors
    /// When to call this again if no packet is dropped; [`Time::NEVER`] if
    /// [`await_expulsion`](Self::await_expulsion) will tell.
    pub fn expel(
        &mut self,
        pool: usize,
        now: Time,
        can_drop: impl Fn(usize) -> bool,
    ) -> Result<usize, Time> {
        let links = &self.members[pool];
        self.all[pool].expel(now, |member| can_drop(links[member])).map(|member| links[member])
    }

    /// A link of a pool sends at another rate than before from `now` on. Returns the pool if it is to be asked
    /// again when it drops a head.
    pub fn change_rate(&mut self, link: usize, now: Time, rates: [Rate; 2]) -> Option<usize> {
        let (pool, _) = self.places[link]?;
        let expulsion = self.all[pool as usize].expulsion.as_mut()?;
        expulsion.tokens.change_rate(link, now, rates);
        expulsion.is_due.then_some(pool as usize)
    }

    /// The memory reads a packet of this size at `now`, to drop it.
    pub fn read(&mut self, pool: usize, now: Time, bytes: u32) {
        let pool = &mut self.all[pool];
        let bytes = u64::from(pool.cells(bytes)) * u64::from(pool.spec.cell_bytes);
        if let Some(expulsion) = &mut pool.expulsion {
            expulsion.read(now, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NS: u64 = 1_000;

    fn at(nanoseconds: u64) -> Time {
        Time::from_picoseconds(nanoseconds * NS)
    }

    fn tokens(rate: u64, bucket_bytes: u64) -> Tokens {
        let rate = Serializer::constant(Rate::from_bits_per_second(rate));
        Tokens::new(vec![(0, rate)], bucket_bytes)
    }

    /// 8 Gbit/s make a byte per nanosecond.
    #[test]
    fn tokens_that_are_owed_are_made_at_the_rate_and_no_more_than_the_bucket_holds_are_kept() {
        let mut tokens = tokens(8_000_000_000, 100);
        assert_eq!(tokens.ready_at(at(0)), at(0), "the bucket is full");
        tokens.take(at(1_000), 1_500);
        assert_eq!(tokens.ready_at(at(1_000)), at(2_400), "100 B were there");
        tokens.take(at(2_000), 50);
        assert_eq!(tokens.ready_at(at(2_000)), at(2_450));
        assert_eq!(tokens.ready_at(at(2_450)), at(2_450), "0 are enough");
        tokens.take(at(2_500), 60);
        assert_eq!(tokens.ready_at(at(2_500)), at(2_510));
    }

    /// At 3 bit/s a byte takes 2.67 s: the third ends on a whole picosecond again.
    #[test]
    fn no_fraction_of_a_picosecond_is_lost() {
        let mut tokens = tokens(3, 1);
        tokens.take(Time::ZERO, 2);
        let third = |tokens: &mut Tokens| tokens.ready_at(Time::ZERO).picoseconds();
        assert_eq!(third(&mut tokens), 2_666_666_666_667);
        tokens.take(Time::ZERO, 2);
        assert_eq!(third(&mut tokens), 8_000_000_000_000);
    }
}
