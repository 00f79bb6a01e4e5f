<?php

return ['default' => 'file', 'stores' => ['file' => ['driver' => 'file', 'path' => getenv('DATA').'/cache']], 'prefix' => ''];
