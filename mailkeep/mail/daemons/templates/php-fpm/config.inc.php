<?php
// Roundcube's configuration. Rendered from mailkeep/mail/daemons/templates/php-fpm.
$config = [];
$config['db_dsnw'] = 'pgsql://mailkeep_webmail@unix(@@database_folder@@)/mailkeep_webmail';
$config['des_key'] = '@@key@@';
$config['cipher_method'] = 'AES-256-CBC';

// Each connection has the client's address as its source, which our process `webmail` passes on, so that sign-ins are
// counted for it. An IPv4 address is written as IPv6 (RFC 6052).
$client = inet_pton($_SERVER['REMOTE_ADDR'] ?? '::1');
if (strlen($client) === 4) {
    $client = hex2bin('0064ff9b0000000000000000') . $client;
}
$socket = ['socket' => ['bindto' => '[' . inet_ntop($client) . ']:0']];
$config['imap_host'] = 'localhost:@@imap_port@@';
$config['imap_conn_options'] = $socket;
$config['smtp_host'] = 'localhost:@@submission_port@@';
$config['smtp_conn_options'] = $socket;
$config['smtp_user'] = '%u';
$config['smtp_pass'] = '%p';
$config['managesieve_host'] = 'localhost:@@sieve_port@@';
$config['managesieve_conn_options'] = $socket;
$config['mailkeep_password_url'] = 'http://localhost:@@password_port@@/api/v1/me/';
$config['mailkeep_password_options'] = $socket;

// Mailkeep limits sign-ins, by client address and by account.
$config['login_rate_limit'] = 0;
$config['session_samesite'] = 'Strict';
$config['use_https'] = true;
$config['trusted_host_patterns'] = ['^@@host@@$'];
$config['enable_installer'] = false;
$config['log_driver'] = 'stdout';
$config['temp_dir'] = '/tmp';

$config['plugins'] = ['archive', 'managesieve', 'markasjunk', 'password'];
$config['product_name'] = 'Webmail';
$config['display_product_info'] = 0;
$config['skin'] = 'elastic';
$config['enable_spellcheck'] = false;
$config['max_message_size'] = @@message_bytes@@;
$config['archive_mbox'] = 'Archive';
// Moving to Junk and back teaches the filter.
$config['markasjunk_learning_driver'] = null;
$config['markasjunk_spam_mbox'] = 'Junk';
$config['markasjunk_ham_mbox'] = 'INBOX';
$config['managesieve_vacation'] = 1;
$config['managesieve_script_name'] = 'webmail';
$config['password_driver'] = 'mailkeep';
$config['password_confirm_current'] = true;
// The API decides which passwords are good.
$config['password_minimum_length'] = 0;
