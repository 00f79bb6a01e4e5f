<?php
/** Moodle's class of that name as far as the plugin calls it; it stands at /lib/filelib.php of the document root. */
class curl {
    private $status = 0;
    public function __construct(array $settings) {}
    public function get($url, array $parameters, array $options) {
        $context = stream_context_create(['http' => ['timeout' => $options['CURLOPT_TIMEOUT'], 'follow_location' => 0, 'ignore_errors' => true]]);
        $text = file_get_contents($url, false, $context);
        $this->status = (int) (explode(' ', $http_response_header[0] ?? '')[1] ?? 0);
        return $text;
    }
    private $fields = [];
    public function setHeader(array $fields) {
        $this->fields = $fields;
    }
    public function post($url, $body, array $options) {
        $http = ['method' => 'POST', 'content' => $body, 'header' => $this->fields, 'ignore_errors' => true];
        $context = stream_context_create(['http' => $http + ['timeout' => $options['CURLOPT_TIMEOUT']]]);
        // As cURL does, without a word.
        $text = @file_get_contents($url, false, $context);
        $this->status = (int) (explode(' ', $http_response_header[0] ?? '')[1] ?? 0);
        return $text;
    }
    public function get_info() {
        return ['http_code' => $this->status];
    }
    public function get_errno() {
        return $this->status === 0 ? 7 : 0;
    }
}
