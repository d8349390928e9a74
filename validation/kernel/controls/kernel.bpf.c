// SPDX-License-Identifier: MIT OR GPL-2.0
// The kernel's own Reno and CUBIC behind a record of every callback: each callback notes the state,
// calls the kernel's function, and notes the state again.
#include "trace.bpf.h"

extern void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym;
extern u32 tcp_reno_ssthresh(struct sock *sk) __ksym;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;
extern void cubictcp_init(struct sock *sk) __ksym;
extern void cubictcp_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym;
extern u32 cubictcp_recalc_ssthresh(struct sock *sk) __ksym;
extern void cubictcp_state(struct sock *sk, u8 new_state) __ksym;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __ksym;

SEC("struct_ops") void BPF_PROG(reno_init, struct sock *sk)
{
	struct record r = before(TCP(sk), INIT, 0);
	after(TCP(sk), &r, 0);
}
SEC("struct_ops") void BPF_PROG(reno_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct record r = before(TCP(sk), AVOID, acked);
	tcp_reno_cong_avoid(sk, ack, acked);
	after(TCP(sk), &r, 0);
}
SEC("struct_ops") u32 BPF_PROG(reno_congestion, struct sock *sk)
{
	struct record r = before(TCP(sk), CONGESTION, 0);
	u32 answer = tcp_reno_ssthresh(sk);
	after(TCP(sk), &r, answer);
	return answer;
}
SEC("struct_ops") u32 BPF_PROG(reno_undo, struct sock *sk)
{
	struct record r = before(TCP(sk), UNDO, 0);
	u32 answer = tcp_reno_undo_cwnd(sk);
	after(TCP(sk), &r, answer);
	return answer;
}
SEC("struct_ops") void BPF_PROG(reno_state, struct sock *sk, u8 new_state)
{
	struct record r = before(TCP(sk), STATE, new_state);
	after(TCP(sk), &r, 0);
}

SEC("struct_ops") void BPF_PROG(cubic_init, struct sock *sk)
{
	struct record r = before(TCP(sk), INIT, 0);
	cubictcp_init(sk);
	after(TCP(sk), &r, 0);
}
SEC("struct_ops") void BPF_PROG(cubic_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct record r = before(TCP(sk), AVOID, acked);
	cubictcp_cong_avoid(sk, ack, acked);
	after(TCP(sk), &r, 0);
}
SEC("struct_ops") u32 BPF_PROG(cubic_congestion, struct sock *sk)
{
	struct record r = before(TCP(sk), CONGESTION, 0);
	u32 answer = cubictcp_recalc_ssthresh(sk);
	after(TCP(sk), &r, answer);
	return answer;
}
SEC("struct_ops") void BPF_PROG(cubic_state, struct sock *sk, u8 new_state)
{
	struct record r = before(TCP(sk), STATE, new_state);
	cubictcp_state(sk, new_state);
	after(TCP(sk), &r, 0);
}
SEC("struct_ops") void BPF_PROG(cubic_event, struct sock *sk, enum tcp_ca_event event)
{
	struct record r = before(TCP(sk), EVENT, event);
	cubictcp_cwnd_event(sk, event);
	after(TCP(sk), &r, 0);
}
SEC("struct_ops") void BPF_PROG(cubic_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct record r = before(TCP(sk), SAMPLE, sample->pkts_acked);
	s32 rtt_us = sample->rtt_us;
	r.rtt_us = rtt_us > 0 ? rtt_us : 0;
	cubictcp_acked(sk, sample);
	after(TCP(sk), &r, 0);
}

SEC(".struct_ops") struct tcp_congestion_ops kernel_reno = {
	.init = (void *)reno_init,
	.cong_avoid = (void *)reno_avoid,
	.ssthresh = (void *)reno_congestion,
	.undo_cwnd = (void *)reno_undo,
	.set_state = (void *)reno_state,
	.name = "tr_kernel_reno",
};
SEC(".struct_ops") struct tcp_congestion_ops kernel_cubic = {
	.init = (void *)cubic_init,
	.cong_avoid = (void *)cubic_avoid,
	.ssthresh = (void *)cubic_congestion,
	.undo_cwnd = (void *)reno_undo,
	.set_state = (void *)cubic_state,
	.cwnd_event = (void *)cubic_event,
	.pkts_acked = (void *)cubic_acked,
	.name = "tr_kernel_cubic",
};

char _license[] SEC("license") = "Dual MIT/GPL";
