import asyncio
from urllib.parse import parse_qs, urlparse

import httpx
from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

from harness import CALLBACK, MCP_MEMBER_URL, STEP_UP, TOOL, authorize, run, seconds_to_expiry, step


class MemoryStorage:
    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


async def main():
    storage = MemoryStorage()
    returned = {}

    async def redirect_handler(url):
        returned.update(parse_qs(urlparse(await asyncio.to_thread(authorize, url)).query))

    async def callback_handler():
        return returned["code"][0], returned["state"][0]

    oauth = OAuthClientProvider(
        server_url=MCP_MEMBER_URL,
        client_metadata=OAuthClientMetadata(client_name="MCP Python SDK 1", redirect_uris=[CALLBACK]),
        storage=storage,
        redirect_handler=redirect_handler,
        callback_handler=callback_handler,
    )
    async with (
        httpx.AsyncClient(auth=oauth, timeout=30) as http_client,
        streamable_http_client(MCP_MEMBER_URL, http_client=http_client) as (read, write, _),
        ClientSession(read, write) as client,
    ):
        with step("discover", "register", "authorize", "token", "tools"):
            await client.initialize()
            tools = await client.list_tools()
            assert TOOL in [tool.name for tool in tools.tools]
        with step("call"):
            result = await client.call_tool(TOOL, {})
            assert not result.isError, result
        if STEP_UP:
            with step("step-up"):
                before = set(storage.tokens.scope.split())
                result = await client.call_tool(STEP_UP["name"], STEP_UP["arguments"])
                assert not result.isError, result
                assert before < set(storage.tokens.scope.split()), storage.tokens.scope
            return
        first = storage.tokens.access_token
        await asyncio.sleep(seconds_to_expiry())
        with step("expired-and-refreshed"):
            result = await client.call_tool(TOOL, {})
            assert not result.isError, result
            assert storage.tokens.access_token != first


run("mcp", main)
