<?php

// Runs PHP as `php artisan tinker` does: after the console kernel has started the application.
$app = require __DIR__.'/school.php';
$app->singleton(Illuminate\Contracts\Console\Kernel::class, Illuminate\Foundation\Console\Kernel::class);
$app->make(Illuminate\Contracts\Console\Kernel::class)->bootstrap();
eval($argv[1]);
