<?php
/**
 * Runs a web service function as the member named in the gate's assertion: ?function=NAME and its arguments. Moodle's own
 * REST server cannot be extended with another authentication method. Only functions that are listed in the settings and
 * that read are allowed. If a function takes a userid, it is always the member's.
 */
define('WS_SERVER', true);
require(__DIR__ . '/start.php');

use core_external\external_api;
use local_coursegate\answer;
use local_coursegate\assertion;
use local_coursegate\settings;

$user = assertion::become_member();
$arguments = $_GET;
$name = is_string($arguments['function'] ?? null) ? $arguments['function'] : '';
unset($arguments['function']);
if (!in_array($name, settings::functions(), true)) {
    answer::json(403, ['error' => 'function']);
}
$function = external_api::external_function_info($name, IGNORE_MISSING);
if (!$function || ($function->type ?? '') !== 'read') {
    answer::json(403, ['error' => 'function']);
}
if (isset($function->parameters_desc->keys['userid'])) {
    $arguments['userid'] = (int) $user->id;
}
answer::json(200, answer::data_of(external_api::call_external_function($name, $arguments)));
