<?php

namespace App\Coursegate;

use Illuminate\Contracts\Foundation\Application;
use Illuminate\Database\Eloquent\Model;

/** Revokes a member's connections when their password is changed or reset, their rights change, or they are deleted. */
class MemberObserver
{
    private $app;

    public function __construct(Application $app)
    {
        $this->app = $app;
    }

    public function updated(Model $member)
    {
        Gate::safely(function () use ($member) {
            if ($member->wasChanged((array) config('coursegate.watches'))) {
                $this->end($member, 'password or rights changed');
            }
        });
    }

    /** Called for soft deletes too. */
    public function deleted(Model $member)
    {
        Gate::safely(function () use ($member) {
            $this->end($member, 'left');
        });
    }

    /**
     * Runs after the response is sent, so that the member does not wait and database transactions are finished. In a console
     * command it runs at once.
     */
    private function end(Model $member, string $reason)
    {
        $id = (string) $member->getKey();
        $tell = function () use ($id, $reason) {
            // Created here, since wrong settings throw.
            Gate::safely(function () use ($id, $reason) {
                $this->app->make(Gate::class)->endConnections($id, $reason);
            });
        };
        $this->app->runningInConsole() ? $tell() : $this->app->terminating($tell);
    }
}
