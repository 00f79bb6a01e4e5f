from oic import rndstr
from oic.oic import Client
from oic.oic.message import AuthorizationResponse
from oic.utils.authn.client import CLIENT_AUTHN_METHOD

from harness import (
    CALLBACK,
    ISSUER,
    PROFILE,
    RESOURCE,
    SCOPE,
    authorize,
    needs,
    run,
    step,
    wait_for_expiry,
)


def main():
    needs(
        "client.register(..., token_endpoint_auth_method='client_secret_post')",
        "client.register(..., grant_types=['authorization_code', 'refresh_token'])",
        "client.do_user_info_request(..., method='GET')",
    )
    resource = {}
    if PROFILE == "A":
        resource = {"resource": RESOURCE}
        needs(
            "client.construct_AuthorizationRequest(request_args={..., 'resource': RESOURCE})",
            "client.do_access_token_request(request_args={..., 'resource': RESOURCE})",
        )
    client = Client(client_authn_method=CLIENT_AUTHN_METHOD)
    with step("discover"):
        server = client.provider_config(ISSUER)
    with step("register"):
        client.register(
            server["registration_endpoint"],
            redirect_uris=[CALLBACK],
            grant_types=["authorization_code", "refresh_token"],
            token_endpoint_auth_method="client_secret_post",
        )
    state = rndstr()
    code_challenge, verifier = client.add_code_challenge()
    request = client.construct_AuthorizationRequest(
        request_args={
            "response_type": "code",
            "scope": SCOPE.split(),
            "state": state,
            "nonce": rndstr(),
            "redirect_uri": CALLBACK,
            **code_challenge,
            **resource,
        }
    )
    with step("authorize"):
        callback = authorize(request.request(client.authorization_endpoint))
        client.parse_response(AuthorizationResponse, info=callback.partition("?")[2], sformat="urlencoded")
    with step("token", "id_token"):
        # The ID token is checked by the same call.
        token = client.do_access_token_request(
            state=state,
            request_args={"redirect_uri": CALLBACK, "code_verifier": verifier, **resource},
        )
        assert token["id_token"]["sub"]
    with step("userinfo"):
        assert client.do_user_info_request(method="GET", state=state)["sub"]
    wait_for_expiry()
    with step("expired-and-refreshed"):
        refreshed = client.do_access_token_refresh(state=state)
        assert refreshed["access_token"] != token["access_token"]
        assert client.do_user_info_request(method="GET", state=state)["sub"]


run("oic", main)
