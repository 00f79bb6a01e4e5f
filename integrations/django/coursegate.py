"""
Django behind coursegate: returns who is signed in (whoami), signs members in for the gate (bridge), and runs the gate's
requests as the member (CoursegateMiddleware). Revokes a member's connections when their password or rights change, or when
they are deleted (CoursegateConfig). One file; needs the `cryptography` package. See README.md.
"""

import base64
import functools
import hashlib
import hmac
import json
import logging
import re
import secrets
import threading
import time
import urllib.error
import urllib.request
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from django.apps import AppConfig, apps
from django.conf import settings
from django.contrib.auth import get_user_model, logout
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends.base import SessionBase
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.db import DataError, transaction
from django.db.models import signals
from django.http import HttpResponse, JsonResponse
from django.urls import path
from django.utils.cache import add_never_cache_headers
from django.utils.crypto import salted_hmac
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_cookie

# In seconds: the allowed clock skew, how long keys are cached, and the minimum time between two fetches of keys.
LEEWAY = 10
KEYS_KEPT = 600
FETCH_PAUSE = 30
# How long a member's request waits for the gate, in seconds.
TELL_WITHIN = 2
# Fields whose change revokes the member's connections. Fields that the user model does not have are ignored.
WATCHED = ("password", "is_active", "is_staff", "is_superuser")

# When this session signed in, in Unix seconds.
SIGNED_IN_AT = "coursegate_signed_in_at"

log = logging.getLogger("coursegate")


class Settings:
    """
    settings.COURSEGATE, validated: ORIGIN, UPSTREAM, SECRET, and optionally PAGES_ORIGIN, JWKS_URL, FETCH_PAUSE, BOUND_ONLY,
    ADMIN_URL, ADMIN_SECRET and KEY.
    """

    def __init__(self, given):
        self.origin = given.get("ORIGIN", "")
        self.pages_origin = given.get("PAGES_ORIGIN") or self.origin
        self.upstream = given.get("UPSTREAM", "")
        self.secret = given.get("SECRET", "").encode()
        for name, origin in (("ORIGIN", self.origin), ("PAGES_ORIGIN", self.pages_origin)):
            if not re.fullmatch(r"https?://[^/?#@\s]+", origin):
                raise ImproperlyConfigured(f"COURSEGATE[{name!r}] must be an origin, without a path or final slash")
        if not self.upstream:
            raise ImproperlyConfigured("COURSEGATE['UPSTREAM'] must be this backend's name in coursegate.yaml")
        require(len(self.secret) >= 32, "SECRET", "have 32 characters or more", "COURSEGATE_BRIDGE_SECRET")
        self.bound_only = given.get("BOUND_ONLY", False)
        self.admin = given.get("ADMIN_URL", "").rstrip("/")
        self.admin_secret = given.get("ADMIN_SECRET", "").encode()
        self.key = given.get("KEY", "").encode()
        if self.admin:
            require(self.admin_secret, "ADMIN_SECRET", "be the gate's admin.hmac.secret", "COURSEGATE_ADMIN_SECRET")
        if "KEY" in given:
            require(len(self.key) >= 32, "KEY", "have 32 characters or more", "COURSEGATE_KEY")
        self.keys = Keys(
            given.get("JWKS_URL", f"{self.origin}/.well-known/jwks.json"), given.get("FETCH_PAUSE", FETCH_PAUSE)
        )


def require(fulfilled, name, rule, variable):
    if not fulfilled:
        raise ImproperlyConfigured(f"COURSEGATE[{name!r}] must {rule}. Is {variable} set in this process's environment?")


class CoursegateConfig(AppConfig):
    """
    Goes into INSTALLED_APPS, so that the gate also learns of what commands do: `changepassword`, `shell`, workers. Settings
    that are wrong stop no command: they are logged. The site itself does not start with them (CoursegateMiddleware).
    """

    name = __name__
    # Not the folder of this file: its templates, translations and commands belong to the project.
    path = __file__

    def ready(self):
        watch_members()
        try:
            gate()
        except ImproperlyConfigured as thrown:
            log.error("coursegate: %s The gate is not notified of changes to members.", thrown)


