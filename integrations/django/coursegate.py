"""
Django behind coursegate: who is signed in (whoami), the signed redirect (bridge), and requests that the gate sends for
a member (CoursegateMiddleware). One file; needs the `cryptography` package. See README.md.
"""

import base64
import hashlib
import hmac
import json
import re
import threading
import time
import urllib.error
import urllib.request
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.views import redirect_to_login
from django.contrib.sessions.backends.base import SessionBase
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.db import DataError
from django.http import HttpResponse, JsonResponse
from django.urls import path
from django.utils.cache import add_never_cache_headers
from django.utils.crypto import salted_hmac
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_cookie

# Seconds that two clocks may be apart; that keys are kept; that pass between two fetches of them, at least.
LEEWAY = 10
KEYS_KEPT = 600
FETCH_PAUSE = 30


class Settings:
    """settings.COURSEGATE, judged once: ORIGIN, UPSTREAM, SECRET, and if wanted JWKS_URL and FETCH_PAUSE."""

    def __init__(self, given):
        self.origin = given.get("ORIGIN", "")
        self.upstream = given.get("UPSTREAM", "")
        self.secret = given.get("SECRET", "").encode()
        if not re.fullmatch(r"https?://[^/?#@\s]+", self.origin):
            raise ImproperlyConfigured("COURSEGATE['ORIGIN'] must be the gate's origin, without a path or final slash")
        if not self.upstream:
            raise ImproperlyConfigured("COURSEGATE['UPSTREAM'] must be this backend's name in coursegate.yaml")
        if len(self.secret) < 32:
            raise ImproperlyConfigured("COURSEGATE['SECRET'] must have 32 characters or more")
        self.keys = Keys(
            given.get("JWKS_URL", f"{self.origin}/.well-known/jwks.json"), given.get("FETCH_PAUSE", FETCH_PAUSE)
        )


class Unverifiable(Exception):
    """The gate's keys cannot be had: nobody can say whether an assertion is good."""


class CoursegateMiddleware:
    """
    Goes behind AuthenticationMiddleware. A request with an assertion of the gate is the member's whom it names: without
    a session, without CSRF tokens, with `request.coursegate` for its claims. One with a bad assertion is answered 401.
    """

    def __init__(self, get_response):
        self.get_response = get_response
        self.gate = gate()

    def __call__(self, request):
        for name in [name for name in request.META if re.fullmatch(r"HTTP_X_(MEMBER_.*|CLIENT_ID)", name)]:
            del request.META[name]
        request.__dict__.pop("headers", None)  # what Django has made of META
        token = request.META.get("HTTP_X_COURSEGATE_ASSERTION")
        if token is None:
            return self.get_response(request)
        try:
            claims = read_assertion(token, self.gate)
        except Unverifiable:
            return refuse(503, "temporarily_unavailable")
        member = find_member(claims["sub"]) if claims else None
        if member is None:
            return refuse(401, "invalid_assertion")
        request.coursegate = {**claims, "scope": str(claims.get("scope", "")).split()}
        request.user = member
        request._dont_enforce_csrf_checks = True
        # Whatever session came along is nobody's business, and none is begun.
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
    """The member of the session as JSON, or 401."""
    if not signed_in(request):
        return refuse(401, "not_signed_in")
    return JsonResponse(describe(request.user))


@require_safe
@never_cache
def bridge(request):
    """Asks for a sign-in when there is none, and sends the browser back to the gate with a signed answer."""
    question = read_bridge(request.GET, gate())
    if question is None:
        return refuse(400, "invalid_request")
    nonce, return_to, another = question
    if another or not signed_in(request):
        # Whoever comes back from the login page has chosen: asked again, the question is the same without that wish.
        again = signed({"nonce": nonce, "return_sso_url": return_to}, gate())
        return redirect_to_login(f"{request.path}?{urlencode(again)}")
    member = describe(request.user)
    fields = {
        "nonce": nonce,
        "external_id": member["id"],
        "email": member["email"],
        "username": request.user.get_username(),
        "name": member["name"],
        "version": member["version"],
    }
    url = urlsplit(return_to)
    query = urlencode([*parse_qsl(url.query, keep_blank_values=True), *signed(fields, gate())])
    response = HttpResponse(status=302)
    response["Location"] = urlunsplit(url._replace(query=query))
    response["Referrer-Policy"] = "no-referrer"
    return response


app_name = "coursegate"
urlpatterns = [path("whoami", whoami, name="whoami"), path("bridge", bridge, name="bridge")]

_gate = None


def gate():
    global _gate
    if _gate is None:
        _gate = Settings(getattr(settings, "COURSEGATE", {}))
    return _gate


def signed_in(request):
    """An assertion signs nobody in: it is for one request."""
    return request.user.is_authenticated and not hasattr(request, "coursegate")


def describe(user):
    """The version changes when the password does: it is made of the hash that ends Django's own sessions then."""
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
    # Byte for byte: a database that reads ' 1' as 1 does not decide who somebody is.
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
    """The gate's question, when the gate has asked it: the base64 text itself is signed, not what it stands for."""
    ssos, sigs = query.getlist("sso"), query.getlist("sig")
    if len(ssos) != 1 or len(sigs) != 1 or not hmac.compare_digest(sign(ssos[0], gate).encode(), sigs[0].encode()):
        return None
    try:
        fields = dict(parse_qsl(base64.b64decode(ssos[0], validate=True).decode()))
    except ValueError:
        return None
    nonce, return_to = fields.get("nonce"), fields.get("return_sso_url", "")
    # What begins with the origin and a slash is on that origin, whatever follows, as long as no parser strips it away.
    if not nonce or not return_to.startswith(f"{gate.origin}/") or not re.fullmatch(r"[!-\[\]-~]+", return_to):
        return None
    return nonce, return_to, fields.get("prompt") == "select_account"


def read_assertion(token, gate):
    """The claims of a good assertion, else None. Raises Unverifiable."""
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
    return claims if claims.get("iss") == gate.origin and claims.get("aud") == gate.upstream else None


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Keys:
    """The gate's keys by kid. An unknown one has them fetched anew, but not oftener than every `pause` seconds."""

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
