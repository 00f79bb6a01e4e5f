import type { Config } from '../../config/schema.ts';
import type { JsonObject } from '../../http/json-object.ts';
import { MEMBER_DETAILS } from '../../oauth/member-details.ts';
import { failureResponses, writtenComponents } from './responses.ts';

/**
 * The gate's own components, which components.yaml describes, with what follows from the configuration: the operator's
 * claims, and the details of a member.
 */
export function ownComponents({ claims }: Pick<Config, 'claims'>) {
  const { schemas, responses, headers } = writtenComponents();
  const custom = Object.fromEntries(
    Object.entries(claims).map(([name, { scope }]) => [name, { description: `With the scope ${scope}.` }]),
  );
  const details = Object.fromEntries(
    Object.values(MEMBER_DETAILS).map(({ claim, scope }) => [
      claim,
      { type: 'string', description: `With the scope ${scope}.` },
    ]),
  );
  const extended = (name: string, before: JsonObject, after: JsonObject): JsonObject => {
    const schema = schemas[name];
    return { ...schema, properties: { ...before, ...schema?.properties, ...after } };
  };
  return {
    schemas: {
      ...schemas,
      RegisteredClient: extended('RegisteredClient', schemas.ClientMetadata?.properties ?? {}, {}),
      TokenResponse: extended('TokenResponse', {}, custom),
      Userinfo: extended('Userinfo', {}, { ...details, ...custom }),
    },
    responses: { ...responses, ...failureResponses() },
    headers,
  };
}