class Unverifiable(Exception):
    """The gate's keys are unavailable, so the assertion cannot be checked."""


class CoursegateMiddleware:
    """
    Goes after AuthenticationMiddleware. A request with a valid assertion runs as the member it names, without a session or
    a CSRF token, and with its claims in `request.coursegate`. A request with an invalid assertion gets 401.
    """

    def __init__(self, get_response):
        self.get_response = get_response
        self.gate = gate()
        if not apps.is_installed(__name__):
            log.warning(
                'coursegate: add "coursegate.CoursegateConfig" to INSTALLED_APPS. Without it, the gate is not notified of '
                "members who are changed by a command, such as `manage.py changepassword`"
            )
            watch_members()

    def __call__(self, request):
        for name in [name for name in request.META if re.fullmatch(r"HTTP_X_(MEMBER_.*|CLIENT_ID)", name)]:
            del request.META[name]
        request.__dict__.pop("headers", None)  # cached by Django, derived from META
        # Gateways may send an empty field with requests without a member.
        token = request.META.get("HTTP_X_COURSEGATE_ASSERTION", "")
        if token == "":
            return self.get_response(request)
        try:
            claims = read_assertion(token, request, self.gate)
        except Unverifiable:
            return refuse(503, "temporarily_unavailable")
        member = find_member(claims["sub"]) if claims else None
        if member is None:
            return refuse(401, "invalid_assertion")
        request.coursegate = {**claims, "scope": str(claims.get("scope", "")).split()}
        request.user = member
        request._dont_enforce_csrf_checks = True
        # A session that the request carries is ignored, and none is started.
        request.COOKIES.clear()
        request.META.pop("HTTP_COOKIE", None)
        request.session = NoSession()
        response = self.get_response(request)
        request.session = NoSession()
        return response


class NoSession(SessionBase):
    """A session that ends with its request."""

    def exists(self, session_key):
        return False

    def create(self):
        self.modified = True

    def save(self, must_create=False):
        pass

    def delete(self, session_key=None):
        pass

    def load(self):
        return {}


@require_safe
@never_cache
@vary_on_cookie
def whoami(request):
    """Returns the session's member as JSON, or 401."""
    if not signed_in(request):
        return refuse(401, "not_signed_in")
    return JsonResponse(session_member(request))


@require_safe
@never_cache
def bridge(request):
    """Signs the member in if needed, and redirects the browser back to the gate with a signed response."""
    # Imported here, since it needs the user model, and this file is loaded before that.
    from django.contrib.auth.views import redirect_to_login

    question = read_bridge(request.GET, gate())
    if question is None:
        return refuse(400, "invalid_request")
    nonce, return_to, prompt, max_age = question
    if not signed_in(request) or prompt in ("login", "select_account") or is_too_old(request, max_age):
        # Many sites show their login page only to visitors who are not signed in.
        if signed_in(request):
            logout(request)
        # `again` leaves out `prompt` and `max_age`: a member who returns from the login page is not sent there again.
        again = signed({"nonce": nonce, "return_sso_url": return_to}, gate())
        return redirect_to_login(f"{request.path}?{urlencode(again)}")
    member = session_member(request)
    fields = {"nonce": nonce, "external_id": member.pop("id"), "username": request.user.get_username(), **member}
    url = urlsplit(return_to)
    query = urlencode([*parse_qsl(url.query, keep_blank_values=True), *signed(fields, gate())])
    response = HttpResponse(status=302)
    response["Location"] = urlunsplit(url._replace(query=query))
    response["Referrer-Policy"] = "no-referrer"
    return response


