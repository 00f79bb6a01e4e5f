<?php
namespace local_coursegate;

defined('MOODLE_INTERNAL') || die();

/**
 * The gate's public keys. They are cached for ten minutes, or for an hour if the gate is unavailable. An unknown ID fetches
 * them again, at most every 15 seconds.
 */
final class keys {
    /**
     * Finds the JWK with a key ID.
     *
     * @throws unavailable if there are no keys
     */
    public static function find(string $kid): ?array {
        $cache = \cache::make('local_coursegate', 'keys');
        $url = settings::jwks_url();
        $kept = $cache->get('kept');
        $keys = is_array($kept) && $kept['url'] === $url && $kept['at'] > time() - 3600 ? $kept['keys'] : [];
        $key = protocol::key_of($keys, $kid);
        if ($key !== null && $kept['at'] > time() - 600) {
            return $key;
        }
        if ((int) $cache->get('pause') <= time()) {
            if ($keys !== []) {
                $cache->set('pause', time() + 15);
            }
            $fetched = self::fetch($url);
            if ($fetched !== null) {
                $cache->set('kept', ['url' => $url, 'keys' => $fetched, 'at' => time()]);
                return protocol::key_of($fetched, $kid);
            }
            $cache->set('pause', time() + 2);
        }
        if ($keys === []) {
            throw new unavailable();
        }
        return $key;
    }

    private static function fetch(string $url): ?array {
        global $CFG;
        require_once($CFG->libdir . '/filelib.php');
        // The administrator set this URL. It is often a local address, which Moodle blocks by default.
        $curl = new \curl(['ignoresecurity' => true]);
        $options = ['CURLOPT_TIMEOUT' => 3, 'CURLOPT_CONNECTTIMEOUT' => 2, 'CURLOPT_FOLLOWLOCATION' => 0];
        $document = $curl->get($url, [], $options);
        $status = $curl->get_info()['http_code'] ?? 0;
        if ($curl->get_errno() || $status !== 200 || !is_string($document) || strlen($document) > 65536) {
            return null;
        }
        return protocol::keys($document);
    }
}
