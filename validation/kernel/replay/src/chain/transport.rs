//! The keys of tailroom's Linux host, under the control of the replay.

use tailroom_engine::congestion::CongestionConfig;
use tailroom_engine::congestion::custom::CustomParams;
use tailroom_engine::scenario::{self, NoFiles};
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::sender::handshake::Handshake;

use super::control::Recorded;
use super::recording::Description;

/// The transport of the recorded flow. Some keys of a host depend on the kind of its control, so a
/// built-in one of that kind stands in until the keys are known.
///
/// # Errors
/// The scenario of the recording is wrong.
pub fn transport(description: &Description, control: &Recorded) -> Result<TcpSpec, String> {
    let stand_in = if description.is_rate_based { "bbr1" } else { "cubic" };
    let overrides = [("flows.flow.congestion".to_owned(), stand_in.to_owned())];
    let network = scenario::parse(&description.scenario, &overrides, None, &NoFiles)
        .and_then(|scenario| scenario.resolve())
        .map_err(|error| error.to_string())?;
    let mut tcp =
        network.groups.into_iter().find_map(|group| group.tcp).ok_or("there is no flow")?;
    let maker = control.maker(description.is_rate_based);
    tcp.congestion = CongestionConfig::Custom(CustomParams::named("recorded").made_by(maker));
    // The recording begins when the connection is open.
    tcp.handshake = Handshake::DONE;
    Ok(tcp)
}
