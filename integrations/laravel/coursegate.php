<?php

// config/coursegate.php

return [
    'origin' => env('COURSEGATE_ORIGIN'),       // as in coursegate.yaml, e.g. https://school.example
    'upstream' => env('COURSEGATE_UPSTREAM'),   // this backend's name there
    'secret' => env('COURSEGATE_BRIDGE_SECRET'),       // 32 characters or more, the gate has the same
    'jwks_url' => env('COURSEGATE_JWKS_URL'),   // where the gate's keys are fetched, when not at its origin
    'admin_url' => env('COURSEGATE_ADMIN'),     // the gate's admin listener; left out, it is told nothing
    'admin_secret' => env('COURSEGATE_ADMIN_SECRET'),  // its admin.hmac.secret
    // What of a member ends their connections when it changes:
    'watches' => ['password', 'role', 'is_admin', 'active', 'is_active', 'status', 'suspended_at', 'banned_at'],
    'fetch_pause' => (int) env('COURSEGATE_FETCH_PAUSE', 30),
];
