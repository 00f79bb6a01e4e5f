<?php
namespace local_coursegate;

defined('MOODLE_INTERNAL') || die();

/** A member as sent to the gate. */
final class member {
    /**
     * The version changes with the password, the authentication method, and a suspension.
     *
     * @param \stdClass $user a row of the user table
     * @param int|null $authtime when this browser signed in, in Unix seconds
     * @return array id, email, name, username, version and, if given, auth_time
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
     * The member who is signed in with this browser, or null. Null for a guest, for an administrator logged in as another
     * user, and while the member still has to provide a second factor, set a password, complete their profile, or agree to
     * the site's policies.
     *
     * @throws \dml_exception if the database fails
     */
    public static function signed_in(): ?array {
        global $USER;
        if (!isloggedin() || \core\session\manager::is_loggedinas() || !self::second_factor()) {
            return null;
        }
        try {
            require_login(null, false, null, false, true);
        } catch (\dml_exception $thrown) {
            throw $thrown;
        } catch (\moodle_exception $thrown) {
            return null;
        }
        // Refuses guests too. Reads the database, because the session's copy may have an old password hash.
        $user = self::find((string) $USER->id);
        return $user === null ? null : self::of($user, (int) $USER->currentlogin ?: null);
    }

    /** An active member: a user of this site who is confirmed, not deleted or suspended, and allowed to sign in. */
    public static function find(string $id): ?\stdClass {
        global $CFG, $DB;
        if (preg_match('~^[1-9][0-9]{0,17}$~D', $id) !== 1 || isguestuser((int) $id)) {
            return null;
        }
        $user = $DB->get_record('user', ['id' => (int) $id, 'deleted' => 0, 'mnethostid' => $CFG->mnet_localhost_id]);
        $may = $user && $user->confirmed && !$user->suspended && $user->auth !== 'nologin';
        return $may ? $user : null;
    }

    /**
     * A member's roles by their short names: at the site, where an administrator is `admin`, and in courses, by course ID. A
     * role in a course counts while the member's enrolment is active. A role in a category counts in the courses below it
     * that the member can enter: with an active enrolment, or with moodle/course:view, as managers do.
     */
    public static function roles(\stdClass $user): array {
        global $DB;
        $columns = \context_helper::get_preload_record_columns_sql('below');
        $assigned = $DB->get_recordset_sql(
            "SELECT r.shortname, own.contextlevel, c.id AS course, c.visible, $columns
               FROM {role_assignments} ra
               JOIN {role} r ON r.id = ra.roleid
               JOIN {context} own ON own.id = ra.contextid
          LEFT JOIN {context} below ON below.contextlevel = :course AND (below.id = own.id OR
                    own.contextlevel = :category AND " . $DB->sql_like('below.path', $DB->sql_concat('own.path', "'/%'")) . ")
          LEFT JOIN {course} c ON c.id = below.instanceid
              WHERE ra.userid = :userid AND (own.contextlevel = :site OR c.id IS NOT NULL)
           ORDER BY ra.id, c.id",
            ['userid' => (int) $user->id, 'site' => CONTEXT_SYSTEM, 'category' => CONTEXT_COURSECAT, 'course' => CONTEXT_COURSE]
        );
        $active = enrol_get_users_courses($user->id, true, 'id');
        $site = is_siteadmin($user->id) ? ['admin'] : [];
        $courses = [];
        foreach ($assigned as $role) {
            \context_helper::preload_from_record($role);
            $level = (int) $role->contextlevel;
            if ($level === CONTEXT_SYSTEM) {
                $site[] = $role->shortname;
            } elseif (isset($active[$role->course]) || ($level === CONTEXT_COURSECAT && self::views($role, (int) $user->id))) {
                $courses[$role->course][] = $role->shortname;
            }
        }
        $assigned->close();
        return [
            'roles' => array_values(array_unique($site)),
            'courses' => (object) array_map(static fn (array $roles) => array_values(array_unique($roles)), $courses),
        ];
    }

    /** Whether a member can enter a course without an enrolment. */
    private static function views(\stdClass $row, int $userid): bool {
        $context = \context_course::instance((int) $row->course);
        return has_capability('moodle/course:view', $context, $userid)
            && ($row->visible || has_capability('moodle/course:viewhiddencourses', $context, $userid));
    }

    /** Whether the second factor was provided. require_login() does not check it if it may not redirect. */
    public static function second_factor(): bool {
        global $SESSION;
        return !class_exists('\\tool_mfa\\manager') || !empty($SESSION->tool_mfa_authenticated)
            || !\tool_mfa\manager::is_ready();
    }
}
