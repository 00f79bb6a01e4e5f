<?php

namespace App\Coursegate;

use Illuminate\Auth\Events\Login;
use Illuminate\Http\JsonResponse;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Auth;

/** Returns who is signed in (whoami), and signs members in for the gate (bridge). */
class CoursegateController
{
    /** The session's key for the time of the sign-in, in Unix seconds. */
    const SIGNED_IN_AT = 'coursegate_signed_in_at';

    private $gate;

    public function __construct(Gate $gate)
    {
        $this->gate = $gate;
    }

    public function whoami(Request $request)
    {
        $member = $this->member($request);
        $headers = ['Cache-Control' => 'no-store', 'Vary' => 'Cookie'];
        if ($member === null) {
            return new JsonResponse(['error' => 'not_signed_in'], 401, $headers);
        }

        return new JsonResponse($this->gate->describe($member) + $this->signedInAt($request), 200, $headers);
    }

    /** Signs the member in if needed, and redirects the browser back to the gate with a signed response. */
    public function bridge(Request $request)
    {
        $question = $this->gate->readBridge((string) $request->server('QUERY_STRING'));
        if ($question === null) {
            return new JsonResponse(['error' => 'invalid_request'], 400, ['Cache-Control' => 'no-store']);
        }
        [$nonce, $returnTo, $prompt, $maxAge] = $question;
        $member = $this->member($request);
        $tooOld = $maxAge !== null && time() - $request->session()->get(self::SIGNED_IN_AT, 0) > $maxAge;
        if ($member === null || $tooOld || in_array($prompt, ['login', 'select_account'], true)) {
            // Laravel shows its login page only to guests.
            if ($member !== null) {
                Auth::logoutCurrentDevice();
                $request->session()->invalidate();
            }
            // $again leaves out `prompt` and `max_age`: a member who returns from the login page is not sent there again.
            $again = $this->gate->signed(['nonce' => $nonce, 'return_sso_url' => $returnTo]);
            redirect()->setIntendedUrl($request->url().'?'.$again);

            return redirect()->route('login')->header('Cache-Control', 'no-store');
        }
        $shown = $this->gate->describe($member);
        if (isset($shown['email_verified'])) {
            $shown['email_verified'] = $shown['email_verified'] ? 'true' : 'false';
        }
        $fields = ['nonce' => $nonce, 'external_id' => $shown['id'], 'username' => (string) ($member->username ?? '')];
        unset($shown['id']);
        $answer = $this->gate->signed($fields + $shown + $this->signedInAt($request));
        $address = strtok($returnTo, '#');

        return redirect()->away($address.(strpos($address, '?') === false ? '?' : '&').$answer, 302, [
            'Cache-Control' => 'no-store',
            'Referrer-Policy' => 'no-referrer',
        ]);
    }

    /** Listens to Login, which Laravel also fires when a "remember me" cookie starts a session: then the time is not known. */
    public static function keepSignInTime(Login $event)
    {
        if ($event->guard === config('auth.defaults.guard')) {
            session()->put(self::SIGNED_IN_AT, Auth::viaRemember() ? null : time());
        }
    }

    private function signedInAt(Request $request): array
    {
        $at = $request->session()->get(self::SIGNED_IN_AT);

        return $at === null ? [] : ['auth_time' => $at];
    }

    /** The session's member. An assertion does not count as a sign-in: it is valid for one request only. */
    private function member(Request $request)
    {
        return $request->attributes->has('coursegate') ? null : Auth::user();
    }
}
