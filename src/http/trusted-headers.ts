/**
 * Request fields with which gateways tell backends who the user is (`identity`), or where a request came from and what
 * it is for (`origin`). Collected from the documentation of the gateways, servers and frameworks that write or trust
 * them. A backend may trust any of them, so none is accepted from a client. Names are in the folded form (see
 * `foldedName`); a final `*` matches any ending. Credentials that a site's own pages send (X-Api-Key, X-Auth-Token,
 * X-Refresh-Token, X-CSRF-Token) are not identity: a site checks them itself.
 */
interface TrustedFields {
  readonly source: string;
  readonly url: string;
  readonly identity?: readonly string[];
  readonly origin?: readonly string[];
}

export const TRUSTED_FIELDS: readonly TrustedFields[] = [
  // This gate
  {
    source: 'coursegate, docs/identity.md',
    url: 'https://www.rfc-editor.org/rfc/rfc9449#section-4.1',
    identity: ['x-member', 'x-member-*', 'x-client-id', 'x-coursegate-*', 'dpop'],
  },
  // Authenticating gateways
  {
    source: 'oauth2-proxy, Configuration: Header options',
    url: 'https://oauth2-proxy.github.io/oauth2-proxy/configuration/overview',
    identity: ['x-auth-request-*', 'x-forwarded-*', 'gap-auth', 'gap-signature', 'x-oauth2-proxy-*'],
  },
  {
    source: 'Authelia, Trusted Header SSO',
    url: 'https://www.authelia.com/integration/trusted-header-sso/introduction/',
    identity: ['remote-*'],
  },
  {
    source: 'authentik, Proxy provider: Header authentication',
    url: 'https://docs.goauthentik.io/add-secure-apps/providers/proxy/header_authentication/',
    identity: ['x-authentik-*'],
  },
  {
    source: 'Vouch Proxy, README',
    url: 'https://github.com/vouch/vouch-proxy',
    identity: ['x-vouch-*'],
  },
  {
    source: 'Pomerium, Identity verification and Pass identity headers',
    url: 'https://www.pomerium.com/docs/reference/routes/pass-identity-headers-per-route',
    identity: ['x-pomerium-*'],
  },
  {
    source: 'Louketo (Keycloak Gatekeeper), docs/user-guide: Upstream headers',
    url: 'https://github.com/louketo/louketo-proxy',
    identity: [
      ...['x-auth-user', 'x-auth-userid', 'x-auth-username', 'x-auth-user-*', 'x-auth-email', 'x-auth-name'],
      ...['x-auth-subject', 'x-auth-sub', 'x-auth-groups', 'x-auth-roles', 'x-auth-audience', 'x-auth-expiresin'],
      ...['x-auth-given-name', 'x-auth-family-name', 'x-auth-preferred-username'],
    ],
  },
  {
    source: 'Caddy Security (AuthCrunch), Authorize: inject headers with claims',
    url: 'https://docs.authcrunch.com/docs/authorize/headers',
    identity: ['x-token-subject', 'x-token-user-*'],
  },
  {
    source: 'LemonLDAP::NG, Writing rules and headers',
    url: 'https://lemonldap-ng.org/documentation/latest/writingrulesand_headers',
    identity: ['auth-user', 'auth-cn', 'auth-mail', 'auth-groups', 'auth-uid', 'lm-remote-*'],
  },
  {
    source: 'YunoHost SSOwat, README',
    url: 'https://github.com/YunoHost/SSOwat',
    identity: ['ynh-*', 'auth-user', 'remote-*'],
  },
  {
    source: 'Sandstorm, HTTP headers',
    url: 'https://docs.sandstorm.io/en/latest/developing/auth/',
    identity: ['x-sandstorm-*'],
  },
  {
    source: 'ShinyProxy, User headers',
    url: 'https://www.shinyproxy.io/documentation/configuration/',
    identity: ['x-sp-*'],
  },
  {
    source: 'Posit Connect, User credentials',
    url: 'https://docs.posit.co/connect/user/publishing-api-integrations/',
    identity: ['rstudio-connect-*', 'posit-connect-*'],
  },
  {
    source: 'Ory Oathkeeper, Header mutator',
    url: 'https://www.ory.sh/docs/oathkeeper/pipeline/mutator',
    identity: ['x-user', 'x-user-id', 'x-authenticated-*'],
  },
  {
    source: 'Airlock Microgateway, IdentityPropagation',
    url: 'https://docs.airlock.com/microgateway/4.2/api/crds/identity-propagation/v1alpha1/',
    identity: [
      'x-user-name',
      'x-username',
      'x-user-email',
      'x-user-roles',
      'x-user-role',
      'x-user-groups',
      'x-user-claims',
    ],
  },
  // Clouds and networks
  {
    source: 'Cloudflare Access, Validate JWTs; Client certificates; HTTP request headers',
    url: 'https://developers.cloudflare.com/fundamentals/reference/http-headers/',
    identity: ['cf-access-*', 'cf-client-cert-*', 'cf-cert-*'],
    origin: ['cf-connecting-ip*', 'cf-connecting-o2o', 'cf-pseudo-ipv4', 'cf-visitor', 'true-client-ip'],
  },
  {
    source: 'Google Identity-Aware Proxy, Getting the user’s identity',
    url: 'https://cloud.google.com/iap/docs/identity-howto',
    identity: ['x-goog-authenticated-*', 'x-goog-iap-*'],
  },
  {
    source: 'Google App Engine, Request headers; API Gateway and Cloud Endpoints, X-Apigateway-Api-Userinfo',
    url: 'https://cloud.google.com/appengine/docs/standard/reference/request-headers',
    identity: ['x-appengine-*', 'x-apigateway-api-*', 'x-endpoint-api-*', 'x-google-internal-*'],
  },
  {
    source: 'AWS Application Load Balancer, Authenticate users; Mutual authentication',
    url: 'https://docs.aws.amazon.com/elasticloadbalancing/latest/application/listener-authenticate-users.html',
    identity: ['x-amzn-oidc-*', 'x-amzn-mtls-*'],
  },
  {
    source: 'AWS Serverless Express, x-apigateway-event and x-apigateway-context',
    url: 'https://github.com/CodeGenieApp/serverless-express',
    identity: ['x-apigateway-event', 'x-apigateway-context', 'x-amzn-request-context'],
  },
  {
    source: 'Azure App Service, Work with user identities; TLS mutual authentication; Front Door, Protocol support',
    url: 'https://learn.microsoft.com/azure/app-service/configure-authentication-user-identities',
    identity: ['x-ms-client-principal*', 'x-ms-token-*', 'x-arr-clientcert', 'x-azure-fdid'],
    origin: ['client-ip', 'x-client-ip', 'x-client-port', 'x-arr-ssl', 'x-appservice-proto', 'x-azure-clientip'],
  },
  {
    source: 'Azure App Service and Front Door, Request headers',
    url: 'https://learn.microsoft.com/azure/frontdoor/front-door-http-headers-protocol',
    origin: ['x-azure-socketip', 'disguised-host', 'was-default-hostname', 'x-waws-unencoded-url'],
  },
  {
    source: 'Tailscale Serve, Identity headers',
    url: 'https://tailscale.com/kb/1312/serve',
    identity: ['tailscale-*'],
  },
  {
    source:
      'Content delivery networks: Fastly, Akamai, Fly.io, Imperva, Sucuri, DigitalOcean, Vercel, Netlify, CloudFront, Alibaba',
    url: 'https://www.fastly.com/documentation/reference/http/http-headers/Fastly-Client-IP/',
    origin: [
      ...['fastly-client-*', 'fastly-ff', 'fastly-ssl', 'akamai-origin-hop', 'fly-client-ip', 'fly-forwarded-*'],
      ...['incap-client-ip', 'x-sucuri-clientip', 'do-connecting-ip', 'x-vercel-forwarded-for', 'ali-cdn-real-ip'],
      ...['x-nf-client-connection-ip', 'cloudfront-viewer-address', 'cloudfront-forwarded-proto', 'cdn-src-ip'],
    ],
  },
  // Client certificates
  {
    source: 'RFC 9440, Client-Cert and Client-Cert-Chain',
    url: 'https://www.rfc-editor.org/rfc/rfc9440',
    identity: ['client-cert', 'client-cert-*'],
  },
  {
    source: 'HAProxy, Client certificates: http-request set-header X-SSL-Client-*',
    url: 'https://www.haproxy.com/documentation/haproxy-configuration-tutorials/security/ssl-tls/client-side-encryption/',
    identity: ['x-ssl', 'x-ssl-*'],
  },
  {
    source: 'ingress-nginx, Client certificate authentication; Apache mod_ssl; Tomcat SSLValve; Keycloak X.509 lookup',
    url: 'https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/annotations/#client-certificate-authentication',
    identity: ['ssl-client-*', 'ssl-server-*', 'ssl-cipher', 'ssl-cipher-*', 'ssl-session-id', 'ssl-protocol'],
  },
  {
    source: 'Puppet Server, External SSL termination',
    url: 'https://www.puppet.com/docs/puppet/latest/server/external_ssl_termination.html',
    identity: [
      'x-client-verify',
      'x-client-dn',
      'x-client-cert',
      'x-client-cert-*',
      'x-client-certificate',
      'x-clientcert',
    ],
  },
  {
    source: 'ASP.NET Core Module',
    url: 'https://learn.microsoft.com/aspnet/core/host-and-deploy/aspnet-core-module',
    identity: ['ms-aspnetcore-*', 'x-iis-windowsauthtoken', 'x-iisnode-*'],
  },
  // API gateways and meshes
  {
    source: 'Kong, plugins: key-auth, oauth2, openid-connect',
    url: 'https://docs.konghq.com/hub/kong-inc/key-auth/',
    identity: ['x-consumer-*', 'x-credential-*', 'x-anonymous-consumer', 'x-authenticated-*', 'x-userinfo'],
  },
  {
    source: 'Apache APISIX, plugins: openid-connect, wolf-rbac',
    url: 'https://apisix.apache.org/docs/apisix/plugins/openid-connect/',
    identity: ['x-access-token', 'x-id-token', 'x-userinfo', 'x-userid', 'x-username', 'x-nickname'],
  },
  {
    source:
      'Istio, RequestAuthentication: outputPayloadToHeader; WSO2, X-JWT-Assertion; Teleport, Teleport-Jwt-Assertion',
    url: 'https://istio.io/latest/docs/reference/config/security/request_authentication/',
    identity: ['x-jwt-payload', 'x-jwt-assertion', 'x-jwt-claim*', 'sec-istio-*', 'x-istio-*', 'teleport-*'],
  },
  {
    source: 'Envoy, HTTP header manipulation: x-forwarded-client-cert, x-envoy-*',
    url: 'https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/headers',
    identity: ['x-forwarded-client-cert'],
    origin: ['x-envoy-*'],
  },
  { source: 'Linkerd, l5d-client-id', url: 'https://linkerd.io/2/reference/', identity: ['l5d-*'] },
  // Web servers and enterprise single sign-on
  {
    source: 'mod_auth_openidc, OIDCPassClaimsAs; mod_auth_mellon; mod_auth_cas, CASAuthNHeader',
    url: 'https://github.com/OpenIDC/mod_auth_openidc/wiki',
    identity: ['oidc-*', 'mellon-*', 'cas-user', 'cas-*'],
  },
  {
    source: 'Shibboleth SP, ShibUseHeaders and attribute-map.xml',
    url: 'https://shibboleth.atlassian.net/wiki/spaces/SP3/pages/2065335257/AttributeAccess',
    identity: [
      ...['shib-*', 'eppn', 'affiliation', 'unscoped-affiliation', 'entitlement', 'targeted-id', 'persistent-id'],
      ...['subject-id', 'pairwise-id', 'eduperson*', 'uid', 'mail', 'cn', 'sn', 'givenname', 'displayname'],
    ],
  },
  {
    source: 'IBM Security Verify Access (WebSEAL), Client identity in HTTP headers',
    url: 'https://www.ibm.com/support/knowledgecenter/SSPREK_9.0.0/com.ibm.isam.doc/wrp_config/concept/con_supply_client_id_http_hdr.html',
    identity: ['iv-*'],
  },
  {
    source: 'WebSphere plug-in, private headers $WS..; WebLogic, WL-Proxy-Client-*',
    url: 'https://portal2portal.blogspot.de/2011/01/websphere-application-server-exploring.html',
    identity: ['-ws*', 'wl-proxy-*'],
  },
  {
    source:
      'Oracle Access Manager, OAM_REMOTE_USER; Oracle SSO; SiteMinder, SM_USER (also Spring RequestHeaderAuthenticationFilter)',
    url: 'https://docs.spring.io/spring-security/reference/servlet/authentication/preauth.html',
    identity: ['oam-*', 'osso-*', 'sm-*', 'smuser', 'smsession'],
  },
  // Backends
  {
    source: 'Grafana, Auth proxy; Gitea, Reverse proxy; Grafana Mimir, X-Scope-OrgID',
    url: 'https://grafana.com/docs/grafana/latest/setup-grafana/configure-security/configure-authentication/auth-proxy/',
    identity: ['x-webauth-*', 'x-grafana-id', 'x-grafana-user', 'x-scope-orgid'],
  },
  {
    source: 'Kubernetes, Authenticating proxy and User impersonation',
    url: 'https://kubernetes.io/docs/reference/access-authn-authz/authentication/#authenticating-proxy',
    identity: ['x-remote-*', 'impersonate-*'],
  },
  {
    source: 'Django, RemoteUserMiddleware (REMOTE_USER, HTTP_AUTHUSER); Apache, REDIRECT_REMOTE_USER',
    url: 'https://docs.djangoproject.com/en/stable/howto/auth-remote-user/',
    identity: ['authuser', 'redirect-remote-user', 'x-remote-*'],
  },
  {
    source: 'OpenSearch, Proxy-based authentication; Elasticsearch, es-security-runas-user',
    url: 'https://docs.opensearch.org/latest/security/authentication-backends/proxy/',
    identity: ['x-proxy-*', 'es-security-runas-user'],
  },
  {
    source: 'Symfony HttpFoundation, ServerBag: PHP_AUTH_USER as a header; Catalyst, Upstream::Headers',
    url: 'https://github.com/symfony/symfony/blob/5.4/src/Symfony/Component/HttpFoundation/ServerBag.php',
    identity: ['php-auth-*', 'x-catalyst-credential-*'],
  },
  {
    source: 'RFC 7239, Forwarded, and the fields before it',
    url: 'https://www.rfc-editor.org/rfc/rfc7239',
    origin: ['forwarded', 'forwarded-*', 'x-forwarded', 'x-forward-for', 'z-forwarded-for'],
  },
  {
    source: 'Rails ActionDispatch::RemoteIp, Rack::Request, nginx ngx_http_realip_module, Rackspace',
    url: 'https://api.rubyonrails.org/classes/ActionDispatch/RemoteIp.html',
    origin: [
      ...['client-ip', 'true-client-*', 'x-true-client-ip', 'x-real-*', 'x-cluster-client-ip', 'x-originating-ip'],
      ...[
        'x-proxyuser-ip',
        'x-scheme',
        'x-url-scheme',
        'x-script-name',
        'x-host',
        'front-end-https',
        'x-proxied-https',
      ],
    ],
  },
  {
    source: 'Magento, Offloader header; Jetty, ForwardedRequestCustomizer',
    url: 'https://experienceleague.adobe.com/docs/commerce-admin/stores-sales/site-store/security/security-url.html',
    origin: ['ssl-offloaded', 'x-proxied-https'],
  },
  {
    source: 'IIS URL Rewrite and Symfony, X-Original-URL and X-Rewrite-URL; nginx, X-Accel-*; Next.js, x-middleware-*',
    url: 'https://symfony.com/blog/cve-2018-14773-remove-support-for-legacy-and-risky-http-headers',
    origin: ['x-original-*', 'x-rewrite-url', 'x-override-url', 'x-accel-*', 'x-middleware-*'],
  },
  {
    source: 'Method overrides: Symfony, Rack, OData, WordPress REST',
    url: 'https://symfony.com/doc/current/reference/configuration/framework.html#http-method-override',
    origin: ['x-http-method', 'x-http-method-override', 'x-method-override', 'x-tunneled-method'],
  },
];
