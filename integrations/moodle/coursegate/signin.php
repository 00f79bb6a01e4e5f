<?php
/**
 * Moodle's login page has no parameter for the URL to return to, so members are sent here first: ?return_to=/oauth/…
 * A signed-in member is asked to sign in again: the gate sends members here if none is signed in, or to switch accounts.
 */
require(__DIR__ . '/../../config.php');

use local_coursegate\answer;
use local_coursegate\sign_in;

answer::allow('GET', 'POST');
$return = sign_in::parameter('return_to');
// A path on this origin. Nothing that a browser could read as another host.
if (preg_match('~^/oauth/[\x21-\x7e]*$~D', $return) !== 1 || strpbrk($return, '\\#') !== false) {
    answer::json(400, ['error' => 'return_to']);
}
sign_in::require('/local/coursegate/signin.php', ['return_to' => $return], true);
answer::redirect($return);
