"""Optional libraries: an error names what installs the one that is missing."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module

from tailroom.errors import MissingLibraryError

INSTALLED_BY = {
    "gymnasium": "'tailroom[env]'",
    "matplotlib": "'tailroom[plots]'",
    "pandas": "'tailroom[frames]'",
    "pettingzoo": "'tailroom[env]'",
    "polars": "'tailroom[frames]'",
    "pyarrow": "'tailroom[tables]'",
    "tailroom_atlas": "tailroom-atlas",
    "tailroom_papers": "tailroom-papers",
}
"""What pip installs a library with."""


@contextmanager
def named_if_missing() -> Iterator[None]:
    """Replaces the error about an optional library that the block cannot import.

    Raises:
        MissingLibraryError: The library is not installed.
        ModuleNotFoundError: Another module is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in INSTALLED_BY:
            raise
        raise MissingLibraryError(
            f"{library.replace('_', '-')} is not installed; install it with: pip install "
            f"{INSTALLED_BY[library]}"
        ) from None


@contextmanager
def loading(load: Callable[[], object], *, after_s: float) -> Iterator[None]:
    """Loads libraries in a thread, so that the end of the block need not wait for them.

    Args:
        load: Imports the libraries.
        after_s: Time after which it is called; a shorter block does not load them.
    """
    thread = threading.Timer(after_s, load)
    thread.start()
    try:
        yield
    finally:
        thread.cancel()
        thread.join()


def need(*libraries: str) -> None:
    """Imports libraries before work that would be lost without them.

    Args:
        libraries: Names of optional libraries.

    Raises:
        MissingLibraryError: One of them is not installed.
    """
    with named_if_missing():
        for library in libraries:
            import_module(library)
