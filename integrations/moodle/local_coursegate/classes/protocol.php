<?php
namespace local_coursegate;

defined('MOODLE_INTERNAL') || die();

/** What the gate and a site say to each other. The same class is in the WordPress drop-in: each stands alone. */
final class protocol {
    // >>> shared
    /** Seconds that two clocks may differ, and the longest life an assertion may claim. */
    const LEEWAY = 5;
    const LONGEST_LIFE = 300;

    /**
     * Verifies an assertion of the gate: a JWT (RFC 7519) signed by ES256. In: the header value, who must have made it
     * and for whom, the Unix time, and a function that finds the JWK of a key id, or gives null. Out: the claims.
     * Throws DomainException for whatever is wrong with it, and what $find_key throws.
     */
    public static function verify(string $jwt, string $issuer, string $audience, int $now, callable $find_key): array {
        $parts = explode('.', $jwt);
        if (strlen($jwt) > 8192 || count($parts) !== 3) {
            throw new \DomainException('not a JWT');
        }
        $header = self::json(self::base64url($parts[0]));
        $claims = self::json(self::base64url($parts[1]));
        $signature = self::base64url($parts[2]);
        if ($header === null || $claims === null || $signature === null) {
            throw new \DomainException('not a JWT');
        }
        $kid = $header['kid'] ?? null;
        if (($header['alg'] ?? null) !== 'ES256' || isset($header['crit']) || !is_string($kid) || strlen($kid) > 200) {
            throw new \DomainException('not signed in the way of the gate');
        }
        // What costs nothing is judged first, so that nobody can have keys fetched by sending anything.
        $problem = self::problem_of($claims, $issuer, $audience, $now);
        if ($problem !== null) {
            throw new \DomainException($problem);
        }
        $key = $find_key($kid);
        $pem = $key === null ? null : self::pem($key);
        if ($pem === null) {
            throw new \DomainException('signed with an unknown key');
        }
        if (!self::is_signed($parts[0] . '.' . $parts[1], $signature, $pem)) {
            throw new \DomainException('the signature is not right');
        }
        return $claims;
    }

    /** What is wrong with the claims, or null. grant_id tells an assertion from an ID token, which has the same keys. */
    private static function problem_of(array $claims, string $issuer, string $audience, int $now): ?string {
        $issued = $claims['iat'] ?? null;
        $expires = $claims['exp'] ?? null;
        $not_before = $claims['nbf'] ?? $issued;
        if ($issuer === '' || ($claims['iss'] ?? null) !== $issuer) {
            return 'made by another issuer';
        }
        if ($audience === '' || ($claims['aud'] ?? null) !== $audience) {
            return 'made for another upstream';
        }
        if (!is_int($issued) || !is_int($expires) || !is_int($not_before)) {
            return 'without its times';
        }
        if ($expires <= $now - self::LEEWAY) {
            return 'expired';
        }
        if (max($issued, $not_before) > $now + self::LEEWAY || $expires - $issued > self::LONGEST_LIFE) {
            return 'its times are not right';
        }
        foreach (['sub', 'client_id', 'grant_id'] as $name) {
            if (!is_string($claims[$name] ?? null) || $claims[$name] === '') {
                return "without $name";
            }
        }
        return null;
    }

    /** In: the members of a JWKS (RFC 7517) and a key id. Out: the signing key of that id, or null. */
    public static function key_of(array $keys, string $kid): ?array {
        foreach ($keys as $key) {
            $signs = is_array($key) && ($key['use'] ?? 'sig') === 'sig';
            if ($signs && ($key['kty'] ?? null) === 'EC' && ($key['kid'] ?? null) === $kid) {
                return $key;
            }
        }
        return null;
    }

    /** In: the text of a JWKS document. Out: its keys, or null when it is none. */
    public static function keys(string $document): ?array {
        $keys = self::json($document)['keys'] ?? null;
        return is_array($keys) && $keys !== [] ? $keys : null;
    }

