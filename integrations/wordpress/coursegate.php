<?php
/**
 * Plugin Name: coursegate
 * Description: Lets members connect apps with the login they already have on this site. Put this file in wp-content/mu-plugins.
 * Version: 1.0
 * Requires at least: 6.1
 * Requires PHP: 7.4
 * License: MIT
 *
 * It adds this, and nothing else:
 *   /?coursegate=whoami   returns the member of a browser's login cookie to the gate            (login kind `session`)
 *   /?coursegate=bridge   a signed one-time redirect, compatible with DiscourseConnect          (login kind `bridge`)
 *   /?coursegate=member   returns whether a member is still active, their version, and with &roles their roles, to the gate,
 *                         which sends a key
 *   REST requests with a valid X-Coursegate-Assertion run as the member it names, on the listed routes only
 *   When a member changes their password or role, or is deleted, the gate revokes their connections
 *   GET /wp-json/coursegate/v1/me and the routes under it: the member's own data; …/posts: published posts, as text
 */

defined('ABSPATH') || exit;

// >>> settings. `coursegate init` writes the lines between these two marks. Constants in wp-config.php take precedence.
// The gate's `origin`, such as https://school.example; '' is the address of each site in a network of sites:
defined('COURSEGATE_ORIGIN') || define('COURSEGATE_ORIGIN', '');
// The gate's `pages.origin`, such as https://login.school.example; '' if it has none:
defined('COURSEGATE_PAGES_ORIGIN') || define('COURSEGATE_PAGES_ORIGIN', '');
// The name of this site under `upstreams` in coursegate.yaml:
defined('COURSEGATE_UPSTREAM') || define('COURSEGATE_UPSTREAM', 'wordpress');
// The secret of the bridge, 32 characters or more; '' disables the bridge:
defined('COURSEGATE_SECRET') || define('COURSEGATE_SECRET', '');
// Where to fetch the gate's keys, such as http://127.0.0.1:8080/.well-known/jwks.json; '' fetches them from its origin:
defined('COURSEGATE_JWKS_URL') || define('COURSEGATE_JWKS_URL', '');
// The REST routes that apps may use, each including the routes under it: 'GET /coursegate/v1, GET|POST /ldlms/v2':
defined('COURSEGATE_ROUTES') || define('COURSEGATE_ROUTES', 'GET /coursegate/v1');
// '1' refuses assertions that are not made for one request (plugin mode); '' accepts them:
defined('COURSEGATE_BOUND_ONLY') || define('COURSEGATE_BOUND_ONLY', '');
// The gate's admin listener, such as http://127.0.0.1:9090, and its `admin.hmac.secret`; '' sends it nothing. In a network of
// sites with a school for each, {site} is the ID of the site: http://127.0.0.1:9090/schools/site-{site}
defined('COURSEGATE_ADMIN') || define('COURSEGATE_ADMIN', '');
defined('COURSEGATE_ADMIN_SECRET') || define('COURSEGATE_ADMIN_SECRET', '');
// The key that the gate sends to /?coursegate=member, 32 characters or more; '' disables that endpoint:
defined('COURSEGATE_KEY') || define('COURSEGATE_KEY', '');
// <<< settings

