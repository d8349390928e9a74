// SPDX-License-Identifier: MIT OR GPL-2.0
// What the controls of this folder share: the kernel's types, as far as they are used, and a record
// of every callback. The loader fills in the offsets of the fields from the running kernel's BTF.
#pragma once
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef _Bool bool;
enum tcp_ca_event { CA_EVENT_TX_START };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct sock_common {
	u16 skc_num;
};
struct sock {
	struct sock_common __sk_common;
	unsigned long sk_pacing_rate;
};
struct inet_sock {
	struct sock sk;
};
struct inet_connection_sock {
	struct inet_sock icsk_inet;
	u8 icsk_ca_state : 5;
	u64 icsk_ca_priv[13];
};
struct minmax_sample {
	u32 t, v;
};
struct minmax {
	struct minmax_sample s[3];
};
struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 snd_ssthresh, snd_cwnd, snd_cwnd_cnt, snd_cwnd_clamp, max_packets_out;
	u32 srtt_us, snd_una, snd_nxt, mss_cache;
	u32 packets_out, sacked_out, lost_out, retrans_out, delivered, lost;
	u64 tcp_mstamp, tcp_wstamp_ns, tcp_clock_cache;
	u8 is_cwnd_limited : 1;
	struct minmax rtt_min;
};
struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
	u32 in_flight;
};
struct rate_sample {
	u64 prior_mstamp;
	u32 prior_delivered;
	s32 delivered;
	long interval_us;
	long rtt_us;
	int losses;
	u32 acked_sacked;
	u32 prior_in_flight;
	bool is_app_limited;
};
struct bbr {
	u32 mode : 3, cycle_idx : 3;
};
struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	u32 (*undo_cwnd)(struct sock *sk);
	void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs);
	u32 (*min_tso_segs)(struct sock *sk);
	u32 (*sndbuf_expand)(struct sock *sk);
	void (*init)(struct sock *sk);
	char name[16];
};
#pragma clang attribute pop

// validation/kernel/exact.py names these kinds and fields in the same order.
enum kind { INIT, AVOID, CONGESTION, UNDO, STATE, EVENT, SAMPLE, RATE };

struct record {
	u64 time_ns;
	u32 kind;
	u32 port;
	u32 acked; // packets acknowledged; of STATE and EVENT, the new state or the event
	u32 cwnd, count, ssthresh; // before the callback
	u32 cwnd_after, count_after, ssthresh_after;
	u32 answer; // what the callback returns
	u32 srtt_8us; // smoothed RTT in eighths of a microsecond
	u32 rtt_us; // RTT sample; 0 if there is none
	u32 min_rtt_us;
	u32 una, next; // sequence numbers in bytes
	u32 mss;
	u32 limited; // whether the window limits the flow
	u32 state; // 0 open, 1 disorder, 2 reduction for a mark, 3 recovery, 4 loss
	// Packets delivered and lost since the flow began, and in flight.
	u32 delivered, lost, in_flight;
	// Of RATE: packets delivered since the flow began, packets and microseconds of the rate sample,
	// its RTT, packets newly lost and newly delivered, packets in flight before, packets delivered
	// when the sampled packet left, whether the application limited the flow then, packets in flight
	// now, the sender's clock in microseconds, nanoseconds until the next packet may leave, the
	// pacing rate after the callback in bytes per second, and the phase of the cycle.
	u32 more[14];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
} records SEC(".maps");
u64 lost_records = 0;

// Whether the window limits the flow: in slow start, also if half of it was in use.
static __always_inline bool is_limited(struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return 1;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

static __always_inline u32 in_flight(struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

// Notes the state before a callback.
static __always_inline struct record before(struct tcp_sock *tp, u32 kind, u32 acked)
{
	struct record r = {};
	r.time_ns = bpf_ktime_get_ns();
	r.kind = kind;
	r.port = tp->inet_conn.icsk_inet.sk.__sk_common.skc_num;
	r.acked = acked;
	r.cwnd = tp->snd_cwnd;
	r.count = tp->snd_cwnd_cnt;
	r.ssthresh = tp->snd_ssthresh;
	r.srtt_8us = tp->srtt_us;
	r.min_rtt_us = tp->rtt_min.s[0].v;
	r.una = tp->snd_una;
	r.next = tp->snd_nxt;
	r.mss = tp->mss_cache;
	r.limited = is_limited(tp);
	r.state = BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state);
	r.delivered = tp->delivered;
	r.lost = tp->lost;
	r.in_flight = in_flight(tp);
	return r;
}

// Adds the state after the callback and hands the record over.
static __always_inline void after(struct tcp_sock *tp, struct record *r, u32 answer)
{
	struct record *out = bpf_ringbuf_reserve(&records, sizeof(*out), 0);
	if (!out) {
		__sync_fetch_and_add(&lost_records, 1);
		return;
	}
	*out = *r;
	out->cwnd_after = tp->snd_cwnd;
	out->count_after = tp->snd_cwnd_cnt;
	out->ssthresh_after = tp->snd_ssthresh;
	out->answer = answer;
	bpf_ringbuf_submit(out, BPF_RB_NO_WAKEUP);
}

#define TCP(sk) ((struct tcp_sock *)(sk))
