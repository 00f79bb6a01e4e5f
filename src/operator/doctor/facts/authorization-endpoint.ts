import { createHash, randomBytes } from 'node:crypto';
import { pageTitle, redirectTarget, type SiteAnswer, strings, text } from '../answer.ts';
import type { Ask } from '../ask.ts';
import type { ExaminedSite } from '../site.ts';
import { Unavailable } from '../unavailable.ts';
import type { AuthorizationEndpoint, ExaminedServer, FactFinder, Parameters } from './facts.ts';
import { REDIRECT_URI } from './registration.ts';

export async function authorizationEndpoint(site: ExaminedSite, find: FactFinder): Promise<AuthorizationEndpoint> {
  const server = await find('server');
  const { clientId } = await find('client');
  const requested = site.origin + site.path;
  const [described] = await find('resources').catch(() => []);
  const named = text(described?.document.resource);
  const usual = {
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    scope: strings(server.document.scopes_supported)[0],
    // A wrong identifier is reported by resource.identifier and must not affect this request.
    resource: named !== undefined && URL.parse(named)?.href === URL.parse(requested)?.href ? named : requested,
  };
  const send = async (changes: Parameters) => {
    const answer = await authorize(site.ask, server, { ...usual, ...changes });
    return { answer, returned: returnedTo(answer, changes.redirect_uri ?? REDIRECT_URI) };
  };

  const first = await send({});
  const good = { ...first, goesOn: first.returned === undefined && first.answer.status < 400 };
  const unknown = await send({ client_id: `never-registered-${randomBytes(6).toString('hex')}` });
  if (good.goesOn && resembles(good.answer, unknown.answer))
    throw new Unavailable('requests are checked only after sign-in here: an unknown app gets that far as well');
  return {
    good,
    async request(changes) {
      const { answer, returned } = await send(changes);
      const goesOn = returned === undefined && answer.status < 400 && resembles(good.answer, answer);
      return { answer, returned, goesOn };
    },
  };
}

/** Sends an authorization request with PKCE; undefined removes a parameter. */
export function authorize(ask: Ask, { document }: ExaminedServer, parameters: Parameters): Promise<SiteAnswer> {
  const url = URL.parse(text(document.authorization_endpoint) ?? '');
  if (url === null) throw new Unavailable('the metadata lists no authorization endpoint');
  const all = {
    response_type: 'code',
    code_challenge: createHash('sha256').update(randomBytes(32)).digest('base64url'),
    code_challenge_method: 'S256',
    state: randomBytes(12).toString('base64url'),
    ...parameters,
  };
  for (const [name, value] of Object.entries(all)) if (value !== undefined) url.searchParams.set(name, value);
  return ask(url.href, { headers: { accept: 'text/html' } });
}

/** The parameters that the response returns to the app, in the query or the fragment (RFC 6749 section 4.2.2). */
function returnedTo(answer: SiteAnswer, redirectUri: string): URLSearchParams | undefined {
  const target = redirectTarget(answer);
  const app = URL.parse(redirectUri);
  if (target === undefined || target.origin !== app?.origin || target.pathname !== app.pathname) return undefined;
  return new URLSearchParams([...target.searchParams, ...new URLSearchParams(target.hash.slice(1))]);
}

/** Whether two responses lead to the same step. Identifiers in the path may differ. */
function resembles(one: SiteAnswer, other: SiteAnswer): boolean {
  if (one.status !== other.status) return false;
  const [a, b] = [redirectTarget(one), redirectTarget(other)];
  if (a === undefined || b === undefined) return a === b && pageTitle(one) === pageTitle(other);
  return a.origin === b.origin && step(a) === step(b);
}

function step({ pathname }: URL): string {
  return pathname.split('/').slice(0, 3).join('/');
}
