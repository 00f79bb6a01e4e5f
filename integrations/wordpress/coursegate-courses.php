<?php
/**
 * Plugin Name: coursegate courses
 * Description: Lets apps read a member's courses from the site's course plugin. Put this file beside coursegate.php in wp-content/mu-plugins.
 * Version: 1.0
 * Requires at least: 6.1
 * Requires PHP: 7.4
 * License: MIT
 *
 * Adds the courses of LifterLMS, Tutor LMS, Sensei LMS, LearnPress and LearnDash to GET /wp-json/coursegate/v1/me/courses, all in
 * one form, and tells the gate who teaches which. It calls functions of these plugins, and reads none of their tables.
 */

defined('ABSPATH') || exit;

/** What a course plugin says about one member's courses. */
interface Coursegate_Course_Plugin {
    /** Whether the plugin is active. */
    public static function is_active(): bool;

    /** The IDs of the courses that the member is enrolled in, in the plugin's order. */
    public static function courses(int $member): array;

    /** The IDs of the courses in which the member has another role than that of a student, by role. */
    public static function roles(int $member): array;

    /**
     * When access to one of these courses ends, as Unix time: null if never, false if the plugin does not say.
     *
     * @return int|null|false
     */
    public static function ends(int $course, int $member);

    /** Progress in percent, or null if there is nothing to complete. */
    public static function progress(int $course, int $member): ?float;

    /** Where the member stopped: `coursegate_lecture()`, or null if they have not begun. */
    public static function last_lecture(int $course, int $member): ?array;
}

const COURSEGATE_COURSE_PLUGINS = [
    'Coursegate_LifterLMS',
    'Coursegate_Tutor',
    'Coursegate_Sensei',
    'Coursegate_LearnPress',
    'Coursegate_LearnDash',
];

// Before coursegate.php registers its routes: it offers me/courses only if this filter has a callback.
add_action('rest_api_init', static function () {
    foreach (COURSEGATE_COURSE_PLUGINS as $plugin) {
        if ($plugin::is_active()) {
            add_filter('coursegate_courses', static function (array $courses, WP_User $member) use ($plugin) {
                return $courses + coursegate_plugin_courses($plugin, $member->ID);
            }, 5, 2);
        }
    }
}, 0);

// For the gate's `roles`: the roles in courses, by course ID.
add_filter('coursegate_course_roles', static function (array $roles, WP_User $member) {
    foreach (COURSEGATE_COURSE_PLUGINS as $plugin) {
        $held = $plugin::is_active() ? ['student' => $plugin::courses($member->ID)] + $plugin::roles($member->ID) : [];
        foreach ($held as $role => $courses) {
            foreach (array_unique(array_map('intval', $courses)) as $course) {
                $roles[$course][] = $role;
            }
        }
    }
    return $roles;
}, 5, 2);

/** The IDs of the courses that a member wrote: to WordPress, and to most course plugins, they are the teacher. */
function coursegate_authored(string $post_type, int $member): array {
    return get_posts([
        'author' => $member,
        'post_type' => $post_type,
        'post_status' => ['publish', 'private', 'draft', 'pending', 'future'],
        'fields' => 'ids',
        'posts_per_page' => -1,
    ]);
}

/** The courses of one plugin, as functions, so that only those on the requested page are read in full. */
function coursegate_plugin_courses(string $plugin, int $member): array {
    $ids = array_unique(array_map('intval', $plugin::courses($member)));
    _prime_post_caches($ids);
    $courses = [];
    foreach ($ids as $id) {
        if (in_array(get_post_status($id), ['publish', 'private'], true)) {
            $courses["$plugin $id"] = static function () use ($plugin, $id, $member) {
                return coursegate_course($plugin, $id, $member);
            };
        }
    }
    return $courses;
}

