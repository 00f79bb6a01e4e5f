import { segmentsOf } from '../../../config/route-order.ts';

/**
 * An unanchored expression for paths that a backend may resolve to other ones: with a dot segment that has a parameter,
 * or backslashes. They go to the gate, which refuses them.
 */
export const AMBIGUOUS_PATH = '/(.*[/\\\\])?\\.{1,2}([;/\\\\].*)?';

/**
 * An unanchored expression for the decoded path of a route's requests, in syntax that every engine supports. It is to be
 * used without regard to case, and so that a dot matches line breaks. It also matches spellings that a backend may take
 * for the same path (path parameters, a final slash), so that they are asked about and refused.
 */
export function pathExpression(pattern: string): string {
  const segments = segmentsOf(pattern);
  const parts = segments.map((segment, at) => {
    if (segment === '**') return '(/.*)?';
    if (segment === '' && at === segments.length - 1) return '';
    return segment === '*' ? '/[^/]+' : `/${literal(segment)}(;[^/]*)?`;
  });
  return segments.at(-1) === '**' ? parts.join('') : `${parts.join('')}/?`;
}

/** How an engine writes what lenient backends take for a separator, and what they do not see. */
interface Engine {
  /** An overlong dot or slash, and a fullwidth slash. */
  readonly separators: string;
  /** Characters that are not displayed. */
  readonly invisible: string;
  /** Follows a quantifier so that it gives nothing back; '' if the engine needs linear time anyway. */
  readonly possessive: string;
}

export const PCRE: Engine = {
  separators: '\\xc0[\\xae\\xaf]|\\xef\\xbc\\x8f',
  invisible: '\\xc2\\xad|\\xe2\\x80[\\x8b-\\x8f]|\\xef\\xbb\\xbf',
  possessive: '+',
};
export const RE2: Engine = {
  separators: '\\x{FFFD}|\\x{FF0F}',
  invisible: '\\x{AD}|[\\x{200B}-\\x{200F}]|\\x{FEFF}',
  possessive: '',
};

/**
 * An unanchored expression for targets, as they were sent, with a dot segment beside an encoded or unusual separator, or
 * an encoded dot segment: servers disagree on what they resolve to. They go to the gate, which refuses them.
 */
export function oddDots({ separators }: Engine): string {
  const odd = `(\\\\|%2f|%5c|%c0%af|%ef%bc%8f|${separators})`;
  const dots = '(\\.|%2e|%c0%ae){1,2}';
  const encoded = '(%2e|%c0%ae|\\.%2e|\\.%c0%ae|%2e\\.|%c0%ae\\.|%2e%2e|%c0%ae%c0%ae)';
  const end = `(/|${odd}|[;?#]|%3b|$)`;
  return `[^?#]*(${odd}${dots}${end}|/${dots}(${odd}|;|%3b)|/${encoded}${end}).*`;
}

/**
 * An unanchored expression for targets, decoded or as they were sent, that a lenient backend may read as a path of the
 * route although nobody is asked about them: with encoded or doubled separators, dot segments, spaces or control
 * characters. They go to the gate, which refuses them. To be used like `pathExpression`.
 */
export function oddExpression(pattern: string, { separators, invisible, possessive }: Engine): string {
  const between = `([/\\\\.]|%2f|%5c|%2e|%c0%a[ef]|%ef%bc%8f|${separators})+${possessive}`;
  const unseen = `([ \\x00-\\x1f\\x7f]|%20|%[01][0-9a-f]|%7f|%c2%ad|%e2%80%8[b-f]|%ef%bb%bf|${invisible})*${possessive}`;
  const parameters = `((;|%3b)[^/?]*${possessive})?${possessive}`;
  const segments = segmentsOf(pattern).filter((segment) => segment !== '');
  const begin = segments
    .filter((segment) => segment !== '**')
    .map((segment) => between + (segment === '*' ? `[^/?]+${possessive}` : literal(segment) + unseen + parameters));
  const end = segments.at(-1) === '**' ? `(${between}.*|[?#].*)?` : `(${between})?([?#].*)?`;
  return begin.join('') + end;
}

function literal(segment: string): string {
  let decoded = segment;
  try {
    decoded = decodeURIComponent(segment);
  } catch {
    // As it is written, then.
  }
  return decoded.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
