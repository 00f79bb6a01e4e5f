<?php

return ['paths' => [__DIR__], 'compiled' => getenv('DATA').'/views'];
