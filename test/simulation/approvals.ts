import { createHash, createSecretKey } from 'node:crypto';
import { storedSuspensions } from '../../src/authorization-server/administration/suspensions.ts';
import { saveGrant } from '../../src/authorization-server/consent-grant.ts';
import { storedMembers } from '../../src/authorization-server/members.ts';
import { createProvider } from '../../src/authorization-server/provider.ts';
import { NO_OUTBOX } from '../../src/events/outbox.ts';
import { resourceIndicators } from '../../src/oauth/resource-indicator.ts';
import { createRoleScopes } from '../../src/roles/role-scopes.ts';
import { NO_ROLES } from '../../src/roles/roles.ts';
import { sealedStore } from '../../src/storage/seal.ts';
import type { RawStore } from '../../src/storage/store.ts';
import { TEST_TOKENS } from '../support/refresh-tokens.ts';
import { ORIGIN, SCOPES, SECRETS, storeOf, TTL } from './gate.ts';

export const APP = 'app-1';
export const REDIRECT = 'https://app.example/callback';
export const VERIFIER = 'v'.repeat(43);

const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

/** What the consent page does when the member has approved: it writes a grant and a code. There is one for all schedules. */
export function createApprovals(clock: () => number, keys: Parameters<typeof createProvider>[0]['keys']) {
  const seat: { raw: RawStore } = { raw: undefined as never };
  const store = sealedStore(storeOf(seat), SECRETS);
  const suspensions = storedSuspensions(store, clock);
  const provider = createProvider({
    origin: ORIGIN,
    pagesOrigin: ORIGIN,
    indicators: resourceIndicators(ORIGIN, { endpoints: [], parts: [] }),
    resourceRequired: false,
    documentation: `${ORIGIN}/auth.md`,
    roleScopes: createRoleScopes({}, NO_ROLES.of),
    forgetRoles() {},
    claims: {},
    scopes: SCOPES,
    defaultScope: SCOPES,
    scopesOf: () => SCOPES,
    store,
    outbox: NO_OUTBOX,
    members: storedMembers(store),
    suspensions,
    standings: { mayContinue: async () => true },
    keys,
    resourceServers: new Map(),
    languages: ['en'],
    acrValues: [],
    cookieKeys: [createSecretKey(Buffer.alloc(32, 1))],
    dpopNonceKey: createSecretKey(Buffer.alloc(32, 2)),
    refreshTokens: TEST_TOKENS,
    ttl: TTL,
    documents: undefined,
    registration: true,
    unusedLifetime: 86_400,
    redirects: { schemes: [], allow: [], deny: [] },
    clock,
    onRevoked() {},
    renderErrorPage() {},
    onServerError() {},
  });

  return {
    seat,
    /** Reads what is read once, so that the first schedule of a process has no step more than others. */
    open: () => suspensions.since('nobody'),
    /** Undefined if the member is suspended. */
    async approve(member: string): Promise<{ readonly grantId: string; readonly code: string } | undefined> {
      if ((await suspensions.since(member)) !== undefined) return undefined;
      const grantId = await saveGrant(provider, {
        member,
        clientId: APP,
        granted: SCOPES,
        rejected: [],
        resources: [ORIGIN],
      });
      const client = await provider.Client.find(APP);
      const code = new provider.AuthorizationCode({
        accountId: member,
        client,
        grantId,
        redirectUri: REDIRECT,
        scope: SCOPES.join(' '),
        resource: ORIGIN,
        codeChallenge: CHALLENGE,
        codeChallengeMethod: 'S256',
        gty: 'authorization_code',
      } as never);
      return { grantId, code: await code.save() };
    },
  };
}