@require_safe
@never_cache
def standing(request, sub):
    """
    Whether a member is still active, for the gate's `login.recheck`. Without the right key, or if no key is configured, the
    response is 401 and not 404: the gate would take a 404 to mean that the member has left.
    """
    key = gate().key
    if not key or not hmac.compare_digest(key, request.META.get("HTTP_COURSEGATE_KEY", "").encode()):
        return refuse(401, "key")
    member = find_member(sub)
    return JsonResponse({"active": True, "version": describe(member)["version"]} if member else {"active": False})


app_name = "coursegate"
urlpatterns = [
    path("whoami", whoami, name="whoami"),
    path("bridge", bridge, name="bridge"),
    path("members/<path:sub>", standing, name="member"),
]


def never_raises(handler):
    """For what Django calls while the site works for a member: a failure is logged, and the site's own work goes on."""

    @functools.wraps(handler)
    def guarded(*args, **kwargs):
        try:
            handler(*args, **kwargs)
        except Exception:
            log.exception("coursegate: %s failed", handler.__name__)

    return guarded


@never_raises
def end_connections(member_id, reason):
    """
    Revokes a member's connections at the gate, so that their apps are refused from the next request on. Waits two seconds
    at most and never raises. If it fails, the error is logged, and the connections end later, when the gate sees the
    member's new `version`.
    """
    if gate().admin:
        telling = threading.Thread(target=tell, args=(gate(), str(member_id), reason), daemon=True)
        telling.start()
        telling.join(TELL_WITHIN)


def tell(gate, member_id, reason):
    try:
        target = f"/members/{quote(member_id, safe='')}/revoke"
        body = json.dumps({"by": "backend", "reason": reason}).encode()
        at, nonce = str(int(time.time())), secrets.token_hex(16)
        text = "\n".join(["coursegate-v1", at, nonce, f"POST {target}", hashlib.sha256(body).hexdigest()])
        signature = hmac.new(gate.admin_secret, text.encode(), hashlib.sha256).hexdigest()
        headers = {"Content-Type": "application/json", "Coursegate-Signature": f"t={at},n={nonce},v1={signature}"}
        request = urllib.request.Request(gate.admin + target, data=body, method="POST", headers=headers)
        with urllib.request.build_opener(NoRedirects).open(request, timeout=TELL_WITHIN):
            pass
    except Exception as thrown:
        log.error("coursegate: could not revoke the connections of member %s (%s): %s", member_id, reason, thrown)


def end_after_commit(member_id, reason, using):
    transaction.on_commit(lambda: end_connections(member_id, reason), using=using)


@never_raises
def before_save(sender, instance, update_fields, using, **_):
    instance._coursegate_changed = False
    # Columns only: `is_active` may be a plain attribute of the class. A deferred field was not changed. Django saves
    # `last_login` at every sign-in, which needs no query for the old values.
    columns = {field.attname for field in instance._meta.concrete_fields} - instance.get_deferred_fields()
    names = [name for name in WATCHED if name in columns and (update_fields is None or name in update_fields)]
    if names and instance.pk is not None and gate().admin:
        old = sender._base_manager.using(using).filter(pk=instance.pk).values_list(*names).first()
        instance._coursegate_changed = old is not None and old != tuple(getattr(instance, name) for name in names)


@never_raises
def after_save(sender, instance, using, **_):
    if getattr(instance, "_coursegate_changed", False):
        end_after_commit(instance.pk, "password or rights changed", using)


@never_raises
def after_delete(sender, instance, using, **_):
    end_after_commit(instance.pk, "left", using)


@never_raises
def groups_changed(sender, instance, action, reverse, pk_set, using, **_):
    if action not in ("post_add", "post_remove", "pre_clear"):
        return
    # If the change was made on the group or permission, pk_set has the members. A clear has no pk_set, so query them.
    members = pk_set if reverse else [instance.pk]
    if members is None:
        field = next(field for field in get_user_model()._meta.many_to_many if field.remote_field.through is sender)
        found = get_user_model()._base_manager.using(using).filter(**{field.name: instance})
        members = list(found.values_list("pk", flat=True))
    for member in members:
        end_after_commit(member, "rights changed", using)


