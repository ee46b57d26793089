// The part of orderql's schema that the benchmarks need, with PostGraphile in production mode: two workers that share a port.
//
// DATABASE_URL names the database, PORT the port (any for 0 or none). Prints `listening on 127.0.0.1:PORT` when both
// workers do, and ends on SIGTERM or SIGINT.

if (Number.parseInt(process.versions.node, 10) < 22) {
  console.error(`PostGraphile needs Node 22 or later; this is ${process.versions.node}: run npm ci, and start ./serve`);
  process.exit(1);
}
process.env.NODE_ENV = "production";
process.env.GRAPHILE_ENV = "production";

const { default: cluster } = await import("node:cluster");

const WORKERS = 2;

if (cluster.isPrimary) {
  let listening = 0;
  cluster.on("listening", (worker, { port }) => {
    listening += 1;
    if (listening === WORKERS) console.log(`listening on 127.0.0.1:${port}`);
    // The first worker may have chosen the port; the second gets the same one.
    else if (listening === 1) fork(port);
  });
  cluster.on("exit", (worker, code) => {
    if (!worker.exitedAfterDisconnect) process.exit(code || 1);
  });
  for (const signal of ["SIGTERM", "SIGINT"]) {
    process.on(signal, () => {
      for (const worker of Object.values(cluster.workers)) worker.kill("SIGKILL");
      process.exit(0);
    });
  }
  fork(process.env.PORT ?? "0");
} else {
  const { serve } = await import("./serve.mjs");
  await serve(Number(process.env.PORT));
}

function fork(port) {
  cluster.fork({ PORT: port });
}
