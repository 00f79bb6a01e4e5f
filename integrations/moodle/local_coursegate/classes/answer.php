<?php
namespace local_coursegate;

defined('MOODLE_INTERNAL') || die();

/** Responses. Each method sends one and ends the request. */
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

    /** Refuses every method except GET. */
    public static function get_only(): void {
        if ($_SERVER['REQUEST_METHOD'] !== 'GET') {
            header('Allow: GET');
            self::json(405, ['error' => 'method_not_allowed']);
        }
    }

    private static function private(): void {
        header('Cache-Control: no-store, private');
        header('Referrer-Policy: no-referrer');
    }
}
