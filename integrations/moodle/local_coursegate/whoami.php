<?php
/**
 * Returns the member of the browser's session cookie: {id, email, name, username, version, auth_time}, or 401 if no member is
 * signed in. A browser learns only what its own cookie proves, so no key is needed. There are no CORS headers, and cross-site
 * requests are refused.
 */
define('AJAX_SCRIPT', true);
define('NO_DEBUG_DISPLAY', true);
define('READ_ONLY_SESSION', true);
require(__DIR__ . '/../../config.php');

use local_coursegate\answer;
use local_coursegate\member;

answer::get_only();
if (!in_array($_SERVER['HTTP_SEC_FETCH_SITE'] ?? 'none', ['none', 'same-origin'], true)) {
    answer::json(403, ['error' => 'cross_site']);
}
$member = member::signed_in();
answer::json($member === null ? 401 : 200, $member ?? ['error' => 'not_signed_in']);
