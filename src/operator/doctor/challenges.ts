import * as oauth from 'oauth4webapi';
import { field, type SiteAnswer } from './answer.ts';

/** The parameters of a response's Bearer challenge (RFC 6750 section 3), as oauth4webapi reads them for its clients. */
export async function bearerChallenge(
  answer: SiteAnswer,
): Promise<oauth.WWWAuthenticateChallengeParameters | undefined> {
  const headers = { 'www-authenticate': field(answer, 'www-authenticate') };
  const response = new Response(null, { status: 401, headers });
  const transport = { [oauth.customFetch]: async () => response };
  const thrown = await oauth
    .protectedResourceRequest('none', 'GET', new URL('https://coursegate-doctor.invalid'), undefined, null, transport)
    .catch((reason: unknown) => reason);
  if (!(thrown instanceof oauth.WWWAuthenticateChallengeError)) return undefined;
  return thrown.cause.find(({ scheme }) => scheme === 'bearer')?.parameters;
}