    /** A P-256 public key as PEM (RFC 5480): the same bytes every time, then the point. */
    private static function pem(array $jwk): ?string {
        $x = is_string($jwk['x'] ?? null) ? self::base64url($jwk['x']) : null;
        $y = is_string($jwk['y'] ?? null) ? self::base64url($jwk['y']) : null;
        if (($jwk['crv'] ?? null) !== 'P-256' || $x === null || $y === null || strlen($x) !== 32 || strlen($y) !== 32) {
            return null;
        }
        $der = hex2bin('3059301306072a8648ce3d020106082a8648ce3d03010703420004') . $x . $y;
        return "-----BEGIN PUBLIC KEY-----\n" . chunk_split(base64_encode($der), 64, "\n") . "-----END PUBLIC KEY-----\n";
    }

    /** In: a signature as JWS has it, two numbers of 32 bytes (RFC 7518 §3.4); openssl takes them as DER. */
    private static function is_signed(string $text, string $signature, string $pem): bool {
        $key = openssl_pkey_get_public($pem);
        if ($key === false || strlen($signature) !== 64) {
            return false;
        }
        $numbers = '';
        foreach (str_split($signature, 32) as $number) {
            $number = ltrim($number, "\0");
            if ($number === '' || ord($number[0]) > 0x7f) {
                $number = "\0" . $number;
            }
            $numbers .= "\x02" . chr(strlen($number)) . $number;
        }
        return openssl_verify($text, "\x30" . chr(strlen($numbers)) . $numbers, $key, OPENSSL_ALGO_SHA256) === 1;
    }

    /**
     * Reads a signed redirect (DiscourseConnect): base64 of form fields, and the hex HMAC-SHA256 of that base64 text.
     * Out: the fields, each of which stood there once, or null when anything is wrong.
     */
    public static function read_sso(string $sso, string $sig, string $secret): ?array {
        if (strlen($secret) < 32 || strlen($sso) > 4096 || !hash_equals(hash_hmac('sha256', $sso, $secret), $sig)) {
            return null;
        }
        $text = base64_decode($sso, true);
        if ($text === false) {
            return null;
        }
        $fields = [];
        foreach (explode('&', $text) as $pair) {
            $halves = explode('=', $pair, 2);
            $name = urldecode($halves[0]);
            if (isset($fields[$name])) {
                return null;
            }
            $fields[$name] = urldecode($halves[1] ?? '');
        }
        return $fields;
    }

    /** Signs a redirect. In: fields. Out: the URL with `sso` and `sig` added to its query. */
    public static function write_sso(string $url, array $fields, string $secret): string {
        $sso = base64_encode(http_build_query($fields, '', '&', PHP_QUERY_RFC3986));
        $query = http_build_query(['sso' => $sso, 'sig' => hash_hmac('sha256', $sso, $secret)], '', '&', PHP_QUERY_RFC3986);
        return $url . (strpos($url, '?') === false ? '?' : '&') . $query;
    }

    /** Whether a URL is at an origin: of visible ASCII, without a name before the host, a backslash or a fragment. */
    public static function is_at(string $url, string $origin): bool {
        return $origin !== '' && preg_match('~^[\x21-\x7e]{1,2000}$~D', $url) === 1 && strpbrk($url, '\\#') === false
            && strpos($url . '/', $origin . '/') === 0;
    }

    /** A text that changes when any of the parts does, and tells nobody what they are. */
    public static function version(array $parts, string $key): string {
        return substr(hash_hmac('sha256', json_encode($parts), $key), 0, 32);
    }

    private static function base64url(string $text): ?string {
        if (preg_match('~^[A-Za-z0-9_-]+$~D', $text) !== 1) {
            return null;
        }
        $bytes = base64_decode(strtr($text, '-_', '+/'), true);
        return $bytes === false ? null : $bytes;
    }

    private static function json(?string $text): ?array {
        $value = $text === null ? null : json_decode($text, true, 8);
        return is_array($value) ? $value : null;
    }
    // <<< shared
}
