<?php
/**
 * Loads Moodle for a page that answers the gate in JSON. If that fails, for example because the database is down, the answer
 * is 503. Moodle itself would answer 200 to a script, and 404 in a page, which tells the gate that the member has left.
 */
define('NO_DEBUG_DISPLAY', true);

use local_coursegate\answer;
use local_coursegate\member;

try {
    require(__DIR__ . '/../../config.php');
} catch (\Throwable $thrown) {
    // tool_mfa throws here until the second factor was provided.
    if (!empty($USER->id) && !member::second_factor()) {
        answer::json(401, ['error' => 'not_signed_in']);
    }
    answer::failed($thrown);
}
set_exception_handler([answer::class, 'failed']);
answer::allow('GET');
if (!empty($CFG->maintenance_enabled)) {
    answer::unavailable(['error' => 'maintenance']);
}
