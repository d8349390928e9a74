//! Cost of each congestion control per packet, relative to Reno in the same run: ten flows on 1
//! Gbit/s.
//!
//! `cargo bench --bench controls` prints medians of five runs; `-- cubic` selects kinds by name.

#[path = "../tests/engine/support/controls.rs"]
mod controls;
mod reading;
mod stopwatch;
mod timing;

/// Acceptable cost relative to Reno: of a control, and of a control that paces each packet.
const ACCEPTABLE: [f64; 2] = [1.3, 2.0];

fn main() {
    // Cargo passes `--bench`; other arguments select kinds by name.
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    println!(
        "{:<16} {:>9} {:>15} {:>12} {:>10} {:>10}",
        "control", "median", "min to max", "times Reno", "acceptable", "real time"
    );
    for (kind, _) in controls::all() {
        if wanted.is_empty() || wanted.contains(&kind) {
            compare(&kind);
        }
    }
}

/// Returns the keys that a control needs, and whether it paces each packet.
fn needs(kind: &str) -> (&'static str, bool) {
    match kind {
        "dctcp" => ("ecn = \"accurate\"", false),
        "dcqcn" => ("ecn = \"accurate\"", true),
        "prague" => ("ecn = \"l4s\"\npacing = true", true),
        "bbr1" | "bbr3" | "timely" | "swift" | "packet_pair" | "stepped" => ("", true),
        // This window keeps the link nearly full.
        "fixed_window" => ("initial_window = 1500", false),
        _ => ("", false),
    }
}

fn compare(kind: &str) {
    // Packet pair needs one queue per flow; Reno is measured with the same queue.
    let queue = if kind == "packet_pair" { "fair" } else { "drop_tail" };
    let reno = timing::measure(&scenario("{ kind = \"reno\" }", "", queue), 20.0, timing::RUNS);
    let (keys, is_paced) = needs(kind);
    let control = match kind {
        "fixed_window" => "{ kind = \"fixed_window\", window = 1500 }".to_owned(),
        _ => format!("{{ kind = \"{kind}\" }}"),
    };
    let figures = timing::measure(&scenario(&control, keys, queue), 20.0, timing::RUNS);
    println!(
        "{kind:<16} {:>6.1} ns {:>6.1} to {:>5.1} {:>12.2} {:>10.1} {:>8.1} x",
        figures.median,
        figures.min,
        figures.max,
        figures.median / reno.median,
        ACCEPTABLE[usize::from(is_paced)],
        figures.real_time
    );
}

fn scenario(control: &str, keys: &str, queue: &str) -> String {
    format!(
        r#"
duration = "50 s"
[defaults]
host = "plain"
[links.bottleneck]
rate = "1 Gbit/s"
delay = "10 ms"
queue = {{ kind = "{queue}", limit = "1249 packets" }}
[flows.tcp]
count = 10
path = ["bottleneck"]
congestion = {control}
send_jitter = "none"
packet_size = "1000 B"
rtt = {{ from = "115.5 ms", to = "124.5 ms" }}
access_rate = "40 Gbit/s"
start = {{ from = "0 s", to = "0.5 s" }}
{keys}
"#
    )
}
