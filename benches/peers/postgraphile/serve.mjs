// One worker: PostGraphile behind node's own HTTP server.

import { createServer } from "node:http";

import { postgraphile } from "postgraphile";
import { grafserv } from "postgraphile/grafserv/node";

import { preset } from "./preset.mjs";

export async function serve(port) {
  const instance = postgraphile(preset).createServ(grafserv);
  const server = createServer();
  server.on("error", (error) => {
    console.error(error);
    process.exit(1);
  });
  await instance.addTo(server);
  // The schema is built before the server listens.
  await instance.ready?.();
  server.listen(port, "127.0.0.1");
}
