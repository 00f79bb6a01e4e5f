<?php
namespace local_coursegate;

defined('MOODLE_INTERNAL') || die();

/** The gate's keys are unavailable, so the assertion cannot be checked. */
final class unavailable extends \RuntimeException {}
