<?php

return [
    'default' => 'sqlite',
    'connections' => ['sqlite' => ['driver' => 'sqlite', 'database' => getenv('DATA').'/school.sqlite3', 'prefix' => '']],
];
