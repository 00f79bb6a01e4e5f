<?php
// Installs the WordPress of compose.wordpress.yaml with an administrator and a member, unless it is installed.

// WordPress reports errors as a page, and ends with 0.
$done = false;
register_shutdown_function(function () use (&$done) {
    if (!$done) exit(1);
});

define('WP_INSTALLING', true);
require '/var/www/html/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';

if (!is_blog_installed()) {
    // The image has no program that sends mail.
    add_filter('pre_wp_mail', '__return_false');
    $password = getenv('WORDPRESS_PASSWORD');
    wp_install('Harbour Lane School', 'head', 'head@school.example', true, '', $password);
    wp_insert_user(['user_login' => 'student', 'user_pass' => $password, 'user_email' => 'student@school.example',
        'display_name' => 'Sam Student', 'role' => 'author']);
    // Apps use addresses below /wp-json.
    update_option('permalink_structure', '/%postname%/');
    echo "WordPress is installed.\n";
}
$done = true;
