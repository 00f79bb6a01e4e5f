<?php

return require getenv('INTEGRATIONS').'/laravel/coursegate.php';
