<?php
// A driver of Roundcube's plugin `password`: changes the mailbox's own password by the API of Mailkeep, with the rules of
// its page for owners. An app password can't do that: the current password is the mailbox's own.
class rcube_mailkeep_password
{
    function compare($current, $new, $type)
    {
        return null; // the API compares
    }

    function save($current, $new, $username)
    {
        $rcmail = rcmail::get_instance();
        [$status, $answer, $cookie] = $this->call('login', ['address' => $username, 'password' => $current], '');
        if ($status === 200 && empty($answer['data']['mailbox'])) {
            return ['code' => PASSWORD_ERROR,
                    'message' => 'The mailbox has a second factor: change the password on your page of Mailkeep.'];
        }
        if ($status === 200) {
            $passwords = ['current_password' => $current, 'new_password' => $new];
            [$status, $answer] = $this->call('password', $passwords, $cookie);
            $this->call('logout', null, $cookie);
        }
        if ($status !== 200) {
            $code = $status === 0 || $status >= 500 ? PASSWORD_CONNECT_ERROR : PASSWORD_ERROR;
            return ['code' => $code, 'message' => $answer['error']['message'] ?? ''];
        }
        // A session that was opened with an app password keeps it.
        $own = $rcmail->decrypt($_SESSION['password']);
        if ($own !== $current) {
            $rcmail->plugins->register_hook('password_change', function ($change) use ($own) {
                return ['new_pass' => $own] + $change;
            });
        }
        return PASSWORD_SUCCESS;
    }

    private function call($path, $body, $cookie)
    {
        $config = rcmail::get_instance()->config;
        $options = $config->get('mailkeep_password_options') + ['http' => [
            'method' => 'POST',
            'header' => "Content-Type: application/json\r\nConnection: close\r\n" . ($cookie ? "Cookie: $cookie\r\n" : ''),
            'content' => $body === null ? '' : json_encode($body, JSON_UNESCAPED_UNICODE),
            'ignore_errors' => true,
            'timeout' => 30,
        ]];
        $url = $config->get('mailkeep_password_url') . $path;
        $text = @file_get_contents($url, false, stream_context_create($options));
        $headers = implode("\n", $http_response_header ?? []);
        preg_match('#^HTTP/\S+ (\d{3})#', $headers, $status);
        preg_match('#^Set-Cookie: ([^;\s]+)#mi', $headers, $set);
        return [(int) ($status[1] ?? 0), json_decode((string) $text, true) ?: [], $set[1] ?? $cookie];
    }
}
