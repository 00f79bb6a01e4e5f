from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.http import JsonResponse
from django.urls import include, path


def probe(request):
    """Who a request is for, and what of plain identity headers can be seen."""
    claims = getattr(request, "coursegate", {})
    return JsonResponse(
        {
            "member": str(request.user.pk) if request.user.is_authenticated else None,
            "client": claims.get("client_id"),
            "scope": claims.get("scope", []),
            "seen": [
                name for name in [*request.META, *request.headers] if "MEMBER" in name.upper() or "CLIENT" in name.upper()
            ],
        }
    )


def remember(request):
    """Writes into the session, as many a view does."""
    request.session["seen"] = True
    return probe(request)


def courses(request):
    return JsonResponse({"courses": ["Watercolour"], "of": request.user.email, "for": request.coursegate["client_id"]})


urlpatterns = [
    path("coursegate/", include("coursegate")),
    path("probe", probe),
    path("private", login_required(remember)),
    path("api/courses", login_required(courses)),
    path("sign-in", LoginView.as_view()),
    # Shows no form to a member who is signed in, as many a site does.
    path("login", LoginView.as_view(redirect_authenticated_user=True)),
    path("password", PasswordChangeView.as_view(success_url="/probe")),
]
