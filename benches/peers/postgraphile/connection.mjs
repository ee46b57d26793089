// A libpq connection string, URI or key=value, as node-postgres takes it.

export function connection(text) {
  if (!text) throw new Error("DATABASE_URL is missing");
  if (/^postgres(ql)?:\/\//.test(text)) return uri(text);
  const known = { host: "host", port: "port", user: "user", password: "password", dbname: "database" };
  const settings = {};
  for (const [, key, quoted, plain] of text.matchAll(/(\w+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|(\S*))/g)) {
    if (known[key]) settings[known[key]] = (quoted ?? plain).replace(/\\(.)/g, "$1");
  }
  return settings;
}

// The folder of a Unix socket is the percent-encoded host, or a parameter.
function uri(text) {
  const [, user, password, host, port, database, query] =
    /^\w+:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^:/?]*)(?::(\d+))?(?:\/([^?]*))?(?:\?(.*))?$/.exec(text) ?? [];
  const parameters = new URLSearchParams(query ?? "");
  const settings = {
    host: parameters.get("host") ?? decoded(host),
    port: parameters.get("port") ?? port,
    user: parameters.get("user") ?? decoded(user),
    password: parameters.get("password") ?? decoded(password),
    database: parameters.get("dbname") ?? decoded(database),
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value));
}

function decoded(text) {
  return text && decodeURIComponent(text);
}
