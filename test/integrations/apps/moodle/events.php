<?php
/** Does with the event of the query what Moodle does with one: whoever of db/events.php observes it is called. */
require __DIR__ . '/config.php';
require __DIR__ . '/local/coursegate/db/events.php';

$event = new \core\event\base();
foreach (['objectid', 'relateduserid', 'contextlevel'] as $name) {
    $event->$name = $_GET[$name] ?? null;
}
foreach ($observers as $observer) {
    if ($observer['eventname'] === '\\core\\event\\' . $_GET['event'] && $observer['internal'] === false) {
        call_user_func($observer['callback'], $event);
    }
}
echo 'over';
