<?php

// config/coursegate.php

return [
    'origin' => env('COURSEGATE_ORIGIN'),       // as in coursegate.yaml, e.g. https://school.example
    'pages_origin' => env('COURSEGATE_PAGES_ORIGIN'),   // the gate's pages.origin, if it has one
    'upstream' => env('COURSEGATE_UPSTREAM'),   // this backend's name there
    'secret' => env('COURSEGATE_BRIDGE_SECRET'),       // 32 characters or more, shared with the gate
    'jwks_url' => env('COURSEGATE_JWKS_URL'),   // where to fetch the gate's keys, if not from its origin
    'bound_only' => env('COURSEGATE_BOUND_ONLY', false),   // plugin mode: refuse assertions that are not made for one request
    'admin_url' => env('COURSEGATE_ADMIN'),     // the gate's admin listener; without it, connections are not revoked at once
    'admin_secret' => env('COURSEGATE_ADMIN_SECRET'),  // the gate's admin.hmac.secret
    // Attributes whose change revokes the member's connections:
    'watches' => ['password', 'role', 'is_admin', 'active', 'is_active', 'status', 'suspended_at', 'banned_at'],
    'fetch_pause' => (int) env('COURSEGATE_FETCH_PAUSE', 30),
];
