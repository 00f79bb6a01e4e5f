import { OWN_IDENTITY } from './identity-fields.ts';

/*
 * Request fields that gateways use to tell backends who the user is, or where a request came from and what it is for.
 * Collected from the documentation of the gateways, servers and frameworks that write or trust them. A backend may
 * trust any of them, so none is accepted from a client. Names are in the folded form (see `foldedName`); a final `*`
 * matches any ending. Credentials that a site's own pages send (X-Api-Key, X-Auth-Token, X-Refresh-Token,
 * X-CSRF-Token) are not identity: a site checks them itself.
 */

/** Who the user is. */
export const TRUSTED_IDENTITY: readonly string[] = [
  // This gate

  // coursegate, docs/identity.md: https://www.rfc-editor.org/rfc/rfc9449#section-4.1
  ...[...OWN_IDENTITY, 'dpop'],

  // Authenticating gateways

  // oauth2-proxy, Configuration: Header options: https://oauth2-proxy.github.io/oauth2-proxy/configuration/overview
  ...['x-auth-request-*', 'x-forwarded-*', 'gap-auth', 'gap-signature', 'x-oauth2-proxy-*'],
  // Authelia, Trusted Header SSO: https://www.authelia.com/integration/trusted-header-sso/introduction/
  'remote-*',
  // authentik, Proxy provider: Header authentication
  // https://docs.goauthentik.io/add-secure-apps/providers/proxy/header_authentication/
  'x-authentik-*',
  // Vouch Proxy, README: https://github.com/vouch/vouch-proxy
  'x-vouch-*',
  // Pomerium, Identity verification and Pass identity headers
  // https://www.pomerium.com/docs/reference/routes/pass-identity-headers-per-route
  'x-pomerium-*',
  // Louketo (Keycloak Gatekeeper), docs/user-guide: Upstream headers: https://github.com/louketo/louketo-proxy
  ...['x-auth-user', 'x-auth-userid', 'x-auth-username', 'x-auth-user-*', 'x-auth-email', 'x-auth-name'],
  ...['x-auth-subject', 'x-auth-sub', 'x-auth-groups', 'x-auth-roles', 'x-auth-audience', 'x-auth-expiresin'],
  ...['x-auth-given-name', 'x-auth-family-name', 'x-auth-preferred-username'],
  // Caddy Security (AuthCrunch), Authorize: inject headers with claims
  // https://docs.authcrunch.com/docs/authorize/headers
  ...['x-token-subject', 'x-token-user-*'],
  // LemonLDAP::NG, Writing rules and headers: https://lemonldap-ng.org/documentation/latest/writingrulesand_headers
  ...['auth-user', 'auth-cn', 'auth-mail', 'auth-groups', 'auth-uid', 'lm-remote-*'],
  // YunoHost SSOwat, README: https://github.com/YunoHost/SSOwat
  'ynh-*',
  // Sandstorm, HTTP headers: https://docs.sandstorm.io/en/latest/developing/auth/
  'x-sandstorm-*',
  // ShinyProxy, User headers: https://www.shinyproxy.io/documentation/configuration/
  'x-sp-*',
  // Posit Connect, User credentials: https://docs.posit.co/connect/user/publishing-api-integrations/
  ...['rstudio-connect-*', 'posit-connect-*'],
  // Ory Oathkeeper, Header mutator: https://www.ory.sh/docs/oathkeeper/pipeline/mutator
  ...['x-user', 'x-user-id', 'x-authenticated-*'],
  // Airlock Microgateway, IdentityPropagation
  // https://docs.airlock.com/microgateway/4.2/api/crds/identity-propagation/v1alpha1/
  ...['x-user-name', 'x-username', 'x-user-email', 'x-user-roles', 'x-user-role', 'x-user-groups', 'x-user-claims'],

  // Clouds and networks

  // Cloudflare Access, Validate JWTs; Client certificates; HTTP request headers
  // https://developers.cloudflare.com/fundamentals/reference/http-headers/
  ...['cf-access-*', 'cf-client-cert-*', 'cf-cert-*'],
  // Google Identity-Aware Proxy, Getting the user’s identity: https://cloud.google.com/iap/docs/identity-howto
  ...['x-goog-authenticated-*', 'x-goog-iap-*'],
  // Google App Engine, Request headers; API Gateway and Cloud Endpoints, X-Apigateway-Api-Userinfo
  // https://cloud.google.com/appengine/docs/standard/reference/request-headers
  ...['x-appengine-*', 'x-apigateway-api-*', 'x-endpoint-api-*', 'x-google-internal-*'],
  // AWS Application Load Balancer, Authenticate users; Mutual authentication
  // https://docs.aws.amazon.com/elasticloadbalancing/latest/application/listener-authenticate-users.html
  ...['x-amzn-oidc-*', 'x-amzn-mtls-*'],
  // AWS Serverless Express, x-apigateway-event and x-apigateway-context
  // https://github.com/CodeGenieApp/serverless-express
  ...['x-apigateway-event', 'x-apigateway-context', 'x-amzn-request-context'],
  // Azure App Service, Work with user identities; TLS mutual authentication; Front Door, Protocol support
  // https://learn.microsoft.com/azure/app-service/configure-authentication-user-identities
  ...['x-ms-client-principal*', 'x-ms-token-*', 'x-arr-clientcert', 'x-azure-fdid'],
  // Tailscale Serve, Identity headers: https://tailscale.com/kb/1312/serve
  'tailscale-*',

  // Client certificates

  // RFC 9440, Client-Cert and Client-Cert-Chain: https://www.rfc-editor.org/rfc/rfc9440
  ...['client-cert', 'client-cert-*'],
  // HAProxy, Client certificates: http-request set-header X-SSL-Client-*
  // https://www.haproxy.com/documentation/haproxy-configuration-tutorials/security/ssl-tls/client-side-encryption/
  ...['x-ssl', 'x-ssl-*'],
  // ingress-nginx, Client certificate authentication; Apache mod_ssl; Tomcat SSLValve; Keycloak X.509 lookup
  // https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/annotations/#client-certificate-authentication
  ...['ssl-client-*', 'ssl-server-*', 'ssl-cipher', 'ssl-cipher-*', 'ssl-session-id', 'ssl-protocol'],
  // Puppet Server, External SSL termination
  // https://www.puppet.com/docs/puppet/latest/server/external_ssl_termination.html
  ...['x-client-verify', 'x-client-dn', 'x-client-cert', 'x-client-cert-*', 'x-client-certificate', 'x-clientcert'],
  // ASP.NET Core Module: https://learn.microsoft.com/aspnet/core/host-and-deploy/aspnet-core-module
  ...['ms-aspnetcore-*', 'x-iis-windowsauthtoken', 'x-iisnode-*'],

  // API gateways and meshes

  // Kong, plugins: key-auth, oauth2, openid-connect: https://docs.konghq.com/hub/kong-inc/key-auth/
  ...['x-consumer-*', 'x-credential-*', 'x-anonymous-consumer', 'x-userinfo'],
  // Apache APISIX, plugins: openid-connect, wolf-rbac: https://apisix.apache.org/docs/apisix/plugins/openid-connect/
  ...['x-access-token', 'x-id-token', 'x-userid', 'x-nickname'],
  // Istio, RequestAuthentication: outputPayloadToHeader; WSO2, X-JWT-Assertion; Teleport, Teleport-Jwt-Assertion
  // https://istio.io/latest/docs/reference/config/security/request_authentication/
  ...['x-jwt-payload', 'x-jwt-assertion', 'x-jwt-claim*', 'sec-istio-*', 'x-istio-*', 'teleport-*'],
  // Envoy, HTTP header manipulation: x-forwarded-client-cert, x-envoy-*
  // https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/headers
  'x-forwarded-client-cert',
  // Linkerd, l5d-client-id: https://linkerd.io/2/reference/
  'l5d-*',

  // Web servers and enterprise single sign-on

  // mod_auth_openidc, OIDCPassClaimsAs; mod_auth_mellon; mod_auth_cas, CASAuthNHeader
  // https://github.com/OpenIDC/mod_auth_openidc/wiki
  ...['oidc-*', 'mellon-*', 'cas-user', 'cas-*'],
  // Shibboleth SP, ShibUseHeaders and attribute-map.xml
  // https://shibboleth.atlassian.net/wiki/spaces/SP3/pages/2065335257/AttributeAccess
  ...['shib-*', 'eppn', 'affiliation', 'unscoped-affiliation', 'entitlement', 'targeted-id', 'persistent-id'],
  ...['subject-id', 'pairwise-id', 'eduperson*', 'uid', 'mail', 'cn', 'sn', 'givenname', 'displayname'],
  // IBM Security Verify Access (WebSEAL), Client identity in HTTP headers
  // https://www.ibm.com/support/knowledgecenter/SSPREK_9.0.0/com.ibm.isam.doc/wrp_config/concept/con_supply_client_id_http_hdr.html
  'iv-*',
  // WebSphere plug-in, private headers $WS..; WebLogic, WL-Proxy-Client-*
  // https://portal2portal.blogspot.de/2011/01/websphere-application-server-exploring.html
  ...['-ws*', 'wl-proxy-*'],
  // Oracle Access Manager, OAM_REMOTE_USER; Oracle SSO; SiteMinder, SM_USER (also Spring RequestHeaderAuthenticationFilter)
  // https://docs.spring.io/spring-security/reference/servlet/authentication/preauth.html
  ...['oam-*', 'osso-*', 'sm-*', 'smuser', 'smsession'],

  // Backends

  // Grafana, Auth proxy; Gitea, Reverse proxy; Grafana Mimir, X-Scope-OrgID
  // https://grafana.com/docs/grafana/latest/setup-grafana/configure-security/configure-authentication/auth-proxy/
  ...['x-webauth-*', 'x-grafana-id', 'x-grafana-user', 'x-scope-orgid'],
  // Kubernetes, Authenticating proxy and User impersonation
  // https://kubernetes.io/docs/reference/access-authn-authz/authentication/#authenticating-proxy
  ...['x-remote-*', 'impersonate-*'],
  // Django, RemoteUserMiddleware (REMOTE_USER, HTTP_AUTHUSER); Apache, REDIRECT_REMOTE_USER
  // https://docs.djangoproject.com/en/stable/howto/auth-remote-user/
  ...['authuser', 'redirect-remote-user'],
  // OpenSearch, Proxy-based authentication; Elasticsearch, es-security-runas-user
  // https://docs.opensearch.org/latest/security/authentication-backends/proxy/
  ...['x-proxy-*', 'es-security-runas-user'],
  // Symfony HttpFoundation, ServerBag: PHP_AUTH_USER as a header; Catalyst, Upstream::Headers
  // https://github.com/symfony/symfony/blob/5.4/src/Symfony/Component/HttpFoundation/ServerBag.php
  ...['php-auth-*', 'x-catalyst-credential-*'],
];

