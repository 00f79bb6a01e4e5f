import requests
from requests_oauth2client import OAuth2AccessTokenAuth, OAuth2Client

from harness import (
    ACCOUNT_QUERY,
    ACCOUNT_URL,
    CALLBACK,
    ISSUER,
    PROFILE,
    RESOURCE,
    SCOPE,
    assert_account,
    assert_refused,
    authorize,
    discover,
    needs,
    register,
    run,
    step,
    wait_for_expiry,
)


def main():
    resource = {}
    if PROFILE == "A":
        resource = {"resource": RESOURCE}
        needs(
            "client.authorization_request(..., resource=RESOURCE)",
            "client.authorization_code(..., resource=RESOURCE)",
        )
    with step("register"):
        client_id, _ = register(discover())
    with step("discover"):
        # testing: the test gate is on loopback without TLS.
        client = OAuth2Client.from_discovery_endpoint(
            issuer=ISSUER, client_id=client_id, redirect_uri=CALLBACK, testing=True
        )
    request = client.authorization_request(scope=SCOPE, **resource)
    with step("authorize"):
        response = request.validate_callback(authorize(request.uri))
    with step("token", "id_token"):
        # The ID token is checked by the same call.
        token = client.authorization_code(response, **resource)
        assert token.id_token.claims["sub"]
    session = requests.Session()
    session.auth = OAuth2AccessTokenAuth(client, token, leeway=0)
    with step("userinfo"):
        assert client.userinfo(token)["sub"]
    if PROFILE == "A":
        with step("account"):
            assert_account(session.post(ACCOUNT_URL, json={"query": ACCOUNT_QUERY}))
    wait_for_expiry()
    with step("expired-and-refreshed"):
        response = session.get(f"{ISSUER}/api/v1/whoami")
        response.raise_for_status()
        assert session.auth.token.access_token != token.access_token
    with step("revoked"):
        assert client.revoke_refresh_token(session.auth.token)
        assert_refused(session.auth.token.access_token)


run("requests_oauth2client", main)
