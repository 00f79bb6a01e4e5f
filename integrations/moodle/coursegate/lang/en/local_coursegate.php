<?php
defined('MOODLE_INTERNAL') || die();

$string['adminsecret'] = 'Secret of the admin listener';
$string['adminsecret_desc'] = 'The same as the gate\'s "admin.hmac.secret".';
$string['adminurl'] = 'Admin listener';
$string['adminurl_desc'] = 'Address of the gate\'s admin listener, such as http://127.0.0.1:9090. When a member changes their password, is suspended or deleted, or gets another site role, the gate revokes their connections. If empty, the gate is not notified.';
$string['cachedef_keys'] = 'The gate\'s public keys';
$string['functions'] = 'Functions that apps may call';
$string['functions_desc'] = 'Names of web service functions, one per line. Functions that write are refused even if they are listed.';
$string['jwksurl'] = 'Address of the keys';
$string['jwksurl_desc'] = 'Where to fetch the gate\'s keys, if not from its origin, such as http://127.0.0.1:8080/.well-known/jwks.json';
$string['key'] = 'Key of the recheck';
$string['key_desc'] = '32 characters or more, the same as the gate\'s "login.recheck.key.secret". With it, the gate asks whether a member is still active when an app refreshes its token. If empty, every such request is refused.';
$string['origin'] = 'Origin';
$string['origin_desc'] = 'The gate\'s origin, such as https://school.example';
$string['pagesorigin'] = 'Origin of the pages';
$string['pagesorigin_desc'] = 'The gate\'s "pages.origin", such as https://login.school.example, if it has one. Only the bridge uses it.';
$string['pluginname'] = 'coursegate';
$string['privacy:metadata'] = 'The coursegate plugin stores no personal data. It tells the site\'s gate who is signed in, and returns that member\'s data to the gate.';
$string['secret'] = 'Secret of the bridge';
$string['secret_desc'] = '32 characters or more, the same as in the gate\'s configuration. If empty, the bridge is disabled.';
$string['signinagain'] = 'Sign in again';
$string['signinagain_desc'] = 'You are signed in as {$a}. To connect the app, sign out and sign in again.';
$string['upstream'] = 'Upstream';
$string['upstream_desc'] = 'The name of this site under "upstreams" in coursegate.yaml.';
