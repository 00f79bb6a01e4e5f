import { segmentsOf } from '../../../config/route-order.ts';

/** How the segments of a pattern are written in an expression. */
export interface SegmentSyntax {
  /** `**` with its slash, and `*` with its slash. */
  readonly rest: string;
  readonly one: string;
  readonly fixed: (segment: string) => string;
}

/** An unanchored expression for the paths of a pattern. */
export function segmentExpression(pattern: string, { rest, one, fixed }: SegmentSyntax): string {
  return segmentsOf(pattern)
    .map((segment) => (segment === '**' ? rest : segment === '*' ? one : `/${fixed(segment)}`))
    .join('');
}

/** A text for an expression, in the syntax of every engine. */
export function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
