//! The script of a vector: an upload over a path on which nothing waits, and of which it loses packets.

use std::collections::VecDeque;
use std::error::Error;
use std::sync::Arc;

use serde_json::{Value, json};
use tailroom_engine::units::Time;

use crate::host::{self, Clock, Host};
use crate::recording::Recording;
use crate::{Datagram, deliver, of_quinn};

/// Both ways, and what has been sent.
#[derive(Debug)]
struct Path {
    delay: Time,
    /// Numbers of the data packets that are lost, from 1.
    lost: Vec<u64>,
    sent: u64,
    /// When the first data packet was sent, after the handshake: time 0 of the script.
    began: Option<Time>,
    to_server: VecDeque<Datagram>,
    to_client: VecDeque<Datagram>,
}

/// Runs quinn's CUBIC by the script of a vector, for its results.
///
/// # Errors
/// A key of the script is missing or wrong; TLS cannot be set up.
pub fn run(script: &Value) -> Result<Value, Box<dyn Error>> {
    let number =
        |key: &str| script[key].as_f64().ok_or_else(|| format!("the script has no number {key}"));
    let seconds = |s: f64| Time::from_picoseconds((s.max(0.0) * 1e12) as u64);
    let packets =
        script["initial_cwnd_packets"].as_u64().ok_or("the script has no initial window")?;
    let control = Arc::new(Recording::new(packets));
    let clock = Clock::start();
    let (mut client, mut server) = host::pair(clock, Arc::clone(&control) as _)?;
    let mut path = Path {
        delay: seconds(number("rtt_s")? / 2.0),
        lost: script["lost_packets"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_u64)
            .collect(),
        sent: 0,
        began: None,
        to_server: VecDeque::new(),
        to_client: VecDeque::new(),
    };
    let duration = seconds(number("duration_s")?);
    let mut now = Time::ZERO;
    while path.began.is_none_or(|began| now < began + duration) {
        path.step(now, clock, &mut client, &mut server);
        now = path.next_due(clock, &client, &server).max(now);
    }
    let began = path.began.unwrap_or(now);
    Ok(results(&control, |instant| clock.time(Some(instant)).seconds() - began.seconds()))
}

fn results(control: &Recording, time_s: impl Fn(std::time::Instant) -> f64) -> Value {
    let record = control.of_client();
    let windows: Vec<_> =
        record.windows.iter().map(|(at, cwnd, _)| json!([time_s(*at), cwnd])).collect();
    let thresholds: Vec<_> = record
        .windows
        .iter()
        .filter_map(|(at, _, ssthresh)| Some(json!([time_s(*at), (*ssthresh)?])))
        .collect();
    let reductions: Vec<_> = record.reductions.iter().map(|at| time_s(*at)).collect();
    json!({
        "samples": { "cwnd_packets": windows, "ssthresh_packets": thresholds },
        "events": { "reduction": reductions },
    })
}

impl Path {
    /// Does what is due.
    fn step(&mut self, now: Time, clock: Clock, client: &mut Host, server: &mut Host) {
        deliver(&mut self.to_server, now, server, clock);
        deliver(&mut self.to_client, now, client, clock);
        let due = now + self.delay;
        client.drive(clock.instant(now), |ecn, datagram, is_data| {
            if is_data {
                self.began.get_or_insert(now);
                self.sent += 1;
            }
            if !is_data || !self.lost.contains(&self.sent) {
                self.to_server.push_back((due, of_quinn(ecn), datagram.to_vec()));
            }
        });
        server.drive(clock.instant(now), |ecn, datagram, _| {
            self.to_client.push_back((due, of_quinn(ecn), datagram.to_vec()));
        });
    }

    /// When something happens next.
    fn next_due(&self, clock: Clock, client: &Host, server: &Host) -> Time {
        let of = |queue: &VecDeque<Datagram>| queue.front().map_or(Time::NEVER, |first| first.0);
        let timers = [client, server].map(|host| clock.time(host.timeout));
        let arrivals = [of(&self.to_server), of(&self.to_client)];
        arrivals.into_iter().chain(timers).min().unwrap_or(Time::NEVER)
    }
}
