import { type JsonObject, objectOf } from '../../../http/json-object.ts';
import { isLoopback } from '../../connect/oauth/transport.ts';
import { field, jsonObject, type SiteAnswer, strings, text, where } from '../answer.ts';
import { isHidden } from '../ask.ts';
import { hijacker, insteadAt, insteadOf } from '../edges.ts';
import { checkEach, failure, pass, warning } from '../finding.ts';
import { checks } from '../site.ts';
import { Unavailable } from '../unavailable.ts';
import { checkJsonType } from './resource-metadata.ts';

/** The authorization server metadata (RFC 8414, OpenID Connect Discovery). */
export const SERVER_METADATA = [
  ...checks(['serverSpellings'], {
    'server.found'({ serverSpellings: { spellings } }) {
      const [oauth] = spellings;
      if (oauth?.document !== undefined) return pass(new URL(oauth.url).pathname);
      const other = spellings.find(({ document }) => document !== undefined);
      const [what, fix] = oauth?.answer === undefined ? ['no answer'] : insteadOf(oauth.answer);
      const seen = `${oauth?.url}: ${what}`;
      if (other === undefined) return failure(seen, fix);
      return warning(`${seen}; found ${new URL(other.url).pathname}, which older clients do not request`, fix);
    },
  }),
  ...checks(['server'], {
    'server.spellings': ({ server }) =>
      checkEach(
        server.spellings.flatMap(({ url, document }) => (document ? new URL(url).pathname : [])).join(', '),
        server.spellings,
        ({ url, answer, document }) => {
          if (document !== undefined) {
            const other = COMPARED.filter((name) => document[name] !== server.document[name]);
            return other.length === 0 ? [] : failure(`${new URL(url).pathname} has a different ${other.join(', ')}`);
          }
          const isOther = answer !== undefined && answer.status < 400 && hijacker(answer) !== undefined;
          return isOther ? failure(...insteadAt(answer)) : [];
        },
      ),
    'server.content-type': ({ server: { answer } }) => checkJsonType(answer),
    'server.issuer'({ server: { document, issuer, answer } }) {
      if (document.issuer === issuer) return pass(issuer);
      return failure(`${where(answer)} has the issuer ${JSON.stringify(document.issuer)} instead of ${issuer}`);
    },
    'server.members'({ server: { document } }) {
      const required = ['issuer', 'authorization_endpoint', 'token_endpoint'];
      const missing = required.filter((name) => text(document[name]) === undefined);
      if (strings(document.response_types_supported).length === 0) missing.push('response_types_supported');
      return missing.length === 0 ? pass('nothing is missing') : failure(`missing: ${missing.join(', ')}`);
    },
    'server.https'({ origin, server }) {
      const local = isLoopback(new URL(origin).hostname);
      return checkEach('all of them', endpointsOf(server.document), ([name, value]) => {
        const url = URL.parse(value);
        if (url === null) return failure(`${name} is not a URL: ${value}`);
        if (local && isLoopback(url.hostname)) return undefined;
        return url.protocol !== 'https:' || isHidden(url) ? failure(`${name} is ${value}`) : undefined;
      });
    },
    'server.hosts'({ server: { document, issuer } }) {
      const home = URL.parse(issuer)?.host;
      return checkEach(home ?? '', endpointsOf(document), ([name, value]) => {
        const host = URL.parse(value)?.host;
        return host === undefined || host === home ? undefined : warning(`${name} is on ${host}`);
      });
    },
    'server.pkce'({ server: { document } }) {
      const methods = strings(document.code_challenge_methods_supported);
      if (methods.length === 0) return failure('PKCE is not advertised');
      if (!methods.includes('S256')) return failure(methods.join(', '));
      return methods.length > 1 ? warning(`offered: ${methods.join(', ')}`) : pass('S256');
    },
    'server.grant-types'({ server: { document } }) {
      const grants = strings(document.grant_types_supported);
      if (grants.includes('password')) return failure('password is offered: members would give apps their password');
      return grants.includes('implicit') ? warning('implicit is offered') : pass(grants.join(', '));
    },
    'server.apps-may-come'({ server: { document } }) {
      const documents = document.client_id_metadata_document_supported === true;
      const registration = text(document.registration_endpoint) !== undefined;
      if (documents) return pass(registration ? 'by document and by registration' : 'by document');
      if (!registration)
        return failure('neither by document nor by registration: Claude and ChatGPT cannot connect on their own');
      return warning('by registration only, which MCP 2026-07-28 deprecates in favour of client ID metadata documents');
    },
    'server.public-clients'({ server: { document } }) {
      const methods = strings(document.token_endpoint_auth_methods_supported);
      if (methods.includes('none')) return pass(methods.join(', '));
      return warning(methods.length === 0 ? 'missing, which means client_secret_basic' : methods.join(', '));
    },
  }),
  // Discovery documents that a web server serves from files, in place of the gate.
  ...checks(['server', 'resources'], {
    async 'server.copy'({ ask, origin, server, resources }) {
      const all = [{ ...server, path: '' }, ...resources.filter(({ path }) => path === '')];
      const copies = all.filter(({ answer }) => isCopy(answer));
      if (copies.length === 0) return pass('the gate answers itself');
      const api = await ask(`${origin}/openapi.json`);
      const said = gateSays(jsonObject(api));
      if (isCopy(api) || said === undefined)
        throw new Unavailable(
          'they are copies, or not of coursegate: there is no answer of a gate to compare them with',
        );
      return checkEach(
        () =>
          `${copies.map(({ answer }) => where(answer)).join(', ')}: copies, the same as the gate’s own /openapi.json`,
        copies,
        ({ answer, document }) => {
          const others = differences(document, said);
          return (
            others.length > 0 && failure(`${where(answer)} is a copy with another ${others.join(', ')} than the gate`)
          );
        },
      );
    },
  }),
];

