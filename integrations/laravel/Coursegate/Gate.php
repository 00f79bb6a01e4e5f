<?php

namespace App\Coursegate;

use Illuminate\Contracts\Auth\Authenticatable;
use Illuminate\Contracts\Auth\MustVerifyEmail;
use Illuminate\Contracts\Cache\LockTimeoutException;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Cache;
use Illuminate\Support\Facades\Log;
use InvalidArgumentException;

/** The protocol between coursegate and this site: assertions, the bridge's signatures, and the version of a member. */
class Gate
{
    /** In seconds: the allowed clock skew, how long keys are cached, and the minimum time between two fetches of keys. */
    const LEEWAY = 10;
    const KEYS_KEPT = 600;
    const FETCH_PAUSE = 30;
    /** Timeout of a request to the admin listener, in seconds. */
    const TELL_WITHIN = 2;

    /** The DER prefix of a P-256 public key, followed by its two coordinates (RFC 5480). */
    const P256 = '3059301306072a8648ce3d020106082a8648ce3d03010703420004';

    private $origin;
    private $pagesOrigin;
    private $upstream;
    private $secret;
    private $jwksUrl;
    private $pause;
    private $boundOnly;
    private $adminUrl;
    private $adminSecret;

    /** @param array $settings origin, upstream, secret, and optionally pages_origin, jwks_url, fetch_pause, bound_only, admin_url and admin_secret */
    public function __construct(array $settings)
    {
        $this->origin = (string) ($settings['origin'] ?? '');
        $this->pagesOrigin = (string) ($settings['pages_origin'] ?? '') ?: $this->origin;
        $this->upstream = (string) ($settings['upstream'] ?? '');
        $this->secret = (string) ($settings['secret'] ?? '');
        $this->jwksUrl = ($settings['jwks_url'] ?? null) ?: $this->origin.'/.well-known/jwks.json';
        $this->pause = (int) ($settings['fetch_pause'] ?? self::FETCH_PAUSE);
        $this->boundOnly = (bool) ($settings['bound_only'] ?? false);
        $this->adminUrl = rtrim((string) ($settings['admin_url'] ?? ''), '/');
        $this->adminSecret = (string) ($settings['admin_secret'] ?? '');
        if ($this->adminUrl !== '' && $this->adminSecret === '') {
            throw new InvalidArgumentException("coursegate.admin_secret must be the gate's admin.hmac.secret");
        }
        foreach (['origin' => $this->origin, 'pages_origin' => $this->pagesOrigin] as $name => $origin) {
            if (! preg_match('~^https?://[^/?#@\s]+$~D', $origin)) {
                throw new InvalidArgumentException("coursegate.$name must be an origin, without a path or final slash");
            }
        }
        if ($this->upstream === '') {
            throw new InvalidArgumentException("coursegate.upstream must be this backend's name in coursegate.yaml");
        }
        if (strlen($this->secret) < 32) {
            throw new InvalidArgumentException('coursegate.secret must have 32 characters or more');
        }
    }

    /** The member as whoami returns it. The version changes with the password, and reveals nothing about it. */
    public function describe(Authenticatable $member): array
    {
        $id = (string) $member->getAuthIdentifier();
        $key = 'coursegate.version '.config('app.key');

        $shown = [
            'id' => $id,
            'email' => (string) ($member->email ?? ''),
            'name' => (string) ($member->name ?? ''),
            'version' => substr(hash_hmac('sha256', $id."\n".$member->getAuthPassword(), $key), 0, 32),
        ];

        return $member instanceof MustVerifyEmail ? $shown + ['email_verified' => $member->hasVerifiedEmail()] : $shown;
    }

    /**
     * Revokes a member's connections at the gate, so that their apps are refused from the next request on. Takes about two
     * seconds at most and never throws. If it fails, the error is logged, and the connections end later, when the gate sees
     * the member's new version.
     */
    public function endConnections(string $id, string $reason): void
    {
        if ($this->adminUrl === '') {
            return;
        }
        self::safely(function () use ($id, $reason) {
            $this->tell($id, $reason);
        });
    }

