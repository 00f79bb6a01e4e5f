<?php

namespace App\Coursegate;

use Illuminate\Auth\Events\Login;
use Illuminate\Contracts\Http\Kernel;
use Illuminate\Database\Eloquent\Model;
use Illuminate\Support\Facades\Event;
use Illuminate\Support\Facades\Route;
use Illuminate\Support\ServiceProvider;

/** Registers the drop-in: its settings (config/coursegate.php), its middleware before all others, two routes and two listeners. */
class CoursegateServiceProvider extends ServiceProvider
{
    public function register()
    {
        $this->app->singleton(Gate::class, function () {
            return new Gate((array) config('coursegate'));
        });
    }

    public function boot(Kernel $kernel)
    {
        $kernel->prependMiddleware(VerifyAssertion::class);
        Route::middleware('web')->prefix('coursegate')->group(function () {
            Route::get('whoami', [CoursegateController::class, 'whoami']);
            Route::get('bridge', [CoursegateController::class, 'bridge']);
        });
        Event::listen(Login::class, function (Login $event) {
            Gate::safely(function () use ($event) {
                CoursegateController::keepSignInTime($event);
            });
        });
        $model = config('auth.providers.'.config('auth.guards.'.config('auth.defaults.guard').'.provider').'.model');
        if (config('coursegate.admin_url') && is_string($model) && is_subclass_of($model, Model::class)) {
            $model::observe(MemberObserver::class);
        }
    }
}
