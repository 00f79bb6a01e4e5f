<?php
defined('MOODLE_INTERNAL') || die();

$string['adminsecret'] = 'Secret of the admin listener';
$string['adminsecret_desc'] = 'The same as "admin.hmac.secret" of the gate.';
$string['adminurl'] = 'Admin listener';
$string['adminurl_desc'] = 'Where this server reaches the admin listener of the gate, such as http://127.0.0.1:9090. It is told when a member changes the password, is suspended or deleted, or gets another role of the site, and ends what they let in. Left empty, it is told nothing.';
$string['cachedef_keys'] = 'Public keys of the gate';
$string['functions'] = 'Functions that apps may call';
$string['functions_desc'] = 'Names of web service functions, one a line. Functions that write are refused even if they are listed.';
$string['jwksurl'] = 'Address of the keys';
$string['jwksurl_desc'] = 'Where this server reads the keys of the gate, when not at its origin: http://127.0.0.1:8080/.well-known/jwks.json';
$string['origin'] = 'Origin';
$string['origin_desc'] = 'The origin of the gate, such as https://school.example';
$string['pluginname'] = 'coursegate';
$string['privacy:metadata'] = 'The coursegate plugin keeps nothing. It tells the gate of the site who is signed in, and answers it as that member.';
$string['secret'] = 'Secret of the bridge';
$string['secret_desc'] = '32 characters or more, the same as at the gate. Left empty, there is no bridge.';
$string['upstream'] = 'Upstream';
$string['upstream_desc'] = 'The name that this site has under "upstreams" of the gate.';
