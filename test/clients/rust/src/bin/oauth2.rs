use clients::*;
use oauth2::{
    AuthUrl, AuthorizationCode, ClientId, ClientSecret, CsrfToken, PkceCodeChallenge, RedirectUrl,
    Scope, TokenResponse, TokenUrl, basic::BasicClient,
};

fn main() {
    version("oauth2");
    end(connect())
}

fn connect() -> Outcome {
    let http = http_client()?;
    attempt("discover");
    let server = discover(&http)?;
    let endpoint = |name: &str| server[name].as_str().unwrap_or_default().to_owned();
    done(&["discover"]);
    attempt("register");
    let (id, secret) = register(&http)?;
    let mut client = BasicClient::new(ClientId::new(id))
        .set_auth_uri(AuthUrl::new(endpoint("authorization_endpoint"))?)
        .set_token_uri(TokenUrl::new(endpoint("token_endpoint"))?)
        .set_redirect_uri(RedirectUrl::new(variable("CALLBACK"))?);
    if let Some(secret) = secret {
        client = client.set_client_secret(ClientSecret::new(secret));
    }
    done(&["register"]);

    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let mut request = client
        .authorize_url(CsrfToken::new_random)
        .add_scopes(
            scopes()
                .into_iter()
                .map(|scope| Scope::new(scope.to_owned())),
        )
        .set_pkce_challenge(challenge);
    if is_profile_a() {
        needs(&[
            r#"client.authorize_url(...).add_extra_param("resource", resource)"#,
            r#"client.exchange_code(...).add_extra_param("resource", resource)"#,
        ]);
        request = request.add_extra_param("resource", variable("RESOURCE"));
    }
    let (url, state) = request.url();
    attempt("authorize");
    let returned = parameters(&authorize(url.as_str())?)?;
    if returned.get("state") != Some(state.secret()) {
        return Err("another state".into());
    }
    let code = returned.get("code").ok_or("no code")?;
    done(&["authorize"]);

    attempt("token");
    let mut exchange = client
        .exchange_code(AuthorizationCode::new(code.clone()))
        .set_pkce_verifier(verifier);
    if is_profile_a() {
        exchange = exchange.add_extra_param("resource", variable("RESOURCE"));
    }
    let token = exchange.request(&http)?;
    done(&["token"]);
    if is_profile_a() {
        attempt("account");
        read_account(&http, token.access_token().secret())?;
        done(&["account"]);
    }

    wait_for_expiry();
    attempt("expired-and-refreshed");
    let refreshed = client
        .exchange_refresh_token(token.refresh_token().ok_or("no refresh token")?)
        .request(&http)?;
    if is_profile_a() {
        read_account(&http, refreshed.access_token().secret())?;
    }
    done(&["expired-and-refreshed"]);
    // The crate revokes over https only, which the test gate on loopback does not have.
    Ok(())
}
