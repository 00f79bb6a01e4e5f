<?php
/**
 * As much of Moodle as the plugin touches, to run its pages without one: not Moodle's behaviour, but its names. The state
 * (members, sessions, settings) is a JSON file that the test writes. It stands at /config.php of the document root.
 */
namespace {
    define('MOODLE_INTERNAL', true);
    defined('IGNORE_MISSING') || define('IGNORE_MISSING', 0);
    const PARAM_RAW = 'raw';
    const PARAM_BOOL = 'bool';
    const CONTEXT_SYSTEM = 10;
    const CONTEXT_COURSECAT = 40;
    const CONTEXT_COURSE = 50;
    const CONTEXT_MODULE = 70;
    const SQL_PARAMS_NAMED = 1;
    defined('WS_SERVER') || define('WS_SERVER', false);
    defined('AJAX_SCRIPT') || define('AJAX_SCRIPT', false);
    error_reporting(E_ALL);
    set_error_handler(static function ($level, $message, $file, $line) {
        if (!(error_reporting() & $level)) {
            return true;
        }
        file_put_contents(__DIR__ . '/complaints.log', "$message in $file:$line\n", FILE_APPEND);
        return true;
    });

    // After the error handler: Moodle defines the second one itself, and PHP warns about a constant that is defined twice.
    if (WS_SERVER || !defined('NO_MOODLE_COOKIES')) {
        define('NO_MOODLE_COOKIES', WS_SERVER);
    }

    $STATE = json_decode(file_get_contents(__DIR__ . '/state.json'), true);
    $CFG = (object) ['wwwroot' => 'http://' . ($_SERVER['HTTP_HOST'] ?? 'localhost'), 'libdir' => __DIR__ . '/lib', 'mnet_localhost_id' => 1];
    if (!empty($STATE['maintenance'])) {
        $CFG->maintenance_enabled = 1;
    }
    $SCRIPT = $_SERVER['SCRIPT_NAME'];
    $FULLME = $CFG->wwwroot . $_SERVER['REQUEST_URI'];
    $SITE = (object) ['fullname' => 'Harbour Lane School'];
    $who = NO_MOODLE_COOKIES ? null : ($STATE['sessions'][$_COOKIE['MoodleSession'] ?? ''] ?? null);
    $SESSION = (object) ($who['session'] ?? []);
    $USER = (object) (($who === null ? [] : $STATE['members'][$who['member']]) + ['id' => 0]);
    $USER->currentlogin = $who['at'] ?? 0;
    $PAGE = new class {
        public function set_context($context) {}
        public function set_url($url) {}
        public function set_pagelayout($name) {}
        public function set_title($title) {}
        public function set_heading($title) {}
    };
    $OUTPUT = new class {
        public function header() {
            return '<html lang="en">';
        }
        public function confirm($question, $button, $cancel) {
            return "$question {$button->form()} " . $cancel->out();
        }
        public function footer() {
            return '</html>';
        }
    };
    $DB = new class {
        public function get_record($table, array $conditions) {
            if (($GLOBALS['STATE']['failing'] ?? '') === 'query') {
                throw new dml_read_exception('dmlreadexception');
            }
            foreach ($GLOBALS['STATE']['members'] as $member) {
                if ($table === 'user' && array_intersect_assoc(array_map('strval', $conditions), array_map('strval', $member)) == $conditions) {
                    return (object) $member;
                }
            }
            return false;
        }
        public function get_records_list($table, $field, array $values, $sort, $fields) {
            return array_map(static function ($course) {
                return (object) $course;
            }, array_intersect_key(array_column($GLOBALS['STATE']['courses'], null, 'id'), array_flip($values)));
        }
        public function get_in_or_equal(array $values, $type) {
            return ['IN (' . implode(', ', $values) . ')', []];
        }
        /** The role assignments of a member, one row for each course at or below their place. */
        public function get_recordset_sql($sql, array $parameters) {
            $rows = array_map(static function ($role) {
                return (object) $role;
            }, $GLOBALS['STATE']['assigned'][$parameters['userid']] ?? []);
            return new class($rows) extends \ArrayIterator {
                public function close() {
                }
            };
        }
        public function sql_like($name, $pattern) {
            return "$name LIKE $pattern";
        }
        public function sql_concat(...$parts) {
            return implode(' || ', $parts);
        }
        public function get_records_sql($sql, array $parameters) {
            return array_map(static function ($viewed) {
                return (object) $viewed;
            }, $parameters['userid'] === 4 ? $GLOBALS['STATE']['viewed'] : []);
        }
    };
    if (!empty($STATE['mfa'])) {
        eval('namespace tool_mfa { class manager { public static function is_ready() { return true; } } }');
    }
    spl_autoload_register(static function ($class) {
        $parts = explode('\\', $class);
        if (array_shift($parts) === 'local_coursegate') {
            require __DIR__ . '/local/coursegate/classes/' . implode('/', $parts) . '.php';
        }
    });

