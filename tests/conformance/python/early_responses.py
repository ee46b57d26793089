"""HTTP/2 responses that the server gives before it has read the request's body: none may be lost."""

import sys

import httpx

url, token = sys.argv[1:]
body = b" " * 60_000
cases = [
    ("/rest/s1/graphql", {}, 401),
    ("/rest/s1/graphql", {"Authorization": f"Bearer {token}", "Content-Type": "text/plain"}, 415),
    ("/nowhere", {}, 404),
    ("/health/live", {}, 405),
]
with httpx.Client(http1=False, http2=True) as client:
    for _ in range(10):
        for path, headers, status in cases:
            response = client.post(url + path, headers=headers, content=body)
            found = (response.http_version, response.status_code, bool(response.content))
            assert found == ("HTTP/2", status, True), (path, found)
