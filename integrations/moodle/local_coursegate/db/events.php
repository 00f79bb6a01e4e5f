<?php
defined('MOODLE_INTERNAL') || die();

// `internal` is false: once what happened is committed.
$observers = [];
foreach (['user_password_updated', 'user_updated', 'user_deleted', 'role_assigned', 'role_unassigned'] as $name) {
    $observers[] = [
        'eventname' => "\\core\\event\\$name",
        'callback' => "\\local_coursegate\\observer::$name",
        'internal' => false,
    ];
}
