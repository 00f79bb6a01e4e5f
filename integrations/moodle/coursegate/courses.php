<?php
/** Returns the courses of the member named in the gate's assertion: {"courses": […]}, as in classes/courses.php. */
define('WS_SERVER', true);
require(__DIR__ . '/start.php');

use local_coursegate\answer;
use local_coursegate\assertion;
use local_coursegate\courses;

answer::json(200, ['courses' => courses::of(assertion::become_member())]);
