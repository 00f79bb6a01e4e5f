import { createHash, randomBytes } from 'node:crypto';
import { type Answer, pageTitle, redirectTarget, strings, text } from '../answer.ts';
import type { Site } from '../site.ts';
import { Unavailable } from '../unavailable.ts';
import type { FactFinder } from './facts.ts';
import { REDIRECT_URI } from './registration.ts';

/** The answer to one authorization request. */
export interface Authorization {
  readonly answer: Answer;
  /** Whether the member would be led on as with a good request. */
  readonly goesOn: boolean;
  /** What was sent back to the app, from the query or the fragment; undefined when nothing was. */
  readonly returned: URLSearchParams | undefined;
  readonly state: string;
}

/** An authorization endpoint that can be asked as the audit's client. */
export interface AuthorizationEndpoint {
  readonly issuer: string;
  /** A request that nothing is wrong with. */
  readonly good: Authorization;
  /** The good request with other parameters; undefined leaves one out. */
  readonly request: (changes: Readonly<Record<string, string | undefined>>) => Promise<Authorization>;
}

export async function authorizationEndpoint(site: Site, find: FactFinder): Promise<AuthorizationEndpoint> {
  const { issuer, document } = await find('server');
  const endpoint = URL.parse(text(document.authorization_endpoint) ?? '');
  if (endpoint === null) throw new Unavailable('the metadata names no authorization endpoint');
  const { clientId } = await find('client');
  const asked = site.origin + site.path;
  const [described] = await find('resources').catch(() => []);
  const named = text(described?.document.resource);
  const scope = strings(document.scopes_supported)[0];
  const usual = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    code_challenge: createHash('sha256').update(randomBytes(32)).digest('base64url'),
    code_challenge_method: 'S256',
    scope,
    // A wrong name is one of resource.identifier; here it would only be in the way.
    resource: named !== undefined && URL.parse(named)?.href === URL.parse(asked)?.href ? named : asked,
  };
  const send = async (changes: Readonly<Record<string, string | undefined>>) => {
    const url = new URL(endpoint);
    const state = randomBytes(12).toString('base64url');
    const parameters = Object.entries({ ...usual, state, ...changes });
    for (const [name, value] of parameters) if (value !== undefined) url.searchParams.set(name, value);
    const answer = await site.ask(url.href, { headers: { accept: 'text/html' } });
    return { answer, returned: returnedTo(answer, changes.redirect_uri ?? REDIRECT_URI), state };
  };

  const first = await send({});
  const good = { ...first, goesOn: first.returned === undefined && first.answer.status < 400 };
  const unknown = await send({ client_id: `never-registered-${randomBytes(6).toString('hex')}` });
  if (good.goesOn && resembles(good.answer, unknown.answer))
    throw new Unavailable('requests are judged only after sign-in here: an unknown app is led on as well');
  return {
    issuer,
    good,
    async request(changes) {
      const { answer, returned, state } = await send(changes);
      const goesOn = returned === undefined && answer.status < 400 && resembles(good.answer, answer);
      return { answer, returned, state, goesOn };
    },
  };
}

/** What an app would be given by this answer: error or code, in the query or in the fragment (RFC 6749 §4.2.2). */
function returnedTo(answer: Answer, redirectUri: string): URLSearchParams | undefined {
  const target = redirectTarget(answer);
  const app = URL.parse(redirectUri);
  if (target === undefined || app === null) return undefined;
  if (target.origin !== app.origin || target.pathname !== app.pathname) return undefined;
  return new URLSearchParams([...target.searchParams, ...new URLSearchParams(target.hash.slice(1))]);
}

/** Whether two answers lead the member to the same step: identifiers within addresses may differ. */
function resembles(one: Answer, other: Answer): boolean {
  if (one.status !== other.status) return false;
  const [a, b] = [redirectTarget(one), redirectTarget(other)];
  if (a === undefined || b === undefined) return a === b && pageTitle(one) === pageTitle(other);
  return a.origin === b.origin && step(a) === step(b);
}

function step({ pathname }: URL): string {
  return pathname.split('/').slice(0, 3).join('/');
}
