"""The official Python client, over HTTP and over standard input: lists the tools and calls each.

    python client.py VOID_BINARY   (VOID_API_URL, VOID_AGENT_TOKEN)
"""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

URL, TOKEN = os.environ["VOID_API_URL"], os.environ["VOID_AGENT_TOKEN"]


async def use(streams, transport):
    async with ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        prompts = [prompt.name for prompt in (await session.list_prompts()).prompts]
        # A token without suggest drafts no runbook.
        assert prompts == ["what_is_wrong", "what_changed"], prompts
        for name in prompts:
            got = await session.get_prompt(name)
            assert got.messages[0].content.text and len(got.messages) > 1, (name, got)
        resources = [str(resource.uri) for resource in (await session.list_resources()).resources]
        lists = ["services", "actions", "proposals", "spaces"]
        assert resources == [f"void://{name}" for name in lists], resources
        for uri in [*resources, "void://actions/stop-ct107", "void://search?q=stop"]:
            read = await session.read_resource(uri)
            assert json.loads(read.contents[0].text), (uri, read)
        templates = (await session.list_resource_templates()).resource_templates
        assert "void://refs/{id}" in [template.uri_template for template in templates], templates
        queued = await session.call_tool("propose_action", {"action_id": "stop-ct107", "reason": "a client's test"})
        code = queued.structured_content["code"]
        calls = {
            "service_status": {},
            "list_actions": {},
            "propose_action": {"action_id": "stop-ct107", "reason": "asked again"},
            "proposal_status": {"proposal": code},
            "withdraw_proposal": {"proposal": code},
            "search": {"query": "stop"},
        }
        assert set(tools) == set(calls), tools
        for name in tools:
            result = await session.call_tool(name, calls[name])
            # The client has checked the result against the tool's schema.
            assert not result.is_error and result.structured_content is not None, (name, result)
        refused = await session.call_tool("propose_action", {"action_id": "no-such", "reason": "x"})
        assert refused.is_error and refused.content[0].text.startswith("unknown_action: "), refused
        print(f"python over {transport}: {len(tools)} tools called")


async def main():
    async with create_mcp_http_client(headers={"Authorization": f"Bearer {TOKEN}"}) as client:
        async with streamable_http_client(f"{URL}/mcp", http_client=client) as streams:
            await use(streams, "http")
    environment = {"VOID_API_URL": URL, "VOID_AGENT_TOKEN": TOKEN}
    server = StdioServerParameters(command=sys.argv[1], args=["mcp"], env=environment)
    async with stdio_client(server) as streams:
        await use(streams, "stdio")


asyncio.run(main())
