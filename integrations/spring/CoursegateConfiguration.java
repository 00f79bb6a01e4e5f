package coursegate;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.time.Instant;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.authentication.InsufficientAuthenticationException;
import org.springframework.security.authentication.RememberMeAuthenticationToken;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.authentication.event.InteractiveAuthenticationSuccessEvent;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.web.authentication.logout.CookieClearingLogoutHandler;
import org.springframework.security.web.authentication.logout.SecurityContextLogoutHandler;
import org.springframework.security.web.authentication.rememberme.AbstractRememberMeServices;
import org.springframework.security.web.context.RequestAttributeSecurityContextRepository;
import org.springframework.security.web.csrf.CsrfFilter;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.filter.OncePerRequestFilter;

/** Registers the drop-in: a filter before Spring Security, and two endpoints. The site provides a bean of type Members. */
@Configuration(proxyBeanMethods = false)
public class CoursegateConfiguration {
    private static final System.Logger LOG = System.getLogger(CoursegateConfiguration.class.getName());

    /** The request attribute with the claims of an assertion, a Map. */
    public static final String CLAIMS = "coursegate";

    /** The session attribute with the time of the sign-in, in Unix seconds. */
    private static final String SIGNED_IN_AT = "coursegate.signedInAt";
    private static final String REMEMBER_ME = AbstractRememberMeServices.SPRING_SECURITY_REMEMBER_ME_COOKIE_KEY;
    private static final String ASSERTION = "X-Coursegate-Assertion";
    private static final Pattern PLAIN = Pattern.compile("x[-_.](member[-_.].*|client[-_.]id)", Pattern.CASE_INSENSITIVE);

    /** The site's members. */
    public interface Members {
        /** The member with this ID, or null. */
        Member byId(String id);

        /** The member who is signed in. */
        Member of(Authentication signedIn);
    }

    /** The ID never changes and is never reused for another member. Only a keyed digest of the password's hash is sent. */
    public record Member(String id, String email, String name, String passwordHash, UserDetails details) {
    }

    @Bean
    Coursegate coursegate(@Value("${coursegate.origin}") String origin,
            @Value("${coursegate.pages-origin:}") String pagesOrigin, @Value("${coursegate.upstream}") String upstream,
            @Value("${coursegate.secret}") String secret,
            @Value("${coursegate.jwks-url:${coursegate.origin}/.well-known/jwks.json}") String jwksUrl,
            @Value("${coursegate.fetch-pause:30}") long pause, @Value("${coursegate.bound-only:false}") boolean boundOnly) {
        return new Coursegate(origin, pagesOrigin, upstream, secret, jwksUrl, pause, boundOnly,
                JsonParserFactory.getJsonParser()::parseMap);
    }

    @Bean
    MemberEvents coursegateEvents(@Value("${coursegate.admin-url:}") String adminUrl,
            @Value("${coursegate.admin-secret:}") String adminSecret) {
        return new MemberEvents(adminUrl, adminSecret);
    }

    /** Keeps when the member signed in. A "remember me" cookie is not a sign-in: then the time is not known. */
    @Bean
    ApplicationListener<InteractiveAuthenticationSuccessEvent> coursegateSignIns() {
        return event -> {
            RequestAttributes request = RequestContextHolder.getRequestAttributes();
            boolean remembered = event.getAuthentication() instanceof RememberMeAuthenticationToken;
            try {
                if (request != null && remembered) {
                    request.removeAttribute(SIGNED_IN_AT, RequestAttributes.SCOPE_SESSION);
                } else if (request != null) {
                    request.setAttribute(SIGNED_IN_AT, Instant.now().getEpochSecond(), RequestAttributes.SCOPE_SESSION);
                }
            } catch (RuntimeException thrown) {
                // Without a session the time is not known, and the member is signed in all the same.
                LOG.log(System.Logger.Level.ERROR, "coursegate: could not keep the time of a sign-in: " + thrown);
            }
        };
    }

    @Bean
    FilterRegistrationBean<AssertionFilter> coursegateFilter(Coursegate gate, Members members) {
        FilterRegistrationBean<AssertionFilter> registration = new FilterRegistrationBean<>(new AssertionFilter(gate, members));
        registration.setOrder(Ordered.HIGHEST_PRECEDENCE + 10);
        return registration;
    }

    @Bean
    FilterRegistrationBean<MethodFilter> coursegateMethodFilter() {
        FilterRegistrationBean<MethodFilter> registration = new FilterRegistrationBean<>(new MethodFilter());
        registration.setOrder(Ordered.LOWEST_PRECEDENCE);
        return registration;
    }

    /**
     * A request with a valid assertion runs as the member it names, without a session or a CSRF token, and with its claims in
     * the attribute CLAIMS. A request with an invalid assertion gets 401.
     */
    static final class AssertionFilter extends OncePerRequestFilter {
        private final Coursegate gate;
        private final Members members;