    /** For what Laravel calls while the site works for a member: a failure is logged, and the site's own work goes on. */
    public static function safely(callable $do): void
    {
        try {
            $do();
        } catch (\Throwable $thrown) {
            $problem = 'coursegate: '.get_class($thrown).': '.$thrown->getMessage();
            try {
                Log::error($problem);
            } catch (\Throwable $unwritable) {
                error_log($problem);
            }
        }
    }

    private function tell(string $id, string $reason): void
    {
        $path = '/members/'.rawurlencode($id).'/revoke';
        $body = json_encode(['by' => 'backend', 'reason' => $reason]);
        $options = [
            'method' => 'POST',
            'content' => $body,
            'timeout' => self::TELL_WITHIN,
            'follow_location' => 0,
            'header' => ['Content-Type: application/json', 'Coursegate-Signature: '.$this->signCommand($path, $body)],
        ];
        $answer = @file_get_contents($this->adminUrl.$path, false, stream_context_create(['http' => $options]));
        if ($answer === false) {
            $problem = $http_response_header[0] ?? 'no response';
            Log::error("coursegate: could not revoke the connections of member $id ($reason): $problem");
        }
    }

    /** The Coursegate-Signature header: an HMAC over the time, a nonce, the request and its body. */
    private function signCommand(string $path, string $body): string
    {
        [$time, $nonce] = [(string) time(), bin2hex(random_bytes(16))];
        $text = implode("\n", ['coursegate-v1', $time, $nonce, "POST $path", hash('sha256', $body)]);

        return "t=$time,n=$nonce,v1=".hash_hmac('sha256', $text, $this->adminSecret);
    }

    public function sign(string $sso): string
    {
        return hash_hmac('sha256', $sso, $this->secret);
    }

    /** Encodes fields as a signed query string. */
    public function signed(array $fields): string
    {
        $sso = base64_encode(http_build_query($fields));

        return http_build_query(['sso' => $sso, 'sig' => $this->sign($sso)]);
    }

    /**
     * The gate's request: the nonce, the return URL, `prompt` and `max_age`; null if its signature is invalid. The
     * signature covers the base64 text, not the decoded fields.
     */
    public function readBridge(string $queryString): ?array
    {
        $given = ['sso' => [], 'sig' => []];
        foreach (explode('&', $queryString) as $pair) {
            [$name, $value] = array_map('urldecode', explode('=', $pair, 2) + [1 => '']);
            $given[$name][] = $value;
        }
        if (count($given['sso']) !== 1 || count($given['sig']) !== 1) {
            return null;
        }
        if (! hash_equals($this->sign($given['sso'][0]), $given['sig'][0])) {
            return null;
        }
        parse_str((string) base64_decode($given['sso'][0], true), $fields);
        $nonce = $fields['nonce'] ?? null;
        $returnTo = $fields['return_sso_url'] ?? null;
        if (! is_string($nonce) || $nonce === '' || ! is_string($returnTo)) {
            return null;
        }
        // A URL that starts with an origin and a slash is on that origin, unless a URL parser drops or rewrites characters.
        $ours = strpos($returnTo, $this->origin.'/') === 0 || strpos($returnTo, $this->pagesOrigin.'/') === 0;
        $ours = $ours && preg_match('/^[!-\[\]-~]+$/D', $returnTo);

        $maxAge = isset($fields['max_age']) ? (int) $fields['max_age'] : null;

        return $ours ? [$nonce, $returnTo, $fields['prompt'] ?? null, $maxAge] : null;
    }

    /**
     * The claims of an assertion that is valid for this request, otherwise null. Throws Unverifiable if the gate's keys are
     * unavailable.
     */
    public function readAssertion(string $token, Request $request): ?array
    {
        if (! preg_match('/^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/D', $token, $parts)) {
            return null;
        }
        [, $head, $body, $signature] = $parts;
        $header = json_decode(self::decode($head), true, 16);
        $claims = json_decode(self::decode($body), true, 16);
        if (! is_array($header) || ! is_array($claims)) {
            return null;
        }
        if (($header['alg'] ?? null) !== 'ES256' || isset($header['crit']) || ! is_string($header['kid'] ?? null)) {
            return null;
        }
        $pem = $this->key($header['kid']);
        $raw = self::decode($signature);
        if ($pem === null || strlen($raw) !== 64 || openssl_verify("$head.$body", self::der($raw), $pem, 'sha256') !== 1) {
            return null;
        }
        $now = time();
        $at = [$claims['exp'] ?? null, $claims['iat'] ?? null, $claims['nbf'] ?? 0];
        foreach ($at as $time) {
            if (! is_int($time) && ! is_float($time)) {
                return null;
            }
        }
        foreach (['sub', 'client_id'] as $name) {
            if (! is_string($claims[$name] ?? null) || $claims[$name] === '') {
                return null;
            }
        }
        $inTime = $at[0] > $now - self::LEEWAY && max($at[1], $at[2]) < $now + self::LEEWAY;
        $forUs = ($claims['iss'] ?? null) === $this->origin && ($claims['aud'] ?? null) === $this->upstream;

        return $inTime && $forUs && $this->isFor($request, $claims) ? $claims : null;
    }

