"""aiohttp as it comes: python3 server_aiohttp.py PORT"""
import sys

from aiohttp import web


async def hello(request):
    return web.Response(text="hello\n")


app = web.Application()
app.router.add_get("/", hello)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None)
