package coursegate;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Sends events about members to the gate; see docs/backend-events.md. */
public final class MemberEvents {
    private static final System.Logger LOG = System.getLogger(MemberEvents.class.getName());
    private static final Duration WITHIN = Duration.ofSeconds(2);
    private static final SecureRandom RANDOM = new SecureRandom();

    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(WITHIN).build();
    private final String adminUrl;
    private final String secret;

    /**
     * @param adminUrl the gate's admin listener; if empty, nothing is sent
     * @param secret the gate's admin.hmac.secret
     */
    public MemberEvents(String adminUrl, String secret) {
        if (!adminUrl.isEmpty() && secret.isEmpty()) {
            throw new IllegalArgumentException("coursegate.admin-secret must be the gate's admin.hmac.secret");
        }
        this.adminUrl = adminUrl.replaceFirst("/$", "");
        this.secret = secret;
    }

    /**
     * Revokes a member's connections at the gate, so that their apps are refused from the next request on. Call it after
     * the change is committed. Takes two seconds at most and never throws. If it fails, the error is logged, and the
     * connections end later, when the gate sees the member's new version.
     *
     * @param reason for the gate's audit log, at most 200 characters, such as "password changed"
     * @return whether the gate has revoked them
     */
    public boolean endConnections(String id, String reason) {
        if (adminUrl.isEmpty()) {
            return false;
        }
        CompletableFuture<HttpResponse<String>> asked = null;
        try {
            String path = "/members/" + URLEncoder.encode(id, StandardCharsets.UTF_8).replace("+", "%20") + "/revoke";
            String body = "{\"by\":\"backend\",\"reason\":\"" + reason.replaceAll("[\"\\\\\\p{Cntrl}]", " ") + "\"}";
            HttpRequest request = HttpRequest.newBuilder(URI.create(adminUrl + path)).timeout(WITHIN)
                    .header("Content-Type", "application/json").header("Coursegate-Signature", sign(path, body))
                    .POST(HttpRequest.BodyPublishers.ofString(body)).build();
            asked = http.sendAsync(request, HttpResponse.BodyHandlers.ofString());
            int status = asked.get(WITHIN.toMillis(), TimeUnit.MILLISECONDS).statusCode();
            if (status == 200) {
                return true;
            }
            throw new IOException("the gate responded with " + status);
        } catch (IOException | GeneralSecurityException | ExecutionException | TimeoutException | RuntimeException thrown) {
            if (asked != null) {
                asked.cancel(true);
            }
            LOG.log(System.Logger.Level.ERROR,
                    "coursegate: could not revoke the connections of member " + id + " (" + reason + "): " + thrown);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        return false;
    }

    /** The Coursegate-Signature header: an HMAC over the time, a nonce, the request and its body. */
    private String sign(String path, String body) throws GeneralSecurityException {
        long time = System.currentTimeMillis() / 1000;
        byte[] random = new byte[16];
        RANDOM.nextBytes(random);
        String nonce = HexFormat.of().formatHex(random);
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(body.getBytes(StandardCharsets.UTF_8));
        String text = String.join("\n", "coursegate-v1", Long.toString(time), nonce, "POST " + path,
                HexFormat.of().formatHex(digest));
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        String signature = HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
        return "t=" + time + ",n=" + nonce + ",v1=" + signature;
    }
}