function coursegate_course(string $plugin, int $id, int $member): array {
    $post = get_post($id);
    $ends = $plugin::ends($id, $member);
    return [
        'id' => (string) $id,
        // WordPress stores other scripts than Latin percent-encoded.
        'slug' => urldecode($post->post_name),
        // Not get_the_title(), which adds "Private: ".
        'title' => coursegate_text(apply_filters('the_title', $post->post_title, $id)),
        'url' => get_permalink($post),
        'expireDate' => is_int($ends) ? coursegate_utc($ends) : null,
        'hasLifetimeAccess' => $ends === null,
        'progressPercent' => $plugin::progress($id, $member),
        'lastLecture' => $plugin::last_lecture($id, $member),
    ];
}

/** @param int|null $at Unix time */
function coursegate_lecture(int $id, int $seconds, ?int $at): array {
    return ['id' => (string) $id, 'positionSeconds' => $seconds, 'at' => $at === null ? null : coursegate_utc($at)];
}

function coursegate_utc(int $time): string {
    return gmdate('Y-m-d\TH:i:s\Z', $time);
}

/** Unix time of a local time such as 2026-12-01 18:00:00, in the time zone of the site. */
function coursegate_local(string $time): int {
    return (new DateTimeImmutable($time, wp_timezone()))->getTimestamp();
}

/** Access depends on how the member was enrolled: by an order, through a membership that has one, or by hand. */
final class Coursegate_LifterLMS implements Coursegate_Course_Plugin {
    public static function is_active(): bool {
        return function_exists('llms_get_student');
    }

    public static function courses(int $member): array {
        return (new LLMS_Student($member))->get_courses(['status' => 'enrolled', 'limit' => 1000])['results'];
    }

    /** A course can have several instructors. WordPress lets its author edit it in any case. */
    public static function roles(int $member): array {
        $courses = (new LLMS_Instructor($member))->get_courses(['posts_per_page' => -1], 'ids');
        return ['instructor' => array_merge($courses, coursegate_authored('course', $member))];
    }

    public static function ends(int $course, int $member) {
        $student = new LLMS_Student($member);
        $product = $course;
        $trigger = (string) $student->get_enrollment_trigger($product);
        if (preg_match('~^membership_(\d+)$~D', $trigger, $found) === 1) {
            $product = (int) $found[1];
            $trigger = (string) $student->get_enrollment_trigger($product);
        }
        if (strpos($trigger, 'order_') === false) {
            return null;
        }
        $order = $student->get_enrollment_order($product);
        // An order of another shop, such as WooCommerce, is not an LLMS_Order.
        if (!$order instanceof LLMS_Order) {
            return false;
        }
        // The format U gives the seconds to the local time, as if the site were on UTC; without a date it gives a word.
        $date = $order->get_access_expiration_date('U');
        if (is_numeric($date)) {
            return coursegate_local(gmdate('Y-m-d H:i:s', (int) $date));
        }
        return $order->get('access_expiration') === 'lifetime' ? null : false;
    }

    public static function progress(int $course, int $member): ?float {
        $lessons = (new LLMS_Course($course))->get_lessons('ids');
        return $lessons === [] ? null : (float) (new LLMS_Student($member))->get_progress($course);
    }

    /** The lesson completed last: LifterLMS records nothing before a lesson is completed. */
    public static function last_lecture(int $course, int $member): ?array {
        $lessons = (new LLMS_Course($course))->get_lessons('ids');
        if ($lessons === []) {
            return null;
        }
        $completed = new LLMS_Query_User_Postmeta([
            'user_id' => $member,
            'post_id' => $lessons,
            'include_post_children' => false,
            'types' => 'completion',
            'per_page' => 1,
        ]);
        $last = $completed->get_metas()[0] ?? null;
        return $last === null
            ? null
            : coursegate_lecture((int) $last->get('post_id'), 0, coursegate_local($last->get('updated_date')));
    }
}

/** Tutor LMS ends enrollments only with Tutor Pro: by the course's enrollment validity, or with a subscription. */
final class Coursegate_Tutor implements Coursegate_Course_Plugin {
    public static function is_active(): bool {
        return function_exists('tutor_utils');
    }