        AssertionFilter(Coursegate gate, Members members) {
            this.gate = gate;
            this.members = members;
        }

        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            // Gateways may send an empty field with requests without a member.
            String token = String.join(",", Collections.list(request.getHeaders(ASSERTION)));
            if (token.isEmpty()) {
                chain.doFilter(new WithoutPlainHeaders(request), response);
                return;
            }
            Map<String, Object> claims;
            try {
                claims = gate.readAssertion(token, request.getMethod(), received(request).getRequestURI());
            } catch (Coursegate.Unverifiable unverifiable) {
                refuse(response, 503, "temporarily_unavailable");
                return;
            }
            Member member = claims == null ? null : find((String) claims.get("sub"));
            if (member == null) {
                refuse(response, 401, "invalid_assertion");
                return;
            }
            HttpServletRequest verified = new WithoutSession(request);
            claims = new HashMap<>(claims);
            claims.put("scope", List.of(String.valueOf(claims.getOrDefault("scope", "")).split(" ")));
            verified.setAttribute(CLAIMS, claims);
            CsrfFilter.skipRequest(verified);
            SecurityContext context = SecurityContextHolder.createEmptyContext();
            UserDetails details = member.details();
            context.setAuthentication(UsernamePasswordAuthenticationToken.authenticated(details, null, details.getAuthorities()));
            // Spring Security checks this repository before the session.
            new RequestAttributeSecurityContextRepository().saveContext(context, verified, response);
            chain.doFilter(verified, response);
        }

        /** Compares byte for byte, since a database may read '01' as 1 and find another member. */
        private Member find(String sub) {
            Member member = members.byId(sub);
            return member != null && member.id().equals(sub) && mayEnter(member.details()) ? member : null;
        }

