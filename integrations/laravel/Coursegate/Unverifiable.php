<?php

namespace App\Coursegate;

/** The gate's keys are unavailable, so the assertion cannot be checked. */
class Unverifiable extends \RuntimeException
{
}
