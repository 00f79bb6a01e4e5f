import { html } from '../../http/html.ts';

export interface GraphiqlOptions {
  /** URL of the Account API for browsers, on the public origin. */
  readonly endpoint: string;
  /** Initial content of the editor; undefined keeps GraphiQL's own welcome text. */
  readonly query: string | undefined;
  /** Whether the endpoint allows introspection. */
  readonly introspection: boolean;
}

/**
 * Content-Security-Policy of the page: it may run its own scripts and connect to one origin. Inline styles are
 * allowed, because GraphiQL's dialogs and tooltips use them. Its fonts are embedded in its stylesheet.
 */
export function graphiqlPolicy({ endpoint }: GraphiqlOptions): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    'font-src data:',
    "img-src 'self' data:",
    `connect-src ${new URL(endpoint).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The page around GraphiQL, with the endpoint and a field for the token. */
export function graphiqlPage({ endpoint, query, introspection }: GraphiqlOptions): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>GraphiQL: Account API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/graphiql/vendor.css">
<link rel="stylesheet" href="/graphiql/page.css">
</head>
<body>
<header>
  <div><h1>Account API</h1><p><code>${endpoint}</code></p></div>
  <div>
    <form id="access">
      <label for="token">Access token</label>
      <input id="token" type="password" autocomplete="one-time-code" spellcheck="false" aria-describedby="said">
      <button>Use token</button>
    </form>
    <p id="said" role="status"></p>
    ${!introspection && html`<p>This endpoint does not tell its schema (<code>account.introspection</code>): queries run, the documentation stays empty.</p>`}
    <noscript><p>GraphiQL needs JavaScript.</p></noscript>
  </div>
</header>
<main id="graphiql" data-endpoint="${endpoint}"${query !== undefined && html` data-query="${query}"`}></main>
<script src="/graphiql/react.js"></script>
<script src="/graphiql/react-dom.js"></script>
<script src="/graphiql/vendor.js"></script>
<script src="/graphiql/page.js"></script>
</body>
</html>`.text;
}
