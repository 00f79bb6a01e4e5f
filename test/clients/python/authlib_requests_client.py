from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session

from harness import (
    ACCOUNT_QUERY,
    ACCOUNT_URL,
    CALLBACK,
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
            "session.create_authorization_url(..., resource=RESOURCE)",
            "session.fetch_token(..., resource=RESOURCE)",
        )
    with step("discover"):
        server = discover()
    with step("register"):
        client_id, client_secret = register(server)
    session = OAuth2Session(
        client_id,
        client_secret,
        redirect_uri=CALLBACK,
        scope=SCOPE,
        code_challenge_method="S256",
        token_endpoint=server["token_endpoint"],
    )
    verifier = generate_token(48)
    url, state = session.create_authorization_url(
        server["authorization_endpoint"], code_verifier=verifier, **resource
    )
    with step("authorize"):
        callback = authorize(url)
    with step("token"):
        session.fetch_token(authorization_response=callback, state=state, code_verifier=verifier, **resource)
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
    with step("revoked"):
        session.revoke_token(server["revocation_endpoint"], token=session.token["refresh_token"]).raise_for_status()
        assert_refused(session.token["access_token"])


run("Authlib", main)
