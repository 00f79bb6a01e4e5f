<?php
defined('MOODLE_INTERNAL') || die();

// Moodle 4.5 and later.
$callbacks = [
    [
        'hook' => \core\hook\after_config::class,
        'callback' => [\local_coursegate\sign_in::class, 'before_second_factor'],
        // Before tool_mfa, which has the default of 100.
        'priority' => 500,
    ],
];
