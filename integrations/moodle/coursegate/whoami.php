<?php
/**
 * Returns the member of the browser's session cookie: {id, email, name, username, version, auth_time}, or 401 if no member is
 * signed in. A browser learns only what its own cookie proves, so no key is needed. There are no CORS headers, and cross-site
 * requests are refused.
 */
define('AJAX_SCRIPT', true);
// Takes effect with $CFG->enable_read_only_sessions: then this page does not wait for a slow page in the same browser.
define('READ_ONLY_SESSION', true);
require(__DIR__ . '/start.php');

use local_coursegate\answer;
use local_coursegate\member;

if (!in_array($_SERVER['HTTP_SEC_FETCH_SITE'] ?? 'none', ['none', 'same-origin'], true)) {
    answer::json(403, ['error' => 'cross_site']);
}
$member = member::signed_in();
answer::json($member === null ? 401 : 200, $member ?? ['error' => 'not_signed_in']);