/** The protocol between the gate and a site. The Moodle plugin has a copy, so that each drop-in is self-contained. */
final class Coursegate_Protocol {
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

/** The gate's keys are unavailable, so the assertion cannot be checked. */
final class Coursegate_Unavailable extends RuntimeException {}

/**
 * Adds an action for what WordPress does while the site works for a member, such as saving a password. A failure is logged,
 * and the site's own work goes on. Not for what decides who a request is for: there, a failure must stop the request.
 */
function coursegate_on(string $hook, callable $do, int $priority = 10): void {
    add_action($hook, static function (...$given) use ($hook, $do) {
        try {
            $do(...$given);
        } catch (Throwable $thrown) {
            error_log("coursegate: $hook: {$thrown->getMessage()} ({$thrown->getFile()}:{$thrown->getLine()})");
        }
    }, $priority, 4);
}

/** The gate's origin. In a network of sites, each site is a school at its own address, unless a setting says otherwise. */
function coursegate_origin(): string {
    if (COURSEGATE_ORIGIN !== '' || !is_multisite()) {
        return COURSEGATE_ORIGIN;
    }
    $parts = wp_parse_url(get_option('home'));
    return $parts['scheme'] . '://' . $parts['host'] . (isset($parts['port']) ? ':' . $parts['port'] : '');
}

// ---------------------------------------------------------------------------------------------------------------- members

/**
 * A member as sent to the gate: id, email, name, username, version, and auth_time (when this browser signed in).
 * The filter `coursegate_member` may change the name or email. It may add data to `version` that ends connections when it
 * changes (a refund, a ban). If it returns null, the user does not count as a member.
 */
function coursegate_member(WP_User $user, ?int $auth_time): ?array {
    $roles = array_values($user->roles);
    sort($roles);
    $epochs = [(int) get_user_meta($user->ID, 'coursegate_epoch', true), (int) get_site_option('coursegate_epoch')];
    $parts = [$user->ID, $user->user_pass, $roles, $epochs];
    $member = [
        'id' => (string) $user->ID,
        'email' => $user->user_email,
        'name' => $user->display_name,
        'username' => $user->user_login,
        'version' => Coursegate_Protocol::version($parts, wp_salt('auth')),
    ];
    if ($auth_time !== null) {
        $member['auth_time'] = $auth_time;
    }
    $member = is_multisite() && (is_user_spammy($user) || !is_user_member_of_blog($user->ID)) ? null : $member;
    return apply_filters('coursegate_member', $member, $user);
}

/** The member of this browser's login cookie, or null. Only the cookie counts, not a nonce or another authentication. */
function coursegate_cookie_member(): ?array {
    $user = get_userdata((int) wp_validate_auth_cookie('', 'logged_in'));
    $cookie = wp_parse_auth_cookie('', 'logged_in');
    if ($user === false || $cookie === false) {
        return null;
    }
    $session = WP_Session_Tokens::get_instance($user->ID)->get($cookie['token']);
    return coursegate_member($user, isset($session['login']) ? (int) $session['login'] : null);
}

/**
 * "Log out everywhere" disconnects the member's apps too, by changing their version. WordPress has no hook for it. It is
 * detected by the sessions it removes: an ordinary logout removes only this request's session, and cleanup only expired ones.
 */
function coursegate_sessions_change(int $user_id, $sessions): void {
    $before = get_user_meta($user_id, 'session_tokens', true);
    $gone = array_diff_key(is_array($before) ? $before : [], is_array($sessions) ? $sessions : []);
    unset($gone[hash('sha256', wp_get_session_token())]);
    // Deleting a member also removes their sessions. Do not write new metadata for a member who is being deleted.
    if (did_action('delete_user') || did_action('wpmu_delete_user')) {
        return;
    }
    foreach ($gone as $session) {
        if (!is_array($session) || ($session['expiration'] ?? 0) >= time()) {
            update_user_meta($user_id, 'coursegate_epoch', 1 + (int) get_user_meta($user_id, 'coursegate_epoch', true));
            return;
        }
    }
}

coursegate_on('update_user_meta', static function ($meta_id, $user_id, $name, $value) {
    if ($name === 'session_tokens') {
        coursegate_sessions_change((int) $user_id, maybe_unserialize($value));
    }
});
coursegate_on('delete_user_meta', static function ($meta_ids, $user_id, $name) {
    if ($name === 'session_tokens' && (int) $user_id !== 0) {
        coursegate_sessions_change((int) $user_id, []);
    } elseif ($name === 'session_tokens') {
        update_site_option('coursegate_epoch', 1 + (int) get_site_option('coursegate_epoch'));
    }
});

// ------------------------------------------------------------------------------------------------- events sent to the gate

/**
 * Revokes a member's connections at the gate when this request ends, so that their apps are refused from then on. Plugins
 * can do the same with do_action('coursegate_end', $user_id, 'refund').
 *
 * @param int|null $site in a network, the site where they end; null ends them at every site that the member belongs to
 */
function coursegate_end(int $user_id, string $reason, ?int $site = null): void {
    static $ended = [];
    if (COURSEGATE_ADMIN === '' || $user_id === 0) {
        return;
    }
    if (strpos(COURSEGATE_ADMIN, '{site}') === false) {
        $sites = array_intersect([$site ?? get_current_blog_id()], [get_current_blog_id()]);
    } else {
        $sites = $site === null ? array_keys(get_blogs_of_user($user_id, true)) : [$site];
    }
    foreach ($sites as $one) {
        $url = rtrim(str_replace('{site}', (string) $one, COURSEGATE_ADMIN), '/') . "/members/$user_id/revoke";
        if (isset($ended[$url])) {
            continue;
        }
        $ended[$url] = true;
        // Runs last, so that the gate sees the final state if it calls this site back.
        coursegate_on('shutdown', static function () use ($url, $user_id, $reason) {
            coursegate_tell($url, $user_id, $reason);
        }, PHP_INT_MAX);
    }
}
coursegate_on('coursegate_end', static function ($user_id, $reason = 'requested by a plugin') {
    coursegate_end((int) $user_id, (string) $reason, get_current_blog_id());
});

/**
 * Sends the command. Takes two seconds at most, also for many sites: if the gate cannot be reached for one of them, it is not
 * asked for the others. If it fails, the error is logged, and the connections end later, when the gate sees the member's new
 * `version`.
 */
function coursegate_tell(string $url, int $user_id, string $reason): void {
    static $unreachable = false;
    if ($unreachable) {
        return;
    }
    $path = wp_parse_url($url, PHP_URL_PATH);
    $body = wp_json_encode(['by' => 'backend', 'reason' => $reason]);
    list($time, $nonce) = [(string) time(), bin2hex(random_bytes(16))];
    $text = implode("\n", ['coursegate-v1', $time, $nonce, "POST $path", hash('sha256', $body)]);
    $signature = hash_hmac('sha256', $text, COURSEGATE_ADMIN_SECRET);
    $response = wp_remote_post($url, [
        'timeout' => 2,
        'redirection' => 0,
        'body' => $body,
        'headers' => [
            'Content-Type' => 'application/json',
            'Coursegate-Signature' => "t=$time,n=$nonce,v1=$signature",
        ],
    ]);
    $unreachable = is_wp_error($response);
    $problem = $unreachable ? $response->get_error_message() : wp_remote_retrieve_response_code($response);
    // A site of a network may have no school.
    $is_known = $problem === 200 || ($problem === 404 && strpos(COURSEGATE_ADMIN, '{site}') !== false);
    if (!$is_known) {
        error_log("coursegate: could not revoke the connections of member $user_id ($reason): $problem");
    }
}

// Plugins that send this action themselves often leave out the member as they were before.
coursegate_on('profile_update', static function ($user_id, $before = null) {
    $user = get_userdata($user_id);
    if ($user !== false && isset($before->user_pass) && $user->user_pass !== $before->user_pass) {
        coursegate_end((int) $user_id, 'password changed');
    }
});
coursegate_on('after_password_reset', static function ($user) {
    coursegate_end((int) $user->ID, 'password reset');
});
// WordPress 6.2 and later. Before that, a password set by a plugin with wp_set_password() is noticed only through `version`.
coursegate_on('wp_set_password', static function ($password, $user_id) {
    coursegate_end((int) $user_id, 'password changed');
});
foreach (['updated_user_meta', 'added_user_meta', 'deleted_user_meta'] as $changed) {
    coursegate_on($changed, static function ($meta_id, $user_id, $name) use ($changed) {
        global $wpdb;
        $prefix = preg_quote($wpdb->base_prefix, '~');
        if ($name === 'coursegate_epoch') {
            coursegate_end((int) $user_id, 'logged out everywhere');
        } elseif ($changed !== 'added_user_meta' && preg_match("~^$prefix(?:(\\d+)_)?capabilities$~D", $name, $found) === 1) {
            coursegate_end((int) $user_id, 'role changed', (int) ($found[1] ?? get_main_site_id()));
        }
    });
}
foreach (['delete_user', 'wpmu_delete_user', 'make_spam_user'] as $gone) {
    coursegate_on($gone, static function ($user_id) {
        coursegate_end((int) $user_id, 'left');
    });
}
coursegate_on('remove_user_from_blog', static function ($user_id, $site) {
    coursegate_end((int) $user_id, 'left', (int) $site);
});

// ------------------------------------------------------------------------------------------------------ whoami and bridge

add_action('init', static function () {
    $what = $_GET['coursegate'] ?? null;
    if (!defined('WP_USE_THEMES') || !in_array($what, ['whoami', 'bridge', 'member'], true)) {
        return;
    }
    defined('DONOTCACHEPAGE') || define('DONOTCACHEPAGE', true);
    if ($_SERVER['REQUEST_METHOD'] !== 'GET') {
        header('Allow: GET');
        coursegate_answer(405, ['error' => 'method_not_allowed']);
    }
    if ($what === 'member') {
        coursegate_standing();
    }
    $what === 'whoami' ? coursegate_whoami() : coursegate_bridge();
}, 0);

/**
 * A browser learns only what its own cookie proves, so no key is needed. Unlike the REST API, this sends no CORS headers,
 * and it refuses cross-site requests, so that scripts of other sites cannot read who is signed in.
 */
function coursegate_whoami(): void {
    if (!in_array($_SERVER['HTTP_SEC_FETCH_SITE'] ?? 'none', ['none', 'same-origin'], true)) {
        coursegate_answer(403, ['error' => 'cross_site']);
    }
    $member = coursegate_cookie_member();
    $member === null ? coursegate_answer(401, ['error' => 'not_signed_in']) : coursegate_answer(200, $member);
}

/**
 * Whether a member is still active, for the gate's `login.recheck`. Without the right key, or if no key is configured, the
 * response is 401 and not 404: the gate would take a 404 to mean that the member has left.
 */
function coursegate_standing(): void {
    $key = $_SERVER['HTTP_COURSEGATE_KEY'] ?? '';
    if (strlen(COURSEGATE_KEY) < 32 || !hash_equals(COURSEGATE_KEY, $key)) {
        coursegate_answer(401, ['error' => 'key']);
    }
    $id = $_GET['id'] ?? '';
    $user = is_string($id) && preg_match('~^[1-9][0-9]{0,17}$~D', $id) === 1 ? get_userdata((int) $id) : false;
    $member = $user === false ? null : coursegate_member($user, null);
    if ($member === null) {
        coursegate_answer(200, ['active' => false]);
    }
    $roles = isset($_GET['roles']) ? coursegate_roles($user) : [];
    coursegate_answer(200, ['active' => true, 'version' => $member['version']] + $roles);
}

/**
 * A member's roles, for the gate's `roles`: at the site, and in courses by course ID. The filter `coursegate_course_roles` gets
 * a map of course IDs to lists of roles, and the member, and adds to it.
 */
function coursegate_roles(WP_User $user): array {
    $courses = array_map('array_values', (array) apply_filters('coursegate_course_roles', [], $user));
    return ['roles' => array_values($user->roles), 'courses' => (object) $courses];
}

function coursegate_bridge(): void {
    $sso = $_GET['sso'] ?? '';
    $sig = $_GET['sig'] ?? '';
    $asked = is_string($sso) && is_string($sig) ? Coursegate_Protocol::read_sso($sso, $sig, COURSEGATE_SECRET) : null;
    $return = $asked['return_sso_url'] ?? '';
    $is_ours = Coursegate_Protocol::is_at($return, coursegate_origin())
        || Coursegate_Protocol::is_at($return, COURSEGATE_PAGES_ORIGIN);
    if ($asked === null || ($asked['nonce'] ?? '') === '' || !$is_ours) {
        coursegate_answer(403, ['error' => 'not_from_the_gate']);
    }
    $member = coursegate_cookie_member();
    $sign_in_again = in_array($asked['prompt'] ?? '', ['login', 'select_account'], true)
        || Coursegate_Protocol::is_too_old($asked, $member['auth_time'] ?? null, time());
    // `again` marks a return from the login page. Without it, a member who must sign in again would be sent there forever.
    if ($member === null || ($sign_in_again && !isset($_GET['again']))) {
        $back = ['coursegate' => 'bridge', 'sso' => $sso, 'sig' => $sig, 'again' => '1'];
        $here = home_url('/?' . http_build_query($back, '', '&', PHP_QUERY_RFC3986));
        coursegate_redirect(wp_login_url($here, true));
    }
    $fields = ['nonce' => $asked['nonce'], 'external_id' => $member['id']] + $member;
    unset($fields['id']);
    coursegate_redirect(Coursegate_Protocol::write_sso($return, $fields, COURSEGATE_SECRET));
}

function coursegate_redirect(string $url): void {
    nocache_headers();
    header('Referrer-Policy: no-referrer');
    header('Location: ' . $url, true, 302);
    exit;
}

function coursegate_answer(int $status, array $body): void {
    nocache_headers();
    header('Cache-Control: no-store, private');
    header('Content-Type: application/json; charset=utf-8');
    header('X-Content-Type-Options: nosniff');
    header('Cross-Origin-Resource-Policy: same-origin');
    status_header($status);
    echo wp_json_encode($body);
    exit;
}

// ---------------------------------------------------------------------------------------------- the member of an app's request

/**
 * The claims of this request's assertion, such as the app and its scopes, or null if there is none. A request with an
 * invalid assertion is refused before this can be called.
 */
function coursegate_claims(): ?array {
    return $GLOBALS['coursegate_claims'] ?? null;
}

// Runs before any plugin. X-Member-Id and similar headers are never read: any client of this server could set them.
add_action('plugins_loaded', static function () {
    $jwt = $_SERVER['HTTP_X_COURSEGATE_ASSERTION'] ?? '';
    // Gateways may send an empty field with requests without a member.
    if ($jwt === '') {
        return;
    }
    // The REST API lets these override the method, on GET requests too.
    $asked = $_GET['_method'] ?? $_SERVER['HTTP_X_HTTP_METHOD_OVERRIDE'] ?? $_SERVER['REQUEST_METHOD'];
    $expected = [
        'issuer' => coursegate_origin(),
        'audience' => COURSEGATE_UPSTREAM,
        'method' => is_string($asked) ? strtoupper($asked) : '',
        'uri' => $_SERVER['REQUEST_URI'],
        'bound_only' => (bool) COURSEGATE_BOUND_ONLY,
    ];
    try {
        $claims = Coursegate_Protocol::verify($jwt, $expected, time(), 'coursegate_key');
    } catch (DomainException $thrown) {
        coursegate_refuse(401, 'coursegate_assertion', 'Invalid assertion: ' . $thrown->getMessage() . '.');
    } catch (Coursegate_Unavailable $thrown) {
        header('Retry-After: 2');
        coursegate_refuse(503, 'coursegate_keys', "The gate's keys are unavailable.");
    }
    // The gate authorized the method that was sent.
    if ($expected['method'] !== $_SERVER['REQUEST_METHOD']) {
        coursegate_refuse(400, 'coursegate_method', 'Method overrides are not allowed.');
    }
    $user = preg_match('~^[1-9][0-9]{0,17}$~D', $claims['sub']) === 1 ? get_userdata((int) $claims['sub']) : false;
    if ($user === false) {
        coursegate_refuse(401, 'coursegate_assertion', 'No active member has this ID.');
    }
    // Only index.php defines WP_USE_THEMES, so apps cannot reach the login, the dashboard or XML-RPC.
    if (!defined('WP_USE_THEMES')) {
        coursegate_refuse(403, 'coursegate_route', 'Apps may only use the REST API.');
    }
    // WordPress would take the route from this parameter, and not from the path that the gate authorized.
    if (isset($_GET['rest_route']) || isset($_POST['rest_route'])) {
        coursegate_refuse(403, 'coursegate_route', 'Send the route in the path, without the parameter rest_route.');
    }
    $GLOBALS['coursegate_claims'] = $claims;
}, PHP_INT_MIN);

function coursegate_refuse(int $status, string $code, string $message): void {
    coursegate_answer($status, ['code' => $code, 'message' => $message, 'data' => ['status' => $status]]);
}

// As with application passwords, the member becomes the current user only inside the REST API. What plugins do earlier in
// the request does not run as the member.
add_filter('determine_current_user', static function ($user_id) {
    $claims = coursegate_claims();
    return $claims !== null && defined('REST_REQUEST') && REST_REQUEST ? (int) $claims['sub'] : $user_id;
}, PHP_INT_MAX);

add_filter('rest_authentication_errors', static function ($result) {
    $claims = coursegate_claims();
    if ($claims === null) {
        return $result;
    }
    if (get_current_user_id() !== (int) $claims['sub']) {
        return new WP_Error('coursegate_assertion', 'The request is authenticated as two different members.', ['status' => 401]);
    }
    if (coursegate_member(wp_get_current_user(), null) === null) {
        return new WP_Error('coursegate_assertion', 'No active member has this ID.', ['status' => 401]);
    }
    return true;
}, 1);

// Responses to apps must not be cached, including refusals.
add_filter('rest_send_nocache_headers', static function ($send) {
    return $send || coursegate_claims() !== null;
}, PHP_INT_MAX);
add_filter('nocache_headers', static function ($headers) {
    return coursegate_claims() === null ? $headers : ['Cache-Control' => 'no-store, private'] + $headers;
}, PHP_INT_MAX);

// Checks the route and method that are actually dispatched, including each request of a batch and embedded resources.
add_filter('rest_request_before_callbacks', static function ($response, $handler, $request) {
    if (coursegate_claims() === null || coursegate_may_run($request->get_method(), $request->get_route())) {
        return $response;
    }
    return new WP_Error('coursegate_route', 'Apps may not use this route.', ['status' => 403]);
}, PHP_INT_MAX, 3);

// A request that gets here is for a page, not for the REST API.
add_action('parse_request', static function () {
    if (coursegate_claims() !== null) {
        coursegate_refuse(403, 'coursegate_route', 'Apps may only use the REST API.');
    }
}, PHP_INT_MAX);

/** Whether COURSEGATE_ROUTES allows this method on this REST route, or on a route above it. GET includes HEAD. */
function coursegate_may_run(string $method, string $route): bool {
    $names = $method === 'HEAD' ? ['GET', 'HEAD'] : [$method];
    foreach (explode(',', COURSEGATE_ROUTES) as $entry) {
        $parts = preg_split('~\s+~', trim($entry));
        if (count($parts) !== 2 || array_intersect($names, explode('|', $parts[0])) === []) {
            continue;
        }
        $prefix = rtrim($parts[1], '/');
        if ($prefix !== '' && ($route === $prefix || strpos($route, $prefix . '/') === 0)) {
            return true;
        }
    }
    return false;
}

/**
 * The gate's key with this ID, as a JWK, or null. Keys are cached for ten minutes, or for an hour if the gate is
 * unavailable. An unknown ID fetches them again, at most every 15 seconds. Throws Coursegate_Unavailable without any keys.
 */
function coursegate_key(string $kid): ?array {
    $url = COURSEGATE_JWKS_URL !== '' ? COURSEGATE_JWKS_URL : coursegate_origin() . '/.well-known/jwks.json';
    $kept = get_transient('coursegate_keys');
    $keys = is_array($kept) && $kept['url'] === $url ? $kept['keys'] : [];
    $key = Coursegate_Protocol::key_of($keys, $kid);
    if ($key !== null && $kept['at'] > time() - 600) {
        return $key;
    }
    $pause = (int) get_transient('coursegate_keys_pause') > time();
    if (!$pause) {
        if ($keys !== []) {
            coursegate_pause(15);
        }
        $fetched = coursegate_fetch_keys($url);
        if ($fetched !== null) {
            set_transient('coursegate_keys', ['url' => $url, 'keys' => $fetched, 'at' => time()], HOUR_IN_SECONDS);
            return Coursegate_Protocol::key_of($fetched, $kid);
        }
        coursegate_pause(2);
    }
    if ($keys === []) {
        throw new Coursegate_Unavailable();
    }
    return $key;
}

function coursegate_pause(int $seconds): void {
    set_transient('coursegate_keys_pause', time() + $seconds, $seconds);
}

function coursegate_fetch_keys(string $url): ?array {
    // The gate of a network chooses the school by Host.
    $host = is_multisite() ? explode('/', coursegate_origin())[2] : null;
    $response = wp_remote_get($url, [
        'timeout' => 3,
        'redirection' => 0,
        'limit_response_size' => 65536,
        'headers' => $host === null ? [] : ['Host' => $host],
    ]);
    if (is_wp_error($response) || wp_remote_retrieve_response_code($response) !== 200) {
        return null;
    }
    return Coursegate_Protocol::keys(wp_remote_retrieve_body($response));
}

// -------------------------------------------------------------------------------------------------------- what apps can read

// Routes under `me` always use the current user: no parameter can name another one.
add_action('rest_api_init', static function () {
    $page = ['page' => ['type' => 'integer', 'minimum' => 1, 'maximum' => 1000, 'default' => 1]];
    $routes = ['me' => 'coursegate_profile', 'me/posts' => 'coursegate_posts', 'me/comments' => 'coursegate_comments'];
    if (has_filter('coursegate_courses')) {
        $routes['me/courses'] = 'coursegate_courses';
    }
    if (function_exists('wc_get_orders')) {
        $routes['me/orders'] = 'coursegate_orders';
    }
    foreach ($routes as $route => $callback) {
        register_rest_route('coursegate/v1', '/' . $route, [
            'methods' => 'GET',
            'callback' => $callback,
            'permission_callback' => 'is_user_logged_in',
            'args' => $route === 'me' ? [] : $page,
        ]);
    }
    register_rest_route('coursegate/v1', '/posts', [
        'methods' => 'GET',
        'callback' => 'coursegate_published',
        'permission_callback' => '__return_true',
        'args' => $page + ['search' => ['type' => 'string', 'maxLength' => 200, 'default' => '']],
    ]);
});

const COURSEGATE_PAGE = 20;

function coursegate_profile(): array {
    $user = wp_get_current_user();
    return [
        'id' => (string) $user->ID,
        'email' => $user->user_email,
        'name' => $user->display_name,
        'memberSince' => coursegate_time($user->user_registered),
        'roles' => array_values($user->roles),
    ];
}

/** Published posts, newest first. */
function coursegate_published(WP_REST_Request $request): array {
    $query = new WP_Query([
        's' => $request['search'],
        'post_type' => 'post',
        'post_status' => 'publish',
        'has_password' => false,
        'posts_per_page' => COURSEGATE_PAGE,
        'paged' => $request['page'],
        'ignore_sticky_posts' => true,
    ]);
    return coursegate_list(array_map(static function (WP_Post $post) {
        return [
            'id' => (string) $post->ID,
            'title' => coursegate_text($post->post_title),
            'summary' => wp_trim_words(coursegate_text(strip_shortcodes($post->post_excerpt ?: $post->post_content)), 40),
            'url' => get_permalink($post),
            'publishedAt' => coursegate_time($post->post_date_gmt),
        ];
    }, $query->posts), (int) $query->found_posts, $request['page']);
}

/** The member's posts, including drafts and private posts, newest first. */
function coursegate_posts(WP_REST_Request $request): array {
    $query = new WP_Query([
        'author' => get_current_user_id(),
        'post_type' => 'post',
        'post_status' => ['publish', 'private', 'draft', 'pending', 'future'],
        'posts_per_page' => COURSEGATE_PAGE,
        'paged' => $request['page'],
        'ignore_sticky_posts' => true,
    ]);
    return coursegate_list(array_map(static function (WP_Post $post) {
        return [
            'id' => (string) $post->ID,
            'title' => coursegate_text($post->post_title),
            'status' => $post->post_status,
            'url' => get_permalink($post),
            'modifiedAt' => coursegate_time($post->post_modified_gmt),
        ];
    }, $query->posts), (int) $query->found_posts, $request['page']);
}

/** The member's comments, including those awaiting approval, newest first. */
function coursegate_comments(WP_REST_Request $request): array {
    $query = new WP_Comment_Query();
    $comments = $query->query([
        'user_id' => get_current_user_id(),
        'status' => ['approve', 'hold'],
        'type' => 'comment',
        'number' => COURSEGATE_PAGE,
        'paged' => $request['page'],
        'no_found_rows' => false,
    ]);
    return coursegate_list(array_map(static function (WP_Comment $comment) {
        return [
            'id' => (string) $comment->comment_ID,
            'text' => coursegate_text($comment->comment_content),
            'approved' => $comment->comment_approved === '1',
            'on' => coursegate_text(get_post_field('post_title', (int) $comment->comment_post_ID)),
            'writtenAt' => coursegate_time($comment->comment_date_gmt),
        ];
    }, $comments), (int) $query->found_comments, $request['page']);
}

/**
 * The member's courses, in the member's language. The filter `coursegate_courses` gets a list and the member, and adds
 * {id, slug, title, url, …}, or a function that returns this and is called only for the requested page. The file
 * coursegate-courses.php adds the courses of known plugins. The route exists only if this filter is registered.
 */
function coursegate_courses(WP_REST_Request $request): array {
    $member = wp_get_current_user();
    $switched = switch_to_locale(get_user_locale($member));
    $courses = array_values((array) apply_filters('coursegate_courses', [], $member));
    $shown = array_slice($courses, ($request['page'] - 1) * COURSEGATE_PAGE, COURSEGATE_PAGE);
    $shown = array_map(static function ($course) {
        return $course instanceof Closure ? $course() : $course;
    }, $shown);
    if ($switched) {
        restore_previous_locale();
    }
    return coursegate_list($shown, count($courses), $request['page']);
}

/** The member's orders. Needs WooCommerce. */
function coursegate_orders(WP_REST_Request $request): array {
    $found = wc_get_orders([
        'customer_id' => get_current_user_id(),
        'type' => 'shop_order',
        'limit' => COURSEGATE_PAGE,
        'page' => $request['page'],
        'paginate' => true,
    ]);
    return coursegate_list(array_map(static function ($order) {
        $created = $order->get_date_created();
        return [
            'number' => (string) $order->get_order_number(),
            'status' => $order->get_status(),
            'total' => (string) $order->get_total(),
            'currency' => $order->get_currency(),
            'orderedAt' => $created === null ? null : gmdate('Y-m-d\TH:i:s\Z', $created->getTimestamp()),
            'items' => array_values(array_map(static function ($item) {
                return ['title' => $item->get_name(), 'quantity' => (int) $item->get_quantity()];
            }, $order->get_items())),
        ];
    }, $found->orders), (int) $found->total, $request['page']);
}

function coursegate_list(array $items, int $total, int $page): array {
    return ['items' => $items, 'total' => $total, 'nextPage' => $page * COURSEGATE_PAGE < $total ? $page + 1 : null];
}

function coursegate_text(string $html): string {
    return trim(html_entity_decode(wp_strip_all_tags($html), ENT_QUOTES, 'UTF-8'));
}

/** Formats a UTC time of the database as ISO 8601. Drafts have a zero time, which becomes null. */
function coursegate_time(string $time): ?string {
    return strpos($time, '0000') === 0 ? null : str_replace(' ', 'T', $time) . 'Z';
}
