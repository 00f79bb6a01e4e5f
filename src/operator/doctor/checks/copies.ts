import { type JsonObject, objectOf } from '../../../http/json-object.ts';
import { field, jsonObject, type SiteAnswer, strings, where } from '../answer.ts';
import { checkEach, failure, pass } from '../finding.ts';
import { checks } from '../site.ts';
import { Unavailable } from '../unavailable.ts';

/** Discovery documents that a web server serves from files, in place of the gate. */
export const COPIES = checks(['server', 'resources'], {
  async 'server.copy'({ ask, origin, server, resources }) {
    const all = [{ ...server, path: '' }, ...resources.filter(({ path }) => path === '')];
    const copies = all.filter(({ answer }) => isCopy(answer));
    if (copies.length === 0) return pass('the gate answers itself');
    const api = await ask(`${origin}/openapi.json`);
    const said = gateSays(jsonObject(api));
    if (isCopy(api) || said === undefined)
      throw new Unavailable('they are copies, or not of coursegate: there is no answer of a gate to compare them with');
    return checkEach(
      () => `${copies.map(({ answer }) => where(answer)).join(', ')}: copies, the same as the gate’s own /openapi.json`,
      copies,
      ({ answer, document }) => {
        const others = differences(document, said);
        return (
          others.length > 0 && failure(`${where(answer)} is a copy with another ${others.join(', ')} than the gate`)
        );
      },
    );
  },
});

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