    public static function courses(int $member): array {
        return array_filter(
            tutor_utils()->get_enrolled_courses_ids_by_user($member),
            static function ($course) use ($member) {
                // A bundle is enrolled in as well as its courses.
                return get_post_type($course) === tutor()->course_post_type
                    && (bool) tutor_utils()->is_enrolled($course, $member);
            }
        );
    }

    /** With Tutor Pro, a course can have several instructors. */
    public static function roles(int $member): array {
        $assigned = (array) tutor_utils()->get_assigned_courses_ids_by_instructors($member);
        return ['instructor' => array_merge($assigned, coursegate_authored(tutor()->course_post_type, $member))];
    }

    public static function ends(int $course, int $member) {
        if (!tutor()->has_pro) {
            return null;
        }
        $days = (int) tutor_utils()->get_course_settings($course, 'enrollment_expiry');
        if ($days <= 0 || !tutor_utils()->get_option('enrollment_expiry_enabled')) {
            return false;
        }
        $enrolled = tutor_utils()->is_enrolled($course, $member);
        return strtotime($enrolled->post_date_gmt . ' UTC') + $days * DAY_IN_SECONDS;
    }

    public static function progress(int $course, int $member): ?float {
        $done = tutor_utils()->get_course_completed_percent($course, $member, true);
        return $done['total_count'] > 0 ? round(100 * $done['completed_count'] / $done['total_count'], 2) : null;
    }

    /** The last lesson with a video that was begun and not finished; otherwise the one completed last. */
    public static function last_lecture(int $course, int $member): ?array {
        $begun = null;
        $completed = null;
        $latest = 0;
        foreach (tutor_utils()->get_course_contents_by_id($course) as $content) {
            if ($content->post_type !== tutor()->lesson_post_type) {
                continue;
            }
            $lesson = (int) $content->ID;
            // The seconds to the local time, as if the site were on UTC.
            $at = (int) tutor_utils()->is_completed_lesson($lesson, $member);
            $position = (int) tutor_utils()->get_lesson_reading_info($lesson, $member, 'video_best_watched_time');
            if ($at === 0 && $position > 0) {
                $begun = coursegate_lecture($lesson, $position, null);
            } elseif ($at > $latest) {
                $latest = $at;
                $completed = coursegate_lecture($lesson, 0, coursegate_local(gmdate('Y-m-d H:i:s', $at)));
            }
        }
        return $begun ?? $completed;
    }
}

/** Access never ends, except with Sensei Pro, which has no documented function for it. */
final class Coursegate_Sensei implements Coursegate_Course_Plugin {
    public static function is_active(): bool {
        return function_exists('Sensei');
    }

    public static function courses(int $member): array {
        $query = ['posts_per_page' => -1, 'fields' => 'ids'];
        return Sensei_Learner::instance()->get_enrolled_courses_query($member, $query)->posts;
    }

    public static function roles(int $member): array {
        return ['instructor' => coursegate_authored('course', $member)];
    }

    public static function ends(int $course, int $member) {
        return defined('SENSEI_PRO_VERSION') ? false : null;
    }

    public static function progress(int $course, int $member): ?float {
        $lessons = Sensei()->course->course_lessons($course, 'publish', 'ids');
        return $lessons === [] ? null : (float) Sensei()->course->get_completion_percentage($course, $member);
    }

    /** The lesson that was begun, completed or graded last, from whichever of its two storages Sensei reads. */
    public static function last_lecture(int $course, int $member): ?array {
        $lessons = Sensei()->course->course_lessons($course, 'publish', 'ids');
        if ($lessons === []) {
            return null;
        }
        $query = ['lesson_id' => $lessons, 'user_id' => $member, 'number' => 1000];
        $last = null;
        foreach (Sensei()->lesson_progress_repository->find($query) as $progress) {
            if ($last === null || $progress->get_updated_at() >= $last->get_updated_at()) {
                $last = $progress;
            }
        }
        return $last === null
            ? null
            : coursegate_lecture($last->get_lesson_id(), 0, $last->get_updated_at()->getTimestamp());
    }
}

