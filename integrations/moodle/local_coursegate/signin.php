<?php
/**
 * Moodle's login page takes no address to come back to, so members are sent here first: ?return_to=/oauth/…
 * Whoever is signed in is signed out, since members come here when nobody is, or when somebody else shall be.
 */
require(__DIR__ . '/../../config.php');

use local_coursegate\answer;
use local_coursegate\sign_in;

answer::get_only();
$return = optional_param('return_to', '', PARAM_RAW);
// A path of this origin, and nothing that a browser takes for another host.
if (preg_match('~^/oauth/[\x21-\x7e]*$~D', $return) !== 1 || strpbrk($return, '\\#') !== false) {
    answer::json(400, ['error' => 'return_to']);
}
sign_in::require('/local/coursegate/signin.php', ['return_to' => $return], true);
answer::redirect($return);
