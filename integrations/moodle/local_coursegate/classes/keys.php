<?php
namespace local_coursegate;

defined('MOODLE_INTERNAL') || die();

/**
 * The gate's public keys. They are kept for ten minutes, and for an hour while the gate cannot be asked; an unknown id has
 * them fetched again, at most every 15 seconds.
 */
final class keys {
    /** In: a key id. Out: its JWK, or null. Throws unavailable without any keys. */
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
        // The address is the administrator's own setting, and is often one that Moodle would not let a member name.
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
