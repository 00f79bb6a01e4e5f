import asyncio
import webbrowser

from fastmcp import Client

from harness import MCP_MEMBER_URL, TOOL, run, seconds_to_expiry, show_to_member, step


class MemberBrowser(webbrowser.BaseBrowser):
    """The browser that FastMCP opens."""

    def open(self, url, new=0, autoraise=True):
        show_to_member(url)
        return True


webbrowser.register("member", None, MemberBrowser(), preferred=True)


async def main():
    async with Client(MCP_MEMBER_URL, auth="oauth") as client:
        with step("discover", "register", "authorize", "token", "tools"):
            assert TOOL in [tool.name for tool in await client.list_tools()]
        storage = client.transport.auth.token_storage_adapter
        with step("call"):
            await client.call_tool(TOOL, {})
        first = (await storage.get_tokens()).access_token
        await asyncio.sleep(seconds_to_expiry())
        with step("expired-and-refreshed"):
            await client.call_tool(TOOL, {})
            assert (await storage.get_tokens()).access_token != first


run("fastmcp", main)
