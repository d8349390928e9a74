//! The system calls that Rust's standard library does not have, and all unsafe code.
//!
//! Every function is safe to call: it passes only memory that it owns, of the size that the kernel
//! expects.

#![allow(
    clippy::cast_possible_wrap,
    reason = "the kernel's types differ in sign; values are small"
)]

use std::ffi::CStr;
use std::fs::File;
use std::io::{Error, Result};
use std::mem::{size_of, zeroed};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether SIGINT or SIGTERM has come.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The result of a system call that is negative if it failed.
fn checked(result: libc::c_int) -> Result<libc::c_int> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(result) }
}

/// The result of a read or a write; `None` if it would have to wait.
fn transferred(result: isize) -> Result<Option<usize>> {
    if let Ok(bytes) = usize::try_from(result) {
        return Ok(Some(bytes));
    }
    let error = Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EINTR) => Ok(None),
        _ => Err(error),
    }
}

/// The monotonic clock, in nanoseconds.
pub fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of this function.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

extern "C" fn interrupt(_signal: libc::c_int) {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Lets SIGINT and SIGTERM only be noted, for [`is_interrupted`].
pub fn note_interrupts() {
    let handler = interrupt as extern "C" fn(libc::c_int) as libc::sighandler_t;
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only stores to an atomic, which is allowed in a signal handler.
        unsafe { libc::signal(signal, handler) };
    }
}

/// Whether SIGINT or SIGTERM has come since [`note_interrupts`].
pub fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Lets the kernel kill this process when its parent ends, so that it never outlives a recording.
pub fn end_with_parent() {
    // SAFETY: no pointers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// Runs the calling thread before all others of lower real-time priority, and its sleeps to the
/// nanosecond.
pub fn run_in_real_time(priority: i32) -> Result<()> {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the pointer is to a sched_param of this function; prctl gets no pointer.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1_usize);
        checked(libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters)).map(drop)
    }
}

