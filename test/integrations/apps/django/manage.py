import os
import sys

sys.path.insert(0, os.path.join(os.environ["INTEGRATIONS"], "django"))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "school.settings")

from django.core.management import execute_from_command_line  # noqa: E402

execute_from_command_line(sys.argv)
