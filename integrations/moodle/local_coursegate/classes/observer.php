<?php
namespace local_coursegate;

defined('MOODLE_INTERNAL') || die();

/** Tells the gate what happens to members, so that it ends what they let in: see db/events.php. */
final class observer {
    public static function user_password_updated(\core\event\base $event): void {
        self::end((int) $event->relateduserid, 'password changed');
    }

    /** Says nothing of what it was before: who is suspended now is told of, however often. */
    public static function user_updated(\core\event\base $event): void {
        if (member::find((string) $event->objectid) === null) {
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

    /** Roles of the whole site. To be enrolled in a course is a role too, and ends nothing. */
    private static function role_changed(\core\event\base $event): void {
        if ((int) $event->contextlevel === CONTEXT_SYSTEM) {
            self::end((int) $event->relateduserid, 'role changed');
        }
    }

    /**
     * Has the gate end what a member let in: apps are refused from then on. Takes two seconds at most, and never throws:
     * what goes wrong is in the log of errors, and `version` ends the connections later.
     */
    public static function end(int $id, string $reason): void {
        global $CFG;
        $admin = rtrim(settings::get('adminurl'), '/');
        if ($admin === '' || $id === 0) {
            return;
        }
        try {
            require_once($CFG->libdir . '/filelib.php');
            $path = "/members/$id/revoke";
            $body = json_encode(['by' => 'backend', 'reason' => $reason]);
            // The address is the administrator's own setting, and is often one that Moodle would not let a member name.
            $curl = new \curl(['ignoresecurity' => true]);
            $curl->setHeader(['Content-Type: application/json', 'Coursegate-Signature: ' . self::sign($path, $body)]);
            $curl->post($admin . $path, $body, ['CURLOPT_TIMEOUT' => 2, 'CURLOPT_FOLLOWLOCATION' => 0]);
            $problem = $curl->get_errno() ? 'no answer' : (int) ($curl->get_info()['http_code'] ?? 0);
        } catch (\Throwable $thrown) {
            $problem = $thrown->getMessage();
        }
        if ($problem !== 200) {
            error_log("coursegate was not told that the connections of member $id end ($reason): $problem");
        }
    }

    /** An HMAC over the time, a nonce, the request and its body. */
    private static function sign(string $path, string $body): string {
        list($time, $nonce) = [(string) time(), bin2hex(random_bytes(16))];
        $text = implode("\n", ['coursegate-v1', $time, $nonce, "POST $path", hash('sha256', $body)]);
        return "t=$time,n=$nonce,v1=" . hash_hmac('sha256', $text, settings::get('adminsecret'));
    }
}
