<?php

// A small Laravel site with its login, sessions and CSRF tokens, and coursegate's drop-in on it.

namespace {
    // Debian keeps it in PHP's include path.
    require 'Illuminate/autoload.php';
}

namespace App\Models {
    class User extends \Illuminate\Foundation\Auth\User implements \Illuminate\Contracts\Auth\MustVerifyEmail
    {
        public $timestamps = false;
        protected $guarded = [];
    }
}

namespace App\Http {
    class Authenticate extends \Illuminate\Auth\Middleware\Authenticate
    {
        protected function redirectTo($request)
        {
            return route('login');
        }
    }

    /** As the skeleton's RedirectIfAuthenticated. */
    class Guest
    {
        public function handle($request, \Closure $next)
        {
            return \Illuminate\Support\Facades\Auth::check() ? redirect('/probe') : $next($request);
        }
    }

    class Kernel extends \Illuminate\Foundation\Http\Kernel
    {
        protected $middleware = [\Illuminate\Foundation\Http\Middleware\TrimStrings::class];

        protected $middlewareGroups = [
            'web' => [
                \Illuminate\Cookie\Middleware\EncryptCookies::class,
                \Illuminate\Cookie\Middleware\AddQueuedCookiesToResponse::class,
                \Illuminate\Session\Middleware\StartSession::class,
                \Illuminate\Session\Middleware\AuthenticateSession::class,
                \Illuminate\Foundation\Http\Middleware\VerifyCsrfToken::class,
                \Illuminate\Routing\Middleware\SubstituteBindings::class,
            ],
        ];

        protected $routeMiddleware = ['auth' => Authenticate::class, 'guest' => Guest::class];
    }

    class Handler extends \Illuminate\Foundation\Exceptions\Handler
    {
    }
}

namespace {
    use Illuminate\Http\Request;
    use Illuminate\Support\Facades\Auth;
    use Illuminate\Support\Facades\Hash;
    use Illuminate\Support\Facades\Route;

    // As Composer's autoloader finds them in app/Coursegate.
    spl_autoload_register(function ($class) {
        $path = str_replace(['App\\', '\\'], ['', '/'], $class);
        if (strpos($class, 'App\\Coursegate\\') === 0) {
            require getenv('INTEGRATIONS')."/laravel/$path.php";
        }
    });

    putenv('APP_SERVICES_CACHE='.getenv('DATA').'/services.php');
    putenv('APP_PACKAGES_CACHE='.getenv('DATA').'/packages.php');
    foreach (['sessions', 'cache', 'views'] as $folder) {
        @mkdir(getenv('DATA')."/$folder");
    }

    $app = new \Illuminate\Foundation\Application(__DIR__);
    $app->useStoragePath(getenv('DATA'));
    $app->singleton(\Illuminate\Contracts\Http\Kernel::class, \App\Http\Kernel::class);
    $app->singleton(\Illuminate\Contracts\Debug\ExceptionHandler::class, \App\Http\Handler::class);

    $probe = function (Request $request) {
        $claims = $request->attributes->get('coursegate', []);
        $names = array_merge($request->headers->keys(), $request->server->keys());

        return [
            'member' => Auth::check() ? (string) Auth::id() : null,
            'client' => $claims['client_id'] ?? null,
            'scope' => $claims['scope'] ?? [],
            'seen' => array_values(preg_grep('/member|client.id/i', $names)),
        ];
    };
    $form = function (string $name) {
        $token = csrf_token();

        return "<form method=\"post\" action=\"\"><input type=\"hidden\" name=\"_token\" value=\"$token\">$name<input name=\"password\"></form>";
    };

    $app->booted(function () use ($probe, $form) {
        Route::middleware('web')->group(function () use ($probe, $form) {
            Route::match(['get', 'post'], 'probe', $probe);
            Route::get('private', function (Request $request) use ($probe) {
                session(['seen' => true]);

                return $probe($request);
            })->middleware('auth');
            Route::get('login', function () use ($form) {
                return $form('<input name="username">');
            })->name('login')->middleware('guest');
            Route::post('login', function (Request $request) {
                if (! Auth::attempt($request->only('username', 'password'), $request->boolean('remember'))) {
                    return 'wrong';
                }
                $request->session()->regenerate();

                return redirect()->intended('/probe');
            });
            Route::get('password', function () use ($form) {
                return $form('');
            })->middleware('auth');
            Route::post('password', function (Request $request) {
                $request->user()->update(['password' => Hash::make($request->input('password'))]);

                return redirect('/probe');
            })->middleware('auth');
        });
        Route::any('method', function (Request $request) {
            return ['method' => $request->method()];
        });
        Route::getRoutes()->refreshNameLookups();
    });

    return $app;
}