def watch_members():
    """Connects the signals, of proxies and children of the user model too: Django sends theirs with their own class."""
    users = get_user_model()
    for model in apps.get_models():
        if issubclass(model, users):
            signals.pre_save.connect(before_save, sender=model, dispatch_uid="coursegate")
            signals.post_save.connect(after_save, sender=model, dispatch_uid="coursegate")
            # The deletion of a child is the deletion of its parent too, which has its own signal.
            if model._meta.concrete_model is users:
                signals.post_delete.connect(after_delete, sender=model, dispatch_uid="coursegate")
    for field in users._meta.many_to_many:
        if field.name in ("groups", "user_permissions"):
            signals.m2m_changed.connect(groups_changed, sender=field.remote_field.through, dispatch_uid="coursegate")
    user_logged_in.connect(keep_sign_in_time, dispatch_uid="coursegate")


_gate = None


def gate():
    global _gate
    if _gate is None:
        _gate = Settings(getattr(settings, "COURSEGATE", {}))
    return _gate


def signed_in(request):
    """Whether the session is signed in. An assertion does not count: it is valid for one request only."""
    return request.user.is_authenticated and not hasattr(request, "coursegate")


@never_raises
def keep_sign_in_time(sender, request, **_):
    if hasattr(request, "session"):
        request.session[SIGNED_IN_AT] = int(time.time())


def is_too_old(request, max_age):
    """Whether the session signed in more than `max_age` seconds ago, or before this drop-in was installed."""
    return max_age is not None and int(time.time()) - request.session.get(SIGNED_IN_AT, 0) > max_age


def session_member(request):
    """The session's member, and when they signed in if that is known."""
    at = request.session.get(SIGNED_IN_AT)
    return {**describe(request.user), **({} if at is None else {"auth_time": at})}


def describe(user):
    """The version changes with the password: it is derived from the hash that also ends Django's own sessions."""
    version = salted_hmac("coursegate.version", f"{user.pk}:{user.get_session_auth_hash()}", algorithm="sha256")
    return {
        "id": str(user.pk),
        "email": getattr(user, user.get_email_field_name(), "") or "",
        "name": user.get_full_name() if hasattr(user, "get_full_name") else "",
        "version": version.hexdigest()[:32],
    }


def find_member(sub):
    users = get_user_model()
    try:
        user = users._default_manager.get(pk=sub)
    except (users.DoesNotExist, ValidationError, ValueError, TypeError, OverflowError, DataError):
        return None
    # Compared byte for byte, since a database may read ' 1' as 1 and find another member.
    return user if user.is_active and str(user.pk) == sub else None


def refuse(status, error):
    response = JsonResponse({"error": error}, status=status)
    add_never_cache_headers(response)
    return response


def sign(sso, gate):
    return hmac.new(gate.secret, sso.encode(), hashlib.sha256).hexdigest()


def signed(fields, gate):
    sso = base64.b64encode(urlencode(fields).encode()).decode()
    return [("sso", sso), ("sig", sign(sso, gate))]


def read_bridge(query, gate):
    """The gate's request; None if its signature is invalid. The signature covers the base64 text, not the decoded fields."""
    ssos, sigs = query.getlist("sso"), query.getlist("sig")
    if len(ssos) != 1 or len(sigs) != 1 or not hmac.compare_digest(sign(ssos[0], gate).encode(), sigs[0].encode()):
        return None
    try:
        fields = dict(parse_qsl(base64.b64decode(ssos[0], validate=True).decode()))
        max_age = int(fields["max_age"]) if "max_age" in fields else None
    except ValueError:
        return None
    nonce, return_to = fields.get("nonce"), fields.get("return_sso_url", "")
    # A URL that starts with an origin and a slash is on that origin, unless a URL parser drops or rewrites characters.
    ours = return_to.startswith((f"{gate.origin}/", f"{gate.pages_origin}/"))
    if not nonce or not ours or not re.fullmatch(r"[!-\[\]-~]+", return_to):
        return None
    return nonce, return_to, fields.get("prompt"), max_age


