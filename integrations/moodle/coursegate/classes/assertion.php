<?php
namespace local_coursegate;

defined('MOODLE_INTERNAL') || die();

/** The gate's assertion in the request, which says on whose behalf it was sent. */
final class assertion {
    /**
     * Makes the member named in the assertion the current user, and returns their row of the user table. Answers the request
     * itself if the assertion is invalid, or if Moodle wants something from the member first, such as a new password.
     *
     * @throws \dml_exception if the database fails
     */
    public static function become_member(): \stdClass {
        $user = member::find(self::claims()['sub']);
        if ($user === null) {
            answer::json(401, ['error' => 'assertion', 'message' => 'no active member has this ID']);
        }
        // set_user() takes the password out of the row that it is given.
        $row = clone $user;
        enrol_check_plugins($user);
        \core\session\manager::set_user($user);
        // Plain text in the member's language, as Moodle's pages show it.
        \core_external\external_settings::get_instance()->set_filter(true);
        try {
            require_login(null, false, null, false, true);
        } catch (\dml_exception $thrown) {
            throw $thrown;
        } catch (\moodle_exception $thrown) {
            answer::json(403, ['error' => 'moodle', 'code' => $thrown->errorcode]);
        }
        return $row;
    }

    private static function claims(): array {
        // X-Member-Id and similar headers are never read: any client of this server could set them.
        $jwt = $_SERVER['HTTP_X_COURSEGATE_ASSERTION'] ?? '';
        $expected = [
            'issuer' => settings::get('origin'),
            'audience' => settings::get('upstream'),
            'method' => $_SERVER['REQUEST_METHOD'],
            'uri' => $_SERVER['REQUEST_URI'],
            // Tools and the Account API send assertions without a request, and these pages only read.
            'bound_only' => false,
        ];
        try {
            return protocol::verify($jwt, $expected, time(), [keys::class, 'find']);
        } catch (\DomainException $thrown) {
            answer::json(401, ['error' => 'assertion', 'message' => $thrown->getMessage()]);
        } catch (unavailable $thrown) {
            answer::unavailable(['error' => 'keys']);
        }
    }
}
