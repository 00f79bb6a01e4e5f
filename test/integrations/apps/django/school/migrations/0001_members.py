import os

from django.contrib.auth.hashers import make_password
from django.db import migrations


def enrol(apps, _schema_editor):
    users = apps.get_model("auth", "User").objects
    name = os.environ["SAM_NAME"]
    for username, password, first_name, active in [
        ("sam", "correct horse battery", name, True),
        ("olu", "staple for the other", "Olu", True),
        ("gone", "left the school long ago", "Gone", False),
    ]:
        users.create(
            username=username,
            password=make_password(password),
            email=f"{username}@example.com",
            first_name=first_name,
            is_active=active,
        )


class Migration(migrations.Migration):
    dependencies = [("auth", "0012_alter_user_first_name_max_length")]
    operations = [migrations.RunPython(enrol)]
