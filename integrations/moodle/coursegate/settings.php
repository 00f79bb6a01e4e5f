<?php
defined('MOODLE_INTERNAL') || die();

if ($hassiteconfig) {
    $settings = new admin_settingpage('local_coursegate', get_string('pluginname', 'local_coursegate'));
    $ADMIN->add('localplugins', $settings);
    $setting = static function ($class, $name, $default, $type = null) use ($settings) {
        $title = get_string($name, 'local_coursegate');
        $about = get_string($name . '_desc', 'local_coursegate');
        $settings->add(new $class("local_coursegate/$name", $title, $about, $default, ...($type === null ? [] : [$type])));
    };
    $setting('admin_setting_configtext', 'origin', '', PARAM_URL);
    $setting('admin_setting_configtext', 'pagesorigin', '', PARAM_URL);
    $setting('admin_setting_configtext', 'upstream', 'moodle', PARAM_ALPHANUMEXT);
    $setting('admin_setting_configtext', 'jwksurl', '', PARAM_URL);
    $setting('admin_setting_configpasswordunmask', 'secret', '');
    $setting('admin_setting_configtext', 'adminurl', '', PARAM_URL);
    $setting('admin_setting_configpasswordunmask', 'adminsecret', '');
    $setting('admin_setting_configpasswordunmask', 'key', '');
    $setting('admin_setting_configtextarea', 'functions', 'gradereport_overview_get_course_grades');
}
