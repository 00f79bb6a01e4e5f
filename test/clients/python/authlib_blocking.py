from authlib.common.security import generate_token

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
    step,
    wait_for_expiry,
)


def use(client_class, name):
    """Every step with a client of Authlib that does not use asyncio. `name` is what its examples call it."""
    resource = {}
    if PROFILE == "A":
        resource = {"resource": RESOURCE}
        needs(
            f"{name}.create_authorization_url(..., resource=RESOURCE)",
            f"{name}.fetch_token(..., resource=RESOURCE)",
        )
    with step("discover"):
        server = discover()
    with step("register"):
        client_id, client_secret = register(server)
    client = client_class(
        client_id,
        client_secret,
        redirect_uri=CALLBACK,
        scope=SCOPE,
        code_challenge_method="S256",
        token_endpoint=server["token_endpoint"],
    )
    verifier = generate_token(48)
    url, state = client.create_authorization_url(
        server["authorization_endpoint"], code_verifier=verifier, **resource
    )
    with step("authorize"):
        callback = authorize(url)
    with step("token"):
        client.fetch_token(authorization_response=callback, state=state, code_verifier=verifier, **resource)
    with step("userinfo"):
        assert client.get(server["userinfo_endpoint"]).json()["sub"]
    if PROFILE == "A":
        with step("account"):
            assert_account(client.post(ACCOUNT_URL, json={"query": ACCOUNT_QUERY}))
    first = client.token["access_token"]
    wait_for_expiry()
    with step("expired-and-refreshed"):
        assert client.get(server["userinfo_endpoint"]).json()["sub"]
        assert client.token["access_token"] != first
    with step("revoked"):
        client.revoke_token(server["revocation_endpoint"], token=client.token["refresh_token"]).raise_for_status()
        assert_refused(client.token["access_token"])
