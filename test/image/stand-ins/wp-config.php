<?php
// Reads the variables that the official image documents.
foreach (['NAME', 'USER', 'PASSWORD', 'HOST'] as $name) {
    define("DB_$name", getenv("WORDPRESS_DB_$name"));
}
define('DB_CHARSET', 'utf8mb4');
define('AUTH_KEY', 'a key of this site');
define('AUTH_SALT', 'a salt of this site');
define('WP_DEFAULT_THEME', 'plain');
define('DISABLE_WP_CRON', true);
$table_prefix = 'wp_';
eval(getenv('WORDPRESS_CONFIG_EXTRA'));
defined('ABSPATH') || define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
