"""The files of the built page, with the scenario that it opens."""

from pathlib import Path

from tailroom.errors import ExploreError

PAGE = Path(__file__).parent / "page"
"""Where `make page` puts the built page."""
OPENED = "opened.json"
"""What the page asks for when it starts."""


def page_files(opened: bytes) -> dict[str, bytes]:
    """Returns the content of the page's files, by their path below the page.

    Args:
        opened: The scenario for the page, as JSON.

    Raises:
        ExploreError: This installation has no page.
    """
    if not (PAGE / "index.html").is_file():
        raise ExploreError(
            "this installation was built without the page, which wheels contain; in the "
            "repository, install node 20 or newer with npm, and Rust's target for the browser with "
            "`rustup target add wasm32-unknown-unknown`, then run `make page`"
        )
    built = [path for path in PAGE.rglob("*") if path.is_file()]
    files = {path.relative_to(PAGE).as_posix(): path.read_bytes() for path in built}
    return {**files, OPENED: opened}


def write_page(directory: Path, opened: bytes) -> None:
    """Writes the page's files into an empty directory, for any web server.

    Args:
        directory: The directory.
        opened: The scenario for the page, as JSON.

    Raises:
        ExploreError: This installation has no page.
    """
    for path, content in page_files(opened).items():
        file = directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
