import { listOf, objectOf } from '../../../../http/json-object.ts';
import { MEMBER_DETAILS } from '../../../../oauth/member-details.ts';
import { readAccount } from '../../../connect/account-reading.ts';
import { ConnectError } from '../../../connect/connect-error.ts';
import { explain } from '../../../connect/oauth/explain.ts';
import { requestResource } from '../../../connect/oauth/tokens.ts';
import { askTools } from '../../../connect/places.ts';
import { responseJson } from '../../../connect/response-json.ts';
import { checkEach, failure, pass, type Verdict, warning } from '../../finding.ts';
import { Unavailable } from '../../unavailable.ts';
import { backendChecks } from '../check.ts';
import type { TriedSignIn } from '../installation.ts';
import { connectionOf } from '../sign-in.ts';

/** What a member has who signs in through the running gate. Only with --sign-in. */
export const MEMBER = backendChecks((_config, { signIn }) => signIn !== undefined, {
  'member.return': ({ signIn }) => {
    if (signIn === undefined) throw new Unavailable('no member was asked to sign in');
    return signIn.outcome instanceof ConnectError
      ? checkFailure(signIn.outcome, signIn)
      : pass('signed in, approved, and came back');
  },
  async 'member.identity'(installation) {
    const { run, first } = connectionOf(installation);
    const { userinfo_endpoint: userinfo } = run.server;
    if (userinfo === undefined) throw new Unavailable('the gate has no userinfo endpoint');
    const response = await requestResource(first.access_token, new URL(userinfo), run.http);
    const said = objectOf(await responseJson(response));
    if (said.sub === undefined) return failure(`userinfo answers ${response.status} without a member`);
    const who = ['sub', 'name', 'email'].flatMap((claim) => said[claim] ?? []).join(', ');
    const { login } = installation.config;
    const whoami: Readonly<Record<string, unknown>> = 'whoami' in login ? login.whoami : {};
    const missing = Object.entries(MEMBER_DETAILS).filter(
      ([detail, { claim }]) => whoami[detail] !== undefined && said[claim] === undefined,
    );
    if (missing.length > 0)
      return warning(`${who} has no ${missing.map(([detail]) => `${detail} (${whoami[detail]})`).join(' and no ')}`);
    const unseen = ['version', 'acr'].filter((key) => whoami[key] !== undefined);
    const note = unseen.length === 0 ? '' : `. Not examined, as no app sees it: ${unseen.join(', ')} (ask whoami)`;
    return pass(`you are ${who}${note}`);
  },
  async 'member.account'(installation) {
    const { run, first } = connectionOf(installation);
    if (run.offer.account === undefined) throw new Unavailable('there is no Account API');
    if (!installation.config.account?.introspection) throw new Unavailable('account.introspection is off');
    const url = new URL(run.offer.account, run.origin);
    const reading = await readAccount(url, first.access_token, run.http, true).catch(explained);
    if (reading instanceof ConnectError) return failure(reading.message);
    if (reading === undefined) return failure(`${url.pathname} answers 404`);
    return reading.problem === undefined ? pass('no field has an error') : failure(reading.problem);
  },
  async 'member.routes'(installation) {
    const { run, first, scope } = connectionOf(installation);
    const granted = (first.scope ?? scope).split(' ');
    const routes = run.offer.readable.filter(({ scopes }) => scopes.every((one) => granted.includes(one)));
    if (routes.length === 0) throw new Unavailable('no GET route without parameters is open to this token');
    return checkEach(`${routes.length} answer`, routes, async ({ path }) => {
      const response = await requestResource(first.access_token, new URL(path, run.origin), run.http).catch(explained);
      if (response instanceof ConnectError) return failure(`GET ${path}: ${response.message}`);
      await response.body?.cancel();
      return response.status >= 400 ? failure(`GET ${path} answers ${response.status}`) : undefined;
    });
  },
  async 'member.tools'(installation) {
    const { run, first } = connectionOf(installation);
    if (run.offer.tools === undefined) throw new Unavailable('there are no tools');
    const url = new URL(run.offer.tools, run.origin);
    const ask = async (method: string, params?: object) =>
      objectOf(await responseJson(await askTools(url, first.access_token, run.http, method, params)));
    const listed = await ask('tools/list').catch(explained);
    if (listed instanceof ConnectError) return failure(listed.message);
    const tools = listOf(objectOf(listed.result).tools).map(objectOf).filter(isTried);
    if (tools.length === 0) throw new Unavailable('no tool that only reads can be called without arguments');
    return checkEach(`${tools.length} answer`, tools, async ({ name }) => {
      const answer = await ask('tools/call', { name, arguments: {} }).catch(explained);
      if (answer instanceof ConnectError) return failure(`${name}: ${answer.message}`);
      const { isError, content } = objectOf(answer.result);
      if (answer.result !== undefined && isError !== true) return undefined;
      return failure(`${name}: ${objectOf(listOf(content)[0]).text ?? objectOf(answer.error).message}`);
    });
  },
});

const explained = (thrown: unknown): ConnectError => explain(thrown, 'The request');

/** Whether a tool changes nothing and needs no argument. */
function isTried({ annotations, inputSchema }: Readonly<Record<string, unknown>>): boolean {
  return objectOf(annotations).readOnlyHint === true && listOf(objectOf(inputSchema).required).length === 0;
}

/** Why the member did not come back, as far as the counts of the gate tell. They count every member. */
function checkFailure({ message, advice, end }: ConnectError, { refused }: TriedSignIn): Verdict {
  const [anonymous, unusable] = [refused('not_signed_in'), refused('login_unavailable')];
  if (unusable > 0)
    return failure(
      `${message} Meanwhile whoami gave ${unusable} answers that cannot be used`,
      'The log of the gate says what whoami answered, and what was expected. A list of members is no answer: ask for the one who is signed in.',
    );
  if (anonymous > 0)
    return failure(
      `${message} Meanwhile the gate counted ${anonymous} returns from the sign-in page without a session`,
      'The session cookie has another name than in login.cookies, or login.whoami does not find the ID and takes that for no one (anonymous.absent). The log of the gate names the cookies that came.',
    );
  return end === 'declined' ? failure(message) : failure(message, advice);
}
