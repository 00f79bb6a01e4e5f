import { readPlainYaml } from '../../config/plain-yaml.ts';
import { sizeText } from '../../http/amounts.ts';
import type { JsonObject } from '../../http/json-object.ts';
import { filledFile } from '../../http/template.ts';
import { codePath } from '../../installation.ts';
import { metadataPath } from '../../oauth/protected-resource.ts';
import type { DescribedService } from '../described-service.ts';
import { DISCOVERY_PATHS } from '../paths.ts';
import { templateKey } from './path-template.ts';
import { failures, type MachineVoice, withRequestId } from './responses.ts';

/** The gate's own operations, as gate.mustache describes them, whether or not the gate serves them. */
interface GateApi {
  /** The descriptions of the tags. */
  readonly tags: Readonly<Record<string, string>>;
  readonly operationAt: (method: string, path: string) => OwnOperation | undefined;
}

/** An operation, and its path with the names of its parameters. */
interface OwnOperation {
  readonly path: string;
  readonly operation: JsonObject;
}

export function gateApi(service: DescribedService): GateApi {
  // A string of JSON is one of YAML.
  const quoted = (text: string) => JSON.stringify(text).slice(1, -1);
  const text = filledFile(codePath('discovery/openapi/gate.mustache'), viewOf(service), quoted);
  const { tags, paths } = readPlainYaml(text) as Pick<GateApi, 'tags'> & { paths: Record<string, JsonObject> };
  const keyOf = (method: string, path: string) => `${method} ${templateKey(path)}`;
  const operations = new Map(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, written]): [string, OwnOperation] => [
        keyOf(method.toUpperCase(), path),
        { path, operation: completed(written as WrittenOperation) },
      ]),
    ),
  );
  return { tags, operationAt: (method, path) => operations.get(keyOf(method, path)) };
}

/** The names in gate.mustache. */
function viewOf({ config, endpoints, mcp }: DescribedService) {
  const { account, clients, mcp: settings } = config;
  const parts = ['', ...config.resources.map(({ path }) => path), ...(mcp === undefined ? [] : [mcp.open, mcp.member])];
  const namesOf = (tools: NonNullable<typeof mcp>['tools']) => tools.map(({ name }) => `\`${name}\``).join(', ');
  return {
    origin: config.origin,
    endpoints,
    documents: DISCOVERY_PATHS,
    protected: parts.map((path) => ({
      path: metadataPath(path),
      id: path.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, first: string) => first.toUpperCase()),
      title: path === '' ? 'this origin' : path,
    })),
    resourceRequired: config.resourceIndicator === 'required',
    registrationsPerMinute: clients.registration.perAddressPerMinute,
    needsToken: clients.registration.initialAccessToken !== undefined,
    account: account !== undefined && { path: account.path, limit: sizeText(account.bodyLimit) },
    tools: mcp !== undefined &&
      settings !== undefined && [
        {
          path: mcp.open,
          id: 'callTools',
          summary: 'Use tools',
          which: `Without a token, it has the public tools: ${namesOf(mcp.tools.filter(({ scopes }) => scopes.size === 0)) || 'none'}. With a token, it also has the tools that its scopes allow.`,
          limit: sizeText(settings.bodyLimit),
        },
        {
          path: mcp.member,
          id: 'callToolsAsMember',
          summary: 'Use tools as a member',
          which: `It always requires a token, and has all tools that the token’s scopes allow: ${namesOf(mcp.tools)}.`,
          limit: sizeText(settings.bodyLimit),
        },
      ],
  };
}

interface WrittenOperation extends JsonObject {
  readonly responses: Readonly<Record<string, JsonObject>>;
  readonly 'x-query'?: {
    readonly properties: Readonly<Record<string, JsonObject>>;
    readonly required: readonly string[];
  };
  readonly 'x-failures'?: string;
}

function completed({ 'x-query': query, 'x-failures': failed = '', ...operation }: WrittenOperation): JsonObject {
  const responses = Object.entries(operation.responses).map(([status, response]) => [status, withRequestId(response)]);
  const [voice, ...statuses] = failed.split(' ');
  const parameters = Object.entries(query?.properties ?? {}).map(([name, { description, ...schema }]) => {
    return { name, in: 'query', required: query?.required.includes(name), description, schema };
  });
  return {
    ...operation,
    ...(query === undefined ? {} : { parameters }),
    responses: {
      ...Object.fromEntries(responses),
      ...failures(voice as MachineVoice, ...statuses.map(Number)),
    },
  };
}
