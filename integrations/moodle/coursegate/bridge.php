<?php
/** A signed one-time redirect, compatible with DiscourseConnect: ?sso=base64(nonce, return_sso_url)&sig=hmac. */
require(__DIR__ . '/../../config.php');

use local_coursegate\answer;
use local_coursegate\member;
use local_coursegate\protocol;
use local_coursegate\settings;
use local_coursegate\sign_in;

answer::allow('GET', 'POST');
$sso = sign_in::parameter('sso');
$sig = sign_in::parameter('sig');
$secret = settings::get('secret');
$asked = protocol::read_sso($sso, $sig, $secret);
$return = $asked['return_sso_url'] ?? '';
$is_ours = protocol::is_at($return, settings::get('origin')) || protocol::is_at($return, settings::get('pagesorigin'));
if ($asked === null || ($asked['nonce'] ?? '') === '' || !$is_ours) {
    answer::json(403, ['error' => 'not_from_the_gate']);
}
$sign_in_again = in_array($asked['prompt'] ?? '', ['login', 'select_account'], true)
    || protocol::is_too_old($asked, (int) $USER->currentlogin ?: null, time());
sign_in::require('/local/coursegate/bridge.php', ['sso' => $sso, 'sig' => $sig], $sign_in_again);
$member = member::signed_in();
if ($member === null) {
    answer::json(403, ['error' => 'not_allowed']);
}
$fields = ['nonce' => $asked['nonce'], 'external_id' => $member['id']] + $member;
unset($fields['id']);
answer::redirect(protocol::write_sso($return, $fields, $secret));
