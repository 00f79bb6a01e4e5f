<?php
namespace local_coursegate;

defined('MOODLE_INTERNAL') || die();

/** Has the gate revoke members' connections on certain events; see db/events.php. */
final class observer {
    public static function user_password_updated(\core\event\base $event): void {
        self::end((int) $event->relateduserid, 'password changed');
    }

    /** The event does not contain the old values, so this is sent on every update of a suspended member. */
    public static function user_updated(\core\event\base $event): void {
        try {
            $suspended = member::find((string) $event->objectid) === null;
        } catch (\Throwable $thrown) {
            error_log('coursegate: could not read member ' . $event->objectid . ': ' . $thrown->getMessage());
            return;
        }
        if ($suspended) {
            self::end((int) $event->objectid, 'suspended');
        }
    }

    public static function user_deleted(\core\event\base $event): void {
        self::end((int) $event->objectid, 'left');
    }

    public static function role_assigned(\core\event\base $event): void {
        self::role_changed($event);
    }

    public static function role_unassigned(\core\event\base $event): void {
        self::role_changed($event);
    }

    /** Only for roles in the system context. Enrolment in a course is a role too, and must not revoke anything. */
    private static function role_changed(\core\event\base $event): void {
        if ((int) $event->contextlevel === CONTEXT_SYSTEM) {
            self::end((int) $event->relateduserid, 'role changed');
        }
    }

    /**
     * Revokes a member's connections at the gate, so that their apps are refused from the next request on. Takes two
     * seconds at most and never throws. If it fails, the error is logged, and the connections end later, when the gate sees
     * the member's new `version`.
     */
    public static function end(int $id, string $reason): void {
        global $CFG;
        try {
            $admin = rtrim(settings::get('adminurl'), '/');
            if ($admin === '' || $id === 0) {
                return;
            }
            require_once($CFG->libdir . '/filelib.php');
            $path = "/members/$id/revoke";
            $body = json_encode(['by' => 'backend', 'reason' => $reason]);
            // The administrator set this URL. It is often a local address, which Moodle blocks by default.
            $curl = new \curl(['ignoresecurity' => true]);
            $curl->setHeader(['Content-Type: application/json', 'Coursegate-Signature: ' . self::sign($path, $body)]);
            $curl->post($admin . $path, $body, ['CURLOPT_TIMEOUT' => 2, 'CURLOPT_FOLLOWLOCATION' => 0]);
            $problem = $curl->get_errno() ? 'no response' : (int) ($curl->get_info()['http_code'] ?? 0);
        } catch (\Throwable $thrown) {
            $problem = $thrown->getMessage();
        }
        if ($problem !== 200) {
            error_log("coursegate: could not revoke the connections of member $id ($reason): $problem");
        }
    }

    /** The Coursegate-Signature header: an HMAC over the time, a nonce, the request and its body. */
    private static function sign(string $path, string $body): string {
        list($time, $nonce) = [(string) time(), bin2hex(random_bytes(16))];
        $text = implode("\n", ['coursegate-v1', $time, $nonce, "POST $path", hash('sha256', $body)]);
        return "t=$time,n=$nonce,v1=" . hash_hmac('sha256', $text, settings::get('adminsecret'));
    }
}
