// SPDX-License-Identifier: MIT OR GPL-2.0
// Controls with fractions in their laws, written from their papers: FHSTCP's fair factor (Su et al.
// 2005), Westwood+ (Grieco and Mascolo 2004), H-TCP (Leith and Shorten 2004), Vegas (Brakmo and
// Peterson 1995) and Illinois (Liu, Basar and Srikant 2006). Where a paper leaves something open,
// they do as tailroom's documentation says. There are no floats here: a unit of growth is 2^-16
// packets, and the count of the growth has this unit too.
#include "host.bpf.h"

#define UNIT 16
#define ONE (1u << UNIT)
#define FINE 20
#define PS_PER_US 1000000ull
#define NS_PER_S 1000000000ull
#define NONE 0xffffffffu

// RFC 3649 sec. 5 and 7 at each window: a(w) in 2^-16 packets, and 1 - b(w) in 2^-16.
struct response {
	u32 increase, kept;
};
const volatile struct response responses[] = {
#include "highspeed_response.h"
};
#define RESPONSES (sizeof(responses) / sizeof(responses[0]))

static __always_inline bool is_after(u32 one, u32 other)
{
	return (s32)(one - other) > 0;
}

// Adds growth of `increase` 2^-16 packets per round trip, at most that of slow start.
static __always_inline void grow(struct tcp_sock *tp, u64 increase, u32 acked)
{
	u32 goal = tp->snd_cwnd << UNIT;
	count(tp, (increase < goal ? increase : goal) * acked, goal);
}

// FHSTCP: a(w) times 10 RTT, with the smoothed RTT in seconds.
static __always_inline const volatile struct response *response_of(u32 cwnd)
{
	return &responses[cwnd < RESPONSES ? cwnd : RESPONSES - 1];
}
SEC("struct_ops") void BPF_PROG(fhstcp_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = TCP(sk);
	struct record r = before(tp, AVOID, acked);
	u32 left = beyond_slow_start(tp, acked);
	if (left)
		grow(tp, (u64)response_of(tp->snd_cwnd)->increase * tp->srtt_us * 10 / 8000000, left);
	after(tp, &r, 0);
}
SEC("struct_ops") u32 BPF_PROG(fhstcp_congestion, struct sock *sk)
{
	struct record r = before(TCP(sk), CONGESTION, 0);
	u32 answer = at_least_two((u64)r.cwnd * response_of(r.cwnd)->kept >> UNIT);
	after(TCP(sk), &r, answer);
	return answer;
}

