import type { TokenEndpointResponse } from 'oauth4webapi';
import type { Demo } from '../../../src/operator/demo/demo.ts';
import { type App, authorizationRequest, bearer, redeem, refresh, registerApp } from '../../support/app.ts';
import { createBrowser } from '../../support/browser.ts';
import { approve, OLU, SAM } from '../../support/member.ts';

/** Lets minutes pass on the clock of this process. */
export type Pass = (minutes: number) => void;

/** Starts `work` 75 minutes ago, by the clock of this process: oidc-provider, which dates apps and grants, has no other. */
export async function anHourAgo<T>(work: (pass: Pass) => Promise<T>): Promise<T> {
  const { now } = Date;
  let behind = 75 * 60_000;
  Date.now = () => now() - behind;
  try {
    return await work((minutes) => {
      behind = Math.max(0, behind - minutes * 60_000);
    });
  } finally {
    Date.now = now;
  }
}

/** How often apps asked in each minute: more at the beginning of a lecture. */
const REQUESTS = [3, 5, 9, 14, 11, 8, 6, 5, 7, 4, 6, 12, 16, 13, 9, 7, 5, 4, 6, 8];

/** An app that a member has connected. */
interface Connection {
  readonly app: App;
  tokens: TokenEndpointResponse;
}

/**
 * An hour of a small school: members connect three apps, which read courses and once in a while ask for more than they may,
 * and a fourth gets its redirect URI wrong. Every request is a real one.
 *
 * @param look called after each minute, so that what the gate counted is taken for that minute
 */
export async function liveAnHour({ origin }: Demo, pass: Pass, look: () => Promise<unknown>): Promise<void> {
  const register = (name: string, host: string) =>
    registerApp(origin, {
      redirectUri: `https://${host}/callback`,
      metadata: { client_name: name, client_uri: `https://${host}/` },
    });
  const planner = await register('Study Planner', 'planner.example');
  const readingList = await register('Reading List', 'reading.example');
  const connections: Connection[] = [
    { app: planner, tokens: await connect(planner, SAM) },
    { app: readingList, tokens: await connect(readingList, OLU) },
  ];
  pass(5);
  const read = async (path: string, at: number) => {
    const { tokens } = connections[at % connections.length] as Connection;
    await (await fetch(`${origin}${path}`, { headers: bearer(tokens.access_token) })).arrayBuffer();
  };
  for (let minute = 0; minute < 60; minute += 1) {
    const requests = REQUESTS[minute % REQUESTS.length] ?? 0;
    for (let at = 0; at < requests; at += 1) await read('/api/v1/courses', at);
    // Not approved.
    if (minute % 9 === 4) await read('/api/v1/orders', minute);
    // Access tokens last ten minutes.
    if (minute % 8 === 7) {
      for (const one of connections) one.tokens = await refresh(one.app, one.tokens.refresh_token ?? '');
    }
    if (minute === 50) await wrongRedirectUri(origin);
    pass(1);
    await look();
  }
  await connect(await register('Flash Cards', 'cards.example'), SAM);
  await connect(planner, OLU);
}

async function connect(app: App, member: typeof SAM | typeof OLU): Promise<TokenEndpointResponse> {
  const request = await authorizationRequest(app);
  const returned = await approve(request.url, app.redirectUri, {
    member,
    scopes: ['openid', 'profile', 'courses:read'],
  });
  return redeem(app, request, returned);
}

/** An app whose redirect URI differs from the registered one by its last character, as developers often write it. */
async function wrongRedirectUri(origin: string): Promise<void> {
  const app = await registerApp(origin, { metadata: { client_name: 'Course Planner' } });
  const { url } = await authorizationRequest(app, { redirect_uri: `${app.redirectUri}/` });
  await createBrowser().open(url);
}
