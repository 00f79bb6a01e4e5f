<?php
namespace local_coursegate;

defined('MOODLE_INTERNAL') || die();

/** The keys of the gate cannot be had: that says nothing about an assertion. */
final class unavailable extends \RuntimeException {}
