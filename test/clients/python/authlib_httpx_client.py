from authlib.integrations.httpx_client import OAuth2Client

from authlib_blocking import use
from harness import run


run("Authlib", lambda: use(OAuth2Client, "client"))
