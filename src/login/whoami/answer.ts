import { compilePattern } from '../../config/pattern.ts';
import type { UpstreamResponse } from '../../upstream/request.ts';
import { htmlText } from './html-text.ts';
import { jsonAnswer, valueIn } from './json-answer.ts';
import type { AnswerFormat } from './settings.ts';
import { unusable } from './unusable.ts';

/** The value at a selector: a JSON value, or the text of a header field or of a pattern's capture. */
export type ValueAt = (selector: string) => unknown;

/** Maximum length, in characters, of a page that patterns are applied to. */
const LONGEST_PAGE = 1024 * 1024;

/**
 * Creates a reader for the backend's answers, which takes one answer and returns access to its values. Throws
 * GatewayError `login_unavailable` for an answer in another format, and for a selector that has several values in it.
 * @param selectors - all selectors that will be used
 */
export function answerReader(
  format: AnswerFormat,
  selectors: readonly (string | undefined)[],
): (answer: UpstreamResponse) => ValueAt {
  switch (format) {
    case 'json':
      return ({ body }) => {
        const document = jsonAnswer(body);
        return (pointer) => valueIn(document, pointer);
      };
    case 'header':
      return (answer) => (name) => answer.headers[name.toLowerCase()];
    case 'html': {
      const patterns = new Map(
        selectors.flatMap((source) => (source === undefined ? [] : [[source, compilePattern(source)] as const])),
      );
      return ({ body }) => {
        if (body.length > LONGEST_PAGE) throw unusable('a page too long to look for the member in');
        return (source) => {
          const [captured, another] = patterns.get(source)?.captures(body) ?? [];
          if (another !== undefined) throw unusable(`a page in which ${source} matches different values`);
          return captured === undefined ? undefined : htmlText(captured);
        };
      };
    }
  }
}
