<?php

namespace App\Coursegate;

use Closure;
use Illuminate\Http\JsonResponse;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Auth;
use Illuminate\Support\Str;

/**
 * A request with a valid assertion runs as the member it names, without a stored session or a page's CSRF token, and with its
 * claims in the attribute `coursegate`. An invalid assertion gets 401, and a request that overrides its method 400.
 */
class VerifyAssertion
{
    private $gate;

    public function __construct(Gate $gate)
    {
        $this->gate = $gate;
    }

    public function handle(Request $request, Closure $next)
    {
        foreach ($request->headers->keys() as $name) {
            if (preg_match('/^x[-_.](member[-_.].*|client[-_.]id)$/i', $name)) {
                $request->headers->remove($name);
            }
        }
        foreach ($request->server->keys() as $name) {
            if (preg_match('/^HTTP_X[-_.](MEMBER[-_.].*|CLIENT[-_.]ID)$/i', $name)) {
                $request->server->remove($name);
            }
        }
        // Gateways may send an empty field with requests without a member.
        $token = implode(',', $request->headers->all('X-Coursegate-Assertion'));
        if ($token === '') {
            return $next($request);
        }
        try {
            $claims = $this->gate->readAssertion($token, $request);
        } catch (Unverifiable $unverifiable) {
            return $this->refuse(503, 'temporarily_unavailable');
        }
        // A session that the request carries is ignored. The session used here is discarded after the request.
        $request->cookies->replace([]);
        config(['session.driver' => 'array']);
        $member = $claims === null ? null : $this->find($claims['sub']);
        if ($member === null) {
            return $this->refuse(401, 'invalid_assertion');
        }
        // The gate authorized the method that was sent. With `_method`, Laravel would dispatch another one.
        if ($request->getMethod() !== $request->getRealMethod()) {
            return $this->refuse(400, 'method_override');
        }
        $claims['scope'] = preg_split('/ /', (string) ($claims['scope'] ?? ''), -1, PREG_SPLIT_NO_EMPTY);
        $request->attributes->set('coursegate', $claims);
        Auth::setUser($member);
        // The assertion is signed, so CSRF protection is not needed: set a token that passes Laravel's check.
        $csrf = Str::random(40);
        app('session')->driver()->put('_token', $csrf);
        $request->headers->set('X-CSRF-TOKEN', $csrf);
        $response = $next($request);
        $response->headers->remove('Set-Cookie');

        return $response;
    }

    /** Compares byte for byte, since a database may read '01' as 1 and find another member. */
    private function find(string $sub)
    {
        $provider = Auth::getProvider();
        $model = method_exists($provider, 'createModel') ? $provider->createModel() : null;
        if ($model !== null && $model->getKeyType() === 'int' && ! preg_match('/^[1-9]\d{0,17}$/D', $sub)) {
            return null;
        }
        $member = $provider->retrieveById($sub);

        return $member !== null && (string) $member->getAuthIdentifier() === $sub ? $member : null;
    }

    private function refuse(int $status, string $error): JsonResponse
    {
        return new JsonResponse(['error' => $error], $status, ['Cache-Control' => 'no-store']);
    }
}
