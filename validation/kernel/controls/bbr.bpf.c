// SPDX-License-Identifier: MIT OR GPL-2.0
// The kernel's own BBR behind a record of every callback.
#include "trace.bpf.h"

extern void bbr_init(struct sock *sk) __ksym;
extern void bbr_main(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs) __ksym;
extern u32 bbr_sndbuf_expand(struct sock *sk) __ksym;
extern u32 bbr_undo_cwnd(struct sock *sk) __ksym;
extern void bbr_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym;
extern u32 bbr_ssthresh(struct sock *sk) __ksym;
extern u32 bbr_min_tso_segs(struct sock *sk) __ksym;
extern void bbr_set_state(struct sock *sk, u8 new_state) __ksym;

SEC("struct_ops") void BPF_PROG(note_init, struct sock *sk)
{
	struct record r = before(TCP(sk), INIT, 0);
	bbr_init(sk);
	after(TCP(sk), &r, 0);
}
static __always_inline void note_rates(struct tcp_sock *tp, struct record *r, const struct rate_sample *rs)
{
	u64 wait = tp->tcp_wstamp_ns > tp->tcp_clock_cache ? tp->tcp_wstamp_ns - tp->tcp_clock_cache : 0;
	r->more[0] = tp->delivered;
	r->more[1] = rs->delivered;
	r->more[2] = rs->interval_us;
	r->more[3] = rs->rtt_us;
	r->more[4] = rs->losses;
	r->more[5] = rs->acked_sacked;
	r->more[6] = rs->prior_in_flight;
	r->more[7] = rs->prior_delivered;
	r->more[8] = rs->is_app_limited;
	r->more[9] = in_flight(tp);
	r->more[10] = tp->tcp_mstamp;
	r->more[11] = wait;
}
SEC("struct_ops") void BPF_PROG(note_main, struct sock *sk, u32 ack, int flag,
				const struct rate_sample *rs)
{
	struct tcp_sock *tp = TCP(sk);
	struct record r = before(tp, RATE, 0);
	struct bbr *bbr = (struct bbr *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
	note_rates(tp, &r, rs);
	bbr_main(sk, ack, flag, rs);
	r.more[12] = tp->inet_conn.icsk_inet.sk.sk_pacing_rate;
	r.more[13] = BPF_CORE_READ_BITFIELD(bbr, mode) << 8 | BPF_CORE_READ_BITFIELD(bbr, cycle_idx);
	after(tp, &r, 0);
}
SEC("struct_ops") u32 BPF_PROG(note_congestion, struct sock *sk)
{
	struct record r = before(TCP(sk), CONGESTION, 0);
	u32 answer = bbr_ssthresh(sk);
	after(TCP(sk), &r, answer);
	return answer;
}
SEC("struct_ops") u32 BPF_PROG(note_undo, struct sock *sk)
{
	struct record r = before(TCP(sk), UNDO, 0);
	u32 answer = bbr_undo_cwnd(sk);
	after(TCP(sk), &r, answer);
	return answer;
}
SEC("struct_ops") void BPF_PROG(note_state, struct sock *sk, u8 new_state)
{
	struct record r = before(TCP(sk), STATE, new_state);
	bbr_set_state(sk, new_state);
	after(TCP(sk), &r, 0);
}
SEC("struct_ops") void BPF_PROG(note_event, struct sock *sk, enum tcp_ca_event event)
{
	struct record r = before(TCP(sk), EVENT, event);
	bbr_cwnd_event(sk, event);
	after(TCP(sk), &r, 0);
}
SEC("struct_ops") u32 BPF_PROG(segments, struct sock *sk)
{
	return bbr_min_tso_segs(sk);
}
SEC("struct_ops") u32 BPF_PROG(buffers, struct sock *sk)
{
	return bbr_sndbuf_expand(sk);
}

SEC(".struct_ops") struct tcp_congestion_ops kernel_bbr = {
	.init = (void *)note_init,
	.cong_control = (void *)note_main,
	.ssthresh = (void *)note_congestion,
	.undo_cwnd = (void *)note_undo,
	.set_state = (void *)note_state,
	.cwnd_event = (void *)note_event,
	.min_tso_segs = (void *)segments,
	.sndbuf_expand = (void *)buffers,
	.name = "tr_kernel_bbr",
};

char _license[] SEC("license") = "Dual MIT/GPL";
