"""`orderql mcp` with the official client of the Model Context Protocol, over standard input and over HTTP: lists and calls everything."""

import asyncio
import json
import sys

import httpx2
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

program, server, token, address = sys.argv[1:]

QUERY = "{ orders(first: 3) { edges { node { orderId orderName } } pageInfo { hasNextPage endCursor } } }"
TOOLS = ["search_schema", "price_query", "run_query", "page_on", "explain_error", "changes_since"]


async def everything(session):
    await session.initialize()
    tools = (await session.list_tools()).tools
    assert [tool.name for tool in tools] == TOOLS, tools
    prompts = (await session.list_prompts()).prompts
    for prompt in prompts:
        assert (await session.get_prompt(prompt.name)).messages[0].content.text.startswith(prompt.description)

    async def call(tool, **arguments):
        result = await session.call_tool(tool, arguments)
        return result.is_error, json.loads(result.content[0].text), result.meta

    failed, found, _ = await call("search_schema", words="notes of an order")
    assert not failed and "noteInfo" in found["example"], found
    failed, price, _ = await call("price_query", query=QUERY)
    assert not failed and price["cost"] == 9, price
    failed, run, meta = await call("run_query", query=QUERY)
    assert not failed and len(run["data"]["orders"]["edges"]) == 3, run
    names = [f"/data/orders/edges/*/node/{name}" for name in ("orderId", "orderName")]
    assert meta["orderql/untrusted"] == names, meta
    failed, page, _ = await call("page_on", handle=run["pages"]["orders"])
    assert not failed and page["data"] != run["data"], page
    broken = QUERY.replace("orderName", "ordrName")
    failed, refused, _ = await call("run_query", query=broken)
    assert failed and refused["errors"][0]["extensions"]["suggestions"][0] == "orderName", refused
    failed, explained, _ = await call("explain_error", error=refused["errors"], query=broken)
    assert not failed and explained["corrected"]["query"] == QUERY, explained
    failed, changes, _ = await call("changes_since")
    assert not failed and changes["token"], changes


async def main():
    parameters = StdioServerParameters(command=program, args=["mcp", "--url", server], env={"ORDERQL_TOKEN": token})
    async with stdio_client(parameters) as (reader, writer), ClientSession(reader, writer) as session:
        await everything(session)
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as client:
        async with streamable_http_client(address, http_client=client) as streams:
            async with ClientSession(*streams[:2]) as session:
                await everything(session)


asyncio.run(main())
