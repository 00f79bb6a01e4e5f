import { createSecretKey, randomBytes } from 'node:crypto';
import { storedSuspensions } from '../../src/authorization-server/administration/suspensions.ts';
import { createIntrospect } from '../../src/authorization-server/introspect.ts';
import { openKeyring } from '../../src/authorization-server/keyring.ts';
import { storedMembers } from '../../src/authorization-server/members.ts';
import { createProvider } from '../../src/authorization-server/provider.ts';
import { NO_OUTBOX } from '../../src/events/outbox.ts';
import type { Introspect } from '../../src/oauth/introspection.ts';
import { resourceIndicators } from '../../src/oauth/resource-indicator.ts';
import { createRoleScopes } from '../../src/roles/role-scopes.ts';
import { NO_ROLES } from '../../src/roles/roles.ts';
import type { Store } from '../../src/storage/store.ts';
import { TEST_TOKENS } from '../../test/support/refresh-tokens.ts';

/** The gate's token check, in this process and with this store, without a network or a cache. */
export async function tokenCheck(store: Store, origin: string, scopes: readonly string[]): Promise<Introspect> {
  const members = storedMembers(store);
  const keyring = await openKeyring(store, Date.now, () => 90 * 86_400);
  const provider = createProvider({
    origin,
    pagesOrigin: origin,
    indicators: resourceIndicators(origin, { endpoints: [], parts: [] }),
    resourceRequired: true,
    documentation: 'https://school.example/auth.md',
    claims: {},
    scopes,
    defaultScope: scopes,
    scopesOf: () => scopes,
    store,
    outbox: NO_OUTBOX,
    members,
    suspensions: storedSuspensions(store, Date.now),
    standings: { mayContinue: async () => true },
    keys: keyring.privateKeys(),
    resourceServers: new Map(),
    languages: ['en'],
    acrValues: [],
    cookieKeys: [createSecretKey(randomBytes(32))],
    dpopNonceKey: createSecretKey(randomBytes(32)),
    refreshTokens: TEST_TOKENS,
    ttl: { access: 600, refresh: 86_400, refreshAbsolute: 86_400, code: 60, replayWindow: 10 },
    documents: undefined,
    registration: true,
    unusedLifetime: 86_400,
    roleScopes: createRoleScopes({}, NO_ROLES.of),
    forgetRoles() {},
    redirects: { schemes: [], allow: [], deny: [] },
    clock: Date.now,
    onRevoked() {},
    renderErrorPage() {},
    onServerError: (error) => {
      throw error;
    },
  });
  return createIntrospect(provider, members);
}
