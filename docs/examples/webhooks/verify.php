<?php
// Verify a webhook's delivery: PHP 7.4 or newer, nothing to install.

const TOLERANCE = 5 * 60; // seconds: an older delivery may be somebody's replay

/**
 * The event as an array, or an exception. $headers by lower-case name (without the HTTP_ of $_SERVER), $body the raw
 * bytes as they came: file_get_contents('php://input').
 */
function verify(string $secret, array $headers, string $body, ?int $now = null): array
{
    $id = $headers['webhook-id'] ?? '';
    $timestamp = $headers['webhook-timestamp'] ?? '';
    if (!preg_match('/\A[0-9]+\z/', $timestamp)) {
        throw new RuntimeException('no timestamp');
    }
    if (abs(($now ?? time()) - (int) $timestamp) > TOLERANCE) {
        throw new RuntimeException('too old, or from the future');
    }
    $key = base64_decode(substr($secret, strlen('whsec_')), true);
    $expected = hash_hmac('sha256', "$id.$timestamp.$body", $key, true);
    // While a secret is being rotated there are two signatures, with a space between.
    foreach (explode(' ', $headers['webhook-signature'] ?? '') as $signature) {
        [$version, $encoded] = explode(',', $signature, 2) + [1 => ''];
        if ($version === 'v1' && hash_equals($expected, (string) base64_decode($encoded, true))) {
            return json_decode($body, true, 512, JSON_THROW_ON_ERROR);
        }
    }
    throw new RuntimeException('no signature of ours');
}