// The state of the others. Sequence numbers are in bytes, RTTs in microseconds.
struct flow {
	u64 began_ns; // of a sample of the delivery rate
	u32 began_una;
	u32 last_una;
	u32 rtt_us; // last sample
	u32 round_end;
	u32 min_rtt_us, max_rtt_us;
	union {
		struct {
			u64 rate; // bytes per second, in 1/256
		} westwood;
		struct {
			u64 since_ns; // 0 before congestion avoidance
			u64 smoothed, largest, last; // bytes per second, in 1/16
			u32 rounds;
			u32 kept, of; // the backoff is kept / of
		} htcp;
		struct {
			u32 least_us, samples;
			u8 is_growing;
		} vegas;
		struct {
			u64 sum_us;
			u32 samples, increase, decrease; // in 2^-16 and 2^-20
			u32 low_rounds;
			u8 has_been_above;
		} illinois;
	};
};
static __always_inline struct flow *flow_of(struct sock *sk)
{
	return (struct flow *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}
static __always_inline void begin(struct sock *sk)
{
	struct flow *flow = flow_of(sk);
	__builtin_memset(flow, 0, sizeof(*flow));
	flow->last_una = TCP(sk)->snd_una;
	flow->round_end = TCP(sk)->snd_una;
}
// Whether an ACK is the first of a round trip: of data sent after the last one's beginning.
static __always_inline bool is_round_over(struct tcp_sock *tp, struct flow *flow)
{
	bool is_over = is_after(tp->snd_una, flow->round_end);
	if (is_over)
		flow->round_end = tp->snd_nxt;
	return is_over;
}

SEC("struct_ops") void BPF_PROG(flow_init, struct sock *sk)
{
	struct record r = before(TCP(sk), INIT, 0);
	begin(sk);
	after(TCP(sk), &r, 0);
}
SEC("struct_ops") void BPF_PROG(flow_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct record r = before(TCP(sk), SAMPLE, sample->pkts_acked);
	s32 rtt_us = sample->rtt_us;
	r.rtt_us = rtt_us > 0 ? rtt_us : 0;
	flow_of(sk)->rtt_us = r.rtt_us;
	after(TCP(sk), &r, 0);
}

// Westwood+: a sample of the delivery rate lasts a round trip and at least 50 ms; the new estimate
// is 9/10 of the old one and 1/10 of the sample.
SEC("struct_ops") void BPF_PROG(westwood_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = TCP(sk);
	struct flow *flow = flow_of(sk);
	struct record r = before(tp, SAMPLE, sample->pkts_acked);
	u64 shortest = (u64)tp->srtt_us * 125, span = r.time_ns - flow->began_ns;
	bool is_new = is_after(r.una, flow->last_una);
	if (shortest < 50000000)
		shortest = 50000000;
	if (is_new) {
		flow->last_una = r.una;
		flow->min_rtt_us = r.min_rtt_us;
	}
	if (is_new && flow->began_ns == 0) {
		flow->began_ns = r.time_ns;
		flow->began_una = r.una;
	} else if (is_new && span >= shortest) {
		u64 rate = (u64)(r.una - flow->began_una) * NS_PER_S * 256 / span;
		u64 old = flow->westwood.rate ? flow->westwood.rate : rate;
		flow->westwood.rate = (9 * old + rate) / 10;
		flow->began_ns = r.time_ns;
		flow->began_una = r.una;
	}
	after(tp, &r, 0);
}
SEC("struct_ops") void BPF_PROG(westwood_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = TCP(sk);
	struct record r = before(tp, AVOID, acked);
	u32 left = beyond_slow_start(tp, acked);
	if (left)
		grow(tp, ONE, left);
	after(tp, &r, 0);
}
SEC("struct_ops") u32 BPF_PROG(westwood_congestion, struct sock *sk)
{
	struct flow *flow = flow_of(sk);
	struct record r = before(TCP(sk), CONGESTION, 0);
	u64 answer = r.cwnd / 2;
	if (flow->westwood.rate && r.mss)
		answer = flow->westwood.rate * flow->min_rtt_us / (256 * 1000000ull * r.mss);
	if (answer > r.cwnd)
		answer = r.cwnd;
	answer = at_least_two(answer);
	after(TCP(sk), &r, answer);
	return answer;
}

// H-TCP: the largest smoothed throughput since the last congestion.
static __always_inline void measure_throughput(struct tcp_sock *tp, struct flow *flow, u64 now_ns)
{
	u64 span = now_ns - flow->began_ns, rate;
	bool has_begun = flow->began_ns != 0 && span > 0;
	if (!is_round_over(tp, flow))
		return;
	if (has_begun) {
		rate = (u64)(tp->snd_una - flow->began_una) * NS_PER_S * 16 / span;
		if (++flow->htcp.rounds <= 3) {
			flow->htcp.smoothed = rate;
			flow->htcp.largest = rate;
		} else {
			flow->htcp.smoothed = (3 * flow->htcp.smoothed + rate) / 4;
			if (flow->htcp.smoothed > flow->htcp.largest)
				flow->htcp.largest = flow->htcp.smoothed;
		}
	}
	flow->began_ns = now_ns;
	flow->began_una = tp->snd_una;
}
// alpha in 2^-16: 1 + 10 (D - 1 s) + ((D - 1 s) / 2)^2, times the smallest RTT over 100 ms within
// 0.1 and 2, but at least 1; times twice what congestion takes.
static __always_inline u64 htcp_increase(struct flow *flow, u64 now_ns)
{
	u64 since_us = (now_ns - flow->htcp.since_ns) / 1000;
	u64 excess = since_us > 1000000 ? since_us - 1000000 : 0;
	u64 scale = (u64)flow->min_rtt_us * 10, alpha;
	if (excess > 100000000)
		excess = 100000000;
	alpha = ONE + (10ull << UNIT) * excess / 1000000 + (excess * excess / 1000000 << 14) / 1000000;
	scale = scale < 100000 ? 100000 : scale > 2000000 ? 2000000 : scale;
	alpha = alpha * scale / 1000000;
	if (alpha < ONE)
		alpha = ONE;
	return flow->htcp.of ? 2 * alpha * (flow->htcp.of - flow->htcp.kept) / flow->htcp.of : alpha;
}
SEC("struct_ops") void BPF_PROG(htcp_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = TCP(sk);
	struct flow *flow = flow_of(sk);
	struct record r = before(tp, AVOID, acked);
	u32 left = beyond_slow_start(tp, acked);
	if (left) {
		if (!flow->htcp.since_ns)
			flow->htcp.since_ns = r.time_ns;
		flow->min_rtt_us = r.min_rtt_us;
		if (flow->rtt_us > flow->max_rtt_us)
			flow->max_rtt_us = flow->rtt_us;
		flow->rtt_us = 0;
		measure_throughput(tp, flow, r.time_ns);
		grow(tp, htcp_increase(flow, r.time_ns), left);
	}
	after(tp, &r, 0);
}
// The backoff is the smallest RTT over the largest, within 0.5 and 0.8, unless the throughput has
// changed by more than a fifth.
static __always_inline void adapt_backoff(struct flow *flow)
{
	u64 now = flow->htcp.largest, last = flow->htcp.last;
	u64 change = now > last ? now - last : last - now;
	u32 least = flow->min_rtt_us, most = flow->max_rtt_us;
	flow->htcp.last = now;
	flow->htcp.kept = 1;
	flow->htcp.of = 2;
	if (5 * change <= last && most) {
		bool is_low = 2ull * least < most, is_high = 5ull * least > 4ull * most;
		flow->htcp.kept = is_low ? 1 : is_high ? 4 : least;
		flow->htcp.of = is_low ? 2 : is_high ? 5 : most;
	}
	if (most > least)
		flow->max_rtt_us = least + (u32)(((u64)(most - least) * 19 + 10) / 20);
}
SEC("struct_ops") u32 BPF_PROG(htcp_congestion, struct sock *sk)
{
	struct flow *flow = flow_of(sk);
	struct record r = before(TCP(sk), CONGESTION, 0);
	u32 answer;
	adapt_backoff(flow);
	flow->htcp.since_ns = r.time_ns;
	flow->htcp.smoothed = flow->htcp.largest = 0;
	flow->htcp.rounds = 0;
	flow->began_ns = 0;
	flow->round_end = r.una;
	answer = flow->htcp.of ? (u64)r.cwnd * flow->htcp.kept / flow->htcp.of : r.cwnd / 2;
	answer = at_least_two(answer);
	after(TCP(sk), &r, answer);
	return answer;
}

// Vegas: queued packets are w (RTT - base RTT) / RTT, with the smallest RTT of a round trip. They are
// compared with whole numbers, so that no fraction is needed.
#define RUNNING 0
#define UNMEASURED 1
#define MEASURED 2
static __always_inline u32 vegas_round(struct tcp_sock *tp, struct flow *flow, u32 *least_us)
{
	u32 samples;
	if (flow->rtt_us) {
		if (!flow->vegas.samples || flow->rtt_us < flow->vegas.least_us)
			flow->vegas.least_us = flow->rtt_us;
		flow->vegas.samples++;
		flow->rtt_us = 0;
	}
	if (!is_round_over(tp, flow))
		return RUNNING;
	samples = flow->vegas.samples;
	*least_us = flow->vegas.least_us;
	flow->vegas.samples = 0;
	return samples >= 3 ? MEASURED : UNMEASURED;
}
// RTT times the number of queued packets.
static __always_inline u64 queued(u32 cwnd, u32 rtt_us, u32 base_us)
{
	return rtt_us > base_us ? (u64)cwnd * (rtt_us - base_us) : 0;
}
static __always_inline void vegas_slow_start(struct tcp_sock *tp, struct flow *flow, struct record *r)
{
	u32 least = 0, round = vegas_round(tp, flow, &least), credit = r->acked < 2 ? r->acked : 2;
	u32 cwnd = tp->snd_cwnd;
	if (round == MEASURED && !flow->vegas.is_growing &&
	    queued(cwnd, least, r->min_rtt_us) > least) {
		tp->snd_ssthresh = at_least_two(cwnd);
		return;
	}
	if (round != RUNNING)
		flow->vegas.is_growing = !flow->vegas.is_growing;
	if (!flow->vegas.is_growing)
		return;
	cwnd += credit;
	tp->snd_cwnd = cwnd < tp->snd_ssthresh ? cwnd : tp->snd_ssthresh;
}
static __always_inline void vegas_avoidance(struct tcp_sock *tp, struct flow *flow, struct record *r)
{
	u32 least = 0, round = vegas_round(tp, flow, &least), cwnd = tp->snd_cwnd;
	u64 backlog = queued(cwnd, least, r->min_rtt_us);
	if (round == UNMEASURED) {
		grow(tp, ONE, r->acked);
	} else if (round == MEASURED && backlog < 2ull * least) {
		tp->snd_cwnd = cwnd + 1;
	} else if (round == MEASURED && backlog > 4ull * least) {
		tp->snd_cwnd = at_least_two(cwnd - 1);
		if (tp->snd_cwnd < tp->snd_ssthresh)
			tp->snd_ssthresh = at_least_two(tp->snd_cwnd);
	}
}
SEC("struct_ops") void BPF_PROG(vegas_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = TCP(sk);
	struct flow *flow = flow_of(sk);
	struct record r = before(tp, AVOID, acked);
	if (r.limited && r.cwnd < r.ssthresh)
		vegas_slow_start(tp, flow, &r);
	else if (r.limited)
		vegas_avoidance(tp, flow, &r);
	after(tp, &r, 0);
}
SEC("struct_ops") u32 BPF_PROG(vegas_congestion, struct sock *sk)
{
	struct flow *flow = flow_of(sk);
	struct record r = before(TCP(sk), CONGESTION, 0);
	u32 answer = at_least_two(r.cwnd / 2);
	flow->vegas.samples = 0;
	flow->vegas.is_growing = 0;
	after(TCP(sk), &r, answer);
	return answer;
}

// Illinois: delays in picoseconds, as in tailroom; fractions of the largest delay in 2^-20.
static __always_inline void illinois_end_round(struct flow *flow, u32 cwnd, u32 min_rtt_us)
{
	u64 base = min_rtt_us * PS_PER_US, mean = 0, most, fraction = 0;
	u32 samples = flow->illinois.samples;
	if (samples)
		mean = flow->illinois.sum_us * PS_PER_US / samples;
	most = flow->max_rtt_us * PS_PER_US / 8; // the largest RTT is kept in eighths
	mean = mean > base ? mean - base : 0;
	most = most > base ? most - base : 0;
	flow->illinois.sum_us = 0;
	flow->illinois.samples = 0;
	if (cwnd < 15) {
		flow->illinois.increase = ONE;
		flow->illinois.decrease = 1 << (FINE - 1);
		return;
	}
	if (!samples)
		return;
	if (most)
		fraction = (mean << FINE) / most;
	if (100 * mean > most) { // alpha = 10 / (1 + (f - 0.01) / 0.99 * (10 / 0.3 - 1))
		u64 above = 100 * fraction > (1 << FINE) ? 100 * fraction - (1 << FINE) : 0;
		flow->illinois.has_been_above = 1;
		flow->illinois.increase = (10ull << (UNIT + FINE)) / ((1 << FINE) + above * 97 / (99 * 3));
	} else {
		flow->illinois.low_rounds += flow->illinois.has_been_above;
		if (!flow->illinois.has_been_above || flow->illinois.low_rounds >= 5) {
			flow->illinois.increase = 10 * ONE;
			flow->illinois.has_been_above = 0;
			flow->illinois.low_rounds = 0;
		}
	}
	// beta = 1/8 + 3/8 (f - 0.1) / 0.7, with f within 0.1 and 0.8
	fraction = fraction * 10 < (1 << FINE) ? (1 << FINE) / 10 : fraction;
	fraction = fraction * 10 > (8 << FINE) ? (8 << FINE) / 10 : fraction;
	flow->illinois.decrease = (1 << (FINE - 3)) + (fraction * 10 - (1 << FINE)) * 3 / 56;
	if (!most)
		flow->illinois.decrease = 1 << (FINE - 3);
}
SEC("struct_ops") void BPF_PROG(illinois_init, struct sock *sk)
{
	struct record r = before(TCP(sk), INIT, 0);
	begin(sk);
	flow_of(sk)->illinois.increase = 10 * ONE;
	flow_of(sk)->illinois.decrease = 1 << (FINE - 1);
	after(TCP(sk), &r, 0);
}
SEC("struct_ops") void BPF_PROG(illinois_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = TCP(sk);
	struct flow *flow = flow_of(sk);
	struct record r = before(tp, AVOID, acked);
	u32 left = beyond_slow_start(tp, acked);
	if (left) {
		if (r.srtt_8us > flow->max_rtt_us)
			flow->max_rtt_us = r.srtt_8us;
		if (flow->rtt_us * 8 > flow->max_rtt_us)
			flow->max_rtt_us = flow->rtt_us * 8;
		flow->illinois.sum_us += flow->rtt_us;
		flow->illinois.samples += flow->rtt_us > 0;
		flow->rtt_us = 0;
		if (is_round_over(tp, flow))
			illinois_end_round(flow, tp->snd_cwnd, r.min_rtt_us);
		grow(tp, flow->illinois.increase, left);
	}
	after(tp, &r, 0);
}
SEC("struct_ops") u32 BPF_PROG(illinois_congestion, struct sock *sk)
{
	struct record r = before(TCP(sk), CONGESTION, 0);
	u64 kept = (1 << FINE) - flow_of(sk)->illinois.decrease;
	u32 answer = at_least_two(r.cwnd * kept >> FINE);
	after(TCP(sk), &r, answer);
	return answer;
}

#define CONTROL(id, begins, notes, text) \
	SEC(".struct_ops") struct tcp_congestion_ops id = { \
		.init = (void *)begins, \
		.pkts_acked = (void *)notes, \
		.set_state = (void *)note_state, \
		.undo_cwnd = (void *)keep_window, \
		.cong_avoid = (void *)id##_avoid, \
		.ssthresh = (void *)id##_congestion, \
		.name = text, \
	}
CONTROL(fhstcp, flow_init, flow_acked, "tr_fhstcp");
CONTROL(westwood, flow_init, westwood_acked, "tr_westwood");
CONTROL(htcp, flow_init, flow_acked, "tr_htcp");
CONTROL(vegas, flow_init, flow_acked, "tr_vegas");
CONTROL(illinois, illinois_init, flow_acked, "tr_illinois");

char _license[] SEC("license") = "Dual MIT/GPL";