/// Keeps the process, and the threads that it starts later, on one processor.
pub fn stay_on_processor(processor: usize) -> Result<()> {
    if processor >= libc::CPU_SETSIZE as usize {
        return Err(Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: an all-zero cpu_set_t is the empty set, and the index is below its size.
    unsafe {
        let mut set: libc::cpu_set_t = zeroed();
        libc::CPU_SET(processor, &mut set);
        checked(libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)).map(drop)
    }
}

/// Moves the calling thread into a new network namespace.
pub fn enter_new_network() -> Result<()> {
    // SAFETY: no pointers.
    checked(unsafe { libc::unshare(libc::CLONE_NEWNET) }).map(drop)
}

/// Moves the calling thread into a network namespace.
pub fn enter_network(namespace: &File) -> Result<()> {
    // SAFETY: no pointers.
    checked(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

/// A request about the device of this name.
fn device_request(name: &str) -> libc::ifreq {
    // SAFETY: all zeros is a valid ifreq.
    let mut request: libc::ifreq = unsafe { zeroed() };
    let places = request.ifr_name[..libc::IFNAMSIZ - 1].iter_mut();
    places.zip(name.bytes()).for_each(|(place, byte)| *place = byte as libc::c_char);
    request
}

/// Creates a TUN device in the thread's network namespace. It vanishes with the file.
pub fn open_tun(name: &str) -> Result<File> {
    let path = c"/dev/net/tun";
    let flags = libc::O_RDWR | libc::O_NONBLOCK | libc::O_CLOEXEC;
    let mut request = device_request(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the path ends with zero, the descriptor is new and owned by the file, and the request
    // is an ifreq, as TUNSETIFF expects.
    unsafe {
        let file = File::from_raw_fd(checked(libc::open(path.as_ptr(), flags))?);
        checked(libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request))?;
        Ok(file)
    }
}

/// A property of a network device.
#[derive(Clone, Copy, Debug)]
pub enum Setting {
    /// Its address.
    Address(Ipv4Addr),
    /// The network mask of the address.
    Mask(Ipv4Addr),
    /// Largest packet, in bytes.
    Mtu(u32),
    /// Packets that wait for the reader of a TUN device.
    QueueLength(u32),
    /// Whether it carries packets.
    Up,
}

/// Sets a property of a device in the thread's network namespace.
pub fn configure(name: &str, setting: Setting) -> Result<()> {
    let mut request = device_request(name);
    let address = |address: Ipv4Addr| {
        // SAFETY: a sockaddr_in is a sockaddr of the family AF_INET, of the same size.
        unsafe {
            std::mem::transmute::<libc::sockaddr_in, libc::sockaddr>(socket_address(address, 0))
        }
    };
    let call = match setting {
        Setting::Address(value) => {
            request.ifr_ifru.ifru_addr = address(value);
            libc::SIOCSIFADDR
        }
        Setting::Mask(value) => {
            request.ifr_ifru.ifru_netmask = address(value);
            libc::SIOCSIFNETMASK
        }
        Setting::Mtu(bytes) => {
            request.ifr_ifru.ifru_mtu = bytes.cast_signed();
            libc::SIOCSIFMTU
        }
        Setting::QueueLength(packets) => {
            request.ifr_ifru.ifru_metric = packets.cast_signed();
            libc::SIOCSIFTXQLEN
        }
        Setting::Up => {
            request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
            libc::SIOCSIFFLAGS
        }
    };
    let socket = socket(libc::SOCK_DGRAM)?;
    // SAFETY: the request is an ifreq, as these calls expect.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), call as _, &raw mut request) }).map(drop)
}

/// Reads one packet from a TUN device; `None` if there is none.
pub fn read_packet(file: &File, buffer: &mut [u8]) -> Result<Option<usize>> {
    // SAFETY: the pointer and the length are those of the buffer.
    let read = unsafe { libc::read(file.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
    transferred(read)
}

/// Waits until one of the descriptors is ready for its events, or for `timeout_ns` at most.
pub fn wait(descriptors: &mut [libc::pollfd], timeout_ns: u64) {
    let timeout = libc::timespec {
        tv_sec: (timeout_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (timeout_ns % 1_000_000_000) as libc::c_long,
    };
    let count = descriptors.len() as libc::nfds_t;
    // SAFETY: pointer and count are those of the slice. If the call fails, nothing is ready.
    unsafe {
        if libc::ppoll(descriptors.as_mut_ptr(), count, &raw const timeout, std::ptr::null()) < 0 {
            for descriptor in descriptors {
                descriptor.revents = 0;
            }
        }
    }
}

fn socket_address(address: Ipv4Addr, port: u16) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(address).to_be() },
        sin_zero: [0; 8],
    }
}

/// A socket of the thread's network namespace, whose calls do not wait.
fn socket(kind: libc::c_int) -> Result<OwnedFd> {
    let flags = kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: the descriptor is new and owned by the result.
    unsafe { Ok(OwnedFd::from_raw_fd(checked(libc::socket(libc::AF_INET, flags, 0))?)) }
}

/// A TCP socket of the thread's network namespace, whose calls do not wait.
pub fn tcp_socket() -> Result<OwnedFd> {
    socket(libc::SOCK_STREAM)
}

fn set_option(socket: RawFd, level: i32, option: i32, value: &[u8]) -> Result<()> {
    let length = value.len() as libc::socklen_t;
    // SAFETY: pointer and length are those of the slice.
    checked(unsafe { libc::setsockopt(socket, level, option, value.as_ptr().cast(), length) })
        .map(drop)
}

/// Sets an integer option of TCP.
pub fn set_tcp_option(socket: &OwnedFd, option: i32, value: i32) -> Result<()> {
    set_option(socket.as_raw_fd(), libc::IPPROTO_TCP, option, &value.to_ne_bytes())
}

/// Sets the congestion control of a socket.
pub fn set_congestion_control(socket: &OwnedFd, name: &str) -> Result<()> {
    set_option(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_CONGESTION, name.as_bytes())
}

/// Lets the next close of a socket reset its connection.
pub fn reset_at_close(socket: &OwnedFd) -> Result<()> {
    let value = [1_i32.to_ne_bytes(), 0_i32.to_ne_bytes()].concat();
    set_option(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_LINGER, &value)
}

/// Begins to accept connections at a port, of which `backlog` may wait.
pub fn listen(address: Ipv4Addr, port: u16, backlog: i32) -> Result<OwnedFd> {
    let socket = tcp_socket()?;
    let address = socket_address(address, port);
    let length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
    // SAFETY: the pointer is to a sockaddr_in, and the length is its size.
    unsafe {
        checked(libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length))?;
        checked(libc::listen(socket.as_raw_fd(), backlog))?;
    }
    Ok(socket)
}

/// Accepts a connection; `None` if there is none yet.
pub fn accept(listener: &OwnedFd) -> Result<Option<OwnedFd>> {
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    let null = std::ptr::null_mut();
    // SAFETY: null pointers leave the peer's address out; a new descriptor is owned by the result.
    unsafe {
        let accepted = libc::accept4(listener.as_raw_fd(), null, std::ptr::null_mut(), flags);
        let descriptor = transferred(accepted as isize)?;
        Ok(descriptor.map(|_| OwnedFd::from_raw_fd(accepted)))
    }
}

/// Begins to connect to a port.
pub fn connect(socket: &OwnedFd, address: Ipv4Addr, port: u16) -> Result<()> {
    let address = socket_address(address, port);
    let length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
    // SAFETY: the pointer is to a sockaddr_in, and the length is its size.
    let result = unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) };
    match checked(result) {
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(()),
        result => result.map(drop),
    }
}

