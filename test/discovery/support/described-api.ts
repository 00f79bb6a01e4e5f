import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { rawRequest } from '../../support/raw.ts';

type Json = Record<string, unknown>;

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  /** The scopes that a token needs; undefined if no token is required. */
  readonly scopes: readonly string[] | undefined;
  /** Whether it is also served without a token. */
  readonly open: boolean;
  /** The names of its security schemes. */
  readonly schemes: readonly string[];
  readonly hasBody: boolean;
  readonly example: unknown;
}

export interface Sent {
  readonly token?: string | undefined;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: unknown;
}

/** A raw request, without normalization. */
export interface RawSent {
  /** The literal value of every path parameter. */
  readonly part?: string;
  /** The text after the path. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
}

export interface Called {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
  /** The differences between the response and the document. */
  readonly flaws: readonly string[];
}

/** A client that knows only the OpenAPI document of the service. */
export function describedApi(document: Json) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addSchema(document, 'api');
  const paths = document.paths as Record<string, Record<string, Json>>;
  const [{ url: base }] = document.servers as [{ url: string }];

  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): Operation => {
      const security = operation.security as readonly Record<string, readonly string[]>[];
      const [first] = security;
      const content = ((operation.requestBody as Json | undefined)?.content ?? {}) as Record<string, Json>;
      return {
        id: String(operation.operationId),
        method: method.toUpperCase(),
        path,
        tag: String((operation.tags as string[])[0]),
        scopes: first?.oauth2,
        open: security.some((one) => Object.keys(one).length === 0),
        schemes: security.flatMap((one) => Object.keys(one)),
        hasBody: operation.requestBody !== undefined,
        example: content['application/json']?.example,
      };
    }),
  );

  const resolve = (node: Json): { node: Json; pointer: string | undefined } => {
    const ref = node.$ref as string | undefined;
    if (ref === undefined) return { node, pointer: undefined };
    const found = ref
      .slice(2)
      .split('/')
      .reduce((at: Json, step) => at[step.replace(/~1/g, '/').replace(/~0/g, '~')] as Json, document);
    return { node: found, pointer: ref };
  };

  async function call(
    { method, path, id }: Pick<Operation, 'method' | 'path' | 'id'>,
    sent: Sent = {},
  ): Promise<Called> {
    const filled = path.replace(/\{([^}]*)\}/g, (_, name: string) => encodeURIComponent(sent.path?.[name] ?? 'x-1'));
    const url = new URL(base + filled);
    for (const [name, value] of Object.entries(sent.query ?? {})) url.searchParams.set(name, value);
    const body = sent.form === undefined ? sent.json : new URLSearchParams(sent.form).toString();
    const type = sent.form === undefined ? 'application/json' : 'application/x-www-form-urlencoded';
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: {
        ...(sent.token === undefined ? {} : { authorization: `Bearer ${sent.token}` }),
        ...(body === undefined ? {} : { 'content-type': type }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, ...judge(path, method, response, text, id) };
  }

  async function callRaw(
    { method, path, id }: Pick<Operation, 'method' | 'path' | 'id'>,
    sent: RawSent,
  ): Promise<Called> {
    const answer = await rawRequest(base, {
      method,
      path: path.replace(/\{[^}]*\}/g, () => sent.part ?? 'x-1') + (sent.query ?? ''),
      headers: {
        host: new URL(base).host,
        ...(sent.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(sent.body)) }),
        ...sent.headers,
      },
      ...(sent.body === undefined ? {} : { body: sent.body }),
    });
    const headers = new Headers();
    for (const [name, value] of Object.entries(answer.headers))
      if (value !== undefined) headers.set(name, String(value));
    const response = { status: answer.status, headers };
    return { ...response, ...judge(path, method, response, answer.text, id) };
  }

  function judge(
    path: string,
    method: string,
    response: Pick<Response, 'status' | 'headers'>,
    text: string,
    id: string,
  ) {
    const flaws: string[] = [];
    const flaw = (what: string) => flaws.push(`${id} ${response.status}: ${what}`);
    const described = paths[path]?.[method.toLowerCase()]?.responses as Record<string, Json>;
    const key = [String(response.status), `${String(response.status)[0]}XX`, 'default'].find((one) => one in described);
    if (key === undefined) {
      flaw(`is not among ${Object.keys(described).join(', ')}: ${text.slice(0, 200)}`);
      return { flaws, body: text };
    }
    const given = described[key] as Json;
    const { node } = resolve(given);
    const place = [path, method.toLowerCase(), key].map((step) => step.replace(/~/g, '~0').replace(/\//g, '~1'));
    const pointer = resolve(given).pointer ?? `#/paths/${place[0]}/${place[1]}/responses/${place[2]}`;

    for (const [name, header] of Object.entries((node.headers ?? {}) as Record<string, Json>)) {
      const { required, schema } = resolve(header).node;
      const value = response.headers.get(name);
      if (value === null) {
        if (required === true) flaw(`lacks ${name}`);
      } else if (!ajv.validate(withRoot(schema as Json), value)) flaw(`${name}: ${value}: ${ajv.errorsText()}`);
    }

    const content = node.content as Record<string, Json> | undefined;
    const type = response.headers.get('content-type')?.split(';', 1)[0];
    if (content === undefined) {
      if (text !== '' && key !== '303') flaw(`has a body that is not described: ${text.slice(0, 80)}`);
      return { flaws, body: text };
    }
    const taken = type !== undefined && type in content ? type : '*/*' in content ? '*/*' : undefined;
    if (taken === undefined) {
      if (text !== '' || type !== undefined) flaw(`${type} is not among ${Object.keys(content).join(', ')}`);
      else flaw('has no body');
      return { flaws, body: text };
    }
    const body: unknown = /json$/.test(type ?? '') && text !== '' ? JSON.parse(text) : text;
    if ((content[taken] as Json).schema !== undefined) {
      const schema = `${pointer}/content/${taken.replace(/\//g, '~1')}/schema`;
      if (!ajv.validate({ $ref: `api${encodeURI(schema)}` }, body)) flaw(`${text.slice(0, 300)}: ${ajv.errorsText()}`);
    }
    return { flaws, body };
  }

  const withRoot = (schema: Json): Json =>
    JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"api#/')) as Json;

  return { operations, call, callRaw };
}
