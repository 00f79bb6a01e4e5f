#!/bin/sh
# The health check of the official MariaDB image: whether the server accepts connections over TCP.
[ "$*" = '--connect --innodb_initialized' ] || { echo "unknown: $*" >&2; exit 64; }
exec mariadb --no-defaults --protocol=tcp --host=127.0.0.1 --user="$MARIADB_USER" --password="$MARIADB_PASSWORD" --execute='select 1' "$MARIADB_DATABASE"
