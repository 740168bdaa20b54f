"""uvicorn as it comes: uvicorn server_uvicorn:app --port PORT"""


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    headers = [(b"content-length", b"6")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"hello\n"})
