<?php

namespace App\Coursegate;

use Illuminate\Contracts\Foundation\Application;
use Illuminate\Database\Eloquent\Model;

/** Revokes a member's connections when their password is changed or reset, their rights change, or they are deleted. */
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

    /** Called for soft deletes too. */
    public function deleted(Model $member)
    {
        $this->end($member, 'left');
    }

    /**
     * Runs after the response is sent, so that the member does not wait and database transactions are finished. In a console
     * command it runs at once.
     */
    private function end(Model $member, string $reason)
    {
        $id = (string) $member->getKey();
        $tell = function () use ($id, $reason) {
            $this->gate->endConnections($id, $reason);
        };
        $this->app->runningInConsole() ? $tell() : $this->app->terminating($tell);
    }
}
