//! The heads of queues above their thresholds, which a pool drops in the background while its memory
//! has bandwidth to spare.
//!
//! Queues rise above their thresholds only when a packet takes memory. From then on an event is due
//! when the tokens are there, and no event is due while no queue is above its threshold.

use super::policy::ExpulsionSpec;
use super::{Pool, Pools};
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
    /// Nothing is due, the bucket is full, and it is the first queue's turn. `links` is the rate of all
    /// links of the pool.
    pub(super) fn new(spec: ExpulsionSpec, links: Rate) -> Self {
        let tokens = Tokens::new(spec.rate.unwrap_or(links), spec.bucket_bytes);
        Expulsion { tokens, turn: 0, is_due: false }
    }

    /// A transmission that begins at `start` reads this many bytes.
    #[inline(never)]
    pub(super) fn read(&mut self, start: Time, bytes: u64) {
        self.tokens.take(start, bytes);
    }
}

/// A bucket of tokens that may owe some, exactly: a token is what a rate of 1 bit/s makes in 1 ps.
#[derive(Clone, Debug)]
struct Tokens {
    rate: i128,
    most: i128,
    held: i128,
    /// When so many were held.
    at: Time,
}

impl Tokens {
    fn new(rate: Rate, bucket_bytes: u64) -> Self {
        let most = tokens_of(bucket_bytes);
        Tokens { rate: i128::from(rate.bits_per_second()), most, held: most, at: Time::ZERO }
    }

    fn fill(&mut self, now: Time) {
        let made = self.rate * i128::from(now.since(self.at).picoseconds());
        self.held = self.most.min(self.held + made);
        self.at = now;
    }

    /// Takes the tokens of this many bytes, whether or not they are there.
    fn take(&mut self, now: Time, bytes: u64) {
        self.fill(now);
        self.held -= tokens_of(bytes);
    }

    /// From when on the bucket owes nothing if nothing is taken meanwhile: `now`, or later.
    fn ready_at(&mut self, now: Time) -> Time {
        self.fill(now);
        let owed = (-self.held).max(0);
        let wait = (owed + self.rate - 1) / self.rate;
        now.saturating_add(Time::from_picoseconds(u64::try_from(wait).unwrap_or(u64::MAX)))
    }
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

    /// 8 Gbit/s make a byte per nanosecond.
    #[test]
    fn tokens_that_are_owed_are_made_at_the_rate_and_no_more_than_the_bucket_holds_are_kept() {
        let mut tokens = Tokens::new(Rate::from_bits_per_second(8_000_000_000), 100);
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
        let mut tokens = Tokens::new(Rate::from_bits_per_second(3), 1);
        tokens.take(Time::ZERO, 2);
        let third = |tokens: &mut Tokens| tokens.ready_at(Time::ZERO).picoseconds();
        assert_eq!(third(&mut tokens), 2_666_666_666_667);
        tokens.take(Time::ZERO, 2);
        assert_eq!(third(&mut tokens), 8_000_000_000_000);
    }
}
