//! An end of a connection: quinn's endpoint and connection, and an application that sends without end or
//! reads all.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use quinn_proto::congestion::ControllerFactory;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint,
    EndpointConfig, Event, ServerConfig, StreamEvent, StreamId, TransportConfig,
};
use rustls::RootCertStore;
use rustls::pki_types::PrivatePkcs8KeyDer;
use tailroom_engine::units::Time;

const PICOSECONDS_PER_NANOSECOND: u64 = 1_000;

/// The simulated time as quinn reads it: an instant of the machine at which time 0 is said to be.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    /// Time 0 is the present.
    #[expect(
        clippy::disallowed_methods,
        reason = "quinn takes instants, which only the clock of the machine can make"
    )]
    pub fn start() -> Self {
        Clock { origin: Instant::now() }
    }

    /// The instant of a time.
    pub fn instant(self, time: Time) -> Instant {
        self.origin + Duration::from_nanos(time.picoseconds() / PICOSECONDS_PER_NANOSECOND)
    }

    /// The time of an instant; [`Time::NEVER`] for none.
    pub fn time(self, instant: Option<Instant>) -> Time {
        instant.map_or(Time::NEVER, |instant| {
            let span = instant.saturating_duration_since(self.origin).as_nanos() as u64;
            Time::from_picoseconds(span * PICOSECONDS_PER_NANOSECOND)
        })
    }
}

/// An end of a connection.
#[derive(Debug)]
pub struct Host {
    endpoint: Endpoint,
    peer: SocketAddr,
    connection: Option<(ConnectionHandle, Connection)>,
    /// The stream on which the application sends, if this end is the client's and connected.
    sends_on: Option<StreamId>,
    /// When the next timer of the connection is due, as of the last [`Host::drive`].
    pub timeout: Option<Instant>,
    /// Payload that the application has read.
    pub received_bytes: u64,
}

/// A client that connects and sends without end, and its server, which reads.
///
/// # Errors
/// TLS cannot be set up.
pub fn pair(
    clock: Clock,
    control: Arc<dyn ControllerFactory + Send + Sync>,
) -> Result<(Host, Host), Box<dyn Error>> {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(control).mtu_discovery_config(None);
    let transport = Arc::new(transport);
    let identity = rcgen::generate_simple_self_signed(vec!["server".to_owned()])?;
    let key = PrivatePkcs8KeyDer::from(identity.signing_key.serialize_der());
    let certificate = identity.cert.der().clone();
    let mut of_server = ServerConfig::with_single_cert(vec![certificate.clone()], key.into())?;
    of_server.transport_config(Arc::clone(&transport));
    let mut roots = RootCertStore::empty();
    roots.add(certificate)?;
    let mut of_client = ClientConfig::with_root_certificates(Arc::new(roots))?;
    of_client.transport_config(transport);

    let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut client = Host::new(None, address(2));
    let mut server = Host::new(Some(Arc::new(of_server)), address(1));
    client.connection = Some(client.endpoint.connect(
        clock.instant(Time::ZERO),
        of_client,
        address(2),
        "server",
    )?);
    server.peer = address(1);
    Ok((client, server))
}

impl Host {
    fn new(server: Option<Arc<ServerConfig>>, peer: SocketAddr) -> Self {
        let config = Arc::new(EndpointConfig::default());
        let endpoint = Endpoint::new(config, server, true, Some([7; 32]));
        Host { endpoint, peer, connection: None, sends_on: None, timeout: None, received_bytes: 0 }
    }

    /// A datagram arrives.
    pub fn receive(&mut self, now: Instant, ecn: Option<EcnCodepoint>, datagram: &[u8]) {
        let mut answer = Vec::new();
        let data = BytesMut::from(datagram);
        match self.endpoint.handle(now, self.peer, None, ecn, data, &mut answer) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.connection = self.endpoint.accept(incoming, now, &mut answer, None).ok();
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }

    /// Fires the timers that are due, lets the application write and read, and passes each datagram that
    /// the connection sends to `send`, which also hears whether the application can write.
    pub fn drive(&mut self, now: Instant, mut send: impl FnMut(Option<EcnCodepoint>, &[u8], bool)) {
        let Some((handle, mut connection)) = self.connection.take() else { return };
        if self.timeout.is_some_and(|due| due <= now) {
            connection.handle_timeout(now);
        }
        self.run_application(&mut connection);
        let mut datagram = Vec::new();
        while let Some(transmit) = connection.poll_transmit(now, 1, &mut datagram) {
            send(transmit.ecn, &datagram[..transmit.size], self.sends_on.is_some());
            datagram.clear();
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(handle, event) {
                connection.handle_event(event);
            }
        }
        self.timeout = connection.poll_timeout();
        self.connection = Some((handle, connection));
    }

    fn run_application(&mut self, connection: &mut Connection) {
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected if connection.side().is_client() => {
                    self.sends_on = connection.streams().open(Dir::Uni);
                }
                Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(stream) = connection.streams().accept(dir) {
                        self.read(connection, stream);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => self.read(connection, id),
                _ => {}
            }
        }
        if let Some(stream) = self.sends_on {
            // As much as the connection takes.
            while connection.send_stream(stream).write(&[0; 4_096]).is_ok_and(|bytes| bytes > 0) {}
        }
    }

    fn read(&mut self, connection: &mut Connection, stream: StreamId) {
        let mut stream = connection.recv_stream(stream);
        let Ok(mut chunks) = stream.read(true) else { return };
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            self.received_bytes += chunk.bytes.len() as u64;
        }
        let _ = chunks.finalize();
    }
}
