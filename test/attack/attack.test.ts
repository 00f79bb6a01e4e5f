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

/**
 * The families of one gate follow one another, while other gates are attacked. The timeout is for a busy machine: on an idle
 * one, all families together take about half a minute.
 */
const IN_TURN = { concurrent: false, timeout: 180_000 };

describe.concurrent.each(['A', 'B'])('the gate in front of an upstream, Profile %s', (profile) => {
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
  ])('withstands $name', IN_TURN, async (family) => {
    expect(await makeAttempts(stand, family)).toEqual([]);
  });

  // The code is the same in both profiles, and the family is slow.
  it.runIf(profile === 'A')('withstands text that is slow to match', IN_TURN, async () => {
    expect(await makeAttempts(stand, blockingText)).toEqual([]);
  });
});

describe.concurrent.each(['A', 'B'])('the gate in front of the demo school, Profile %s', (profile) => {
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
  ])('withstands $name', IN_TURN, async (family) => {
    expect(await makeAttempts(stand, family)).toEqual([]);
  });

  it.runIf(profile === 'A')('withstands attempts to fill the store', IN_TURN, async () => {
    expect(await makeAttempts(stand, filledStore)).toEqual([]);
  });
});

it('makes at least 5,000 attempts', () => {
  const families = made();
  console.info(families.map(([name, count]) => `${String(count).padStart(6)} ${name}`).join('\n'));
  expect(families.reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThanOrEqual(5_000);
});
