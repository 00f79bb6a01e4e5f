import { listOf, objectOf } from '../../http/json-object.ts';
import { readAccount } from './account-reading.ts';
import { ConnectError } from './connect-error.ts';
import { coursesOfList, coursesOfViewer, courseTable, listIn } from './courses.ts';
import type { AuthorizationServer } from './oauth/discovery.ts';
import { requestResource } from './oauth/tokens.ts';
import type { Transport } from './oauth/transport.ts';
import { isAboutCourses, type Offer } from './offer.ts';
import { printable } from './printable.ts';
import { responseJson, unusable } from './response-json.ts';

/** Something of a site that a token opens. */
export interface TokenUse {
  /** What reading it is called, such as "Reading the Account API". */
  readonly doing: string;
  /**
   * Reads it. Throws oauth4webapi's WWWAuthenticateChallengeError on 401 and 403, and ConnectError for an answer that is
   * of no use.
   * @returns lines for the operator; undefined if the site turns out not to have it
   */
  read(token: string): Promise<readonly string[] | undefined>;
}

/** Everything that a token with these scopes can be tried on: who the member is first, as every site has that. */
export function placesOf(
  origin: string,
  { server, offer, scopes }: { server: AuthorizationServer; offer: Offer; scopes: readonly string[] },
  http: Transport,
): readonly TokenUse[] {
  const { userinfo_endpoint: userinfo } = server;
  const { account, tools, readable, described } = offer;
  return [
    ...(userinfo === undefined || !scopes.includes('openid') ? [] : [userinfoPlace(userinfo, http)]),
    ...(account === undefined || !scopes.includes('account:read')
      ? []
      : [accountPlace(new URL(account, origin), described, http)]),
    ...(tools === undefined ? [] : [toolsPlace(new URL(tools, origin), described, http)]),
    ...readable
      .filter((one) => one.scopes.every((scope) => scopes.includes(scope)))
      .map(({ path }) => routePlace(path, new URL(path, origin), account !== undefined, http)),
  ];
}

function userinfoPlace(url: string, http: Transport): TokenUse {
  return {
    doing: 'Reading who the member is',
    async read(token) {
      const response = await requestResource(token, new URL(url), http);
      const { sub, email, name } = objectOf(await responseJson(response));
      if (sub === undefined) throw unusable(response);
      return [printable(`Member ${[sub, name, email].filter((one) => one !== undefined).join(', ')}`)];
    },
  };
}

function accountPlace(url: URL, described: boolean, http: Transport): TokenUse {
  return {
    doing: 'Reading the Account API',
    async read(token) {
      const found = await readAccount(url, token, http);
      if (found === undefined && !described) return undefined;
      if (found === undefined)
        throw new ConnectError(`${url.href} answered 404.`, 'Check that the gate answers there.');
      const { viewer, others, problem } = found;
      const more = others.length === 0 ? [] : [printable(`The Account API also has: ${others.join(', ')}`)];
      const lines =
        'enrolledCourses' in viewer
          ? courseTable(coursesOfViewer(viewer))
          : [printable(`The Account API has the member ${viewer.id}, and no list of courses.`)];
      return [
        ...lines,
        ...more,
        ...(problem === undefined ? [] : [printable(`The Account API also said: ${problem}`)]),
      ];
    },
  };
}

/** Sends a request to a tool interface. Throws oauth4webapi's WWWAuthenticateChallengeError on 401 and 403. */
export function askTools(url: URL, token: string, http: Transport, method: string, params?: object): Promise<Response> {
  const question = { jsonrpc: '2.0', id: 1, method, ...(params === undefined ? {} : { params }) };
  return requestResource(token, url, http, question, {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
  });
}

function toolsPlace(url: URL, described: boolean, http: Transport): TokenUse {
  return {
    doing: `Listing the tools at ${url.pathname}`,
    async read(token) {
      const response = await askTools(url, token, http, 'tools/list');
      const { result } = objectOf(await responseJson(response));
      if (result === undefined && !described) return undefined;
      if (result === undefined) throw unusable(response);
      const names = listOf(objectOf(result).tools).map((tool) => String(objectOf(tool).name));
      return [printable(`Tools for agents: ${names.length === 0 ? 'none with these scopes' : names.join(', ')}`)];
    },
  };
}

/** @param brief only how many courses there are: the Account API tells more about them */
function routePlace(path: string, url: URL, brief: boolean, http: Transport): TokenUse {
  return {
    doing: `Reading ${path}`,
    async read(token) {
      const response = await requestResource(token, url, http);
      const type = response.headers.get('content-type') ?? '';
      if (!response.ok) throw unusable(response);
      if (!/\bjson\b/i.test(type)) {
        await response.body?.cancel();
        return [printable(`GET ${path}: ${type === '' ? 'no content' : type}`)];
      }
      const answer = await responseJson(response);
      if (isAboutCourses(path) && listIn(answer) !== undefined) {
        const table = courseTable(coursesOfList(answer));
        return brief ? table.slice(0, 1) : table;
      }
      const what = Array.isArray(answer) ? `a list of ${answer.length}` : Object.keys(objectOf(answer)).join(', ');
      return [printable(`GET ${path}: ${what}`)];
    },
  };
}
