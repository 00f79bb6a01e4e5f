import os

from requests_oauthlib import OAuth2Session

from harness import (
    ACCOUNT_QUERY,
    ACCOUNT_URL,
    CALLBACK,
    PROFILE,
    RESOURCE,
    SCOPE,
    assert_account,
    authorize,
    discover,
    needs,
    register,
    run,
    step,
    wait_for_expiry,
)

# The test gate is on loopback without TLS.
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"


def main():
    resource = {}
    if PROFILE == "A":
        resource = {"resource": RESOURCE}
        needs(
            "session.authorization_url(..., resource=RESOURCE)",
            "session.fetch_token(..., resource=RESOURCE)",
        )
    with step("discover"):
        server = discover()
    with step("register"):
        client_id, client_secret = register(server)
    if client_secret is None:
        needs("OAuth2Session(..., auto_refresh_kwargs={'client_id': client_id})")
        auto_refresh_kwargs = {"client_id": client_id}
    else:
        needs("OAuth2Session(..., auto_refresh_kwargs={'client_id': client_id, 'client_secret': client_secret})")
        auto_refresh_kwargs = {"client_id": client_id, "client_secret": client_secret}
    session = OAuth2Session(
        client_id,
        redirect_uri=CALLBACK,
        scope=SCOPE.split(),
        pkce="S256",
        auto_refresh_url=server["token_endpoint"],
        auto_refresh_kwargs=auto_refresh_kwargs,
        token_updater=lambda token: None,
    )
    url, _ = session.authorization_url(server["authorization_endpoint"], **resource)
    with step("authorize"):
        callback = authorize(url)
    with step("token"):
        session.fetch_token(
            server["token_endpoint"], authorization_response=callback, client_secret=client_secret, **resource
        )
    with step("userinfo"):
        assert session.get(server["userinfo_endpoint"]).json()["sub"]
    if PROFILE == "A":
        with step("account"):
            assert_account(session.post(ACCOUNT_URL, json={"query": ACCOUNT_QUERY}))
    first = session.token["access_token"]
    wait_for_expiry()
    with step("expired-and-refreshed"):
        assert session.get(server["userinfo_endpoint"]).json()["sub"]
        assert session.token["access_token"] != first


run("requests-oauthlib", main)
