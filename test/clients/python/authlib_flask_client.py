from urllib.parse import urljoin

from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect

from harness import (
    ACCOUNT_QUERY,
    ACCOUNT_URL,
    CALLBACK,
    ISSUER,
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

app = Flask(__name__)
app.secret_key = "only for this test"
app.testing = True
resource = {"resource": RESOURCE} if PROFILE == "A" else {}
saved = {}


def update_token(name, token, refresh_token=None, access_token=None):
    saved["token"] = token


oauth = OAuth(app, fetch_token=lambda name: saved["token"], update_token=update_token)


@app.get("/login")
def login():
    return oauth.school.authorize_redirect(CALLBACK, **resource)


@app.get("/callback")
def callback():
    # Exchanges the code and checks the ID token.
    saved["token"] = oauth.school.authorize_access_token(**resource)
    saved["member"] = saved["token"]["userinfo"]["sub"]
    return redirect("/me")


@app.get("/me")
def me():
    answer = oauth.school.get(oauth.school.load_server_metadata()["userinfo_endpoint"])
    answer.raise_for_status()
    return answer.json()


@app.get("/account")
def account():
    assert_account(oauth.school.post(ACCOUNT_URL, json={"query": ACCOUNT_QUERY}))
    return {}


def main():
    if PROFILE == "A":
        needs(
            "oauth.school.authorize_redirect(..., resource=RESOURCE)",
            "oauth.school.authorize_access_token(resource=RESOURCE)",
        )
    # The member's browser, as far as it visits this app.
    browser = app.test_client()
    with step("register"):
        client_id, _ = register(discover())
    oauth.register(
        "school",
        client_id=client_id,
        server_metadata_url=f"{ISSUER}/.well-known/openid-configuration",
        client_kwargs={"scope": SCOPE, "code_challenge_method": "S256"},
    )
    with step("discover"):
        url = browser.get(urljoin(CALLBACK, "/login")).location
    with step("authorize"):
        callback_url = authorize(url)
    with step("token", "id_token", "userinfo"):
        page = browser.get(callback_url, follow_redirects=True)
        assert page.json["sub"] == saved["member"], page.text
    if PROFILE == "A":
        with step("account"):
            assert browser.get(urljoin(CALLBACK, "/account")).status_code == 200
    first = saved["token"]["access_token"]
    wait_for_expiry()
    with step("expired-and-refreshed"):
        assert browser.get(urljoin(CALLBACK, "/me")).json["sub"]
        assert saved["token"]["access_token"] != first


run("Authlib", main)
