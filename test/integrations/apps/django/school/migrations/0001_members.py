import os

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import migrations


def enrol(apps, _schema_editor):
    users = apps.get_model(settings.AUTH_USER_MODEL).objects
    columns = {field.attname for field in users.model._meta.concrete_fields}
    name = os.environ["SAM_NAME"]
    for username, password, first_name, active in [
        ("sam", "correct horse battery", name, True),
        ("olu", "staple for the other", "Olu", True),
        ("gone", "left the school long ago", "Gone", False),
    ]:
        values = {
            "username": username,
            "password": make_password(password),
            "email": f"{username}@example.com",
            "first_name": first_name,
            "is_active": active,
        }
        users.create(**{name: value for name, value in values.items() if name in columns})


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [migrations.RunPython(enrol)]
