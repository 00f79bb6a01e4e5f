<?php
namespace local_coursegate;

defined('MOODLE_INTERNAL') || die();

/** Moodle's own sign-in, on the way from the gate and back to it. */
final class sign_in {
    /**
     * Ends with a member who is signed in, or sends the browser to Moodle's login page and from there back here. In: the
     * path of the page, its parameters, and whether somebody who is signed in must do so anew. `again` in them says that
     * they were sent there for this already.
     */
    public static function require(string $path, array $parameters, bool $anew): void {
        $visited = optional_param('again', 0, PARAM_BOOL);
        $here = new \moodle_url($path, $parameters + ['again' => 1]);
        if ($anew && !$visited && isloggedin()) {
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
        // Second factors, passwords to set and policies to agree to, as before any page.
        require_login(null, false);
    }
}
