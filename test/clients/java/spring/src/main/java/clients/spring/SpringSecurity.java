package clients.spring;

import clients.Harness;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.Authentication;
import org.springframework.security.oauth2.client.AuthorizedClientServiceOAuth2AuthorizedClientManager;
import org.springframework.security.oauth2.client.OAuth2AuthorizeRequest;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClientManager;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClientService;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClientProviderBuilder;
import org.springframework.security.oauth2.client.endpoint.RestClientAuthorizationCodeTokenResponseClient;
import org.springframework.security.config.annotation.web.configurers.oauth2.client.OAuth2LoginConfigurer;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.client.web.DefaultOAuth2AuthorizationRequestResolver;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.util.MultiValueMap;

/** A web app in which members sign in with the school's account. */
@SpringBootApplication
public class SpringSecurity {
  private static final String REGISTRATION = "spring.security.oauth2.client.registration.school.";
  private static final CompletableFuture<Authentication> SIGNED_IN = new CompletableFuture<>();

  @Bean
  SecurityFilterChain security(HttpSecurity http, ClientRegistrationRepository clients) throws Exception {
    http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated());
    http.oauth2Login(
        login -> {
          login.loginProcessingUrl(URI.create(Harness.CALLBACK).getPath());
          login.successHandler(
              (request, response, member) -> {
                SIGNED_IN.complete(member);
                response.getWriter().print("Signed in");
              });
          if (Harness.PROFILE_A) sendResource(login, clients);
        });
    return http.build();
  }

  private static void sendResource(
      OAuth2LoginConfigurer<HttpSecurity> login, ClientRegistrationRepository clients) {
    var resolver = new DefaultOAuth2AuthorizationRequestResolver(clients);
    resolver.setAuthorizationRequestCustomizer(
        request -> request.additionalParameters(Map.of("resource", Harness.RESOURCE)));
    var tokens = new RestClientAuthorizationCodeTokenResponseClient();
    tokens.addParametersConverter(grant -> MultiValueMap.fromSingleValue(Map.of("resource", Harness.RESOURCE)));
    login.authorizationEndpoint(endpoint -> endpoint.authorizationRequestResolver(resolver));
    login.tokenEndpoint(endpoint -> endpoint.accessTokenResponseClient(tokens));
  }

  public static void main(String[] args) {
    Harness.run(ClientRegistrationRepository.class, () -> connect(List.of(args).contains("secret")));
  }

  private static void connect(boolean withSecret) throws Exception {
    if (Harness.PROFILE_A)
      Harness.needs(
          "resolver.setAuthorizationRequestCustomizer(request -> request.additionalParameters(Map.of(\"resource\", resource)))",
          "tokens.addParametersConverter(grant -> MultiValueMap.fromSingleValue(Map.of(\"resource\", resource)))",
          "login.authorizationEndpoint(endpoint -> endpoint.authorizationRequestResolver(resolver))",
          "login.tokenEndpoint(endpoint -> endpoint.accessTokenResponseClient(tokens))");
    URI callback = URI.create(Harness.CALLBACK);
    Harness.Client[] client = new Harness.Client[1];
    Harness.step("register", () -> client[0] = Harness.register(Harness.CALLBACK, withSecret));
    var app = new SpringApplication(SpringSecurity.class);
    app.setDefaultProperties(
        Map.ofEntries(
            Map.entry("server.address", callback.getHost()),
            Map.entry("server.port", callback.getPort()),
            Map.entry("spring.main.banner-mode", "off"),
            Map.entry("logging.level.root", "error"),
            Map.entry(REGISTRATION + "client-id", client[0].id()),
            client[0]
                .secret()
                .map(secret -> Map.entry(REGISTRATION + "client-secret", secret))
                .orElse(Map.entry(REGISTRATION + "client-authentication-method", "none")),
            Map.entry(REGISTRATION + "authorization-grant-type", "authorization_code"),
            Map.entry(REGISTRATION + "redirect-uri", Harness.CALLBACK),
            Map.entry(REGISTRATION + "scope", Harness.SCOPES),
            Map.entry("spring.security.oauth2.client.provider.school.issuer-uri", Harness.ISSUER)));
    ConfigurableApplicationContext[] started = new ConfigurableApplicationContext[1];
    Harness.step("discover", () -> started[0] = app.run());
    var manager =
        new AuthorizedClientServiceOAuth2AuthorizedClientManager(
            started[0].getBean(ClientRegistrationRepository.class),
            started[0].getBean(OAuth2AuthorizedClientService.class));
    manager.setAuthorizedClientProvider(
        OAuth2AuthorizedClientProviderBuilder.builder().authorizationCode().refreshToken().build());

    Authentication[] member = new Authentication[1];
    Harness.step(
        "authorize token id_token userinfo",
        () -> {
          // The member presses "Sign in", which begins their session with this app.
          Harness.showToMember(callback.resolve("/oauth2/authorization/school").toString());
          member[0] = SIGNED_IN.get(60, TimeUnit.SECONDS);
        });
    String first = accessToken(manager, member[0]);
    if (Harness.PROFILE_A) Harness.step("account", () -> Harness.readAccount(first));
    Harness.waitForExpiry();
    Harness.step(
        "expired-and-refreshed",
        () -> {
          String second = accessToken(manager, member[0]);
          Harness.check(!second.equals(first), "the access token is still the first one");
          if (Harness.PROFILE_A) Harness.readAccount(second);
        });
  }

  private static String accessToken(OAuth2AuthorizedClientManager manager, Authentication member) {
    var request = OAuth2AuthorizeRequest.withClientRegistrationId("school").principal(member).build();
    return manager.authorize(request).getAccessToken().getTokenValue();
  }
}
