"""The gateway: any agent, one base URL. Needs the extra `gateway` (aiohttp, uvicorn)."""
