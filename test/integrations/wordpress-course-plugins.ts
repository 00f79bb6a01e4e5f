/**
 * Course plugins with the code, in their own PHP functions, that creates the same school in each: three courses, of which
 * Sam (4) has `trees`, with access that ends if the plugin can end it, one of three lessons completed, and `tides`, not
 * begun. Olu (2) has `knots` only.
 */
export interface CoursePlugin {
  /** The name of its folder, and of its recorded responses. */
  readonly slug: string;
  readonly file: string;
  readonly school: string;
  /** What Sam's app gets about `trees`: `lesson` is the lesson's number there. */
  readonly trees: {
    readonly expireDate: string | null;
    readonly hasLifetimeAccess: boolean;
    readonly lesson: number;
    readonly positionSeconds: number;
  };
}

/** Times are those of the site, which is in New York and in German. */
const COURSES = `
wp_set_current_user(1);
$create = function (array $post): int {
  return wp_insert_post(wp_slash($post + ['post_status' => 'publish', 'post_author' => 1]), true);
};
$titles = ['trees' => 'Bäume & „Blumen“ – O’Neill', 'tides' => 'Seekarten &amp; "Tiden"', 'knots' => 'Knoten für Olu'];
`;

export const COURSE_PLUGINS: readonly CoursePlugin[] = [
  {
    slug: 'lifterlms',
    file: 'lifterlms.php',
    school: `${COURSES}
foreach ($titles as $name => $title) {
  $courses[$name] = $create(['post_type' => 'course', 'post_title' => $title]);
  $section = new LLMS_Section('new', ['post_title' => 'Teil', 'post_status' => 'publish']);
  $section->set('parent_course', $courses[$name]);
  $section->set('order', 1);
  for ($order = 1; $order <= 3; $order++) {
    $lesson = new LLMS_Lesson('new', ['post_title' => "Lektion $order", 'post_status' => 'publish']);
    $lesson->set('parent_course', $courses[$name]);
    $lesson->set('parent_section', $section->get('id'));
    $lesson->set('order', $order);
    $lessons[$name][$order] = $lesson->get('id');
  }
}
$plan = new LLMS_Access_Plan('new', ['post_title' => 'Bis 2036', 'post_status' => 'publish']);
$values = ['product_id' => $courses['trees'], 'is_free' => 'yes', 'price' => 0, 'frequency' => 0,
  'access_expiration' => 'limited-date', 'access_expires' => '12/31/2036'];
foreach ($values as $key => $value) $plan->set($key, $value);
$order = new LLMS_Order('new');
$order->init(llms_get_student(4), $plan, llms()->payment_gateways()->get_gateway_by_id('manual'));
$order->set_status('llms-completed');
llms_enroll_student(4, $courses['tides'], 'admin_1');
llms_enroll_student(2, $courses['knots'], 'admin_1');
llms_mark_complete(4, $lessons['trees'][1], 'lesson', 'lesson_' . $lessons['trees'][1]);
`,
    // The end of 31 December in New York.
    trees: { expireDate: '2037-01-01T04:59:59Z', hasLifetimeAccess: false, lesson: 1, positionSeconds: 0 },
  },
  {
    slug: 'tutor',
    file: 'tutor.php',
    school: `${COURSES}
foreach ($titles as $name => $title) {
  $courses[$name] = $create(['post_type' => tutor()->course_post_type, 'post_title' => $title]);
  $topic = $create(['post_type' => 'topics', 'post_parent' => $courses[$name], 'post_title' => 'Teil', 'menu_order' => 1]);
  for ($order = 1; $order <= 3; $order++) {
    $lessons[$name][$order] = $create(['post_type' => tutor()->lesson_post_type, 'post_parent' => $topic,
      'post_title' => "Lektion $order", 'menu_order' => $order]);
  }
}
tutor_utils()->do_enroll($courses['trees'], 0, 4);
tutor_utils()->do_enroll($courses['tides'], 0, 4);
tutor_utils()->do_enroll($courses['knots'], 0, 2);
\\Tutor\\Models\\LessonModel::mark_lesson_complete($lessons['trees'][1], 4);
\\Tutor\\Models\\LessonModel::update_lesson_reading_info($lessons['trees'][2], 4, 'video_best_watched_time', '93.4');
`,
    // Only Tutor Pro ends access.
    trees: { expireDate: null, hasLifetimeAccess: true, lesson: 2, positionSeconds: 93 },
  },
  {
    slug: 'sensei-lms',
    file: 'sensei-lms.php',
    // Its mails need libraries that its sources lack.
    school: `${COURSES}
remove_all_actions('sensei_email_send');
foreach ($titles as $name => $title) {
  $courses[$name] = $create(['post_type' => 'course', 'post_title' => $title]);
  for ($order = 1; $order <= 3; $order++) {
    $lessons[$name][$order] = $create(['post_type' => 'lesson', 'post_title' => "Lektion $order",
      'meta_input' => ['_lesson_course' => $courses[$name], '_order_' . $courses[$name] => $order]]);
  }
}
Sensei_Course_Enrolment::get_course_instance($courses['trees'])->enrol(4);
Sensei_Course_Enrolment::get_course_instance($courses['tides'])->enrol(4);
Sensei_Course_Enrolment::get_course_instance($courses['knots'])->enrol(2);
Sensei_Utils::sensei_start_lesson($lessons['trees'][1], 4, true);
`,
    // Only Sensei Pro ends access.
    trees: { expireDate: null, hasLifetimeAccess: true, lesson: 1, positionSeconds: 0 },
  },
  {
    slug: 'learnpress',
    file: 'learnpress.php',
    school: `${COURSES}
use LearnPress\\Models\\CourseModel;
use LearnPress\\Models\\CoursePostModel;
use LearnPress\\Models\\UserItems\\UserCourseModel;
use LearnPress\\Models\\UserItems\\UserLessonModel;
foreach ($titles as $name => $title) {
  $courses[$name] = $create(['post_type' => LP_COURSE_CPT, 'post_title' => $title]);
  $course = CourseModel::find($courses[$name]);
  $course->meta_data->_lp_duration = $name === 'trees' ? '520 week' : '0 week';
  $course->meta_data->_lp_block_expire_duration = $name === 'trees' ? 'yes' : 'no';
  $course->save();
  $section = CoursePostModel::find($courses[$name])->add_section(['section_name' => 'Teil']);
  for ($order = 1; $order <= 3; $order++) {
    $lessons[$name][$order] = $section->create_item_and_add(['item_type' => LP_LESSON_CPT, 'item_title' => "Lektion $order"])->item_id;
  }
}
foreach ([['trees', 4], ['tides', 4], ['knots', 2]] as [$name, $member]) {
  $enrolled = new UserCourseModel();
  $enrolled->user_id = $member;
  $enrolled->item_id = $courses[$name];
  $enrolled->status = 'enrolled';
  $enrolled->graduation = 'in-progress';
  $enrolled->start_time = '2026-11-01 12:30:00';
  $enrolled->save();
}
$lesson = new UserLessonModel();
$lesson->user_id = 4;
$lesson->item_id = $lessons['trees'][1];
$lesson->ref_id = $courses['trees'];
$lesson->parent_id = UserCourseModel::find(4, $courses['trees'])->get_user_item_id();
$lesson->status = 'started';
$lesson->save();
$lesson->set_complete();
`,
    // 520 weeks after the enrollment.
    trees: { expireDate: '2036-10-19T12:30:00Z', hasLifetimeAccess: false, lesson: 1, positionSeconds: 0 },
  },
];

/** Lists the IDs of the lessons of `trees`, in their order. */
export const LESSONS = `global $wpdb; echo json_encode(array_map('intval',
  $wpdb->get_col("select ID from $wpdb->posts where post_title like 'Lektion %' order by ID limit 3")));`;
