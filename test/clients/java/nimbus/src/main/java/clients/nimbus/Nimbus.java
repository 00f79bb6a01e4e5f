package clients.nimbus;

import clients.Harness;
import com.nimbusds.oauth2.sdk.AuthorizationCodeGrant;
import com.nimbusds.oauth2.sdk.AuthorizationGrant;
import com.nimbusds.oauth2.sdk.RefreshTokenGrant;
import com.nimbusds.oauth2.sdk.ResponseType;
import com.nimbusds.oauth2.sdk.Scope;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.TokenRevocationRequest;
import com.nimbusds.oauth2.sdk.auth.ClientAuthenticationMethod;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.id.State;
import com.nimbusds.oauth2.sdk.pkce.CodeChallengeMethod;
import com.nimbusds.oauth2.sdk.pkce.CodeVerifier;
import com.nimbusds.openid.connect.sdk.AuthenticationRequest;
import com.nimbusds.openid.connect.sdk.AuthenticationResponseParser;
import com.nimbusds.openid.connect.sdk.AuthenticationSuccessResponse;
import com.nimbusds.openid.connect.sdk.Nonce;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponse;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponseParser;
import com.nimbusds.openid.connect.sdk.UserInfoRequest;
import com.nimbusds.openid.connect.sdk.UserInfoResponse;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import com.nimbusds.openid.connect.sdk.rp.OIDCClientInformation;
import com.nimbusds.openid.connect.sdk.rp.OIDCClientInformationResponse;
import com.nimbusds.openid.connect.sdk.rp.OIDCClientMetadata;
import com.nimbusds.openid.connect.sdk.rp.OIDCClientRegistrationRequest;
import com.nimbusds.openid.connect.sdk.rp.OIDCClientRegistrationResponseParser;
import com.nimbusds.openid.connect.sdk.token.OIDCTokens;
import com.nimbusds.openid.connect.sdk.validators.IDTokenValidator;
import java.net.URI;

public final class Nimbus {
  public final OIDCProviderMetadata server;
  public final OIDCClientInformation client;

  public Nimbus() throws Exception {
    server = OIDCProviderMetadata.resolve(new Issuer(Harness.ISSUER));
    OIDCClientMetadata metadata = new OIDCClientMetadata();
    metadata.setName("Nimbus");
    metadata.setRedirectionURI(URI.create(Harness.CALLBACK));
    metadata.setTokenEndpointAuthMethod(ClientAuthenticationMethod.NONE);
    var request = new OIDCClientRegistrationRequest(server.getRegistrationEndpointURI(), metadata, null);
    var response = OIDCClientRegistrationResponseParser.parse(request.toHTTPRequest().send());
    client = ((OIDCClientInformationResponse) response.toSuccessResponse()).getOIDCClientInformation();
  }

  public OIDCTokens signIn(Nonce nonce) throws Exception {
    CodeVerifier verifier = new CodeVerifier();
    State state = new State();
    var request =
        new AuthenticationRequest.Builder(
                ResponseType.CODE, new Scope(Harness.SCOPES.toArray(String[]::new)), id(), URI.create(Harness.CALLBACK))
            .endpointURI(server.getAuthorizationEndpointURI())
            .codeChallenge(verifier, CodeChallengeMethod.S256)
            .state(state)
            .nonce(nonce);
    if (Harness.PROFILE_A) request.resource(URI.create(Harness.RESOURCE));
    var response = AuthenticationResponseParser.parse(Harness.authorize(request.build().toURI()));
    Harness.check(response.indicatesSuccess(), "the member did not approve");
    AuthenticationSuccessResponse success = response.toSuccessResponse();
    Harness.check(state.equals(success.getState()), "another state");
    var code = new AuthorizationCodeGrant(success.getAuthorizationCode(), URI.create(Harness.CALLBACK), verifier);
    return token(code, Harness.PROFILE_A);
  }

  public OIDCTokens refresh(OIDCTokens tokens) throws Exception {
    return token(new RefreshTokenGrant(tokens.getRefreshToken()), false);
  }

  private OIDCTokens token(AuthorizationGrant grant, boolean withResource) throws Exception {
    var request = new TokenRequest.Builder(server.getTokenEndpointURI(), id(), grant);
    if (withResource) request.resource(URI.create(Harness.RESOURCE));
    var response = OIDCTokenResponseParser.parse(request.build().toHTTPRequest().send());
    Harness.check(response.indicatesSuccess(), "token: " + response.toHTTPResponse().getBody());
    return ((OIDCTokenResponse) response.toSuccessResponse()).getOIDCTokens();
  }

  private ClientID id() {
    return client.getID();
  }

  private void readUserInfo(OIDCTokens tokens) throws Exception {
    var request = new UserInfoRequest(server.getUserInfoEndpointURI(), tokens.getAccessToken());
    var response = UserInfoResponse.parse(request.toHTTPRequest().send());
    Harness.check(response.indicatesSuccess(), "userinfo: " + response.toHTTPResponse().getBody());
  }

  private void revoke(OIDCTokens tokens) throws Exception {
    var request = new TokenRevocationRequest(server.getRevocationEndpointURI(), id(), tokens.getRefreshToken());
    request.toHTTPRequest().send().ensureStatusCode(200);
    Harness.checkRefused(tokens.getAccessToken().getValue());
  }

  public static void main(String[] args) {
    Harness.run(AuthenticationRequest.class, Nimbus::connect);
  }

  private static void connect() throws Exception {
    if (Harness.PROFILE_A)
      Harness.needs(
          "new AuthenticationRequest.Builder(...).resource(URI.create(resource))",
          "new TokenRequest.Builder(...).resource(URI.create(resource))");
    Nimbus[] made = new Nimbus[1];
    Harness.step("discover register", () -> made[0] = new Nimbus());
    Nimbus nimbus = made[0];
    Nonce nonce = new Nonce();
    OIDCTokens[] tokens = new OIDCTokens[1];
    Harness.step("authorize token", () -> tokens[0] = nimbus.signIn(nonce));
    Harness.step(
        "id_token",
        () -> IDTokenValidator.create(nimbus.server, nimbus.client).validate(tokens[0].getIDToken(), nonce));
    Harness.step("userinfo", () -> nimbus.readUserInfo(tokens[0]));
    if (Harness.PROFILE_A)
      Harness.step("account", () -> Harness.readAccount(tokens[0].getAccessToken().getValue()));
    Harness.waitForExpiry();
    Harness.step(
        "expired-and-refreshed",
        () -> {
          tokens[0] = nimbus.refresh(tokens[0]);
          nimbus.readUserInfo(tokens[0]);
        });
    Harness.step("revoked", () -> nimbus.revoke(tokens[0]));
  }
}
