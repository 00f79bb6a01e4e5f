import { readPlainYaml } from '../../config/plain-yaml.ts';
import type { Config } from '../../config/schema.ts';
import type { JsonObject } from '../../http/json-object.ts';
import { once } from '../../http/once.ts';
import { codePath, readInstalled } from '../../installation.ts';
import { MEMBER_DETAILS } from '../../oauth/member-details.ts';
import { FAILURE_RESPONSES } from './responses.ts';

type Components = Readonly<Record<string, JsonObject>>;
type Schema = JsonObject & { readonly properties: JsonObject };

const written = once(() => {
  const text = readInstalled(codePath('discovery/openapi/components.yaml')).toString('utf8');
  return readPlainYaml(text) as {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Components;
    readonly headers: Components;
  };
});

/**
 * The gate's own components, which components.yaml describes, with what follows from the configuration: the operator's
 * claims, and the details of a member.
 */
export function ownComponents({ claims }: Pick<Config, 'claims'>) {
  const { schemas, responses, headers } = written();
  const custom = Object.fromEntries(
    Object.entries(claims).map(([name, { scope }]) => [name, { description: `With the scope ${scope}.` }]),
  );
  const details = Object.fromEntries(
    Object.values(MEMBER_DETAILS).map(({ claim, scope }) => [
      claim,
      { type: 'string', description: `With the scope ${scope}.` },
    ]),
  );
  const extended = (name: string, before: JsonObject, after: JsonObject): Schema => {
    const schema = schemas[name] as Schema;
    return { ...schema, properties: { ...before, ...schema.properties, ...after } };
  };
  return {
    schemas: {
      ...schemas,
      RegisteredClient: extended('RegisteredClient', schemas.ClientMetadata?.properties ?? {}, {}),
      TokenResponse: extended('TokenResponse', {}, custom),
      Userinfo: extended('Userinfo', {}, { ...details, ...custom }),
    },
    responses: { ...responses, ...FAILURE_RESPONSES },
    headers,
  };
}
