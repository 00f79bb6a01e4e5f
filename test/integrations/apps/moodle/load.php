<?php
/** Loads every file of the plugin that is no page, as Moodle does: classes by their names, all else with what it expects. */
namespace core_privacy\local\metadata {
    interface null_provider {
        public static function get_reason(): string;
    }
}

namespace {
    require __DIR__ . '/config.php';
    const MATURITY_BETA = 100;
    const PARAM_URL = 'url';
    const PARAM_ALPHANUMEXT = 'alphanumext';
    class cache_store {
        const MODE_APPLICATION = 1;
    }
    class admin_settingpage {
        public $names = [];
        public function __construct($name, $title) {}
        public function add($setting) {
            $this->names[] = $setting->name;
        }
    }
    class admin_setting_configtext {
        public $name;
        public function __construct($name, $title, $about, $default, $type = null) {
            $this->name = $name;
        }
    }
    class admin_setting_configpasswordunmask extends admin_setting_configtext {}
    class admin_setting_configtextarea extends admin_setting_configtext {}

    $ADMIN = new class {
        public $page;
        public function add($where, $page) {
            $this->page = $page;
        }
    };
    $hassiteconfig = true;
    $plugin = new stdClass();
    $root = __DIR__ . '/local/coursegate';
    foreach (['settings', 'version', 'db/caches', 'db/events', 'db/hooks'] as $file) {
        require "$root/$file.php";
    }
    $classes = [];
    foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator("$root/classes", FilesystemIterator::SKIP_DOTS)) as $file) {
        $class = 'local_coursegate\\' . strtr(substr($file->getPathname(), strlen("$root/classes/"), -4), '/', '\\');
        $classes[$class] = class_exists($class);
    }
    echo json_encode([
        'settings' => $ADMIN->page->names,
        'component' => $plugin->component,
        'caches' => array_keys($definitions),
        'callable' => array_map(static function ($observer) {
            return is_callable($observer['callback']);
        }, [...$observers, ...$callbacks]),
        'classes' => $classes,
    ]);
}
