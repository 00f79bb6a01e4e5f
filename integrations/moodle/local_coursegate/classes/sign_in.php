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
        $visited = optional_param('again', 0, PARAM_BOOL);
        $here = new \moodle_url($path, $parameters + ['again' => 1]);
        if ($sign_in_again && !$visited && isloggedin()) {
            require_logout();
            answer::redirect($here->out(false));
        }
        global $PAGE, $SESSION;
        $PAGE->set_context(\context_system::instance());
        $PAGE->set_url($here);
        if (!isloggedin() || isguestuser()) {
            $SESSION->wantsurl = $here->out(false);
            answer::redirect(get_login_url());
        }
        // Moodle's usual checks: second factor, forced password change, policies.
        require_login(null, false);
    }
}
