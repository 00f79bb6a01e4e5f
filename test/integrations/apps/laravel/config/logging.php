<?php

return [
    'default' => 'errorlog',
    'channels' => ['errorlog' => ['driver' => 'errorlog', 'level' => 'error'], 'emergency' => ['path' => getenv('DATA').'/laravel.log']],
];
