/** Markup that is safe to send. Only `html` creates it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

export type HtmlValue = Html | string | number | undefined | false | readonly HtmlValue[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function render(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'string' || typeof value === 'number')
    return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
  return value.map(render).join('');
}

/**
 * A template tag. Every value is escaped unless it is Html already; arrays are joined; undefined and false render
 * nothing.
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(strings.reduce((text, part, index) => text + render(values[index - 1]) + part));
}

/**
 * Header fields of a page that loads nothing from elsewhere, and is neither framed nor kept. `form-action` is left out on
 * purpose: Chromium applies it to the whole redirect chain after a form is posted, so any value would block the redirect
 * to the app that a member has just approved.
 */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

export interface HtmlDocument {
  /** BCP 47. English if omitted. */
  readonly language?: string;
  /** `ltr` or `rtl`. */
  readonly direction?: string;
  readonly title: string;
  /** What else is in the head: the stylesheet, an icon. */
  readonly head: Html;
  /** The class of `body`. */
  readonly bodyClass?: string;
  readonly body: Html;
}

/** A complete document, in light or dark as the reader's system has it. */
export function htmlDocument({ language = 'en', direction, title, head, bodyClass, body }: HtmlDocument): string {
  return html`<!doctype html>
<html lang="${language}"${direction !== undefined && html` dir="${direction}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
${head}
</head>
<body${bodyClass !== undefined && html` class="${bodyClass}"`}>
${body}
</body>
</html>
`.text;
}
