<?php
/**
 * Says who the browser's session cookie belongs to, by the cookie alone: {id, email, name, username, version, auth_time}.
 * 401 is nobody. It takes no key, for a browser is told only what its own cookie proves; there are no CORS fields, and a
 * page of another site is not answered.
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
