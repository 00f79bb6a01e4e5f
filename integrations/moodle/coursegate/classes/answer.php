<?php
namespace local_coursegate;

defined('MOODLE_INTERNAL') || die();

/** Responses. Each method except data_of() sends one and ends the request. */
final class answer {
    public static function json(int $status, $body): void {
        self::private();
        http_response_code($status);
        header('Content-Type: application/json; charset=utf-8');
        header('X-Content-Type-Options: nosniff');
        header('Cross-Origin-Resource-Policy: same-origin');
        echo json_encode($body);
        exit;
    }

    public static function redirect(string $url): void {
        self::private();
        header('Location: ' . $url, true, 302);
        exit;
    }

    /** Refuses every other method. */
    public static function allow(string ...$methods): void {
        if (!in_array($_SERVER['REQUEST_METHOD'], $methods, true)) {
            header('Allow: ' . implode(', ', $methods));
            self::json(405, ['error' => 'method_not_allowed']);
        }
    }

    /** 503: the gate may ask again. */
    public static function unavailable(array $body): void {
        header('Retry-After: 2');
        self::json(503, $body);
    }

    /** 503 for an exception. Only its code is sent: the message may contain internal details. */
    public static function failed(\Throwable $thrown): void {
        error_log('coursegate: ' . get_class($thrown) . ': ' . $thrown->getMessage());
        // Some exceptions of Moodle have a text instead of a code.
        $code = (string) ($thrown->errorcode ?? '');
        $code = preg_match('~^[a-z0-9_]{1,64}$~Di', $code) === 1 ? $code : 'exception';
        self::unavailable(['error' => 'moodle', 'code' => $code]);
    }

    /**
     * Returns the data of a web service function, or answers with the code of its failure. The message is not sent: it may
     * contain information that the member may not see.
     *
     * @param array $called what \core_external\external_api::call_external_function() returned
     */
    public static function data_of(array $called) {
        if (!$called['error']) {
            return $called['data'];
        }
        $code = (string) ($called['exception']->errorcode ?? '');
        $body = ['error' => 'moodle', 'code' => $code];
        if (preg_match('~^(dml|ddl|db)|^sessionwaiterr$~', $code) === 1) {
            self::unavailable($body);
        }
        $status = 403;
        if ($code === 'invalidparameter') {
            $status = 400;
        } elseif (in_array($code, ['invalidrecord', 'invalidrecordunknown', 'invalidcourseid', 'invalidcoursemodule'], true)) {
            $status = 404;
        } elseif (in_array($code, ['codingerror', 'generalexceptionmessage', 'invalidresponse'], true)) {
            $status = 500;
        }
        self::json($status, $body);
    }

    private static function private(): void {
        header('Cache-Control: no-store, private');
        header('Referrer-Policy: no-referrer');
    }
}