    class moodle_exception extends Exception {
        public $errorcode;
        public function __construct($errorcode) {
            parent::__construct("a secret of the school: $errorcode");
            $this->errorcode = $errorcode;
        }
    }
    class dml_exception extends moodle_exception {}
    class dml_read_exception extends dml_exception {}
    class moodle_url {
        private $url;
        public function __construct($path, array $parameters = []) {
            $url = strpos($path, '/') === 0 ? $GLOBALS['CFG']->wwwroot . $path : $path;
            $query = http_build_query($parameters, '', '&', PHP_QUERY_RFC3986);
            $this->url = $url . ($query === '' ? '' : (strpos($url, '?') === false ? '?' : '&') . $query);
        }
        public function out($escaped = true) {
            return $escaped ? htmlspecialchars($this->url) : $this->url;
        }
    }
    class single_button {
        private $html;
        public function __construct($url, $label, $method) {
            $this->html = "<form method=\"$method\" action=\"{$url->out()}\">" . sesskey() . "$label</form>";
        }
        public function form() {
            return $this->html;
        }
    }
    class context_system {
        public static function instance() {}
    }
    class cache {
        public static function make($component, $name) {
            return new self();
        }
        public function get($key) {
            $kept = @json_decode((string) file_get_contents(__DIR__ . '/cache.json'), true);
            return $kept[$key] ?? false;
        }
        public function set($key, $value) {
            $kept = json_decode((string) file_get_contents(__DIR__ . '/cache.json'), true);
            $kept[$key] = $value;
            file_put_contents(__DIR__ . '/cache.json', json_encode($kept));
        }
    }

    function get_config($plugin, $name) {
        return $GLOBALS['STATE']['settings'][$name] ?? false;
    }
    function isloggedin() {
        return $GLOBALS['USER']->id !== 0;
    }
    function isguestuser($id = null) {
        return (int) ($id ?? $GLOBALS['USER']->id) === 1;
    }
    function fullname($user) {
        return "$user->firstname $user->lastname";
    }
    function get_site_identifier() {
        return 'a site of its own';
    }
    function get_string($name, $component, $a = '') {
        $string = [];
        require __DIR__ . '/local/coursegate/lang/en/local_coursegate.php';
        if (!isset($string[$name])) {
            throw new Exception("no string $name");
        }
        return str_replace('{$a}', $a, $string[$name]);
    }
    function s($text) {
        return htmlspecialchars($text);
    }
    function sesskey() {
        return 'of-this-session';
    }
    function require_sesskey() {
        if (($_POST['sesskey'] ?? '') !== sesskey()) {
            http_response_code(403);
            exit('invalidsesskey');
        }
    }
    function get_login_url() {
        return $GLOBALS['CFG']->wwwroot . '/login/index.php?then=' . rawurlencode($GLOBALS['SESSION']->wantsurl);
    }
    function require_logout() {
        header('Set-Cookie: MoodleSession=; Max-Age=0', false);
    }
    function require_login($course, $guest, $cm = null, $setwantsurl = true, $preventredirect = false) {
        $todo = $GLOBALS['USER']->todo ?? '';
        if ($todo !== '' && $preventredirect) {
            throw $todo === 'dmlreadexception' ? new dml_read_exception($todo) : new moodle_exception($todo);
        }
        if ($todo !== '') {
            header("Location: {$GLOBALS['CFG']->wwwroot}/todo/$todo");
            exit;
        }
    }
    function enrol_check_plugins($user) {}
    function is_siteadmin($user) {
        return (int) $user === 2;
    }
    class context_helper {
        public static function get_preload_record_columns_sql($alias) {
            return "$alias.id";
        }
        public static function preload_from_record($row) {
        }
    }
    class context_course {
        public static function instance($id) {
            return $id;
        }
    }
    /** Capabilities of member 4, by course. */
    function has_capability($name, $course, $user) {
        return (int) $user === 4 && in_array($name, $GLOBALS['STATE']['capabilities'][$course] ?? [], true);
    }
    function enrol_get_users_courses($user, $active, $fields) {
        return $active && (int) $user === 4 ? ['7' => (object) ['id' => '7'], '8' => (object) ['id' => '8']] : [];
    }
    function enrol_get_enrolment_end($course, $user) {
        return $GLOBALS['STATE']['courses'][$course]['end'];
    }
    function get_log_manager() {
        return new class {
            public function get_readers($interface) {
                return $GLOBALS['STATE']['viewed'] === null ? [] : ['standard' => new class {
                    public function get_internal_log_table_name() {
                        return 'logstore_standard_log';
                    }
                }];
            }
        };
    }
    function get_fast_modinfo($course, $user) {
        $cms = [];
        foreach ($GLOBALS['STATE']['modules'] as $id => $module) {
            $cms[$id] = new class($id, $module) {
                public $id;
                public $uservisible;
                public $url;
                private $name;
                public function __construct($id, array $module) {
                    list($this->id, $this->name, $this->uservisible) = [$id, $module['name'], $module['visible']];
                    $this->url = new moodle_url('/mod/page/view.php', ['id' => $id]);
                }
                public function get_formatted_name() {
                    return $this->name;
                }
            };
        }
        return (object) ['cms' => $cms];
    }
}

