<?php

namespace App\Coursegate;

use Illuminate\Http\JsonResponse;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Auth;

/** Returns who is signed in (whoami), and signs members in for the gate (bridge). */
class CoursegateController
{
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

        return new JsonResponse($this->gate->describe($member), 200, $headers);
    }

    /** Signs the member in if needed, and redirects the browser back to the gate with a signed response. */
    public function bridge(Request $request)
    {
        $question = $this->gate->readBridge((string) $request->server('QUERY_STRING'));
        if ($question === null) {
            return new JsonResponse(['error' => 'invalid_request'], 400, ['Cache-Control' => 'no-store']);
        }
        [$nonce, $returnTo, $another] = $question;
        $member = $this->member($request);
        if ($another || $member === null) {
            // Laravel shows its login page only to guests.
            if ($member !== null) {
                Auth::logoutCurrentDevice();
                $request->session()->invalidate();
            }
            // $again leaves out `prompt`: a member who returns from the login page is not sent there again.
            $again = $this->gate->signed(['nonce' => $nonce, 'return_sso_url' => $returnTo]);
            redirect()->setIntendedUrl($request->url().'?'.$again);

            return redirect()->route('login')->header('Cache-Control', 'no-store');
        }
        $shown = $this->gate->describe($member);
        $answer = $this->gate->signed([
            'nonce' => $nonce,
            'external_id' => $shown['id'],
            'email' => $shown['email'],
            'username' => (string) ($member->username ?? ''),
            'name' => $shown['name'],
            'version' => $shown['version'],
        ]);
        $address = strtok($returnTo, '#');

        return redirect()->away($address.(strpos($address, '?') === false ? '?' : '&').$answer, 302, [
            'Cache-Control' => 'no-store',
            'Referrer-Policy' => 'no-referrer',
        ]);
    }

    /** The session's member. An assertion does not count as a sign-in: it is valid for one request only. */
    private function member(Request $request)
    {
        return $request->attributes->has('coursegate') ? null : Auth::user();
    }
}
