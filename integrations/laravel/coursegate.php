<?php

// config/coursegate.php

return [
    'origin' => env('COURSEGATE_ORIGIN'),       // as in coursegate.yaml, e.g. https://school.example
    'upstream' => env('COURSEGATE_UPSTREAM'),   // this backend's name there
    'secret' => env('COURSEGATE_BRIDGE_SECRET'),       // 32 characters or more, the gate has the same
    'jwks_url' => env('COURSEGATE_JWKS_URL'),   // where the gate's keys are fetched, when not at its origin
    'fetch_pause' => (int) env('COURSEGATE_FETCH_PAUSE', 30),
];
