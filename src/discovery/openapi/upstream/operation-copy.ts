import type { RouteConfig, UpstreamConfig } from '../../../config/schema.ts';
import { isTree, type Tree } from '../../../config/tree.ts';
import { requestFields, responseFields } from '../../../http/header-names.ts';
import type { Json } from '../json.ts';
import { MEMBER_ID_TEXT } from '../path-template.ts';
import { answer, LEFT } from '../responses.ts';
import type { RouteFacts } from '../route-operation.ts';
import { type SchemaCopy, withoutProperties } from './schema-copy.ts';
import { isInternal, membersOf, type Source, texts } from './source.ts';

export interface OperationParts {
  readonly source: Source;
  readonly schemas: SchemaCopy;
  readonly upstream: UpstreamConfig;
}

/** An operation and its path item from the upstream's document, and its path at the gate. */
export interface Found {
  readonly item: Tree;
  readonly operation: Tree;
  readonly path: string;
}

/**
 * Describes an upstream's operation as clients of the gate see it. What the gate fills, drops or answers itself is
 * described as the gate's; the rest is taken from the upstream. Only what is named here is copied: no servers,
 * security, callbacks, links or extensions.
 */
export function operationCopy(
  { source, schemas, upstream }: OperationParts,
  entry: RouteConfig,
  facts: RouteFacts,
  { item, operation, path }: Found,
): Json {
  const filled = [...Object.keys(entry.query ?? {}), ...Object.keys(entry.body ?? {})].map(bareName);
  const isFilled = (name: string) => filled.includes(bareName(name));
  const { request, response } = upstream.headers;
  const requestField = requestFields({ knownOnly: true, allow: request.allow, drop: request.drop });
  const responseField = responseFields({ drop: response.drop });

  const content = (given: unknown): Json =>
    Object.fromEntries(
      membersOf(given).map(([type, media]) => [
        type,
        {
          ...(media.schema === undefined ? {} : { schema: schemas.schema(media.schema) }),
          ...exampleOf(media),
        },
      ]),
    );

  const parameterOf = (given: unknown): Json | undefined => {
    const found = source.resolve(given);
    if (found === undefined || isInternal(found) || typeof found.name !== 'string') return undefined;
    const { name } = found;
    const isKept =
      (found.in === 'path' && path.includes(`{${name}}`)) ||
      (found.in === 'query' && !isFilled(name)) ||
      (found.in === 'header' && requestField(name) === 'pass');
    if (!isKept) return undefined;
    const said = typeof found.description === 'string' ? found.description : `\`${name}\`.`;
    return {
      name,
      in: found.in,
      required: found.in === 'path' || found.required === true,
      description: found.in === 'path' && name === 'member_id' ? MEMBER_ID_TEXT : said,
      ...(typeof found.style === 'string' ? { style: found.style } : {}),
      ...(typeof found.explode === 'boolean' ? { explode: found.explode } : {}),
      ...(found.deprecated === true ? { deprecated: true } : {}),
      ...(isTree(found.content) ? { content: content(found.content) } : { schema: schemas.schema(found.schema) }),
      ...(isTree(found.content) ? {} : exampleOf(found)),
    };
  };

  const parameters = (): readonly Json[] => {
    const sent = [...listOf(operation.parameters), ...listOf(item.parameters)];
    const given = sent.flatMap((one): readonly Json[] => {
      const parameter = parameterOf(one);
      return parameter === undefined ? [] : [parameter];
    });
    const met = new Set<string>();
    const first = given.filter((one) => {
      const key = `${one.in} ${one.name}`;
      const isFirst = !met.has(key);
      met.add(key);
      return isFirst;
    });
    const named = new Set(first.filter((one) => one.in === 'path').map(({ name }) => name));
    const lacking = [...path.matchAll(/\{([^}]*)\}/g)].flatMap(([, name = '']) => (named.has(name) ? [] : [name]));
    const added = [...new Set(lacking)].map((name) => ({
      name,
      in: 'path',
      required: true,
      description: name === 'member_id' ? MEMBER_ID_TEXT : `\`${name}\`.`,
      schema: { type: 'string' },
    }));
    return [...added, ...first];
  };

  const requestBody = (): Json => {
    const found = source.resolve(operation.requestBody);
    if (found === undefined || isInternal(found)) return {};
    const taken = content(found.content);
    const own = Object.keys(entry.body ?? {}).length > 0;
    const types = Object.entries(taken).filter(([type]) => !own || /[/+]json$/.test(type));
    const cleaned = types.map(([type, media]) => {
      if (filled.length === 0) return [type, media];
      // Write out a referenced schema, because other operations that share it may allow clients to send what this
      // route fills.
      const { [type]: asked } = isTree(found.content) ? found.content : {};
      const schema = schemas.schema(source.resolve(isTree(asked) ? asked.schema : undefined));
      return [type, { schema: withoutProperties(schema, isFilled) }];
    });
    if (cleaned.length === 0) return {};
    const required = found.required === true ? { required: true } : {};
    return { requestBody: { ...texts(found, 'description'), ...required, content: Object.fromEntries(cleaned) } };
  };

  const responses = (): Json => {
    const theirs = membersOf(operation.responses).flatMap(([status, given]) => {
      const found = source.resolve(given);
      if (found === undefined || !/^([1-5](\d\d|XX)|default)$/.test(status) || GATES_OWN.includes(status)) return [];
      const headers = membersOf(found.headers).flatMap(([name, header]) => {
        const resolved = source.resolve(header);
        if (resolved === undefined || responseField(name) !== 'pass') return [];
        return [[name, { ...texts(resolved, 'description'), schema: schemas.schema(resolved.schema) }]];
      });
      const said = typeof found.description === 'string' && found.description !== '' ? found.description : status;
      const body = content(found.content);
      const isBoth = Object.hasOwn(facts.responses, status);
      const both = isBoth ? { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } : {};
      const whole = { ...both, ...body };
      const fields = { ...LEFT, ...Object.fromEntries(headers) };
      return [[status, answer(said, Object.keys(whole).length === 0 ? undefined : whole, fields)]];
    });
    const other = { default: answer('Any other answer of the school.', { '*/*': {} }, LEFT) };
    const rest = theirs.some(([status]) => /^2/.test(String(status)))
      ? {}
      : { '2XX': answer('What the school answers.', { '*/*': {} }, LEFT) };
    return { ...other, ...rest, ...facts.responses, ...Object.fromEntries(theirs) };
  };

  const said = typeof operation.description === 'string' ? [operation.description] : [];
  const summary = typeof operation.summary === 'string' ? operation.summary : undefined;
  return {
    ...texts(operation, 'operationId'),
    summary: summary ?? facts.summary,
    description: [...said, facts.description].join('\n\n'),
    ...(operation.deprecated === true ? { deprecated: true } : {}),
    parameters: parameters(),
    ...requestBody(),
    responses: responses(),
  };
}

/** Always described as the gate's own, because an upstream's 401 becomes a 403 at the gate. */
const GATES_OWN = ['401', '403', '1XX'];

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Some servers treat `user_id`, `user_id[]` and `User_Id` as the same parameter. */
function bareName(name: string): string {
  return name.replace(/\[.*$/, '').toLowerCase();
}

/** Examples that are contained in the document itself. */
function exampleOf(given: Tree): Json {
  if (Object.hasOwn(given, 'example')) return { example: given.example };
  const examples = membersOf(given.examples).filter(([, one]) => Object.hasOwn(one, 'value'));
  if (examples.length === 0) return {};
  return {
    examples: Object.fromEntries(
      examples.map(([name, one]) => [name, { ...texts(one, 'summary', 'description'), value: one.value }]),
    ),
  };
}
