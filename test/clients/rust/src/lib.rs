//! What every client program says to the harness (../README.md), and what the harness tells it.

use oauth2::reqwest::blocking::Client;
use serde_json::{Value, json};
use std::{
    collections::HashMap, env, error::Error, io, process, sync::Mutex, thread, time::Duration,
};

pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

static ATTEMPTED: Mutex<String> = Mutex::new(String::new());

pub fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

pub fn is_profile_a() -> bool {
    variable("PROFILE") == "A"
}

/// A tool of the profile that can be called without arguments.
pub fn tool() -> &'static str {
    if is_profile_a() {
        "get_my_account"
    } else {
        "search_courses"
    }
}

/// What an app asks for: in profile A also the Account API.
pub fn scopes() -> Vec<&'static str> {
    let mut scopes = vec!["openid", "profile", "email"];
    if is_profile_a() {
        scopes.push("account:read");
    }
    scopes
}

/// Notes which step is tried next, for the report if it fails.
pub fn attempt(name: &str) {
    *ATTEMPTED.lock().unwrap() = name.to_owned();
}

/// Reports steps that succeeded.
pub fn done(names: &[&str]) {
    for name in names {
        say("step", json!({ "name": name }));
    }
}

/// Reports what the app had to set beyond the library's defaults.
pub fn needs(lines: &[&str]) {
    say("needs", json!({ "lines": lines }));
}

/// Reports the version that Cargo.lock has for a crate.
pub fn version(library: &str) {
    let mut lines = include_str!("../Cargo.lock").lines();
    lines.find(|line| *line == format!("name = \"{library}\""));
    let line = lines.next().unwrap_or_default();
    say(
        "version",
        json!({ "library": line.trim_start_matches("version = ").trim_matches('"') }),
    );
}

/// Ends the program, with a report if it failed.
pub fn end(outcome: Outcome) -> ! {
    let Err(error) = outcome else {
        process::exit(0)
    };
    eprintln!("{error:?}");
    let step = ATTEMPTED.lock().unwrap().clone();
    say(
        "failed",
        json!({ "step": step, "message": error.to_string() }),
    );
    process::exit(1)
}

/// Sends the member to the URL and returns the URL that their browser came back to.
pub fn authorize(url: &str) -> Outcome<String> {
    say("authorize", json!({ "url": url }));
    let mut line = String::new();
    match io::stdin().read_line(&mut line)? {
        0 => Err("the member did not come back".into()),
        _ => Ok(line.trim().to_owned()),
    }
}

/// The parameters of a callback URL.
pub fn parameters(callback: &str) -> Outcome<HashMap<String, String>> {
    Ok(reqwest::Url::parse(callback)?
        .query_pairs()
        .into_owned()
        .collect())
}

pub fn seconds_to_expiry() -> Duration {
    Duration::from_secs(variable("TOKEN_LIFETIME").parse::<u64>().unwrap_or(20) + 1)
}

pub fn wait_for_expiry() {
    thread::sleep(seconds_to_expiry());
}

/// The server's metadata, for libraries that do not read it.
pub fn discover(http: &Client) -> Outcome<Value> {
    let url = format!(
        "{}/.well-known/oauth-authorization-server",
        variable("ISSUER")
    );
    Ok(serde_json::from_str(
        &http.get(url).send()?.error_for_status()?.text()?,
    )?)
}

/// Registers a client (RFC 7591), for libraries that do not register: a public one, or one with a secret if the program is
/// started with "secret". Returns its client_id and secret.
pub fn register(http: &Client) -> Outcome<(String, Option<String>)> {
    let method = match env::args().nth(1).as_deref() {
        Some("secret") => "client_secret_post",
        _ => "none",
    };
    let client = json!({
        "client_name": "Rust",
        "redirect_uris": [variable("CALLBACK")],
        "token_endpoint_auth_method": method,
    });
    let response = http
        .post(format!("{}/api/oauth/register", variable("ISSUER")))
        .header("content-type", "application/json")
        .body(client.to_string())
        .send()?
        .error_for_status()?;
    let registered: Value = serde_json::from_str(&response.text()?)?;
    let text = |name: &str| registered[name].as_str().map(str::to_owned);
    Ok((
        text("client_id").ok_or("no client_id")?,
        text("client_secret"),
    ))
}

/// The HTTP client that the documentation of both OAuth crates demands: it follows no redirects.
pub fn http_client() -> Outcome<Client> {
    Ok(Client::builder()
        .redirect(oauth2::reqwest::redirect::Policy::none())
        .build()?)
}

pub fn read_account(http: &Client, access_token: &str) -> Outcome {
    let response = http
        .post(variable("ACCOUNT_URL"))
        .bearer_auth(access_token)
        .header("content-type", "application/json")
        .body(json!({ "query": "{ viewer { id email } }" }).to_string())
        .send()?
        .error_for_status()?;
    let answer: Value = serde_json::from_str(&response.text()?)?;
    if answer["data"]["viewer"]["id"].is_string() {
        Ok(())
    } else {
        Err(answer.to_string().into())
    }
}

fn say(word: &str, value: Value) {
    println!("{word} {value}");
}
