<?php
/**
 * Runs a web service function as the member named in the gate's assertion: ?function=NAME and its arguments. Moodle's own
 * REST server cannot be extended with another authentication method. Only functions that are listed in the settings and
 * that read are allowed. If a function takes a userid, it is always the member's.
 */
define('NO_DEBUG_DISPLAY', true);
define('NO_MOODLE_COOKIES', true);
define('WS_SERVER', true);
require(__DIR__ . '/../../config.php');

use core_external\external_api;
use local_coursegate\answer;
use local_coursegate\keys;
use local_coursegate\member;
use local_coursegate\protocol;
use local_coursegate\settings;
use local_coursegate\unavailable;

answer::get_only();
try {
    // X-Member-Id and similar headers are never read: any client of this server could set them.
    $jwt = $_SERVER['HTTP_X_COURSEGATE_ASSERTION'] ?? '';
    $expected = [
        'issuer' => settings::get('origin'),
        'audience' => settings::get('upstream'),
        'method' => $_SERVER['REQUEST_METHOD'],
        'uri' => $_SERVER['REQUEST_URI'],
        // This is the only page that takes assertions, and the function is in the query, which no assertion covers.
        'bound_only' => false,
    ];
    $claims = protocol::verify($jwt, $expected, time(), [keys::class, 'find']);
} catch (\DomainException $thrown) {
    answer::json(401, ['error' => 'assertion', 'message' => $thrown->getMessage()]);
} catch (unavailable $thrown) {
    header('Retry-After: 2');
    answer::json(503, ['error' => 'keys']);
}
$user = member::find($claims['sub']);
if ($user === null) {
    answer::json(401, ['error' => 'assertion', 'message' => 'no active member has this ID']);
}
if (!empty($CFG->maintenance_enabled)) {
    answer::json(503, ['error' => 'maintenance']);
}

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

enrol_check_plugins($user);
\core\session\manager::set_user($user);
$called = external_api::call_external_function($name, $arguments);
if ($called['error']) {
    $code = (string) ($called['exception']->errorcode ?? '');
    $status = $code === 'invalidparameter' ? 400 : 403;
    // The message is not sent: it may contain information that the member may not see.
    answer::json($status, ['error' => 'moodle', 'code' => $code]);
}
answer::json(200, $called['data']);
