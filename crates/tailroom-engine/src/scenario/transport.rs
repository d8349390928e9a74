//! The transport of a group: present under congestion control, absent without.

use super::alternatives::{alternatives, kind_of};
use super::document::Document;
use super::error::{Fault, Path};
use super::flows::{
    ControlFile, DelayedAckFile, EcnFile, FlowsFile, RecoveryFile, RttSamplesFile, SlowStartFile,
    SourceFile, TcpFile, linux_delayed_ack, two,
};
use super::schema::{schema, tcp_keys};
use crate::congestion::CongestionConfig;
use crate::packet::MAX_PACKET_BYTES;
use crate::quantity::PositiveDuration;
use crate::tcp::TcpSpec;
use crate::tcp::receiver::DelayedAck;
use crate::tcp::sender::ecn::EcnMode;
use crate::tcp::sender::recovery::Recovery;
use crate::tcp::sender::rtt::RttSamples;
use crate::tcp::sender::slow_start::SlowStartSpec;

/// The transport of a group, or `None` for a source that nothing controls.
pub(super) fn resolve_transport(
    document: &Document,
    at: &Path,
    name: &str,
    group: &FlowsFile,
) -> Result<Option<TcpSpec>, Fault> {
    let uncontrolled = match group.source {
        SourceFile::Bulk { .. }
        | SourceFile::Objects { .. }
        | SourceFile::FiniteFlows { .. }
        | SourceFile::Trace { .. }
        | SourceFile::Web(_) => None,
        SourceFile::Streaming { .. } => Some("streaming"),
        SourceFile::Poisson { .. } => Some("poisson"),
        SourceFile::Cbr { .. } => Some("cbr"),
        SourceFile::OnOff { .. } => Some("on_off"),
    };
    if let Some(kind) = uncontrolled {
        let written = tcp_keys().into_iter().find(|key| document.contains(&["flows", name, key]));
        return written.map_or(Ok(None), |key| {
            let problem = format!("a source of kind \"{kind}\" has no congestion control");
            let remedy = "remove the key, or use `source = { kind = \"bulk\" }`";
            Err(Fault::new(&at.key(&key), problem, remedy))
        });
    }
    let Some(ControlFile::Table(congestion)) = &group.tcp.congestion else {
        let root = schema();
        let options = alternatives(&root["$defs"]["CongestionConfig"]).into_iter().flatten();
        let kinds: Vec<&str> = options.filter_map(kind_of).collect();
        let remedy = format!(
            "add `congestion = {{ kind = \"{}\" }}`, with one of the kinds {}",
            kinds[0],
            kinds.join(", ")
        );
        let problem = "is missing, and a bulk source sends what its congestion control allows";
        return Err(Fault::new(&at.key("congestion"), problem, remedy));
    };
    check(at, &group.tcp, congestion)?;
    Ok(Some(specification(&group.tcp, congestion.clone())))
}

fn check(at: &Path, tcp: &TcpFile, congestion: &CongestionConfig) -> Result<(), Fault> {
    congestion
        .validate()
        .map_err(|problem| Fault::new(&at.key("congestion"), problem, "correct the parameters"))?;
    if congestion.needs_marks() && !matches!(tcp.ecn, EcnFile::Accurate | EcnFile::L4s) {
        let problem = format!(
            "{} counts marked packets, and only accurate feedback reports their number",
            congestion.name()
        );
        let remedy = "set `ecn = \"accurate\"` (or \"l4s\"), and let the queue mark";
        return Err(Fault::new(&at.key("ecn"), problem, remedy));
    }
    if tcp.prr && tcp.recovery != RecoveryFile::Sack {
        let problem = "proportional rate reduction needs selective acknowledgements";
        return Err(Fault::new(&at.key("prr"), problem, "set `recovery = \"sack\"` or drop prr"));
    }
    if tcp.count_lost_in_pipe {
        check_counted_pipe(at, tcp, congestion)?;
    }
    if tcp.ack_size.bytes() > u64::from(MAX_PACKET_BYTES) {
        let problem = format!("{} is larger than an IP packet can be", tcp.ack_size);
        let remedy = format!("write at most \"{MAX_PACKET_BYTES} B\"");
        return Err(Fault::new(&at.key("ack_size"), problem, remedy));
    }
    Ok(())
}

/// The pipe of ns-2 decides what a SACK recovery sends where nothing else does.
fn check_counted_pipe(
    at: &Path,
    tcp: &TcpFile,
    congestion: &CongestionConfig,
) -> Result<(), Fault> {
    let (problem, remedy) = if tcp.recovery != RecoveryFile::Sack {
        ("the pipe belongs to recovery by selective acknowledgements", "set `recovery = \"sack\"`")
    } else if tcp.prr {
        ("proportional rate reduction takes the place of this pipe", "set `prr = false`")
    } else if congestion.models_path() {
        let problem = "the control models the path and counts what is in flight itself";
        (problem, "choose another `congestion`")
    } else {
        return Ok(());
    };
    let remedy = format!("{remedy} or drop count_lost_in_pipe");
    Err(Fault::new(&at.key("count_lost_in_pipe"), problem, remedy))
}

fn specification(tcp: &TcpFile, congestion: CongestionConfig) -> TcpSpec {
    TcpSpec {
        congestion,
        recovery: match tcp.recovery {
            RecoveryFile::Sack => Recovery::Sack,
            RecoveryFile::NewReno => Recovery::NewReno,
        },
        prr: tcp.prr,
        count_lost_in_pipe: tcp.count_lost_in_pipe,
        delayed_ack: match tcp.delayed_ack {
            DelayedAckFile::Switch(false) => None,
            DelayedAckFile::Switch(true) => {
                Some(DelayedAck { packets: two(), timeout: linux_delayed_ack().time() })
            }
            DelayedAckFile::Set { packets, timeout } => {
                Some(DelayedAck { packets, timeout: timeout.time() })
            }
        },
        ack_aggregation: tcp.ack_aggregation.map(PositiveDuration::time),
        initial_window: tcp.initial_window,
        initial_ssthresh: tcp.initial_ssthresh,
        min_rto: tcp.min_rto.time(),
        restart_rto_at_retransmission: tcp.restart_rto_at_retransmission,
        rto_granularity: tcp.rto_granularity.unwrap_or(tcp.min_rto).time(),
        rtt_samples: match tcp.rtt_samples {
            RttSamplesFile::Timestamps => RttSamples::Timestamps,
            RttSamplesFile::Karn => RttSamples::Karn,
        },
        max_window: tcp.max_window,
        slow_start: match tcp.slow_start {
            SlowStartFile::Standard => SlowStartSpec::Standard,
            SlowStartFile::Limited { max_ssthresh } => SlowStartSpec::Limited { max_ssthresh },
            SlowStartFile::HystartPlusPlus => SlowStartSpec::HystartPlusPlus,
        },
        slow_start_after_idle: tcp.slow_start_after_idle,
        pacing: tcp.pacing,
        send_burst: tcp.send_burst,
        forget_sack_at_timeout: tcp.forget_sack_at_timeout,
        ecn: match tcp.ecn {
            EcnFile::Off => EcnMode::Off,
            EcnFile::Classic => EcnMode::Classic,
            EcnFile::Accurate => EcnMode::Accurate,
            EcnFile::L4s => EcnMode::L4s,
        },
        // Checked above to be at most an IP packet.
        ack_size: tcp.ack_size.bytes() as u32,
    }
}
