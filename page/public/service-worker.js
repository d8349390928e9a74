// Keeps the page for use without a network. The build fills in the files and their version.
const KEPT = "tailroom-/* version */";
const FILES = ["./", ...[/* files */]];

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(KEPT)
      .then((cache) => cache.addAll(FILES))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) =>
        Promise.all(
          names
            .filter((name) => name.startsWith("tailroom-") && name !== KEPT)
            .map((name) => caches.delete(name)),
        ),
      )
      .then(() => self.clients.claim()),
  );
});

// Files with a hash in their name never change; everything else comes from the network if it can.
self.addEventListener("fetch", (event) => {
  const address = new URL(event.request.url);
  if (event.request.method !== "GET" || address.origin !== self.location.origin) return;
  const kept = () => caches.match(event.request, { ignoreSearch: true });
  event.respondWith(
    address.pathname.includes("/assets/")
      ? kept().then((answer) => answer ?? fetch(event.request))
      : fetch(event.request).catch(() => kept().then((answer) => answer ?? Response.error())),
  );
});
