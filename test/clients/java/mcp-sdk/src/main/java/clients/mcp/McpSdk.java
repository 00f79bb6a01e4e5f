package clients.mcp;

import clients.Harness;
import clients.nimbus.Nimbus;
import com.nimbusds.openid.connect.sdk.Nonce;
import com.nimbusds.openid.connect.sdk.token.OIDCTokens;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.spec.McpSchema;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

/** The SDK has no OAuth of its own: an app gives it the token. This one has it from Nimbus (../nimbus). */
public final class McpSdk {
  public static void main(String[] args) {
    Harness.run(McpClient.class, McpSdk::connect);
  }

  private static void connect() throws Exception {
    Harness.needs(
        "transport.httpRequestCustomizer((request, method, uri, body, context) -> request.setHeader(\"Authorization\", \"Bearer \" + token))");
    Nimbus nimbus = new Nimbus();
    AtomicReference<OIDCTokens> tokens = new AtomicReference<>(nimbus.signIn(new Nonce()));
    var transport =
        HttpClientStreamableHttpTransport.builder(Harness.ISSUER)
            .endpoint("/mcp/member")
            .httpRequestCustomizer(
                (request, method, uri, body, context) ->
                    request.setHeader("Authorization", "Bearer " + tokens.get().getAccessToken().getValue()))
            .build();
    try (McpSyncClient client = McpClient.sync(transport).build()) {
      Harness.step(
          "tools",
          () -> {
            client.initialize();
            var named = client.listTools().tools().stream().anyMatch(tool -> tool.name().equals(Harness.TOOL));
            Harness.check(named, "no tool " + Harness.TOOL);
          });
      Harness.step("call", () -> call(client));
      Harness.waitForExpiry();
      Harness.step(
          "expired-and-refreshed",
          () -> {
            tokens.set(nimbus.refresh(tokens.get()));
            call(client);
          });
    }
  }

  private static void call(McpSyncClient client) {
    var result = client.callTool(McpSchema.CallToolRequest.builder(Harness.TOOL).arguments(Map.of()).build());
    Harness.check(!Boolean.TRUE.equals(result.isError()), String.valueOf(result.content()));
  }
}
