<?php
namespace local_coursegate;

defined('MOODLE_INTERNAL') || die();

/** Sends members who come from the gate through Moodle's own sign-in. */
final class sign_in {
    /**
     * Returns if a member is signed in. Otherwise it redirects the browser to Moodle's login page, which returns here.
     *
     * @param string $path the path of this page
     * @param array $parameters its parameters. `again` is added to the URL to return to, so that $sign_in_again applies only once.
     * @param bool $sign_in_again whether a signed-in member must sign in again
     */
    public static function require(string $path, array $parameters, bool $sign_in_again): void {
        global $PAGE, $SESSION;
        $here = new \moodle_url($path, $parameters + ['again' => 1]);
        $PAGE->set_context(\context_system::instance());
        $PAGE->set_url($here);
        if (!isloggedin() || isguestuser()) {
            $SESSION->wantsurl = $here->out(false);
            answer::redirect(get_login_url());
        }
        // A member whom Moodle still waits for, such as for a new password, continues there: see require_login() below.
        $is_complete = \core\session\manager::is_loggedinas() || member::signed_in() !== null;
        if ($sign_in_again && $is_complete && self::parameter('again') === '') {
            self::sign_out(new \moodle_url($path, $parameters), $here);
        }
        // Moodle's usual checks: second factor, forced password change, policies.
        require_login(null, false);
    }

    /** A parameter of the form or the query; '' if it is missing or a list. */
    public static function parameter(string $name): string {
        $value = $_POST[$name] ?? $_GET[$name] ?? '';
        return is_string($value) ? $value : '';
    }

    /**
     * While a second factor is missing, tool_mfa sends the browser to its own page before any other page runs, and then on to
     * the start page. This makes it return to the page that the gate has sent the browser to.
     */
    public static function before_second_factor(\core\hook\after_config $hook): void {
        global $FULLME, $SCRIPT, $SESSION;
        $pages = ['/local/coursegate/signin.php', '/local/coursegate/bridge.php'];
        if (in_array($SCRIPT, $pages, true) && isloggedin() && empty($SESSION->tool_mfa_authenticated)) {
            $SESSION->wantsurl = (new \moodle_url($FULLME, ['again' => 1]))->out(false);
        }
    }

    /** Asks whether to sign out, and does so when the form returns: a link on another site must not sign anyone out. */
    private static function sign_out(\moodle_url $here, \moodle_url $next): void {
        global $OUTPUT, $PAGE, $SITE, $USER;
        if ($_SERVER['REQUEST_METHOD'] === 'POST') {
            require_sesskey();
            require_logout();
            answer::redirect($next->out(false));
        }
        $title = get_string('signinagain', 'local_coursegate');
        $PAGE->set_pagelayout('login');
        $PAGE->set_title($title);
        $PAGE->set_heading($SITE->fullname);
        $question = get_string('signinagain_desc', 'local_coursegate', s(fullname($USER)));
        echo $OUTPUT->header();
        echo $OUTPUT->confirm($question, new \single_button($here, $title, 'post'), $next);
        echo $OUTPUT->footer();
        exit;
    }
}
