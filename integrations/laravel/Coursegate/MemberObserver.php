<?php

namespace App\Coursegate;

use Illuminate\Contracts\Foundation\Application;
use Illuminate\Database\Eloquent\Model;

/** Tells the gate when a member's password or rights change, or they go. A password that is reset is one that changes. */
class MemberObserver
{
    private $app;
    private $gate;

    public function __construct(Application $app, Gate $gate)
    {
        $this->app = $app;
        $this->gate = $gate;
    }

    public function updated(Model $member)
    {
        if ($member->wasChanged((array) config('coursegate.watches'))) {
            $this->end($member, 'password or rights changed');
        }
    }

    /** A soft delete among them. */
    public function deleted(Model $member)
    {
        $this->end($member, 'left');
    }

    /** After the answer, so that nobody waits and what is open in the database is done; a command has no answer. */
    private function end(Model $member, string $reason)
    {
        $id = (string) $member->getKey();
        $tell = function () use ($id, $reason) {
            $this->gate->endConnections($id, $reason);
        };
        $this->app->runningInConsole() ? $tell() : $this->app->terminating($tell);
    }
}
