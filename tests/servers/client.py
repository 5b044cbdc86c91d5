"""A client of the Python SDK (1.x and 2.x): starts the server that its arguments name, says READY, and stays."""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main():
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        await session.list_tools()
        print("READY", flush=True)
        await asyncio.Event().wait()


asyncio.run(main())
