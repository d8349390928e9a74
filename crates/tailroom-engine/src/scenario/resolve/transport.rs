//! Resolves the transport of a group, which only groups under congestion control have.

use crate::kind_or_name::alternatives::{alternatives, kind_of};
use crate::network::validate::group::check_times_and_acks;
use crate::scenario::format::flows::{ControlConfig, FlowsConfig};
use crate::scenario::format::schema::{schema, tcp_keys};
use crate::scenario::text::document::Document;
use crate::scenario::text::error::{Fault, Path, bad_parameter, few};
use crate::tcp::TcpSpec;
use crate::tcp::sender::recovery::Recovery;
use crate::tcp::sender::rtt::RttSamples;
use crate::tcp::sender::slow_start::SlowStartSpec;
use crate::traffic::{KINDS, SourceClass};

/// The transport of a group; `None` for an unresponsive source.
pub(in crate::scenario) fn resolve_transport(
    document: &Document,
    at: &Path,
    name: &str,
    group: &FlowsConfig,
) -> Result<Option<TcpSpec>, Fault> {
    let (kind, class) = (group.source.name(), group.source.class());
    if !class.is_responsive() {
        let written = tcp_keys().iter().find(|key| document.contains(&["flows", name, key]));
        return written.map_or(Ok(None), |key| {
            let problem = format!("a source of kind \"{kind}\" has no congestion control");
            let remedy = format!("remove the key, or use {}", responsive_kinds(class));
            Err(Fault::new(&at.key(key), problem, remedy))
        });
    }
    let Some(ControlConfig::Table(congestion)) = &group.tcp.congestion else {
        let root = schema();
        let options = alternatives(&root["$defs"]["CongestionConfig"]).into_iter().flatten();
        let kinds: Vec<&str> = options.filter_map(kind_of).collect();
        let remedy = format!(
            "add `congestion = {{ kind = \"{}\" }}`, with one of the kinds {}",
            kinds[0],
            few("", &kinds)
        );
        let problem = format!(
            "is missing, and a source of kind \"{kind}\" sends what its congestion control allows"
        );
        return Err(Fault::new(&at.key("congestion"), problem, remedy));
    };
    let tcp = TcpSpec { congestion: congestion.clone(), ..group.tcp.keys.clone() };
    check(at, &tcp)?;
    Ok(Some(tcp))
}

/// The sources that come nearest to one of this class and have a congestion control.
fn responsive_kinds(class: SourceClass) -> String {
    let is_near =
        |other: SourceClass| other.is_responsive() && other.is_dynamic() == class.is_dynamic();
    let kinds = KINDS.iter().filter(|(_, other)| is_near(*other)).map(|(kind, _)| *kind);
    let kinds: Vec<String> =
        kinds.map(|kind| format!("`source = {{ kind = \"{kind}\" }}`")).collect();
    format!("a source that has one: {}", kinds.join(" or "))
}

fn check(at: &Path, tcp: &TcpSpec) -> Result<(), Fault> {
    let congestion = &tcp.congestion;
    congestion.parameters().check().map_err(|bad| bad_parameter(&at.key("congestion"), bad))?;
    if congestion.parameters().needs_marks() && !tcp.ecn.is_accurate() {
        let problem = format!(
            "{} counts marked packets, and only accurate feedback reports their number",
            congestion.name()
        );
        let remedy = "set `ecn = \"accurate\"` (or \"l4s\"), and let the queue mark";
        return Err(Fault::new(&at.key("ecn"), problem, remedy));
    }
    check_slow_start(at, tcp)?;
    check_recovery(at, tcp)?;
    check_undo(at, tcp)?;
    check_times_and_acks(tcp).map_err(|bad| bad_parameter(at, bad))?;
    if let Some(initial_rto) = tcp.initial_rto
        && initial_rto.time() < tcp.min_rto.time()
    {
        let problem = format!("{initial_rto} is below `min_rto`, which is {}", tcp.min_rto);
        let remedy = format!("write at least \"{}\", or a smaller min_rto", tcp.min_rto);
        return Err(Fault::new(&at.key("initial_rto"), problem, remedy));
    }
    if tcp.count_lost_in_pipe {
        check_counted_pipe(at, tcp)?;
    }
    Ok(())
}

