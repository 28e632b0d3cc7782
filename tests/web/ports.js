// A port of one's own for whoever plays another server.

/** Lets a server listen on this machine, and tells where. @param {import("node:net").Server} server @param {number} [port] @returns {Promise<number>} */
export async function listen(server, port = 0) {
  await new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve(null)));
  return /** @type {import("node:net").AddressInfo} */ (server.address()).port;
}

/** Ends a server and whatever is still open to it. @param {import("node:http").Server} server */
export async function hangUp(server) {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
