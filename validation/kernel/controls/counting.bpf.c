// SPDX-License-Identifier: MIT OR GPL-2.0
// Controls that count in whole packets: Reno (RFC 5681), HighSpeed (RFC 3649) and Scalable
// (Kelly 2003), written from these sources.
#include "host.bpf.h"

// RFC 3649 appendix B: the window up to which a row applies, a(w), and b(w) in 256ths, rounded down.
struct row {
	u32 window, increase, decrease;
};
const volatile struct row rows[] = {
#include "highspeed_table.h"
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static __always_inline const struct row *row_of(u32 cwnd)
{
	u32 low = 0, high = ROWS - 1;
	for (int step = 0; step < 8; step++) {
		u32 middle = (low + high) / 2;
		if (low >= high || middle >= ROWS)
			break;
		if (rows[middle].window <= cwnd)
			low = middle + 1;
		else
			high = middle;
	}
	return (const struct row *)&rows[low < ROWS ? low : ROWS - 1];
}

SEC("struct_ops") void BPF_PROG(note_init, struct sock *sk)
{
	struct record r = before(TCP(sk), INIT, 0);
	after(TCP(sk), &r, 0);
}

// RFC 5681 eq. 3 and 4, counting acknowledged packets (RFC 3465).
SEC("struct_ops") void BPF_PROG(reno_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = TCP(sk);
	struct record r = before(tp, AVOID, acked);
	u32 left = beyond_slow_start(tp, acked);
	count(tp, left, tp->snd_cwnd);
	after(tp, &r, 0);
}
SEC("struct_ops") u32 BPF_PROG(reno_congestion, struct sock *sk)
{
	struct record r = before(TCP(sk), CONGESTION, 0);
	u32 answer = at_least_two(r.cwnd / 2);
	after(TCP(sk), &r, answer);
	return answer;
}

// RFC 3649 sec. 7: w <- w + a(w) / w per acknowledged packet, w <- (1 - b(w)) w at congestion.
SEC("struct_ops") void BPF_PROG(highspeed_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = TCP(sk);
	struct record r = before(tp, AVOID, acked);
	u32 left = beyond_slow_start(tp, acked);
	if (left)
		count(tp, left * row_of(tp->snd_cwnd)->increase, tp->snd_cwnd);
	after(tp, &r, 0);
}
SEC("struct_ops") u32 BPF_PROG(highspeed_congestion, struct sock *sk)
{
	struct record r = before(TCP(sk), CONGESTION, 0);
	u64 kept = (u64)r.cwnd * (256 - row_of(r.cwnd)->decrease);
	u32 answer = at_least_two(kept >> 8);
	after(TCP(sk), &r, answer);
	return answer;
}

// Kelly 2003: 0.01 packets per acknowledged one, 7/8 of the window at congestion; below 100 packets
// the growth of Reno, which is faster there.
SEC("struct_ops") void BPF_PROG(scalable_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = TCP(sk);
	struct record r = before(tp, AVOID, acked);
	u32 left = beyond_slow_start(tp, acked);
	count(tp, left, tp->snd_cwnd < 100 ? tp->snd_cwnd : 100);
	after(tp, &r, 0);
}
SEC("struct_ops") u32 BPF_PROG(scalable_congestion, struct sock *sk)
{
	struct record r = before(TCP(sk), CONGESTION, 0);
	u32 answer = at_least_two((u64)r.cwnd * 7 / 8);
	after(TCP(sk), &r, answer);
	return answer;
}

#define CONTROL(id, text) \
	SEC(".struct_ops") struct tcp_congestion_ops id = { \
		.init = (void *)note_init, \
		.set_state = (void *)note_state, \
		.undo_cwnd = (void *)keep_window, \
		.cong_avoid = (void *)id##_avoid, \
		.ssthresh = (void *)id##_congestion, \
		.name = text, \
	}
CONTROL(reno, "tr_reno");
CONTROL(highspeed, "tr_highspeed");
CONTROL(scalable, "tr_scalable");

char _license[] SEC("license") = "Dual MIT/GPL";
