<?php
defined('MOODLE_INTERNAL') || die();

// With `internal` set to false, observers run after the transaction is committed.
$observers = [];
foreach (['user_password_updated', 'user_updated', 'user_deleted', 'role_assigned', 'role_unassigned'] as $name) {
    $observers[] = [
        'eventname' => "\\core\\event\\$name",
        'callback' => "\\local_coursegate\\observer::$name",
        'internal' => false,
    ];
}