def read_assertion(token, request, gate):
    """
    The claims of an assertion that is valid for this request, otherwise None. Raises Unverifiable if the gate's keys are
    unavailable.
    """
    if not re.fullmatch(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){2}", token):
        return None
    try:
        head, body, signature = token.split(".")
        header, claims, raw = json.loads(decode(head)), json.loads(decode(body)), decode(signature)
    except (ValueError, RecursionError):
        return None
    if not isinstance(header, dict) or not isinstance(claims, dict) or len(raw) != 64:
        return None
    kid = header.get("kid")
    if header.get("alg") != "ES256" or "crit" in header or not isinstance(kid, str):
        return None
    key = gate.keys.find(kid)
    if key is None:
        return None
    try:
        signature = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
        key.verify(signature, f"{head}.{body}".encode(), ec.ECDSA(SHA256()))
    except InvalidSignature:
        return None
    now = time.time()
    exp, iat, nbf = claims.get("exp"), claims.get("iat"), claims.get("nbf", 0)
    named = all(isinstance(claims.get(name), str) and claims[name] for name in ("sub", "client_id"))
    timed = all(type(at) in (int, float) for at in (exp, iat, nbf))
    if not named or not timed or not (exp > now - LEEWAY and iat < now + LEEWAY and nbf < now + LEEWAY):
        return None
    if claims.get("iss") != gate.origin or claims.get("aud") != gate.upstream:
        return None
    return claims if is_for(claims, request, gate) else None


def is_for(claims, request, gate):
    """Whether this is the request that the assertion was made for, if it names one (RFC 9449 section 4.2)."""
    if "htm" not in claims and "htu" not in claims:
        return not gate.bound_only
    return claims.get("htm") == request.method and claims.get("htu") == gate.origin + received_path(request)


def received_path(request):
    """
    The path as it was sent: percent-encoded, with the mount prefix, without the query. Django itself has only the decoded
    path. gunicorn, uWSGI, mod_wsgi and ASGI servers report what was sent, `runserver` does not.
    """
    raw = getattr(request, "scope", {}).get("raw_path")
    target = raw.decode("latin-1") if raw else request.META.get("RAW_URI") or request.META.get("REQUEST_URI", "")
    if target == "":
        log.warning("coursegate: the server reports no RAW_URI, REQUEST_URI or raw_path to compare with the assertion")
    return target.split("?", 1)[0]


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Keys:
    """The gate's keys by kid. An unknown kid fetches the keys again, at most once every `pause` seconds."""

    def __init__(self, url, pause):
        self.url, self.pause = url, pause
        self.known, self.good_until, self.ask_again, self.failed = {}, float("-inf"), float("-inf"), False
        self.lock = threading.Lock()
        self.open = urllib.request.build_opener(NoRedirects).open

    def find(self, kid):
        if not (time.monotonic() < self.good_until and kid in self.known):
            with self.lock:
                if time.monotonic() >= self.ask_again and not (kid in self.known and time.monotonic() < self.good_until):
                    self.ask_again = time.monotonic() + self.pause
                    self.fetch()
        if time.monotonic() >= self.good_until or (self.failed and kid not in self.known):
            raise Unverifiable
        return self.known.get(kid)

    def fetch(self):
        try:
            with self.open(self.url, timeout=5) as answer:
                jwks = json.loads(answer.read(1 << 20))["keys"]
            self.known = {jwk["kid"]: public_key(jwk) for jwk in jwks if is_usable(jwk)}
            self.good_until, self.failed = time.monotonic() + KEYS_KEPT, False
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            self.failed = True


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def is_usable(jwk):
    curve = (jwk.get("kty"), jwk.get("crv"))
    return curve == ("EC", "P-256") and jwk.get("use", "sig") == "sig" and jwk.get("alg", "ES256") == "ES256"


def public_key(jwk):
    x, y = (int.from_bytes(decode(jwk[name]), "big") for name in ("x", "y"))
    return ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
