/** What the browser shows after the redirect back. The text is fixed: nothing from the request is displayed. */
const PAGES = {
  received: ['You can close this window', 'Return to your terminal to continue.'],
  denied: [
    'Nothing was connected',
    'The site did not grant access. You can close this window; your terminal has the details.',
  ],
  stranger: ['Unexpected response', 'Go back to the page that your terminal opened, or start again.'],
} as const;

/** A complete page without scripts. */
export function callbackPage(kind: keyof typeof PAGES): string {
  const [title, text] = PAGES[kind];
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>:root{color-scheme:light dark}body{font:1.125rem/1.5 system-ui,sans-serif;margin:20vh auto;max-width:32rem;
padding:0 1.5rem;text-align:center}h1{font-size:1.5rem}</style></head>
<body><main id="connect"><h1>${title}</h1><p>${text}</p></main></body>
</html>
`;
}
