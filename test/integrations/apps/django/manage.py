import os
import sys

sys.path.insert(0, os.path.join(os.environ["INTEGRATIONS"], "django"))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "school.settings")

from django.core.management import execute_from_command_line  # noqa: E402
from django.core.servers.basehttp import WSGIRequestHandler  # noqa: E402

environ_of = WSGIRequestHandler.get_environ


def with_raw_uri(handler):
    """Reports the request target as gunicorn does; `runserver` reports only the decoded path."""
    environ = environ_of(handler)
    if "X-Test-Hide-Path" not in handler.headers:
        environ["RAW_URI"] = handler.requestline.split(" ")[1]
    return environ


WSGIRequestHandler.get_environ = with_raw_uri

execute_from_command_line(sys.argv)
