import copy
from urllib.parse import parse_qsl, urlparse

from idpyoidc.client.defaults import DEFAULT_KEY_DEFS, DEFAULT_OIDC_SERVICES
from idpyoidc.client.rp_handler import RPHandler

from harness import (
    CALLBACK,
    ISSUER,
    PROFILE,
    RESOURCE,
    SCOPE,
    authorize,
    discover,
    fetch_json,
    needs,
    run,
    step,
    wait_for_expiry,
)


def main():
    needs("'client_authn_methods': ['client_secret_post', 'bearer_header']")
    resource = {}
    services = copy.deepcopy(DEFAULT_OIDC_SERVICES)
    if PROFILE == "A":
        resource = {"resource": RESOURCE}
        needs(
            "handler.begin(ISSUER, req_args={'resource': RESOURCE})",
            "services['access_token']['kwargs'] = {'request_args': {'resource': RESOURCE}}",
        )
        services["access_token"]["kwargs"] = {"request_args": resource}
    with step("register"):
        # The library's own registration takes only one scope in the answer (RFC 7591 has a list).
        client = fetch_json(
            discover()["registration_endpoint"],
            {"client_name": "idpyoidc", "redirect_uris": [CALLBACK], "token_endpoint_auth_method": "client_secret_post"},
        )
    handler = RPHandler(
        base_url="http://127.0.0.1",
        services=services,
        key_conf={"key_defs": DEFAULT_KEY_DEFS},
        client_configs={
            "": {
                "client_type": "oidc",
                "client_id": client["client_id"],
                "client_secret": client["client_secret"],
                "client_authn_methods": ["client_secret_post", "bearer_header"],
                "redirect_uris": [CALLBACK],
                "preference": {
                    "response_types": ["code"],
                    "scopes_supported": SCOPE.split(),
                },
                "add_ons": {
                    "pkce": {
                        "function": "idpyoidc.client.oauth2.add_on.pkce.add_support",
                        "kwargs": {"code_challenge_length": 64, "code_challenge_method": "S256"},
                    }
                },
            }
        },
    )
    with step("discover"):
        url = handler.begin(ISSUER, req_args=resource)
    with step("authorize"):
        response = dict(parse_qsl(urlparse(authorize(url)).query))
    with step("token", "id_token", "userinfo"):
        # One call exchanges the code, checks the ID token and reads userinfo.
        session = handler.finalize(ISSUER, response)
        assert session["id_token"]["sub"] and session["userinfo"]["sub"], session
    wait_for_expiry()
    with step("expired-and-refreshed"):
        refreshed = handler.refresh_access_token(session["state"])
        assert refreshed["access_token"] != session["token"]
        assert handler.get_user_info(session["state"], access_token=refreshed["access_token"])["sub"]


run("idpyoidc", main)
