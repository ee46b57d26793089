// GraphQL over HTTP: graphql-http's audit for servers finds no error and no warning.

import assert from "node:assert/strict";
import { test } from "node:test";

import { serverAudits } from "graphql-http";

import { authorizedFetch, endpoint } from "./server.js";

for (const audit of serverAudits({ url: endpoint, fetchFn: authorizedFetch })) {
  test(audit.name, async () => {
    const { status, reason, response } = await audit.fn();
    const received = response && `${response.status} ${await response.text()}`;
    assert.equal(status, "ok", `${audit.id} ${reason}: ${received}`);
  });
}

test("the audit is complete", () => {
  assert(serverAudits({ url: endpoint }).length >= 61);
});
