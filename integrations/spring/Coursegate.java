package coursegate;

import java.math.BigInteger;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The protocol between coursegate and this site: assertions, the bridge's signatures, and the version of a member. */
public final class Coursegate {
    /** In seconds: the allowed clock skew, and how long keys are cached. */
    private static final long LEEWAY = 10;
    private static final long KEYS_KEPT = 600;

    private static final Pattern COMPACT = Pattern.compile("[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+){2}");
    private static final Pattern VISIBLE = Pattern.compile("[!-\\[\\]-~]+");

    /** The gate's keys are unavailable, so the assertion cannot be checked. */
    public static final class Unverifiable extends Exception {
    }

    /** The gate's request: the nonce, the return URL, whether a sign-in is required, and how old it may be (seconds or null). */
    public record Question(String nonce, String returnTo, boolean signInAgain, Long maxAge) {
    }

    private final String origin;
    private final String pagesOrigin;
    private final String upstream;
    private final String secret;
    private final boolean boundOnly;
    private final Function<String, Map<String, Object>> parse;
    private final Keys keys;

    /**
     * @param origin the gate's origin, as in coursegate.yaml
     * @param pagesOrigin the gate's pages.origin; empty if it has none
     * @param upstream this backend's name there
     * @param secret shared with the gate, 32 characters or more
     * @param jwksUrl where to fetch the gate's keys
     * @param pause minimum time between two fetches of keys, in seconds
     * @param boundOnly whether to refuse assertions that are not made for one request (plugin mode)
     * @param parse parses a JSON object; throws a RuntimeException for anything else
     */
    public Coursegate(String origin, String pagesOrigin, String upstream, String secret, String jwksUrl, long pause,
            boolean boundOnly, Function<String, Map<String, Object>> parse) {
        if (!isOrigin(origin)) {
            throw new IllegalArgumentException("coursegate.origin must be an origin, without a path or final slash");
        }
        if (!pagesOrigin.isEmpty() && !isOrigin(pagesOrigin)) {
            throw new IllegalArgumentException("coursegate.pages-origin must be an origin, without a path or final slash");
        }
        if (upstream.isEmpty()) {
            throw new IllegalArgumentException("coursegate.upstream must be this backend's name in coursegate.yaml");
        }
        if (secret.length() < 32) {
            throw new IllegalArgumentException("coursegate.secret must have 32 characters or more");
        }
        this.origin = origin;
        this.pagesOrigin = pagesOrigin.isEmpty() ? origin : pagesOrigin;
        this.upstream = upstream;
        this.secret = secret;
        this.boundOnly = boundOnly;
        this.parse = parse;
        this.keys = new Keys(URI.create(jwksUrl), pause, parse);
    }

    private static boolean isOrigin(String text) {
        return text.matches("https?://[^/?#@\\s]+");
    }

    /** Changes with the password, and reveals nothing about it. */
    public String version(String id, String passwordHash) {
        return hmac("version\n" + id + "\n" + passwordHash).substring(0, 32);
    }

    /** Encodes fields as a signed query string. */
    public String signed(Map<String, String> fields) {
        String sso = Base64.getEncoder().encodeToString(encode(fields).getBytes(StandardCharsets.UTF_8));
        return encode(Map.of("sso", sso, "sig", hmac(sso)));
    }

