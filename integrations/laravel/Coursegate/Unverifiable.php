<?php

namespace App\Coursegate;

/** The gate's keys cannot be had: nobody can say whether an assertion is good. */
class Unverifiable extends \RuntimeException
{
}
