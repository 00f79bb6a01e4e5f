import { text } from '../answer.ts';
import type { Registered } from '../registrations.ts';
import type { Site } from '../site.ts';
import { Unavailable } from '../unavailable.ts';
import type { FactFinder } from './facts.ts';

/** The redirect URI of the audit's client: loopback, so that no code can leave this machine. */
export const REDIRECT_URI = 'http://127.0.0.1/callback';

/** The metadata that the audit registers: a public client like a desktop app. */
export function clientMetadata(changes: object = {}): object {
  return {
    client_name: 'coursegate doctor',
    application_type: 'native',
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    ...changes,
  };
}

export async function findRegistration(site: Site, find: FactFinder): Promise<string> {
  const { document } = await find('server');
  const endpoint = text(document.registration_endpoint);
  if (endpoint === undefined) throw new Unavailable('apps cannot register here');
  if (site.registrations === undefined) throw new Unavailable('it registers an app: use --register to allow that');
  return endpoint;
}

export async function registeredClient(site: Site, find: FactFinder): Promise<Registered> {
  const endpoint = await find('registration');
  const { answer, client } = (await site.registrations?.register(endpoint, clientMetadata())) ?? {};
  if (client === undefined) throw new Unavailable(`no app could be registered (${answer?.status})`);
  return client;
}