/// The port of a socket at its own host.
pub fn local_port(socket: &OwnedFd) -> Result<u16> {
    // SAFETY: all zeros is a valid sockaddr_in; the pointers are to it and to its length.
    unsafe {
        let mut address: libc::sockaddr_in = zeroed();
        let mut length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        let place = (&raw mut address).cast();
        checked(libc::getsockname(socket.as_raw_fd(), place, &raw mut length))?;
        Ok(u16::from_be(address.sin_port))
    }
}

/// Sends as much of `data` as the socket takes now; `None` if it takes nothing.
pub fn send(socket: &OwnedFd, data: &[u8]) -> Result<Option<usize>> {
    // SAFETY: pointer and length are those of the slice.
    let sent = unsafe {
        libc::send(socket.as_raw_fd(), data.as_ptr().cast(), data.len(), libc::MSG_NOSIGNAL)
    };
    transferred(sent)
}

/// Discards what has arrived, up to 1 MiB, without copying it; 0 at the end of the stream, `None` if
/// nothing has arrived.
pub fn discard(socket: &OwnedFd) -> Result<Option<usize>> {
    // SAFETY: with MSG_TRUNC, TCP discards the data and does not write to the null pointer (tcp(7)).
    let read =
        unsafe { libc::recv(socket.as_raw_fd(), std::ptr::null_mut(), 1 << 20, libc::MSG_TRUNC) };
    transferred(read)
}

/// Tells the peer that no more data will come, behind those that the socket holds.
pub fn finish_sending(socket: &OwnedFd) -> Result<()> {
    // SAFETY: no pointers.
    checked(unsafe { libc::shutdown(socket.as_raw_fd(), libc::SHUT_WR) }).map(drop)
}

/// What the kernel tells of a TCP connection: `struct tcp_info` in its first bytes; the rest is zero.
pub fn tcp_info(socket: &OwnedFd) -> Result<[u8; 256]> {
    let mut info = [0; 256];
    let mut length = info.len() as libc::socklen_t;
    // SAFETY: the pointer is to the array, and the length is its size.
    checked(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    })?;
    Ok(info)
}

/// Release of the running kernel.
pub fn kernel_release() -> String {
    // SAFETY: all zeros is a valid utsname, which the kernel fills with strings that end with zero.
    unsafe {
        let mut name: libc::utsname = zeroed();
        libc::uname(&raw mut name);
        CStr::from_ptr(name.release.as_ptr()).to_string_lossy().into_owned()
    }
}
