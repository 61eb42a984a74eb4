<?php
// What docs/examples/webhooks/verify.php (its path is the argument) says of each delivery on standard input.
error_reporting(E_ALL);
set_error_handler(function ($level, $message) {
    throw new ErrorException($message);
});
require $argv[1];
$verdicts = [];
foreach (json_decode(file_get_contents('php://stdin'), true) as $given) {
    try {
        $verdicts[] = verify($given['secret'], $given['headers'], base64_decode($given['body']));
    } catch (RuntimeException $wrong) {
        $verdicts[] = $wrong->getMessage();
    }
}
echo json_encode($verdicts);
