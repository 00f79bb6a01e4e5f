use clients::{Outcome, attempt, authorize, done, end, seconds_to_expiry, tool, variable, version};
use rmcp::{
    ServiceExt,
    model::CallToolRequestParams,
    service::{Peer, RoleClient},
    transport::{
        AuthClient, AuthorizationRequest, StreamableHttpClientTransport, auth::OAuthState,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};

#[tokio::main]
async fn main() {
    version("rmcp");
    end(connect().await)
}

async fn connect() -> Outcome {
    let url = format!("{}/member", variable("MCP_URL"));
    let mut oauth = OAuthState::new(url.as_str(), None).await?;
    attempt("register");
    oauth
        .start_authorization(
            AuthorizationRequest::new(variable("CALLBACK")).with_client_name("rmcp"),
        )
        .await?;
    done(&["discover", "register"]);
    attempt("authorize");
    let callback = authorize(&oauth.get_authorization_url().await?)?;
    done(&["authorize"]);
    attempt("token");
    oauth.handle_callback_url(&callback).await?;
    done(&["token"]);

    attempt("tools");
    let manager = oauth.into_authorization_manager().ok_or("not authorized")?;
    let http = AuthClient::new(reqwest::Client::new(), manager);
    let config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
    let service = ()
        .serve(StreamableHttpClientTransport::with_client(
            http.clone(),
            config,
        ))
        .await?;
    let tools = service.list_all_tools().await?;
    if !tools.iter().any(|listed| listed.name == tool()) {
        return Err(format!("no tool {}", tool()).into());
    }
    done(&["tools"]);
    attempt("call");
    call(&service).await?;
    done(&["call"]);

    let first = http.get_access_token().await?;
    tokio::time::sleep(seconds_to_expiry()).await;
    attempt("expired-and-refreshed");
    call(&service).await?;
    if http.get_access_token().await? == first {
        return Err("the access token is still the first one".into());
    }
    done(&["expired-and-refreshed"]);
    Ok(())
}

async fn call(peer: &Peer<RoleClient>) -> Outcome {
    let result = peer.call_tool(CallToolRequestParams::new(tool())).await?;
    if result.is_error == Some(true) {
        Err(format!("{:?}", result.content).into())
    } else {
        Ok(())
    }
}
