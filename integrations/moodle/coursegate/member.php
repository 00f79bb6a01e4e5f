<?php
/**
 * Whether a member is still active, for the gate's `login.recheck`, and with &roles=1 what they are, for its `roles`: ?id=ID and
 * the header Coursegate-Key. Without the right
 * key, or if no key is set, the response is 401 and not 404, which the gate would take to mean that the member has left.
 */
define('AJAX_SCRIPT', true);
define('NO_MOODLE_COOKIES', true);
require(__DIR__ . '/start.php');

use local_coursegate\answer;
use local_coursegate\member;
use local_coursegate\settings;

$key = settings::get('key');
if (strlen($key) < 32 || !hash_equals($key, $_SERVER['HTTP_COURSEGATE_KEY'] ?? '')) {
    answer::json(401, ['error' => 'key']);
}
$id = $_GET['id'] ?? '';
$user = is_string($id) ? member::find($id) : null;
if ($user === null) {
    answer::json(200, ['active' => false]);
}
$roles = isset($_GET['roles']) ? member::roles($user) : [];
answer::json(200, ['active' => true, 'version' => member::of($user, null)['version']] + $roles);