/// Refuses HyStart under a control that does not start by the host's slow start.
fn check_slow_start(at: &Path, tcp: &TcpSpec) -> Result<(), Fault> {
    if tcp.slow_start != SlowStartSpec::Hystart || !tcp.congestion.has_own_start() {
        return Ok(());
    }
    let name = tcp.congestion.name();
    let problem =
        format!("HyStart ends the slow start of the host, and {name} has a start of its own");
    let remedy = "drop slow_start, or write it only in the groups of other controls";
    Err(Fault::new(&at.key("slow_start"), problem, remedy))
}

/// Refuses keys that belong to another kind of loss recovery.
fn check_recovery(at: &Path, tcp: &TcpSpec) -> Result<(), Fault> {
    let needs_sack = [
        ("prr", tcp.prr, "proportional rate reduction needs"),
        ("sack_compression", tcp.sack_compression, "the receiver compresses"),
    ];
    for (key, is_on, what) in needs_sack {
        if is_on && !tcp.recovery.has_sack() {
            let problem = format!("{what} selective acknowledgements, which NewReno does not use");
            let remedy =
                format!("set `recovery = \"rack\"` or `recovery = \"sack\"`, or drop {key}");
            return Err(Fault::new(&at.key(key), problem, remedy));
        }
    }
    if tcp.rack_timer_margin.is_some() && tcp.recovery != Recovery::Rack {
        let problem = "only RACK-TLP has these timers";
        let remedy = "set `recovery = \"rack\"` or drop rack_timer_margin";
        return Err(Fault::new(&at.key("rack_timer_margin"), problem, remedy));
    }
    if tcp.recovery == Recovery::Rack && tcp.forget_sack_at_timeout {
        let problem = "RACK-TLP keeps the scoreboard at a timeout (RFC 8985 sec. 6.3)";
        let remedy = "set `recovery = \"sack\"` or drop forget_sack_at_timeout";
        return Err(Fault::new(&at.key("forget_sack_at_timeout"), problem, remedy));
    }
    Ok(())
}

/// Refuses an undo for which nothing finds that a recovery was spurious, and F-RTO where it cannot
/// tell a packet that arrives late from one that was sent again.
fn check_undo(at: &Path, tcp: &TcpSpec) -> Result<(), Fault> {
    let has_timestamps = tcp.rtt_samples == RttSamples::Timestamps;
    if tcp.undo && !has_timestamps && tcp.recovery != Recovery::Rack && !tcp.frto {
        let problem = "nothing shows that a recovery was unnecessary: the host sends no timestamps \
                       (`rtt_samples = \"karn\"`), its receiver reports no duplicates, and F-RTO \
                       is off";
        let remedy = "set `rtt_samples = \"timestamps\"`, `recovery = \"rack\"` or `frto = true`, \
                      or drop undo";
        return Err(Fault::new(&at.key("undo"), problem, remedy));
    }
    if !tcp.frto {
        return Ok(());
    }
    let (problem, remedy) = if !tcp.undo {
        ("F-RTO finds spurious timeouts, which only an undo answers", "set `undo = true`")
    } else if !tcp.recovery.has_sack() {
        let problem = "F-RTO needs selective acknowledgements, which NewReno does not use";
        (problem, "set `recovery = \"rack\"` or `recovery = \"sack\"`,")
    } else if tcp.forget_sack_at_timeout {
        let problem = "F-RTO needs to know what had arrived before a timeout (RFC 5682 sec. 3.1)";
        (problem, "set `forget_sack_at_timeout = false`")
    } else {
        return Ok(());
    };
    Err(Fault::new(&at.key("frto"), problem, format!("{remedy} or drop frto")))
}

/// Refuses the pipe of ns-2 where something else decides what a SACK recovery sends.
fn check_counted_pipe(at: &Path, tcp: &TcpSpec) -> Result<(), Fault> {
    let (problem, remedy) = if tcp.recovery != Recovery::Sack {
        ("the pipe belongs to recovery by selective acknowledgements", "set `recovery = \"sack\"`")
    } else if tcp.prr {
        ("proportional rate reduction takes the place of this pipe", "set `prr = false`")
    } else if tcp.congestion.is_rate_based() {
        let problem = "the congestion control is rate-based and uses no pipe of a SACK recovery";
        (problem, "choose another `congestion`")
    } else {
        return Ok(());
    };
    let remedy = format!("{remedy} or drop count_lost_in_pipe");
    Err(Fault::new(&at.key("count_lost_in_pipe"), problem, remedy))
}
