//! Long work of the engine in a thread of its own, so that Ctrl-C acts meanwhile.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use tailroom_engine::scenario::FileLoader;

use crate::error::{Failure, catch_panics};

/// Between two looks at signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(20);

/// What the thread says to its caller.
enum Message<T> {
    /// Load this file of at most this size.
    Load(String, u64, Sender<Loaded>),
    /// The work has ended.
    Done(Result<T, Failure>),
}

type Loaded = Result<Option<String>, String>;

/// Has files loaded by the thread that waits, which may run Python.
struct Asking<T>(Sender<Message<T>>);

impl<T> FileLoader for Asking<T> {
    fn load(&self, path: &str, most_bytes: u64) -> Loaded {
        let (reply, loaded) = mpsc::channel();
        let nobody = "nobody waits for it";
        let asked = self.0.send(Message::Load(path.to_owned(), most_bytes, reply));
        asked.map_err(|_| nobody.to_owned())?;
        loaded.recv().map_err(|_| nobody.to_owned())?
    }
}

/// Does `work` without the interpreter's lock. If the work is long, a thread does it, and the caller
/// handles Python's signals meanwhile. After Ctrl-C the caller returns, and the thread ends by itself.
pub(crate) fn wait_for<T: Send + 'static, F: FileLoader + Send>(
    py: Python<'_>,
    is_long: bool,
    files: &mut F,
    work: impl FnOnce(&dyn FileLoader) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    if !is_long {
        return py.detach(move || catch_panics(|| work(files)));
    }
    let (sender, mut receiver) = mpsc::channel();
    let work = move || {
        let asking = Asking(sender.clone());
        let result = catch_panics(|| work(&asking));
        // Without a receiver, nobody waits.
        sender.send(Message::Done(result)).unwrap_or_default();
    };
    let ended = |reason: &dyn ToString| Failure::Panic(reason.to_string());
    thread::Builder::new().spawn(work).map_err(|error| ended(&error))?;
    loop {
        let (receiver, files) = (&mut receiver, &mut *files);
        match py.detach(move || receiver.recv_timeout(SIGNAL_INTERVAL)) {
            Ok(Message::Done(result)) => return result,
            Ok(Message::Load(path, most_bytes, reply)) => {
                let loaded = py.detach(move || files.load(&path, most_bytes));
                reply.send(loaded).unwrap_or_default();
            }
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(error @ RecvTimeoutError::Disconnected) => return Err(ended(&error)),
        }
    }
}
