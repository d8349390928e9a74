//! The smallest RTT and the state `ProbeRTT` that measures it (sec. "`ProbeRTT`"); restarts from
//! idle.

use super::{AckPhase, Model, State};
use crate::congestion::rate_based::{RateSample, RateSampleEvent};
use crate::units::Time;

const MIN_RTT_WINDOW: Time = Time::from_milliseconds(10_000); // BBR.MinRTTFilterLen
pub(super) const PROBE_RTT_INTERVAL: Time = Time::from_milliseconds(5_000); // BBR.ProbeRTTInterval
const PROBE_RTT_DURATION: Time = Time::from_milliseconds(200); // BBR.ProbeRTTDuration

impl Model {
    /// `UpdateMinRTT`
    pub(super) fn update_min_rtt(&mut self, event: &RateSampleEvent) {
        let now = event.now;
        self.is_probe_rtt_expired = self.probe_rtt_min.is_expired(now, PROBE_RTT_INTERVAL);
        if let Some(rtt) = event.rtt
            && (rtt < self.probe_rtt_min.value() || self.is_probe_rtt_expired)
        {
            self.probe_rtt_min.set(rtt, now);
        }
        let is_expired = self.min_rtt.is_expired(now, MIN_RTT_WINDOW);
        if self.probe_rtt_min.value() < self.min_rtt.value() || is_expired {
            self.min_rtt = self.probe_rtt_min;
        }
    }

    /// `CheckProbeRTT`
    pub(super) fn check_probe_rtt(&mut self, event: &RateSampleEvent, sample: &RateSample) {
        let is_due = self.is_probe_rtt_expired && !self.is_idle_restart;
        if self.state != State::ProbeRtt && is_due {
            self.state = State::ProbeRtt;
            // The draft enters ProbeRTT before it saves the window, so the larger of this window
            // and the saved one is kept.
            self.save_cwnd(self.cwnd);
            self.probe_rtt_done = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.rounds.restart(event.delivered);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(event);
        }
        if sample.delivered > 0 {
            self.is_idle_restart = false;
        }
    }

    /// `HandleProbeRTT`
    fn handle_probe_rtt(&mut self, event: &RateSampleEvent) {
        self.is_app_limited = true; // MarkConnectionAppLimited
        if self.probe_rtt_done.is_some() {
            self.is_probe_rtt_round_done |= self.is_round_start;
            if self.is_probe_rtt_round_done {
                self.check_probe_rtt_done(event.now, event.delivered);
            }
        } else if event.in_flight as f64 <= self.probe_rtt_cwnd() {
            self.probe_rtt_done = Some(event.now + PROBE_RTT_DURATION);
            self.is_probe_rtt_round_done = false;
            self.rounds.restart(event.delivered);
        }
    }

    /// `CheckProbeRTTDone` and `ExitProbeRTT`
    fn check_probe_rtt_done(&mut self, now: Time, delivered: u64) {
        if self.probe_rtt_done.is_none_or(|done| now <= done) {
            return;
        }
        self.probe_rtt_min.stamp = now;
        self.restore_cwnd();
        self.reset_short_term_model();
        if self.full_bw_reached {
            self.start_probe_bw_down(now, delivered);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    /// `HandleRestartFromIdle`. Its pseudo-code keeps what was delivered before the new start of the
    /// interval, which the text excludes ("the volume of data marked as delivered since
    /// `BBR.extra_acked_interval_start`"): all of it would count as excess. Linux resets both
    /// (`bbr_cwnd_event`). See docs/validation/bbr-restart-from-idle.md.
    pub(super) fn handle_restart_from_idle(&mut self, now: Time) {
        self.is_idle_restart = true;
        self.begin_ack_aggregation(now);
        if self.state.is_probe_bandwidth() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now, self.delivered);
        }
    }
}
