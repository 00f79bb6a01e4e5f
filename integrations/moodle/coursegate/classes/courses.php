<?php
namespace local_coursegate;

defined('MOODLE_INTERNAL') || die();

/** The courses that the current user is enrolled in, for apps. Texts are plain text, and times are ISO 8601 in UTC. */
final class courses {
    /**
     * Lists the courses that Moodle shows the member, with `id`, `slug` (the short name, as in /course/view.php?name=),
     * `title`, `url`, `expires` (when the enrolment ends, or null), `lifetime` (whether it never ends), `progress` in percent
     * or null, and `lastViewed` ({id, title, url} of a course module, or null).
     *
     * @param \stdClass $user a row of the user table: the current user
     * @throws \dml_exception if the database fails
     */
    public static function of(\stdClass $user): array {
        global $DB;
        $arguments = ['userid' => (int) $user->id, 'returnusercount' => false];
        $courses = answer::data_of(\core_external\external_api::call_external_function('core_enrol_get_users_courses', $arguments));
        $ids = array_column($courses, 'id');
        // The function's short name is in the member's language. In URLs it is as stored.
        $stored = $DB->get_records_list('course', 'id', $ids, '', 'id, shortname');
        $viewed = self::last_viewed((int) $user->id, $ids);
        return array_map(static function (array $course) use ($user, $stored, $viewed): array {
            $id = $course['id'];
            $end = enrol_get_enrolment_end($id, $user->id);
            return [
                'id' => (string) $id,
                'slug' => $stored[$id]->shortname,
                'title' => self::plain($course['fullname']),
                'url' => (new \moodle_url('/course/view.php', ['id' => $id]))->out(false),
                'expires' => $end > 0 ? gmdate('Y-m-d\TH:i:s\Z', $end) : null,
                'lifetime' => $end === 0,
                'progress' => $course['progress'] ?? null,
                'lastViewed' => $viewed[$id] ?? null,
            ];
        }, $courses);
    }

    /**
     * The course module that a member viewed last in each course, of those they can still see. It is taken from Moodle's log,
     * so it is missing without a log store in the database, and for views older than the log keeps.
     *
     * @param int[] $courseids
     * @return array[] id, title and url by course id
     */
    private static function last_viewed(int $userid, array $courseids): array {
        global $DB;
        $reader = current(get_log_manager()->get_readers('\core\log\sql_internal_table_reader'));
        if ($reader === false || $courseids === []) {
            return [];
        }
        list($in, $parameters) = $DB->get_in_or_equal($courseids, SQL_PARAMS_NAMED);
        // The index of the log on userid, contextlevel, contextinstanceid and crud has everything that this needs.
        $modules = $DB->get_records_sql(
            'SELECT log.contextinstanceid AS id, module.course, MAX(log.id) AS latest
               FROM {' . $reader->get_internal_log_table_name() . '} log
               JOIN {course_modules} module ON module.id = log.contextinstanceid
              WHERE log.userid = :userid AND log.contextlevel = :level AND log.crud = :crud AND module.course ' . $in . '
           GROUP BY log.contextinstanceid, module.course
           ORDER BY latest DESC',
            $parameters + ['userid' => $userid, 'level' => CONTEXT_MODULE, 'crud' => 'r']
        );
        $viewed = [];
        foreach ($modules as $row) {
            $module = isset($viewed[$row->course]) ? null : (get_fast_modinfo($row->course, $userid)->cms[$row->id] ?? null);
            if ($module !== null && $module->uservisible && $module->url !== null) {
                $viewed[$row->course] = [
                    'id' => (string) $module->id,
                    'title' => self::plain($module->get_formatted_name()),
                    'url' => $module->url->out(false),
                ];
            }
        }
        return $viewed;
    }

    /** Moodle's texts are HTML. */
    private static function plain(string $html): string {
        return html_entity_decode(strip_tags($html), ENT_QUOTES | ENT_HTML5, 'UTF-8');
    }
}
