<?php
namespace local_coursegate\privacy;

defined('MOODLE_INTERNAL') || die();

/** Nothing is kept. */
class provider implements \core_privacy\local\metadata\null_provider {
    public static function get_reason(): string {
        return 'privacy:metadata';
    }
}
