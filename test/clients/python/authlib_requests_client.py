from authlib.integrations.requests_client import OAuth2Session

from authlib_blocking import use
from harness import run


run("Authlib", lambda: use(OAuth2Session, "session"))
