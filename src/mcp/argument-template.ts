import { GatewayError } from '../errors.ts';
import type { Principal } from '../oauth/principal.ts';
import { canonicalPath } from '../upstream/target.ts';

export type Input = Readonly<Record<string, unknown>>;

const PLACEHOLDER = /\{([^{}]*)\}/g;
const WHOLE = /^\{([^{}]*)\}$/;

/** The names that a template has. */
export function placeholders(template: string): readonly string[] {
  return [...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
}

/**
 * Fills a path. Every value stays inside its one part of the path: what two servers might read as more than that (a
 * slash in any encoding, `..`, a control character) is refused by the rule that judges the paths of requests.
 * Throws GatewayError `invalid_request` naming the argument.
 */
export function fillPath(template: string, input: Input, principal: Principal): string {
  const path = template
    .split('/')
    .map((part) =>
      part.replace(PLACEHOLDER, (_, name: string) => {
        const value = argumentOf(name, input, principal);
        const encoded = value === undefined ? '' : encodeURIComponent(value.toWellFormed());
        if (encoded === '' || canonicalPath(`/${encoded}`) === undefined) {
          throw new GatewayError('invalid_request', {
            message: `The argument "${name}" has a value that cannot be used.`,
          });
        }
        return encoded;
      }),
    )
    .join('/');
  const canonical = canonicalPath(path);
  if (canonical === undefined || canonical.split('/').length !== template.split('/').length) {
    throw new GatewayError('invalid_request', { message: 'The arguments have values that cannot be used.' });
  }
  return canonical;
}

/** As long as a request to us may be (RFC 9112 §3 asks for 8000 at least). */
const LONGEST_TARGET = 8192;

/** A path and its query as one request target. Throws GatewayError `invalid_request` when it is longer than any we take. */
export function targetOf(path: string, query: string): string {
  if (path.length + query.length <= LONGEST_TARGET) return path + query;
  throw new GatewayError('invalid_request', { message: 'The arguments cannot be used: they are too long.' });
}

/** Fills query parameters. One whose only part is an argument that was not given is left out. */
export function fillQuery(templates: Readonly<Record<string, string>>, input: Input, principal: Principal): string {
  const pairs = Object.entries(templates).flatMap(([name, template]) => {
    const only = WHOLE.exec(template)?.[1];
    if (only !== undefined && argumentOf(only, input, principal) === undefined) return [];
    const value = template.replace(PLACEHOLDER, (_, of: string) => argumentOf(of, input, principal) ?? '');
    return [`${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`];
  });
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function argumentOf(name: string, input: Input, principal: Principal): string | undefined {
  if (name === 'member.id') {
    if (principal.kind !== 'member') throw new Error('a tool about a member was called by nobody');
    return principal.sub;
  }
  const value = Object.hasOwn(input, name) ? input[name] : undefined;
  if (value === undefined || value === null) return undefined;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
