use clients::*;
use openidconnect::{
    AuthorizationCode, ClientId, ClientSecret, CsrfToken, IssuerUrl, Nonce, OAuth2TokenResponse,
    PkceCodeChallenge, RedirectUrl, Scope, TokenResponse,
    core::{CoreAuthenticationFlow, CoreClient, CoreProviderMetadata, CoreUserInfoClaims},
};

fn main() {
    version("openidconnect");
    end(connect())
}

fn connect() -> Outcome {
    let http = http_client()?;
    attempt("discover");
    let metadata = CoreProviderMetadata::discover(&IssuerUrl::new(variable("ISSUER"))?, &http)?;
    done(&["discover"]);
    attempt("register");
    let (id, secret) = register(&http)?;
    let secret = secret.map(ClientSecret::new);
    let client = CoreClient::from_provider_metadata(metadata, ClientId::new(id), secret)
        .set_redirect_uri(RedirectUrl::new(variable("CALLBACK"))?);
    done(&["register"]);

    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let mut request = client
        .authorize_url(
            CoreAuthenticationFlow::AuthorizationCode,
            CsrfToken::new_random,
            Nonce::new_random,
        )
        .add_scopes(
            scopes()
                .into_iter()
                .map(|scope| Scope::new(scope.to_owned())),
        )
        .set_pkce_challenge(challenge);
    if is_profile_a() {
        needs(&[
            r#"client.authorize_url(...).add_extra_param("resource", resource)"#,
            r#"client.exchange_code(...)?.add_extra_param("resource", resource)"#,
        ]);
        request = request.add_extra_param("resource", variable("RESOURCE"));
    }
    let (url, state, nonce) = request.url();
    attempt("authorize");
    let returned = parameters(&authorize(url.as_str())?)?;
    if returned.get("state") != Some(state.secret()) {
        return Err("another state".into());
    }
    let code = returned.get("code").ok_or("no code")?;
    done(&["authorize"]);

    attempt("token");
    let mut exchange = client
        .exchange_code(AuthorizationCode::new(code.clone()))?
        .set_pkce_verifier(verifier);
    if is_profile_a() {
        exchange = exchange.add_extra_param("resource", variable("RESOURCE"));
    }
    let token = exchange.request(&http)?;
    done(&["token"]);
    attempt("id_token");
    let claims = token
        .id_token()
        .ok_or("no ID token")?
        .claims(&client.id_token_verifier(), &nonce)?;
    done(&["id_token"]);
    attempt("userinfo");
    let subject = Some(claims.subject().clone());
    let _: CoreUserInfoClaims = client
        .user_info(token.access_token().clone(), subject.clone())?
        .request(&http)?;
    done(&["userinfo"]);

    wait_for_expiry();
    attempt("expired-and-refreshed");
    let refresh_token = token.refresh_token().ok_or("no refresh token")?;
    let refreshed = client
        .exchange_refresh_token(refresh_token)?
        .request(&http)?;
    let _: CoreUserInfoClaims = client
        .user_info(refreshed.access_token().clone(), subject)?
        .request(&http)?;
    done(&["expired-and-refreshed"]);
    Ok(())
}
