import { compilePattern } from '../../config/pattern.ts';
import type { AnswerFormat } from '../../config/whoami.ts';
import { at } from '../../http/json-pointer.ts';
import type { UpstreamResponse } from '../../upstream/request.ts';
import { htmlText } from './html-text.ts';
import { jsonAnswer } from './json-answer.ts';
import { unusable } from './unusable.ts';

/** What is at a selector: a JSON value, or the text of a header field or of what a pattern captured. */
export type ValueAt = (selector: string) => unknown;

/** Characters of a page that patterns are tried on. */
const LONGEST_PAGE = 1024 * 1024;

/**
 * Makes the reader of a backend's answers. In: the format, and every selector that will be asked for. Out: what takes
 * one answer and gives the values in it. Throws GatewayError `login_unavailable` for an answer that has not that format.
 */
export function answerReader(
  format: AnswerFormat,
  selectors: readonly (string | undefined)[],
): (answer: UpstreamResponse) => ValueAt {
  switch (format) {
    case 'json':
      return ({ body }) => {
        const document = jsonAnswer(body);
        return (pointer) => at(document, pointer);
      };
    case 'header':
      return ({ headers }) => {
        return (name) => headers[name.toLowerCase()];
      };
    case 'html': {
      const patterns = new Map(
        selectors.flatMap((source) => (source === undefined ? [] : [[source, compilePattern(source)] as const])),
      );
      return ({ body }) => {
        if (body.length > LONGEST_PAGE) throw unusable('a page too long to look for the member in');
        return (source) => {
          const captured = patterns.get(source)?.capture(body);
          return captured === undefined ? undefined : htmlText(captured);
        };
      };
    }
  }
}