/** Access ends if the course blocks its content when its duration is over. LearnPress stores UTC. */
final class Coursegate_LearnPress implements Coursegate_Course_Plugin {
    public static function is_active(): bool {
        return class_exists('LearnPress\\Models\\UserItems\\UserCourseModel');
    }

    /** @return \LearnPress\Models\UserItems\UserCourseModel|false */
    private static function enrollment(int $course, int $member) {
        return \LearnPress\Models\UserItems\UserCourseModel::find($member, $course, true);
    }

    public static function courses(int $member): array {
        $filter = new LP_User_Items_Filter();
        $filter->user_id = $member;
        $filter->order_by = 'ui.user_item_id';
        $filter->limit = -1;
        $items = (array) LP_User_Items_DB::getInstance()->get_user_courses($filter);
        return array_filter(array_column($items, 'item_id'), static function ($course) use ($member) {
            $enrollment = self::enrollment((int) $course, $member);
            return $enrollment !== false && $enrollment->has_enrolled_or_finished();
        });
    }

    public static function roles(int $member): array {
        return ['instructor' => coursegate_authored(LP_COURSE_CPT, $member)];
    }

    public static function ends(int $course, int $member) {
        $enrollment = self::enrollment($course, $member);
        if ($enrollment->get_time_remaining() === -1) {
            return null;
        }
        return strtotime($enrollment->get_start_time() . ' UTC +' . $enrollment->get_course_model()->get_duration());
    }

    public static function progress(int $course, int $member): ?float {
        $enrollment = self::enrollment($course, $member);
        $total = $enrollment->get_course_model()->count_items();
        $completed = (int) ($enrollment->count_items_completed()->count_status ?? 0);
        return $total > 0 ? round(100 * min($completed, $total) / $total, 2) : null;
    }

    public static function last_lecture(int $course, int $member): ?array {
        $filter = new LP_User_Items_Filter();
        $filter->user_id = $member;
        $filter->parent_id = self::enrollment($course, $member)->get_user_item_id();
        $last = null;
        $latest = '';
        foreach (LP_User_Items_DB::getInstance()->get_user_course_items($filter) as $item) {
            $at = max((string) $item->start_time, (string) $item->end_time);
            if ($item->item_type === LP_LESSON_CPT && $at !== '' && $at >= $latest) {
                $latest = $at;
                $last = coursegate_lecture((int) $item->item_id, 0, strtotime("$at UTC"));
            }
        }
        return $last;
    }
}

/** Untested: LearnDash is not freely available. Written from its public function reference. */
final class Coursegate_LearnDash implements Coursegate_Course_Plugin {
    public static function is_active(): bool {
        return function_exists('learndash_user_get_enrolled_courses');
    }

    public static function courses(int $member): array {
        return learndash_user_get_enrolled_courses($member);
    }

    /** Leaders of a group, in the courses of the group. The second argument leaves out what administrators lead by right. */
    public static function roles(int $member): array {
        $led = array_map('learndash_group_enrolled_courses', learndash_get_administrators_group_ids($member, true));
        return [
            'instructor' => coursegate_authored('sfwd-courses', $member),
            'group_leader' => array_merge([], ...$led),
        ];
    }

    public static function ends(int $course, int $member) {
        return ((int) ld_course_access_expires_on($course, $member)) ?: null;
    }

    public static function progress(int $course, int $member): ?float {
        $progress = learndash_user_get_course_progress($member, $course);
        $total = (int) ($progress['total'] ?? 0);
        return $total > 0 ? round(100 * (int) ($progress['completed'] ?? 0) / $total, 2) : null;
    }

    /** The lesson or topic completed last. */
    public static function last_lecture(int $course, int $member): ?array {
        $last = (int) (learndash_user_get_course_progress($member, $course)['last_id'] ?? 0);
        return $last === 0 ? null : coursegate_lecture($last, 0, null);
    }
}
