<?php
defined('MOODLE_INTERNAL') || die();

$plugin->component = 'local_coursegate';
$plugin->version = 2026112400;
$plugin->requires = 2023042400; // Moodle 4.2, the first version with \core_external.
$plugin->maturity = MATURITY_BETA;
$plugin->release = '1.1';
