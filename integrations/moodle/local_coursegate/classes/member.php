<?php
namespace local_coursegate;

defined('MOODLE_INTERNAL') || die();

/** A member as the gate is told them. */
final class member {
    /**
     * In: a row of the user table, and when this browser signed in, Unix seconds. Out: id, email, name, username, auth_time
     * and version, which changes with a new password, another way to sign in, or a suspension.
     */
    public static function of(\stdClass $user, ?int $authtime): array {
        $parts = [(string) $user->id, (string) $user->password, (string) $user->auth, (string) $user->suspended];
        $member = [
            'id' => (string) $user->id,
            'email' => (string) $user->email,
            'name' => fullname($user),
            'username' => (string) $user->username,
            'version' => protocol::version($parts, get_site_identifier()),
        ];
        return $authtime === null ? $member : $member + ['auth_time' => $authtime];
    }

    /**
     * Who is signed in in this browser, or null. Not a guest, not an administrator who looks as somebody else, and nobody
     * who has yet to show a second factor, set a password, fill in their profile or agree to the policies of the site.
     */
    public static function signed_in(): ?array {
        global $USER;
        if (!isloggedin() || \core\session\manager::is_loggedinas() || !self::second_factor()) {
            return null;
        }
        try {
            require_login(null, false, null, false, true);
        } catch (\moodle_exception $thrown) {
            return null;
        }
        // Refuses guests too. The session's copy does not know of a password that was set elsewhere since.
        $user = self::find((string) $USER->id);
        return $user === null ? null : self::of($user, (int) $USER->currentlogin ?: null);
    }

    /** A member who may be here: of this site, confirmed, neither deleted nor suspended, and allowed to sign in. */
    public static function find(string $id): ?\stdClass {
        global $CFG, $DB;
        if (preg_match('~^[1-9][0-9]{0,17}$~D', $id) !== 1 || isguestuser((int) $id)) {
            return null;
        }
        $user = $DB->get_record('user', ['id' => (int) $id, 'deleted' => 0, 'mnethostid' => $CFG->mnet_localhost_id]);
        $may = $user && $user->confirmed && !$user->suspended && $user->auth !== 'nologin';
        return $may ? $user : null;
    }

    /** require_login() does not ask for it where it may not redirect. */
    private static function second_factor(): bool {
        global $SESSION;
        return !class_exists('\\tool_mfa\\manager') || !empty($SESSION->tool_mfa_authenticated)
            || !\tool_mfa\manager::is_ready();
    }
}
