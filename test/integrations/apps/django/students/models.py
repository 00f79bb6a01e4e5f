from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models


class Student(AbstractBaseUser):
    """A user model without the column `is_active`: AbstractBaseUser has a plain attribute of that name."""

    username = models.CharField(max_length=150, unique=True)
    email = models.EmailField()
    objects = BaseUserManager()

    USERNAME_FIELD = "username"
    EMAIL_FIELD = "email"


class Alumna(Student):
    """Django sends the signals of a proxy with its own class."""

    class Meta:
        proxy = True