/** Where a request came from, and what it is for. */
export const ORIGIN_FIELDS: readonly string[] = [
  // Clouds and networks

  // Cloudflare Access, Validate JWTs; Client certificates; HTTP request headers
  // https://developers.cloudflare.com/fundamentals/reference/http-headers/
  ...['cf-connecting-ip*', 'cf-connecting-o2o', 'cf-pseudo-ipv4', 'cf-visitor', 'true-client-ip'],
  // Azure App Service, Work with user identities; TLS mutual authentication; Front Door, Protocol support
  // https://learn.microsoft.com/azure/app-service/configure-authentication-user-identities
  ...['client-ip', 'x-client-ip', 'x-client-port', 'x-arr-ssl', 'x-appservice-proto', 'x-azure-clientip'],
  // Azure App Service and Front Door, Request headers
  // https://learn.microsoft.com/azure/frontdoor/front-door-http-headers-protocol
  ...['x-azure-socketip', 'disguised-host', 'was-default-hostname', 'x-waws-unencoded-url'],
  // Content delivery networks: Fastly, Akamai, Fly.io, Imperva, Sucuri, DigitalOcean, Vercel, Netlify, CloudFront, Alibaba
  // https://www.fastly.com/documentation/reference/http/http-headers/Fastly-Client-IP/
  ...['fastly-client-*', 'fastly-ff', 'fastly-ssl', 'akamai-origin-hop', 'fly-client-ip', 'fly-forwarded-*'],
  ...['incap-client-ip', 'x-sucuri-clientip', 'do-connecting-ip', 'x-vercel-forwarded-for', 'ali-cdn-real-ip'],
  ...['x-nf-client-connection-ip', 'cloudfront-viewer-address', 'cloudfront-forwarded-proto', 'cdn-src-ip'],

  // API gateways and meshes

  // Envoy, HTTP header manipulation: x-forwarded-client-cert, x-envoy-*
  // https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/headers
  'x-envoy-*',

  // Backends

  // RFC 7239, Forwarded, and the fields before it: https://www.rfc-editor.org/rfc/rfc7239
  ...['forwarded', 'forwarded-*', 'x-forwarded', 'x-forward-for', 'z-forwarded-for'],
  // Rails ActionDispatch::RemoteIp, Rack::Request, nginx ngx_http_realip_module, Rackspace
  // https://api.rubyonrails.org/classes/ActionDispatch/RemoteIp.html
  ...['true-client-*', 'x-true-client-ip', 'x-real-*', 'x-cluster-client-ip', 'x-originating-ip', 'x-proxyuser-ip'],
  ...['x-scheme', 'x-url-scheme', 'x-script-name', 'x-host', 'front-end-https', 'x-proxied-https'],
  // Magento, Offloader header; Jetty, ForwardedRequestCustomizer
  // https://experienceleague.adobe.com/docs/commerce-admin/stores-sales/site-store/security/security-url.html
  'ssl-offloaded',
  // IIS URL Rewrite and Symfony, X-Original-URL and X-Rewrite-URL; nginx, X-Accel-*; Rack::Sendfile; Next.js, x-middleware-*
  // https://symfony.com/blog/cve-2018-14773-remove-support-for-legacy-and-risky-http-headers
  ...['x-original-*', 'x-rewrite-url', 'x-override-url', 'x-accel-*', 'x-sendfile-type', 'x-middleware-*'],
  // Method overrides: Symfony, Rack, OData, WordPress REST
  // https://symfony.com/doc/current/reference/configuration/framework.html#http-method-override
  ...['x-http-method', 'x-http-method-override', 'x-method-override', 'x-tunneled-method'],
];
