"""What every client program says to the harness (../README.md), and what the harness tells it."""

import asyncio
import inspect
import json
import os
import sys
import time
import traceback
import urllib.error
import urllib.request
from contextlib import contextmanager
from importlib.metadata import version as installed_version

ISSUER = os.environ["ISSUER"]
RESOURCE = os.environ["RESOURCE"]
PROFILE = os.environ["PROFILE"]
# Assistants that sign in only after a 401 use this address.
MCP_MEMBER_URL = os.environ["MCP_URL"] + "/member"
ACCOUNT_URL = os.environ.get("ACCOUNT_URL", "")
CALLBACK = os.environ["CALLBACK"]
# The call of a tool that the first token does not cover, for a step-up.
STEP_UP = json.loads(os.environ.get("STEP_UP", "null"))
TOKEN_LIFETIME = float(os.environ["TOKEN_LIFETIME"])

TOOL = "get_my_account" if PROFILE == "A" else "search_courses"
SCOPE = "openid profile email" + (" account:read" if PROFILE == "A" else "")
ACCOUNT_QUERY = "{ viewer { id email } }"

_attempted = "start"


def say(word, value):
    print(word, json.dumps(value), flush=True)


@contextmanager
def step(*names):
    """Reports the steps once the block has ended without an error."""
    global _attempted
    _attempted = names[0]
    yield
    for name in names:
        say("step", {"name": name})


def needs(*lines):
    say("needs", {"lines": lines})


def show_to_member(url):
    say("authorize", {"url": url})


def authorize(url):
    """Sends the member to `url` and returns the URL that their browser came back to."""
    show_to_member(url)
    callback = sys.stdin.readline().strip()
    if not callback:
        raise RuntimeError("the member did not come back")
    return callback


def seconds_to_expiry():
    return TOKEN_LIFETIME + 1


def wait_for_expiry():
    time.sleep(seconds_to_expiry())


def fetch_json(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=30) as response:
        return json.load(response)


def discover():
    """The server's metadata, for libraries that do not read it themselves."""
    return fetch_json(f"{ISSUER}/.well-known/oauth-authorization-server")


def register(metadata):
    """
    Registers a client (RFC 7591), for libraries that do not register: a public one, or one with a secret if the program
    is started with "secret". Returns its client_id, and its secret or None.
    """
    method = "client_secret_post" if sys.argv[1:] == ["secret"] else "none"
    described = {"client_name": "Python", "redirect_uris": [CALLBACK], "token_endpoint_auth_method": method}
    client = fetch_json(metadata["registration_endpoint"], described)
    return client["client_id"], client.get("client_secret")


def assert_account(response):
    """Holds an answer of the Account API (of requests or httpx) to naming the member."""
    response.raise_for_status()
    assert response.json()["data"]["viewer"]["id"], response.text


def assert_refused(access_token):
    request = urllib.request.Request(f"{ISSUER}/api/oauth/userinfo", headers={"Authorization": f"Bearer {access_token}"})
    try:
        urllib.request.urlopen(request, timeout=30)
    except urllib.error.HTTPError as refusal:
        assert refusal.code == 401, refusal
    else:
        raise AssertionError("the revoked access token is still accepted")


def run(distribution, main):
    say("version", {"library": installed_version(distribution)})
    try:
        if inspect.iscoroutinefunction(main):
            asyncio.run(main())
        else:
            main()
    except BaseException as error:
        traceback.print_exc()
        say("failed", {"step": _attempted, "message": f"{type(error).__name__}: {error}"[:500]})
        # Listeners that a library has started must not keep the program alive.
        sys.stderr.flush()
        os._exit(1)