    /** The gate's request; null if its signature is invalid. The signature covers the base64 text, not the decoded fields. */
    public Question readBridge(String queryString) {
        Map<String, List<String>> query = decode(queryString);
        List<String> ssos = query.getOrDefault("sso", List.of());
        List<String> sigs = query.getOrDefault("sig", List.of());
        if (ssos.size() != 1 || sigs.size() != 1 || !same(hmac(ssos.get(0)), sigs.get(0))) {
            return null;
        }
        Map<String, List<String>> fields;
        try {
            fields = decode(new String(Base64.getDecoder().decode(ssos.get(0)), StandardCharsets.UTF_8));
        } catch (IllegalArgumentException notBase64) {
            return null;
        }
        String nonce = fields.getOrDefault("nonce", List.of("")).get(0);
        String returnTo = fields.getOrDefault("return_sso_url", List.of("")).get(0);
        // A URL that starts with an origin and a slash is on that origin, unless a URL parser drops or rewrites characters.
        boolean ours = returnTo.startsWith(origin + "/") || returnTo.startsWith(pagesOrigin + "/");
        if (nonce.isEmpty() || !ours || !VISIBLE.matcher(returnTo).matches()) {
            return null;
        }
        boolean signInAgain = !Collections.disjoint(fields.getOrDefault("prompt", List.of()), List.of("login", "select_account"));
        try {
            return new Question(nonce, returnTo, signInAgain, fields.containsKey("max_age") ? Long.valueOf(fields.get("max_age").get(0)) : null);
        } catch (NumberFormatException notANumber) {
            return null;
        }
    }

    /**
     * The claims of an assertion that is valid for this request, otherwise null.
     *
     * @param path as it was sent: percent-encoded, with the mount prefix, without the query
     */
    public Map<String, Object> readAssertion(String token, String method, String path) throws Unverifiable {
        if (!COMPACT.matcher(token).matches()) {
            return null;
        }
        String[] parts = token.split("\\.");
        Map<String, Object> header;
        Map<String, Object> claims;
        byte[] raw;
        try {
            header = parse.apply(text(parts[0]));
            claims = parse.apply(text(parts[1]));
            raw = Base64.getUrlDecoder().decode(parts[2]);
        } catch (RuntimeException notJson) {
            return null;
        }
        if (!"ES256".equals(header.get("alg")) || header.containsKey("crit") || !(header.get("kid") instanceof String kid)) {
            return null;
        }
        PublicKey key = keys.find(kid);
        if (key == null || !verify(key, parts[0] + "." + parts[1], raw)) {
            return null;
        }
        boolean named = claims.get("sub") instanceof String sub && !sub.isEmpty()
                && claims.get("client_id") instanceof String client && !client.isEmpty();
        boolean forUs = origin.equals(claims.get("iss")) && upstream.equals(claims.get("aud"));
        return named && forUs && inTime(claims) && isFor(method, path, claims) ? claims : null;
    }

    /** Whether this is the request that the assertion was made for, if it names one (RFC 9449 section 4.2). */
    private boolean isFor(String method, String path, Map<String, Object> claims) {
        if (!claims.containsKey("htm") && !claims.containsKey("htu")) {
            return !boundOnly;
        }
        return method.equals(claims.get("htm")) && (origin + path).equals(claims.get("htu"));
    }

    private static boolean inTime(Map<String, Object> claims) {
        if (!(claims.get("exp") instanceof Number exp) || !(claims.get("iat") instanceof Number iat)
                || !(claims.getOrDefault("nbf", 0) instanceof Number nbf)) {
            return false;
        }
        double now = System.currentTimeMillis() / 1000.0;
        return exp.doubleValue() > now - LEEWAY && Math.max(iat.doubleValue(), nbf.doubleValue()) < now + LEEWAY;
    }

    private static boolean verify(PublicKey key, String text, byte[] raw) {
        try {
            Signature signature = Signature.getInstance("SHA256withECDSAinP1363Format");
            signature.initVerify(key);
            signature.update(text.getBytes(StandardCharsets.US_ASCII));
            return raw.length == 64 && signature.verify(raw);
        } catch (GeneralSecurityException malformed) {
            return false;
        }
    }

