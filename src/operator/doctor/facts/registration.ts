import { text } from '../answer.ts';
import { type Registered, register } from '../registrations.ts';
import type { ExaminedSite } from '../site.ts';
import { Unavailable } from '../unavailable.ts';
import type { FactFinder, Register } from './facts.ts';

/** The redirect URI of the audit's client: loopback, so that no code can leave this machine. */
export const REDIRECT_URI = 'http://127.0.0.1/callback';

/** The metadata that the audit registers: a public client like a desktop app. */
const METADATA = {
  client_name: 'coursegate doctor',
  application_type: 'native',
  redirect_uris: [REDIRECT_URI],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
};

export async function findRegistration({ ask, registered }: ExaminedSite, find: FactFinder): Promise<Register> {
  const { document } = await find('server');
  const endpoint = text(document.registration_endpoint);
  if (endpoint === undefined) throw new Unavailable('apps cannot register here');
  if (registered === undefined) throw new Unavailable('apps are registered only with --register');
  return (changes) => register(ask, registered, endpoint, { ...METADATA, ...changes });
}

export async function registeredClient(_site: ExaminedSite, find: FactFinder): Promise<Registered> {
  const { answer, client } = await (await find('registration'))();
  if (client === undefined) throw new Unavailable(`no app could be registered (${answer.status})`);
  return client;
}
