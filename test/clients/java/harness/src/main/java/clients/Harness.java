package clients;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What every client program says to the harness (../README.md), and what the harness tells it. */
public final class Harness {
  public static final String ISSUER = System.getenv("ISSUER");
  public static final String RESOURCE = System.getenv("RESOURCE");
  public static final String ACCOUNT_URL = System.getenv("ACCOUNT_URL");
  public static final String CALLBACK = System.getenv("CALLBACK");
  public static final boolean PROFILE_A = "A".equals(System.getenv("PROFILE"));

  /** A tool of the profile that can be called without arguments. */
  public static final String TOOL = PROFILE_A ? "get_my_account" : "search_courses";

  /** What an app asks for: in profile A also the Account API. */
  public static final List<String> SCOPES =
      PROFILE_A
          ? List.of("openid", "profile", "email", "account:read")
          : List.of("openid", "profile", "email");

  private static final BufferedReader INPUT = new BufferedReader(new InputStreamReader(System.in));
  private static String attempted = "start";

  private Harness() {}

  public interface Program {
    void run() throws Exception;
  }

  /** Runs the program. The version of its library is that of the jar that `ofLibrary` is in. */
  public static void run(Class<?> ofLibrary, Program program) {
    say("version", "{\"library\":" + quoted(ofLibrary.getPackage().getImplementationVersion()) + "}");
    try {
      program.run();
    } catch (Throwable error) {
      error.printStackTrace();
      say("failed", "{\"step\":" + quoted(attempted) + ",\"message\":" + quoted(error.toString()) + "}");
      System.exit(1);
    }
    System.exit(0);
  }

  /** Runs one or more steps and reports them if they succeed. */
  public static void step(String names, Program program) throws Exception {
    String[] all = names.split(" ");
    attempted = all[0];
    program.run();
    for (String name : all) say("step", "{\"name\":" + quoted(name) + "}");
  }

  /** Reports what the app had to set beyond the library's defaults. */
  public static void needs(String... lines) {
    say("needs", "{\"lines\":" + Arrays.stream(lines).map(Harness::quoted).collect(Collectors.joining(",", "[", "]")) + "}");
  }

  public static void showToMember(String url) {
    say("authorize", "{\"url\":" + quoted(url) + "}");
  }

  /** Sends the member to the URL and returns the URL that their browser came back to. */
  public static URI authorize(URI url) throws Exception {
    showToMember(url.toString());
    String line = INPUT.readLine();
    check(line != null, "the member did not come back");
    return URI.create(line.trim());
  }

  /** Returns once the access tokens issued until now have expired. */
  public static void waitForExpiry() throws InterruptedException {
    Thread.sleep((Integer.parseInt(System.getenv("TOKEN_LIFETIME")) + 1) * 1000L);
  }

  public static void check(boolean holds, String otherwise) {
    if (!holds) throw new IllegalStateException(otherwise);
  }

  public static void readAccount(String accessToken) throws Exception {
    HttpResponse<String> response =
        send(
            HttpRequest.newBuilder(URI.create(ACCOUNT_URL))
                .header("Authorization", "Bearer " + accessToken)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"query\":\"{ viewer { id email } }\"}")));
    check(response.statusCode() == 200 && response.body().contains("\"id\""), response.body());
  }

  public static void checkRefused(String accessToken) throws Exception {
    URI userinfo = URI.create(ISSUER + "/api/oauth/userinfo");
    int status = send(HttpRequest.newBuilder(userinfo).header("Authorization", "Bearer " + accessToken)).statusCode();
    check(status == 401, "the revoked access token is answered with " + status);
  }

  /** A registered client. A public one has no secret. */
  public record Client(String id, Optional<String> secret) {}

  /** Registers a client (RFC 7591), for libraries that do not register: a public one, or one with a secret. */
  public static Client register(String redirectUri, boolean withSecret) throws Exception {
    String method = withSecret ? "client_secret_post" : "none";
    String client =
        "{\"client_name\":\"Java\",\"token_endpoint_auth_method\":" + quoted(method) + ",\"redirect_uris\":[" + quoted(redirectUri) + "]}";
    HttpResponse<String> response =
        send(
            HttpRequest.newBuilder(URI.create(ISSUER + "/api/oauth/register"))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(client)));
    check(response.statusCode() == 201, response.body());
    return new Client(member(response.body(), "client_id").orElseThrow(), member(response.body(), "client_secret"));
  }

  private static Optional<String> member(String json, String name) {
    Matcher found = Pattern.compile(quoted(name) + "\\s*:\\s*\"([^\"]+)\"").matcher(json);
    return found.find() ? Optional.of(found.group(1)) : Optional.empty();
  }

  private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static synchronized void say(String word, String json) {
    System.out.println(word + " " + json);
    System.out.flush();
  }

  private static String quoted(String text) {
    String escaped = text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\t", " ").replaceAll("[\\x00-\\x1f]+", " ");
    return '"' + escaped + '"';
  }
}
