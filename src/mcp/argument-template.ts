import { GatewayError } from '../errors.ts';
import type { Principal } from '../oauth/principal.ts';
import { canonicalPath } from '../upstream/target.ts';
import { memberOf } from './tool.ts';

export type ToolInput = Readonly<Record<string, unknown>>;

const PLACEHOLDER = /\{([^{}]*)\}/g;
const WHOLE = /^\{([^{}]*)\}$/;

/** Names of the placeholders in a template. */
export function placeholders(template: string): readonly string[] {
  return [...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
}

/** The template with a value for each placeholder. */
export function fillPlaceholders(template: string, fill: (name: string) => string): string {
  return template.replace(PLACEHOLDER, (_, name: string) => fill(name));
}

/**
 * Fills in a path. Every value stays within its own segment: values that a server might read as more than that (a
 * slash in any encoding, `..`, a control character) are refused by the same rule that checks the paths of requests.
 * Throws GatewayError `invalid_request`, which names the argument.
 */
export function fillPath(template: string, input: ToolInput, principal: Principal): string {
  const path = fillPlaceholders(template, (name) => {
    const encoded = encodeURIComponent(argumentOf(name, input, principal)?.toWellFormed() ?? '');
    if (encoded === '' || canonicalPath(`/${encoded}`) === undefined) {
      throw new GatewayError('invalid_request', { message: `The argument "${name}" has a value that cannot be used.` });
    }
    return encoded;
  });
  const canonical = canonicalPath(path);
  if (canonical === undefined || canonical.split('/').length !== template.split('/').length) {
    throw new GatewayError('invalid_request', { message: 'The arguments have values that cannot be used.' });
  }
  return canonical;
}

/** The limit that requests to the gate have as well (RFC 9112 section 3 asks for at least 8000). */
const LONGEST_TARGET = 8192;

/**
 * Joins a path and its query into a request target. Throws GatewayError `invalid_request` if it exceeds 8192
 * characters.
 */
export function targetOf(path: string, query: string): string {
  if (path.length + query.length <= LONGEST_TARGET) return path + query;
  throw new GatewayError('invalid_request', { message: 'The arguments cannot be used: they are too long.' });
}

/** Fills in query parameters. A parameter that consists only of an argument that was not given is omitted. */
export function fillQuery(templates: Readonly<Record<string, string>>, input: ToolInput, principal: Principal): string {
  const pairs = Object.entries(templates).flatMap(([name, template]) => {
    const only = WHOLE.exec(template)?.[1];
    if (only !== undefined && argumentOf(only, input, principal) === undefined) return [];
    const value = fillPlaceholders(template, (of) => argumentOf(of, input, principal) ?? '');
    return [`${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`];
  });
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function argumentOf(name: string, input: ToolInput, principal: Principal): string | undefined {
  if (name === 'member.id') return memberOf(principal).sub;
  const value = Object.hasOwn(input, name) ? input[name] : undefined;
  if (value === undefined || value === null) return undefined;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
