<?php
namespace local_coursegate\privacy;

defined('MOODLE_INTERNAL') || die();

/** The plugin stores no personal data. */
class provider implements \core_privacy\local\metadata\null_provider {
    public static function get_reason(): string {
        return 'privacy:metadata';
    }
}
