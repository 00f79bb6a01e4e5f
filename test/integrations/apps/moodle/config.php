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
    defined('WS_SERVER') || define('WS_SERVER', false);
    error_reporting(E_ALL);
    set_error_handler(static function ($level, $message, $file, $line) {
        if (!(error_reporting() & $level)) {
            return true;
        }
        file_put_contents(__DIR__ . '/complaints.log', "$message in $file:$line\n", FILE_APPEND);
        return true;
    });

    $STATE = json_decode(file_get_contents(__DIR__ . '/state.json'), true);
    $CFG = (object) ['wwwroot' => 'http://' . ($_SERVER['HTTP_HOST'] ?? 'localhost'), 'libdir' => __DIR__ . '/lib', 'mnet_localhost_id' => 1];
    if (!empty($STATE['maintenance'])) {
        $CFG->maintenance_enabled = 1;
    }
    $who = defined('NO_MOODLE_COOKIES') ? null : ($STATE['sessions'][$_COOKIE['MoodleSession'] ?? ''] ?? null);
    $SESSION = (object) ($who['session'] ?? []);
    $USER = (object) (($who === null ? [] : $STATE['members'][$who['member']]) + ['id' => 0]);
    $USER->currentlogin = $who['at'] ?? 0;
    $PAGE = new class {
        public function set_context($context) {}
        public function set_url($url) {}
    };
    $DB = new class {
        public function get_record($table, array $conditions) {
            foreach ($GLOBALS['STATE']['members'] as $member) {
                if ($table === 'user' && array_intersect_assoc(array_map('strval', $conditions), array_map('strval', $member)) == $conditions) {
                    return (object) $member;
                }
            }
            return false;
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

    class moodle_exception extends Exception {}
    class moodle_url {
        private $url;
        public function __construct($path, array $parameters) {
            $this->url = $GLOBALS['CFG']->wwwroot . $path . '?' . http_build_query($parameters, '', '&', PHP_QUERY_RFC3986);
        }
        public function out($escaped = true) {
            return $escaped ? htmlspecialchars($this->url) : $this->url;
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
    function optional_param($name, $default, $type) {
        return $_GET[$name] ?? $default;
    }
    function get_login_url() {
        return $GLOBALS['CFG']->wwwroot . '/login/index.php?then=' . rawurlencode($GLOBALS['SESSION']->wantsurl);
    }
    function require_logout() {
        header('Set-Cookie: MoodleSession=; Max-Age=0', false);
    }
    function require_login($course, $guest, $cm = null, $setwantsurl = true, $preventredirect = false) {
        if (!empty($GLOBALS['USER']->todo)) {
            throw new moodle_exception('something to do first');
        }
    }
    function enrol_check_plugins($user) {}
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

namespace core_external {
    class external_api {
        const FUNCTIONS = ['courses' => ['read', ['userid', 'limit']], 'site' => ['read', []], 'enrol' => ['write', ['userid']], 'hidden' => ['read', []]];
        public static function external_function_info($name, $strictness) {
            if (!isset(self::FUNCTIONS[$name])) {
                return false;
            }
            list($type, $parameters) = self::FUNCTIONS[$name];
            return (object) ['type' => $type, 'parameters_desc' => (object) ['keys' => array_flip($parameters)]];
        }
        public static function call_external_function($name, $arguments) {
            if (isset($arguments['fail'])) {
                return ['error' => true, 'exception' => (object) ['errorcode' => $arguments['fail'], 'message' => 'a secret of the school']];
            }
            return ['error' => false, 'data' => ['called' => $name, 'as' => $GLOBALS['USER']->username, 'with' => (object) $arguments]];
        }
    }
}
