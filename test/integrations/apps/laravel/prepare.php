<?php

use Illuminate\Support\Facades\Hash;
use Illuminate\Support\Facades\Schema;

touch(getenv('DATA').'/school.sqlite3');
$app = require __DIR__.'/school.php';
$app->make(Illuminate\Contracts\Http\Kernel::class)->bootstrap();

Schema::create('users', function ($table) {
    $table->id();
    $table->string('username');
    $table->string('email');
    $table->string('name');
    $table->string('password');
    $table->timestamp('email_verified_at')->nullable();
    $table->rememberToken();
});
foreach (['sam' => ['correct horse battery', getenv('SAM_NAME')], 'olu' => ['staple for the other', 'Olu']] as $username => [$password, $name]) {
    App\Models\User::create(['username' => $username, 'email' => "$username@example.com", 'name' => $name, 'password' => Hash::make($password), 'email_verified_at' => $username === 'sam' ? now() : null]);
}
