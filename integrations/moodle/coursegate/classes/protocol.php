<?php
namespace local_coursegate;

defined('MOODLE_INTERNAL') || die();

/** The protocol between the gate and a site. The WordPress drop-in has a copy, so that each drop-in is self-contained. */
final class protocol {
    // >>> shared
    /** In seconds: the allowed clock skew, and the longest lifetime an assertion may have. */
    const LEEWAY = 5;
    const LONGEST_LIFE = 300;

    /**
     * Verifies an assertion of the gate: a JWT (RFC 7519) signed with ES256.
     *
     * @param string $jwt the header's value
     * @param array $expected `issuer`, `audience`, the `method` that will be dispatched, the `uri` as it was sent, and
     *     `bound_only`: whether to refuse assertions that are not made for one request (plugin mode)
     * @param int $now Unix time in seconds
     * @param callable $find_key returns the JWK with a key ID, or null; exceptions that it throws are passed on
     * @return array the claims
     * @throws \DomainException if the assertion is invalid; the message says why
     */
    public static function verify(string $jwt, array $expected, int $now, callable $find_key): array {
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
            throw new \DomainException('alg, crit or kid is not supported');
        }
        // The claims are checked before the key is looked up, so that a forged token cannot trigger a fetch of the keys.
        $problem = self::problem_of($claims, $expected, $now);
        if ($problem !== null) {
            throw new \DomainException($problem);
        }
        $key = $find_key($kid);
        $pem = $key === null ? null : self::pem($key);
        if ($pem === null) {
            throw new \DomainException('signed with an unknown key');
        }
        if (!self::is_signed($parts[0] . '.' . $parts[1], $signature, $pem)) {
            throw new \DomainException('invalid signature');
        }
        return $claims;
    }

    /** Why the claims are invalid, or null. Only assertions have grant_id; ID tokens are signed with the same keys. */
    private static function problem_of(array $claims, array $expected, int $now): ?string {
        list('issuer' => $issuer, 'audience' => $audience) = $expected;
        $issued = $claims['iat'] ?? null;
        $expires = $claims['exp'] ?? null;
        $not_before = $claims['nbf'] ?? $issued;
        if ($issuer === '' || ($claims['iss'] ?? null) !== $issuer) {
            return 'wrong issuer';
        }
        if ($audience === '' || ($claims['aud'] ?? null) !== $audience) {
            return 'wrong audience';
        }
        if (!is_int($issued) || !is_int($expires) || !is_int($not_before)) {
            return 'iat, exp or nbf is missing or not an integer';
        }
        if ($expires <= $now - self::LEEWAY) {
            return 'expired';
        }
        if (max($issued, $not_before) > $now + self::LEEWAY || $expires - $issued > self::LONGEST_LIFE) {
            return 'not valid yet, or valid for too long';
        }
        foreach (['sub', 'client_id', 'grant_id'] as $name) {
            if (!is_string($claims[$name] ?? null) || $claims[$name] === '') {
                return "$name is missing";
            }
        }
        // The request that the assertion was made for, if it names one (RFC 9449 section 4.2).
        if (!array_key_exists('htm', $claims) && !array_key_exists('htu', $claims)) {
            return $expected['bound_only'] ? 'not made for one request' : null;
        }
        $url = $issuer . explode('?', $expected['uri'], 2)[0];
        $fits = ($claims['htm'] ?? null) === $expected['method'] && ($claims['htu'] ?? null) === $url;
        return $fits ? null : 'made for another request';
    }

    /** Finds the signing key with an ID among the keys of a JWKS (RFC 7517). */
    public static function key_of(array $keys, string $kid): ?array {
        foreach ($keys as $key) {
            $signs = is_array($key) && ($key['use'] ?? 'sig') === 'sig';
            if ($signs && ($key['kty'] ?? null) === 'EC' && ($key['kid'] ?? null) === $kid) {
                return $key;
            }
        }
        return null;
    }

    /** The keys of a JWKS document, or null if it is not a JWKS or has no keys. */
    public static function keys(string $document): ?array {
        $keys = self::json($document)['keys'] ?? null;
        return is_array($keys) && $keys !== [] ? $keys : null;
    }

    /** A P-256 public key as PEM (RFC 5480): a constant prefix, then the point. */
    private static function pem(array $jwk): ?string {
        $x = is_string($jwk['x'] ?? null) ? self::base64url($jwk['x']) : null;
        $y = is_string($jwk['y'] ?? null) ? self::base64url($jwk['y']) : null;
        if (($jwk['crv'] ?? null) !== 'P-256' || $x === null || $y === null || strlen($x) !== 32 || strlen($y) !== 32) {
            return null;
        }
        $der = hex2bin('3059301306072a8648ce3d020106082a8648ce3d03010703420004') . $x . $y;
        return "-----BEGIN PUBLIC KEY-----\n" . chunk_split(base64_encode($der), 64, "\n") . "-----END PUBLIC KEY-----\n";
    }

    /** Verifies a JWS signature, which is two numbers of 32 bytes (RFC 7518 section 3.4); OpenSSL expects them in DER. */
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
     * Returns the fields; null if the signature is invalid or a field occurs twice.
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

    /** Adds `sso` and `sig` with these fields to the query of a URL. */
    public static function write_sso(string $url, array $fields, string $secret): string {
        $sso = base64_encode(http_build_query($fields, '', '&', PHP_QUERY_RFC3986));
        $query = http_build_query(['sso' => $sso, 'sig' => hash_hmac('sha256', $sso, $secret)], '', '&', PHP_QUERY_RFC3986);
        return $url . (strpos($url, '?') === false ? '?' : '&') . $query;
    }

    /** Whether a URL is on an origin, and is visible ASCII without userinfo, backslash or fragment. */
    public static function is_at(string $url, string $origin): bool {
        return $origin !== '' && preg_match('~^[\x21-\x7e]{1,2000}$~D', $url) === 1 && strpbrk($url, '\\#') === false
            && strpos($url . '/', $origin . '/') === 0;
    }

    /** Whether a member signed in too long ago for the gate's `max_age`. An unknown time is too long ago. */
    public static function is_too_old(array $asked, ?int $auth_time, int $now): bool {
        return isset($asked['max_age']) && ($auth_time === null || $now - $auth_time > (int) $asked['max_age']);
    }

    /** A keyed digest: it changes when any of the parts changes, and does not reveal them. */
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
