// Keeps the shell of this version for when the network is slow; never an answer of the API.
const CACHE = "void-VERSION";
const SHELL = ["/ui/VERSION/theme.js", "/ui/VERSION/app.css", "/ui/VERSION/app.js", "/ui/VERSION/icon.svg"];

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll(SHELL))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name !== CACHE).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { pathname, origin } = new URL(event.request.url);
  if (event.request.method !== "GET" || origin !== self.location.origin || !pathname.startsWith("/ui/VERSION/")) return;
  event.respondWith(caches.match(event.request).then((kept) => kept ?? fetch(event.request)));
});
