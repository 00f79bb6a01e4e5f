import { readCourses } from '../../connect/courses.ts';
import { authorizationRequest, checkResponse } from '../../connect/oauth/authorization.ts';
import { discoverResource, discoverServer } from '../../connect/oauth/discovery.ts';
import { register } from '../../connect/oauth/registration.ts';
import { exchangeCode, type TokenResponse } from '../../connect/oauth/tokens.ts';
import { keepTokens, take, type Walk } from './walk.ts';

/** Steps 1 to 4. Resolves to the URL for the browser, or to undefined when a step failed. */
export async function begin(walk: Walk): Promise<string | undefined> {
  const resource = await take(walk, 'resource', async (http, step) => {
    const found = await discoverResource(walk.gate, http);
    step.facts.push(`The resource is ${found.resource}. Tokens must be issued for it.`);
    return found;
  });
  if (resource === undefined) return undefined;

  const server = await take(walk, 'server', async (http, step) => {
    const found = await discoverServer(resource, http);
    step.facts.push(`The issuer is ${found.issuer}, as the resource said.`, 'It supports PKCE with S256.');
    return found;
  });
  if (server === undefined) return undefined;

  walk.client = await take(walk, 'register', async (http, step) => {
    const description = { name: 'Study Buddy', redirectUri: walk.redirectUri };
    const registered = await register(server, resource, description, http);
    step.facts.push('A public client: it has no secret and is protected by PKCE.');
    return registered;
  });
  const { client } = walk;
  if (client === undefined) return undefined;

  walk.pending = await take(walk, 'authorize', async (_http, step) => {
    const made = await authorizationRequest(client, walk.redirectUri, walk.scope);
    step.exchanges.push({ method: 'GET', url: made.url, headers: [], body: undefined });
    step.facts.push('The browser carries this request; Study Buddy itself sends nothing here.');
    return made;
  });
  return walk.pending?.url;
}

/** Steps 5 to 8, for a response with the expected state, which is used up here in any case. */
export async function finish(walk: Walk, callback: URL): Promise<void> {
  const { pending, client } = walk;
  if (pending === undefined || client === undefined) return;
  walk.pending = undefined;
  await take(walk, 'approve', async (_http, step) => {
    const outcome = callback.searchParams.has('error') ? 'an error instead of a code' : 'a code';
    return step.facts.push(`The browser came back with ${outcome}.`);
  });

  const checked = await take(walk, 'callback', async (_http, step) => {
    step.exchanges.push({ method: 'GET', url: callback.href, headers: [], body: undefined });
    step.facts.push('state matches step 4.');
    const response = checkResponse(client, pending, callback.searchParams);
    step.facts.push(`iss is ${response.get('iss') ?? 'not sent'}, as expected from step 2.`);
    return response;
  });
  if (checked === undefined) return;

  await take(walk, 'token', async (http, step) => {
    const answer = await exchangeCode(client, pending, checked, http);
    keepTokens(walk, answer);
    return step.facts.push(`Approved: ${walk.tokens?.scope}.`, lifetime(answer));
  });
  await read(walk);
}

/** Reads the courses with the current token. */
export async function read(walk: Walk): Promise<void> {
  const { tokens } = walk;
  if (tokens === undefined) return;
  const courses = await take(walk, 'read', async (http, step) => {
    const found = await readCourses(walk.gate, tokens.access, tokens.scope, http);
    step.facts.push(`${found.total} courses, from the ${found.source}.`);
    return found;
  });
  if (courses !== undefined) walk.courses = courses;
}

/** Describes the lifetime of the tokens in a response. */
export function lifetime({ expires_in, refresh_token }: TokenResponse): string {
  const access =
    expires_in === undefined
      ? 'The access token has no stated lifetime'
      : `The access token is valid for ${expires_in} s`;
  return `${access}; ${refresh_token === undefined ? 'there is no refresh token' : 'a refresh token was issued too'}.`;
}
