// GraphQL over HTTP, by the audit that graphql-http has for servers: nothing is wrong, and nothing could be better.

import assert from "node:assert/strict";
import { test } from "node:test";

import { serverAudits } from "graphql-http";

import { authorizedFetch, endpoint } from "./server.js";

for (const audit of serverAudits({ url: endpoint, fetchFn: authorizedFetch })) {
  test(audit.name, async () => {
    const { status, reason, response } = await audit.fn();
    const answered = response && `${response.status} ${await response.text()}`;
    assert.equal(status, "ok", `${audit.id} ${reason}: ${answered}`);
  });
}

test("the audit is the whole of it", () => {
  assert(serverAudits({ url: endpoint }).length >= 61);
});
