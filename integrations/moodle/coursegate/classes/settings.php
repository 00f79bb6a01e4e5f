<?php
namespace local_coursegate;

defined('MOODLE_INTERNAL') || die();

/** The plugin's settings. As for any plugin, $CFG->forced_plugin_settings['local_coursegate'] in config.php overrides them. */
final class settings {
    public static function get(string $name): string {
        return trim((string) get_config('local_coursegate', $name));
    }

    public static function jwks_url(): string {
        $url = self::get('jwksurl');
        return $url !== '' ? $url : self::get('origin') . '/.well-known/jwks.json';
    }

    /** @return string[] the functions that apps may call */
    public static function functions(): array {
        return preg_split('~[\s,]+~', self::get('functions'), -1, PREG_SPLIT_NO_EMPTY);
    }
}