/** Members that clients act on, which must be equal in all spellings. */
const COMPARED = ['issuer', 'authorization_endpoint', 'token_endpoint', 'registration_endpoint', 'jwks_uri'] as const;

/** Every endpoint in the metadata, and jwks_uri. */
function endpointsOf(document: JsonObject): readonly (readonly [name: string, url: string])[] {
  return Object.entries(document).filter(
    (entry): entry is [string, string] => /_endpoint$|^jwks_uri$/.test(entry[0]) && typeof entry[1] === 'string',
  );
}

/** Every answer of the gate itself has a request id. */
function isCopy(answer: SiteAnswer): boolean {
  return field(answer, 'x-request-id') === '';
}

/** What the OpenAPI document has in common with the metadata; undefined if it is not coursegate's. */
function gateSays(api: JsonObject | undefined) {
  const schemes = objectOf(objectOf(api?.components).securitySchemes);
  const flow = objectOf(objectOf(objectOf(schemes.oauth2).flows).authorizationCode);
  if (flow.tokenUrl === undefined) return undefined;
  return {
    /** Of the authorization server, and of the resource. */
    scopes: Object.keys(objectOf(flow.scopes)),
    reads: strings(objectOf(schemes.oauth2)['x-read-scopes']),
    registration: schemes.registrationAccessToken !== undefined,
    endpoints: { authorization_endpoint: flow.authorizationUrl, token_endpoint: flow.tokenUrl },
  };
}

/** The names of the members that differ. Metadata of a resource has no endpoints. */
function differences(
  document: JsonObject,
  { scopes, reads, registration, endpoints }: NonNullable<ReturnType<typeof gateSays>>,
): readonly string[] {
  const isServer = document.issuer !== undefined;
  const given = strings(document.scopes_supported).filter((scope) => scope !== 'offline_access');
  const said = isServer ? scopes : reads;
  const sameScopes = given.length === said.length && given.every((scope) => said.includes(scope));
  return [
    ...(sameScopes ? [] : ['scopes_supported']),
    ...Object.entries(endpoints).flatMap(([name, value]) => (isServer && document[name] !== value ? [name] : [])),
    ...(isServer && (document.registration_endpoint !== undefined) !== registration ? ['registration_endpoint'] : []),
  ];
}
