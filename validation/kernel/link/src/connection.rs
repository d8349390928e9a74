//! A connection between the hosts, and the bytes that are handed to it.

use std::io;
use std::os::fd::OwnedFd;

use tailroom_engine::units::Time;

use crate::hosts::{self, Host};
use crate::plan::FlowPlan;
use crate::system;

/// Longest time after the end of a flow for what is on the way to arrive and be acknowledged.
pub const DRAIN: Time = Time::from_milliseconds(3_000);
/// Payload bytes handed over at once; the content does not matter.
static DATA: [u8; 65_536] = [0; 65_536];
const IP_AND_TCP_HEADER_BYTES: u32 = 40;

/// Begins to connect the sender of a flow, or of a request, with its receiver. The calling thread is
/// in the sender's network namespace afterwards.
pub(crate) fn connect(
    plan: &FlowPlan,
    hosts: &[Host; 2],
    unsent_bytes: i32,
) -> io::Result<OwnedFd> {
    let (sender, receiver) = (&hosts[plan.direction], &hosts[1 - plan.direction]);
    system::enter_network(&sender.namespace)?;
    hosts::set("tcp_ecn", &plan.tcp_ecn.to_string())?; // read when the SYN is sent
    let socket = system::tcp_socket()?;
    system::set_congestion_control(&socket, &plan.control).map_err(|error| {
        io::Error::other(format!("congestion control {}: {error}", plan.control))
    })?;
    system::set_tcp_option(&socket, libc::TCP_NOTSENT_LOWAT, unsent_bytes)?;
    let payload = plan.packet_bytes - IP_AND_TCP_HEADER_BYTES;
    system::set_tcp_option(&socket, libc::TCP_MAXSEG, payload.cast_signed())?;
    system::connect(&socket, receiver.address, plan.port)?;
    Ok(socket)
}

/// Sends as much as the socket takes of the bytes that are left, and counts them down.
pub(crate) fn send_some(socket: &OwnedFd, left_bytes: &mut u64) -> io::Result<()> {
    while *left_bytes > 0 {
        let most = DATA.len().min(usize::try_from(*left_bytes).unwrap_or(usize::MAX));
        let Some(bytes) = system::send(socket, &DATA[..most])? else { break };
        *left_bytes -= bytes as u64;
    }
    Ok(())
}
