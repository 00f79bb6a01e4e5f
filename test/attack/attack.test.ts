import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminHost } from './families/admin-host.ts';
import { blockingText } from './families/blocking-text.ts';
import { errorRedirect } from './families/error-redirect.ts';
import { exhaustion } from './families/exhaustion.ts';
import { filledStore } from './families/filled-store.ts';
import { connectionNames, forgedHeaders } from './families/forged-headers.ts';
import { gatewayIdentity } from './families/gateway-identity.ts';
import { graphqlAbuse, mcpAbuse } from './families/interfaces.ts';
import { invisibleCharacters } from './families/invisible-characters.ts';
import { methodOverride } from './families/method-override.ts';
import {
  authorizationRequests,
  foreignTokens,
  forgedDocuments,
  registrations,
  tokenRequests,
} from './families/oauth.ts';
import { encodedLetters, mixedPaths, pathTricks, traversal } from './families/paths.ts';
import { methods, targetsAndHosts } from './families/request-line.ts';
import { sharedQuotas } from './families/shared-quotas.ts';
import { smuggling, twoFramings } from './families/smuggling.ts';
import { badCredentials, impersonation, misplacedTokens } from './families/tokens.ts';
import { upstreamAnswers } from './families/upstream-answers.ts';
import { made, makeAttempts } from './support/battery.ts';
import { type ProxyStand, startProxyStand } from './support/proxy-stand.ts';
import { type SchoolStand, startSchoolStand } from './support/school-stand.ts';

/** Timeout of one family on a busy machine. On an idle machine, all families together take about a minute. */
const PATIENCE_MS = 180_000;

describe.each(['A', 'B'])('the gate in front of an upstream, Profile %s', (profile) => {
  let stand: ProxyStand;
  beforeAll(async () => {
    stand = await startProxyStand(profile);
  });
  afterAll(() => stand.close());

  it.each([
    smuggling,
    twoFramings,
    forgedHeaders,
    connectionNames,
    pathTricks,
    traversal,
    encodedLetters,
    mixedPaths,
    methods,
    targetsAndHosts,
    upstreamAnswers,
    methodOverride,
    gatewayIdentity,
    invisibleCharacters,
  ])(
    'withstands $name',
    async (family) => {
      expect(await makeAttempts(stand, family)).toEqual([]);
    },
    PATIENCE_MS,
  );

  // The code is the same in both profiles, and the family is slow.
  it.runIf(profile === 'A')(
    'withstands text that is slow to match',
    async () => {
      expect(await makeAttempts(stand, blockingText)).toEqual([]);
    },
    PATIENCE_MS,
  );
});

describe.each(['A', 'B'])('the gate in front of the demo school, Profile %s', (profile) => {
  let stand: SchoolStand;
  beforeAll(async () => {
    stand = await startSchoolStand(profile);
  });
  afterAll(() => stand.close());

  it.each([
    badCredentials,
    misplacedTokens,
    impersonation,
    authorizationRequests,
    tokenRequests,
    foreignTokens,
    registrations,
    forgedDocuments,
    mcpAbuse,
    graphqlAbuse,
    exhaustion,
    errorRedirect,
    adminHost,
    sharedQuotas,
  ])(
    'withstands $name',
    async (family) => {
      expect(await makeAttempts(stand, family)).toEqual([]);
    },
    PATIENCE_MS,
  );

  it.runIf(profile === 'A')(
    'withstands attempts to fill the store',
    async () => {
      expect(await makeAttempts(stand, filledStore)).toEqual([]);
    },
    PATIENCE_MS,
  );
});

it('makes at least 5,000 attempts', () => {
  const families = made();
  console.info(families.map(([name, count]) => `${String(count).padStart(6)} ${name}`).join('\n'));
  expect(families.reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThanOrEqual(5_000);
});
