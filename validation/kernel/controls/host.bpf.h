// SPDX-License-Identifier: MIT OR GPL-2.0
// What a host does around every control of ours: slow start, and counting up to whole packets.
#pragma once
#include "trace.bpf.h"

// RFC 5681 sec. 3.1: a packet for each acknowledged one, up to ssthresh. Returns what is left over.
static __always_inline u32 slow_start(struct tcp_sock *tp, u32 acked)
{
	u32 room = tp->snd_ssthresh > tp->snd_cwnd ? tp->snd_ssthresh - tp->snd_cwnd : 0;
	u32 used = acked < room ? acked : room;
	tp->snd_cwnd = tp->snd_cwnd + used;
	return acked - used;
}

// Counts `credit`; each time the count reaches `goal`, the window grows by a packet.
static __always_inline void count(struct tcp_sock *tp, u64 credit, u32 goal)
{
	u64 sum = tp->snd_cwnd_cnt + credit, steps;
	if (credit == 0 || goal == 0)
		return;
	steps = sum / goal;
	tp->snd_cwnd_cnt = sum - steps * goal;
	steps += tp->snd_cwnd;
	tp->snd_cwnd = steps < tp->snd_cwnd_clamp ? steps : tp->snd_cwnd_clamp;
}

// What is left of `acked` for congestion avoidance.
static __always_inline u32 beyond_slow_start(struct tcp_sock *tp, u32 acked)
{
	return is_limited(tp) ? slow_start(tp, acked) : 0;
}

static __always_inline u32 at_least_two(u32 packets)
{
	return packets > 2 ? packets : 2;
}

SEC("struct_ops") void BPF_PROG(note_state, struct sock *sk, u8 new_state)
{
	struct record r = before(TCP(sk), STATE, new_state);
	after(TCP(sk), &r, 0);
}
SEC("struct_ops") u32 BPF_PROG(keep_window, struct sock *sk)
{
	struct record r = before(TCP(sk), UNDO, 0);
	after(TCP(sk), &r, r.cwnd);
	return r.cwnd;
}