namespace core\event {
    class base {
        public $objectid;
        public $relateduserid;
        public $contextlevel;
    }
}

namespace core\session {
    class manager {
        public static function is_loggedinas() {
            return !empty($GLOBALS['SESSION']->loggedinas);
        }
        public static function set_user($user) {
            $GLOBALS['USER'] = $user;
        }
    }
}

namespace core\hook {
    class after_config {}
}

namespace core_external {
    class external_settings {
        public static $filter = false;
        public static function get_instance() {
            return new self();
        }
        public function set_filter($filter) {
            self::$filter = $filter;
        }
    }
    class external_api {
        const FUNCTIONS = ['courses' => ['read', ['userid', 'limit']], 'site' => ['read', []], 'enrol' => ['write', ['userid']], 'hidden' => ['read', []]];
        /** In the answer of a function that filters, each text is as Moodle sends it: HTML in one language. */
        public static function external_function_info($name, $strictness) {
            if (!isset(self::FUNCTIONS[$name])) {
                return false;
            }
            list($type, $parameters) = self::FUNCTIONS[$name];
            return (object) ['type' => $type, 'parameters_desc' => (object) ['keys' => array_flip($parameters)]];
        }
        public static function call_external_function($name, $arguments) {
            if ($name === 'core_enrol_get_users_courses') {
                $courses = array_map(static function ($course) {
                    return ['fullname' => external_settings::$filter ? $course['html'] : "unfiltered {$course['html']}"] + $course;
                }, $GLOBALS['STATE']['courses']);
                return ['error' => false, 'data' => array_values($arguments['userid'] === 4 ? $courses : [])];
            }
            if (isset($arguments['fail'])) {
                return ['error' => true, 'exception' => (object) ['errorcode' => $arguments['fail'], 'message' => 'a secret of the school']];
            }
            return ['error' => false, 'data' => ['called' => $name, 'as' => $GLOBALS['USER']->username, 'with' => (object) $arguments]];
        }
    }
}

namespace {
    // At the end of Moodle's setup. tool_mfa lets no page run before the second factor was provided.
    if (!NO_MOODLE_COOKIES && !empty($STATE['mfa']) && isloggedin() && !isguestuser() && empty($SESSION->tool_mfa_authenticated)) {
        require __DIR__ . '/local/coursegate/db/hooks.php';
        foreach ($callbacks as $callback) {
            call_user_func($callback['callback'], new $callback['hook']());
        }
        if (AJAX_SCRIPT) {
            throw new moodle_exception('redirecterrordetected');
        }
        header('Location: ' . $CFG->wwwroot . '/admin/tool/mfa/auth.php?then=' . rawurlencode($SESSION->wantsurl ?? $CFG->wwwroot));
        exit;
    }
    if (($STATE['failing'] ?? '') === 'setup') {
        throw new dml_exception('dbconnectionfailed');
    }
}
