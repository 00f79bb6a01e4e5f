<?php
defined('MOODLE_INTERNAL') || die();

$definitions = ['keys' => ['mode' => cache_store::MODE_APPLICATION, 'simplekeys' => true, 'ttl' => 3600]];
