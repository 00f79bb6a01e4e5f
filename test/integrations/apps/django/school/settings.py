"""A small Django site as `startproject` makes it, with its login, sessions and CSRF tokens, and coursegate's drop-in."""

import os
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent
SECRET_KEY = "school-" + "k" * 50
DEBUG = False
ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "coursegate.CoursegateConfig",
    "students",
    "school",
]
AUTH_USER_MODEL = os.environ.get("SCHOOL_USERS", "auth.User")
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "coursegate.CoursegateMiddleware",
]
ROOT_URLCONF = "school.urls"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {"context_processors": ["django.template.context_processors.request"]},
    }
]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": Path(os.environ["DATA"]) / "school.sqlite3"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
PASSWORD_HASHERS = ["school.hashers.QuickHasher"]
LOGIN_URL = "/login"
LOGIN_REDIRECT_URL = "/probe"

COURSEGATE = {
    "ORIGIN": os.environ["COURSEGATE_ORIGIN"],
    "PAGES_ORIGIN": os.environ["COURSEGATE_PAGES_ORIGIN"],
    "UPSTREAM": os.environ["COURSEGATE_UPSTREAM"],
    "SECRET": os.environ["COURSEGATE_BRIDGE_SECRET"],
    "JWKS_URL": os.environ["COURSEGATE_JWKS_URL"],
    "FETCH_PAUSE": float(os.environ["COURSEGATE_FETCH_PAUSE"]),
    "BOUND_ONLY": os.environ["COURSEGATE_BOUND_ONLY"] == "true",
    "ADMIN_URL": os.environ["COURSEGATE_ADMIN"],
    "ADMIN_SECRET": os.environ["COURSEGATE_ADMIN_SECRET"],
}
if os.environ["COURSEGATE_KEY"] != "":
    COURSEGATE["KEY"] = os.environ["COURSEGATE_KEY"]
