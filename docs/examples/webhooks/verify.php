<?php
// Verify a webhook delivery: PHP 7.4 or newer, no dependencies.

const TOLERANCE = 5 * 60; // seconds: reject older deliveries (replay attacks)

/**
 * Returns the event as an array or throws an exception. $headers have lower-case names (without the HTTP_ of $_SERVER),
 * $body is the raw request body: file_get_contents('php://input').
 */
function verify(string $secret, array $headers, string $body, ?int $now = null): array
{
    $id = $headers['webhook-id'] ?? '';
    $timestamp = $headers['webhook-timestamp'] ?? '';
    if (!preg_match('/\A[0-9]+\z/', $timestamp)) {
        throw new RuntimeException('missing or invalid timestamp');
    }
    if (abs(($now ?? time()) - (int) $timestamp) > TOLERANCE) {
        throw new RuntimeException('the timestamp is more than five minutes off');
    }
    $key = base64_decode(substr($secret, strlen('whsec_')), true);
    $expected = hash_hmac('sha256', "$id.$timestamp.$body", $key, true);
    // During a secret rotation there are two signatures, separated by a space.
    foreach (explode(' ', $headers['webhook-signature'] ?? '') as $signature) {
        [$version, $encoded] = explode(',', $signature, 2) + [1 => ''];
        if ($version === 'v1' && hash_equals($expected, (string) base64_decode($encoded, true))) {
            return json_decode($body, true, 512, JSON_THROW_ON_ERROR);
        }
    }
    throw new RuntimeException('no matching signature');
}
