from django.contrib.auth.hashers import PBKDF2PasswordHasher


class QuickHasher(PBKDF2PasswordHasher):
    """Django's default, with few iterations: the tests sign in dozens of times."""

    iterations = 1_000