        private static boolean mayEnter(UserDetails details) {
            return details.isEnabled() && details.isAccountNonLocked() && details.isAccountNonExpired();
        }
    }

    /**
     * The last filter: refuses a request with an assertion whose method another filter has replaced, such as
     * HiddenHttpMethodFilter. The gate authorized the method that was sent.
     */
    static final class MethodFilter extends OncePerRequestFilter {
        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            if (!(request.getAttribute(CLAIMS) instanceof Map<?, ?> claims)
                    || request.getMethod().equals(received(request).getMethod())) {
                chain.doFilter(request, response);
            } else if (claims.containsKey("htm")) {
                refuse(response, 401, "invalid_assertion");
            } else {
                refuse(response, 400, "method_override");
            }
        }
    }

    /** The request as the server received it, without the changes of filters. */
    private static HttpServletRequest received(ServletRequest request) {
        return request instanceof ServletRequestWrapper wrapper ? received(wrapper.getRequest()) : (HttpServletRequest) request;
    }

    private static void refuse(HttpServletResponse response, int status, String error) throws IOException {
        response.setStatus(status);
        response.setHeader("Cache-Control", "no-store");
        response.setContentType("application/json");
        response.getWriter().write("{\"error\":\"" + error + "\"}");
    }

    /** Hides plain identity headers, which are meant for backends that do not verify assertions. */
    static class WithoutPlainHeaders extends HttpServletRequestWrapper {
        WithoutPlainHeaders(HttpServletRequest request) {
            super(request);
        }

        boolean isHidden(String name) {
            return PLAIN.matcher(name).matches();
        }

        @Override
        public String getHeader(String name) {
            return isHidden(name) ? null : super.getHeader(name);
        }

        @Override
        public Enumeration<String> getHeaders(String name) {
            return isHidden(name) ? Collections.emptyEnumeration() : super.getHeaders(name);
        }

        @Override
        public Enumeration<String> getHeaderNames() {
            return Collections.enumeration(Collections.list(super.getHeaderNames()).stream().filter(name -> !isHidden(name)).toList());
        }
    }

    /** Ignores a session that the request carries. A session started here is discarded after the request. */
    static final class WithoutSession extends WithoutPlainHeaders {
        private HttpSession session;

        WithoutSession(HttpServletRequest request) {
            super(request);
        }

        @Override
        boolean isHidden(String name) {
            return name.equalsIgnoreCase("Cookie") || super.isHidden(name);
        }

        @Override
        public Cookie[] getCookies() {
            return null;
        }

        @Override
        public String getRequestedSessionId() {
            return null;
        }

        @Override
        public boolean isRequestedSessionIdValid() {
            return false;
        }

        @Override
        public HttpSession getSession() {
            return getSession(true);
        }

        @Override
        public HttpSession getSession(boolean create) {
            if (session == null && create) {
                session = memorySession();
            }
            return session;
        }

        @Override
        public String changeSessionId() {
            return getSession(true).getId();
        }

        private HttpSession memorySession() {
            Map<String, Object> attributes = new HashMap<>();
            long began = System.currentTimeMillis();
            Class<?>[] kind = {HttpSession.class};
            return (HttpSession) Proxy.newProxyInstance(HttpSession.class.getClassLoader(), kind, (proxy, method, given) ->
                    switch (method.getName()) {
                        case "getAttribute" -> attributes.get(given[0]);
                        case "setAttribute" -> given[1] == null ? drop(attributes, given[0]) : keep(attributes, given);
                        case "removeAttribute" -> drop(attributes, given[0]);
                        case "getAttributeNames" -> Collections.enumeration(List.copyOf(attributes.keySet()));
                        case "getId" -> "none";
                        case "isNew" -> true;
                        case "getCreationTime", "getLastAccessedTime" -> began;
                        case "getMaxInactiveInterval" -> 0;
                        case "getServletContext" -> getServletContext();
                        case "hashCode" -> System.identityHashCode(proxy);
                        case "equals" -> proxy == given[0];
                        case "toString" -> "a session of one request";
                        case "invalidate" -> {
                            attributes.clear();
                            session = null;
                            yield null;
                        }
                        default -> null;
                    });
        }

        private static Object keep(Map<String, Object> attributes, Object[] given) {
            attributes.put((String) given[0], given[1]);
            return null;
        }

        private static Object drop(Map<String, Object> attributes, Object name) {
            attributes.remove(name);
            return null;
        }
    }

    /** Returns who is signed in (whoami), and signs members in for the gate (bridge). */
    @RestController
    static final class CoursegateController {
        private final Coursegate gate;
        private final Members members;

        CoursegateController(Coursegate gate, Members members) {
            this.gate = gate;
            this.members = members;
        }

        @GetMapping("/coursegate/whoami")
        ResponseEntity<Map<String, Object>> whoami(HttpServletRequest request) {
            Member member = signedIn(request);
            return member == null ? refuse(401, "not_signed_in")
                    : ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON).header("Cache-Control", "no-store")
                            .header("Vary", "Cookie").body(describe(member, request));
        }

        /** Signs the member in if needed, and redirects the browser back to the gate with a signed response. */
        @GetMapping("/coursegate/bridge")
        ResponseEntity<Map<String, Object>> bridge(HttpServletRequest request, HttpServletResponse response) {
            Coursegate.Question question = gate.readBridge(request.getQueryString());
            if (question == null) {
                return refuse(400, "invalid_request");
            }
            Member member = signedIn(request);
            if (question.signInAgain() || isTooOld(request, question.maxAge())) {
                // `again` leaves out `prompt` and `max_age`: a member who returns from the login page is not sent there again.
                Authentication authentication = SecurityContextHolder.getContext().getAuthentication();
                new SecurityContextLogoutHandler().logout(request, response, authentication);
                new CookieClearingLogoutHandler(REMEMBER_ME).logout(request, response, authentication);
                String again = gate.signed(Map.of("nonce", question.nonce(), "return_sso_url", question.returnTo()));
                return redirect(request.getRequestURI() + "?" + again);
            }
            if (member == null) {
                // Spring Security saves this URL, redirects to its login page, and returns here.
                throw new InsufficientAuthenticationException("The member must sign in.");
            }
            Map<String, Object> shown = describe(member, request);
            Map<String, String> fields = new LinkedHashMap<>();
            fields.put("nonce", question.nonce());
            fields.put("external_id", member.id());
            fields.put("username", member.details().getUsername());
            shown.remove("id");
            shown.forEach((name, value) -> fields.put(name, value.toString()));
            String address = question.returnTo().split("#", 2)[0];
            return redirect(address + (address.contains("?") ? "&" : "?") + gate.signed(fields));
        }

        /** The session's member. An assertion does not count as a sign-in: it is valid for one request only. */
        private Member signedIn(HttpServletRequest request) {
            Authentication authentication = SecurityContextHolder.getContext().getAuthentication();
            boolean nobody = authentication == null || authentication instanceof AnonymousAuthenticationToken
                    || !authentication.isAuthenticated() || request.getAttribute(CLAIMS) != null;
            return nobody ? null : members.of(authentication);
        }

        private static Long signedInAt(HttpServletRequest request) {
            HttpSession session = request.getSession(false);
            return session == null ? null : (Long) session.getAttribute(SIGNED_IN_AT);
        }

        /** An unknown time is too old. */
        private static boolean isTooOld(HttpServletRequest request, Long maxAge) {
            Long at = signedInAt(request);
            return maxAge != null && (at == null || Instant.now().getEpochSecond() - at > maxAge);
        }

        private Map<String, Object> describe(Member member, HttpServletRequest request) {
            Map<String, Object> shown = new LinkedHashMap<>();
            shown.put("id", member.id());
            shown.put("email", member.email());
            shown.put("name", member.name());
            shown.put("version", gate.version(member.id(), member.passwordHash()));
            if (signedInAt(request) != null) {
                shown.put("auth_time", signedInAt(request));
            }
            return shown;
        }

        private static ResponseEntity<Map<String, Object>> refuse(int status, String error) {
            // Always JSON, whatever the Accept header asks for.
            return ResponseEntity.status(status).contentType(MediaType.APPLICATION_JSON).header("Cache-Control", "no-store")
                    .body(Map.of("error", error));
        }

        private static ResponseEntity<Map<String, Object>> redirect(String address) {
            return ResponseEntity.status(302).header("Cache-Control", "no-store").header("Referrer-Policy", "no-referrer")
                    .location(URI.create(address)).build();
        }
    }
}