    private String hmac(String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
            return HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static boolean same(String one, String other) {
        return MessageDigest.isEqual(one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(String base64url) {
        return new String(Base64.getUrlDecoder().decode(base64url), StandardCharsets.UTF_8);
    }

    private static String encode(Map<String, String> fields) {
        return fields.entrySet().stream()
                .map(field -> field.getKey() + "=" + URLEncoder.encode(field.getValue(), StandardCharsets.UTF_8))
                .collect(Collectors.joining("&"));
    }

    /** Every value of every name. Fields with invalid percent-encoding are skipped. */
    private static Map<String, List<String>> decode(String query) {
        Map<String, List<String>> fields = new LinkedHashMap<>();
        for (String pair : (query == null ? "" : query).split("&")) {
            String[] parts = pair.split("=", 2);
            try {
                String value = parts.length == 2 ? URLDecoder.decode(parts[1], StandardCharsets.UTF_8) : "";
                fields.computeIfAbsent(URLDecoder.decode(parts[0], StandardCharsets.UTF_8), name -> new ArrayList<>()).add(value);
            } catch (IllegalArgumentException malformed) {
                continue;
            }
        }
        return fields;
    }

    /** The gate's keys by kid. An unknown kid fetches the keys again, at most once every `pause` seconds. */
    private static final class Keys {
        private final HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
        private final URI url;
        private final long pause;
        private final Function<String, Map<String, Object>> parse;
        private Map<String, PublicKey> known = Map.of();
        private long goodUntil = Long.MIN_VALUE;
        private long askAgain = Long.MIN_VALUE;
        private boolean failed;

        Keys(URI url, long pause, Function<String, Map<String, Object>> parse) {
            this.url = url;
            this.pause = pause;
            this.parse = parse;
        }

        synchronized PublicKey find(String kid) throws Unverifiable {
            if (!(seconds() < goodUntil && known.containsKey(kid)) && seconds() >= askAgain) {
                askAgain = seconds() + pause;
                fetch();
            }
            if (seconds() >= goodUntil || (failed && !known.containsKey(kid))) {
                throw new Unverifiable();
            }
            return known.get(kid);
        }

        private void fetch() {
            failed = true;
            try {
                HttpRequest request = HttpRequest.newBuilder(url).timeout(Duration.ofSeconds(5)).build();
                HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
                if (answer.statusCode() != 200) {
                    return;
                }
                Map<String, PublicKey> found = new HashMap<>();
                for (Object each : (List<?>) parse.apply(answer.body()).get("keys")) {
                    Map<?, ?> jwk = (Map<?, ?>) each;
                    if (isUsable(jwk)) {
                        found.put((String) jwk.get("kid"), publicKey((String) jwk.get("x"), (String) jwk.get("y")));
                    }
                }
                known = found;
                goodUntil = seconds() + KEYS_KEPT;
                failed = false;
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            } catch (java.io.IOException | GeneralSecurityException | RuntimeException unusable) {
                // Treated like an unreachable gate: find() throws Unverifiable.
            }
        }

        private static boolean isUsable(Map<?, ?> jwk) {
            List<Object> curve = Arrays.asList(jwk.get("kty"), jwk.get("crv"));
            return curve.equals(List.of("EC", "P-256")) && Arrays.asList(null, "sig").contains(jwk.get("use"))
                    && Arrays.asList(null, "ES256").contains(jwk.get("alg"));
        }

        private static PublicKey publicKey(String x, String y) throws GeneralSecurityException {
            AlgorithmParameters curve = AlgorithmParameters.getInstance("EC");
            curve.init(new ECGenParameterSpec("secp256r1"));
            BigInteger[] point = {new BigInteger(1, Base64.getUrlDecoder().decode(x)), new BigInteger(1, Base64.getUrlDecoder().decode(y))};
            ECParameterSpec parameters = curve.getParameterSpec(ECParameterSpec.class);
            return KeyFactory.getInstance("EC").generatePublic(new ECPublicKeySpec(new ECPoint(point[0], point[1]), parameters));
        }

        /** Monotonic. */
        private static long seconds() {
            return System.nanoTime() / 1_000_000_000;
        }
    }
}