    /**
     * Whether this is the request that the assertion was made for, if it names one (RFC 9449 section 4.2). REQUEST_URI is
     * what was sent; getMethod() is what Laravel dispatches.
     */
    private function isFor(Request $request, array $claims): bool
    {
        if (! array_key_exists('htm', $claims) && ! array_key_exists('htu', $claims)) {
            return ! $this->boundOnly;
        }
        $path = explode('?', (string) $request->server->get('REQUEST_URI'), 2)[0];

        return ($claims['htm'] ?? null) === $request->getMethod() && ($claims['htu'] ?? null) === $this->origin.$path;
    }

    /** The gate's key for a kid, as PEM. An unknown kid fetches the keys again, at most once per pause. */
    private function key(string $kid): ?string
    {
        $keys = Cache::get('coursegate.keys');
        if (! isset($keys[$kid])) {
            try {
                $keys = Cache::lock('coursegate.fetch', 10)->block(10, function () use ($kid) {
                    $keys = Cache::get('coursegate.keys');
                    $mayAsk = ! isset($keys[$kid]) && Cache::add('coursegate.asked', 1, $this->pause);

                    return $mayAsk ? $this->fetchKeys() : $keys;
                });
            } catch (LockTimeoutException $late) {
                throw new Unverifiable();
            }
        }
        if ($keys === null || (! isset($keys[$kid]) && Cache::get('coursegate.failed'))) {
            throw new Unverifiable();
        }

        return $keys[$kid] ?? null;
    }

    private function fetchKeys(): ?array
    {
        $options = ['timeout' => 5, 'follow_location' => 0, 'max_redirects' => 1, 'ignore_errors' => false];
        $text = @file_get_contents($this->jwksUrl, false, stream_context_create(['http' => $options]), 0, 1 << 20);
        $jwks = json_decode((string) $text, true)['keys'] ?? null;
        Cache::put('coursegate.failed', ! is_array($jwks), self::KEYS_KEPT);
        if (! is_array($jwks)) {
            return Cache::get('coursegate.keys');
        }
        $keys = [];
        foreach ($jwks as $jwk) {
            $usable = ($jwk['kty'] ?? '') === 'EC' && ($jwk['crv'] ?? '') === 'P-256'
                && ($jwk['use'] ?? 'sig') === 'sig' && ($jwk['alg'] ?? 'ES256') === 'ES256';
            if ($usable && isset($jwk['kid'], $jwk['x'], $jwk['y'])) {
                $der = hex2bin(self::P256).self::decode($jwk['x']).self::decode($jwk['y']);
                $keys[$jwk['kid']] = "-----BEGIN PUBLIC KEY-----\n".chunk_split(base64_encode($der), 64, "\n").'-----END PUBLIC KEY-----';
            }
        }
        Cache::put('coursegate.keys', $keys, self::KEYS_KEPT);

        return $keys;
    }

    private static function decode(string $base64url): string
    {
        return (string) base64_decode(strtr($base64url, '-_', '+/'));
    }

    /** A JWS concatenates the two numbers of a signature (RFC 7518 section 3.4); OpenSSL expects them in DER. */
    private static function der(string $raw): string
    {
        $numbers = '';
        foreach (str_split($raw, 32) as $bytes) {
            $number = ltrim($bytes, "\0");
            if ($number === '' || ord($number[0]) > 0x7f) {
                $number = "\0".$number;
            }
            $numbers .= "\x02".chr(strlen($number)).$number;
        }

        return "\x30".chr(strlen($numbers)).$numbers;
    }
}
