<?php
// Installs the WordPress of compose.wordpress.yaml with an administrator and a member, unless it is installed.
define('WP_INSTALLING', true);
require '/var/www/html/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';

if (!is_blog_installed()) {
    // There is nobody to read the mails, and no program to send them.
    add_filter('pre_wp_mail', '__return_false');
    $password = getenv('WORDPRESS_PASSWORD');
    wp_install('Harbour Lane School', 'head', 'head@school.example', true, '', $password);
    wp_insert_user(['user_login' => 'student', 'user_pass' => $password, 'user_email' => 'student@school.example',
        'display_name' => 'Sam Student', 'role' => 'author']);
    // Apps use addresses below /wp-json.
    update_option('permalink_structure', '/%postname%/');
    echo "WordPress is installed.\n";
}
