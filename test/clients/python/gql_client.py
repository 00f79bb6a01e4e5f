from authlib.common.security import generate_token
from authlib.integrations.httpx_client import OAuth2Client
from gql import Client, gql
from gql.transport.httpx import HTTPXTransport

from harness import (
    ACCOUNT_QUERY,
    ACCOUNT_URL,
    CALLBACK,
    RESOURCE,
    SCOPE,
    authorize,
    discover,
    register,
    run,
    step,
    wait_for_expiry,
)


def main():
    # The token is Authlib's, as in authlib_blocking.py. Only what gql itself needs is reported.
    server = discover()
    client_id, _ = register(server)
    oauth = OAuth2Client(
        client_id,
        redirect_uri=CALLBACK,
        scope=SCOPE,
        code_challenge_method="S256",
        token_endpoint=server["token_endpoint"],
        leeway=0,
    )
    verifier = generate_token(48)
    url, state = oauth.create_authorization_url(
        server["authorization_endpoint"], code_verifier=verifier, resource=RESOURCE
    )
    oauth.fetch_token(
        authorization_response=authorize(url), state=state, code_verifier=verifier, resource=RESOURCE
    )

    def read_account():
        transport = HTTPXTransport(ACCOUNT_URL, headers={"Authorization": f"Bearer {oauth.token['access_token']}"})
        with Client(transport=transport, fetch_schema_from_transport=True) as session:
            assert session.execute(gql(ACCOUNT_QUERY))["viewer"]["id"]

    with step("account"):
        read_account()
    wait_for_expiry()
    with step("expired-and-refreshed"):
        oauth.ensure_active_token()
        read_account()


run("gql", main)
