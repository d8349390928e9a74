// Says why nothing happens where the page is opened as a file: there, a browser loads no modules.
if (window.location.protocol === "file:") {
  document.getElementById("engine").textContent =
    "This page needs a web server: python -m http.server in its directory.";
}
