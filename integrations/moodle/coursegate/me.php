<?php
/** Returns the account of the member named in the gate's assertion: {id, email, name, username}. */
define('WS_SERVER', true);
require(__DIR__ . '/start.php');

use local_coursegate\answer;
use local_coursegate\assertion;
use local_coursegate\member;

$member = member::of(assertion::become_member(), null);
answer::json(200, array_diff_key($member, ['version' => true]));
