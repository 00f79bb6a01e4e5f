// Runs in the browser next to React and GraphiQL, as a script of the page. Plain JavaScript, because there is no build.

const { React, ReactDOM, GraphiQL } = window;
const root = document.getElementById('graphiql');
const { endpoint, query } = root.dataset;
const field = document.getElementById('token');
const said = document.getElementById('said');

/** The token is kept in memory only: never in the URL or in storage, and lost when the page is closed. */
let token = fromFragment();

/** A token passed in by another page on this computer. It is removed from the URL before anything else happens. */
function fromFragment() {
  const handed = new URLSearchParams(location.hash.slice(1)).get('access_token');
  if (location.hash !== '') history.replaceState(null, '', location.pathname);
  return handed ?? '';
}

function say(text, ill = false) {
  said.textContent = text;
  said.classList.toggle('ill', ill);
}

/** What a status means for the token in use, and what to do about it. */
const ADVICE = {
  401: 'The gate does not take this token: it is missing, mistyped, expired, revoked or meant for another site. Get a new one and paste it above.',
  403: 'The token is good but lacks a scope that is needed here. Connect again and ask for it.',
  404: 'There is no Account API at this address.',
  429: 'Too many requests. Wait a moment, then run it again.',
  503: 'The gate cannot serve this now. Run it again in a moment.',
};

/** Runs one operation over HTTP. Resolves to the GraphQL response, or to the gate's refusal in the same format. */
async function send(request, headers) {
  let response;
  try {
    response = await fetch(endpoint, {
      method: 'POST',
      headers: {
        accept: 'application/graphql-response+json, application/json;q=0.9',
        'content-type': 'application/json',
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: JSON.stringify(request),
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
    });
  } catch (thrown) {
    const message = `No answer from ${endpoint}: ${thrown.message}`;
    say(message, true);
    return { errors: [{ message }] };
  }
  const answer = await response.json().catch(() => undefined);
  const status = `${response.status} ${response.statusText}`.trim();
  const advice = ADVICE[response.status];
  if (response.ok) say(`${status}.`);
  else say(advice === undefined ? `${status}.` : `${status}. ${advice}`, true);
  if (answer?.data !== undefined || answer?.errors !== undefined) return answer;
  const challenge = response.headers.get('www-authenticate');
  const extensions = { status: response.status, ...(challenge === null ? {} : { challenge }), answer };
  return { errors: [{ message: advice === undefined ? status : `${status}. ${advice}`, extensions }] };
}

const app = ReactDOM.createRoot(root);

/** Renders GraphiQL. A new fetcher makes it load the schema again, which needs a token. */
function show() {
  app.render(
    React.createElement(GraphiQL, {
      fetcher: (request, options) => send(request, options?.headers),
      storage: window.sessionStorage,
      shouldPersistHeaders: false,
      showPersistHeadersSettings: false,
      ...(query === undefined ? {} : { defaultQuery: query }),
      ...(token === '' ? { schema: null } : {}),
    }),
  );
}

document.getElementById('access').addEventListener('submit', (event) => {
  event.preventDefault();
  token = field.value.trim().replace(/^Bearer\s+/i, '');
  field.value = '';
  say(token === '' ? 'No token: the gate will refuse.' : 'Reading the schema with the new token.');
  show();
});

/** Names CodeMirror's text areas and scroll areas, which have none, for screen readers and keyboard users. */
const NAMES = {
  '.graphiql-query-editor': 'Operation',
  '.graphiql-editor-tool .graphiql-editor:first-child': 'Variables',
  '.graphiql-editor-tool .graphiql-editor:last-child': 'Headers',
  '.result-window': 'Answer',
};

function nameEditors() {
  for (const [place, name] of Object.entries(NAMES)) {
    root.querySelector(`${place} textarea:not([aria-label])`)?.setAttribute('aria-label', name);
    const scroll = root.querySelector(`${place} .CodeMirror-scroll:not([role])`);
    if (scroll === null) continue;
    scroll.setAttribute('role', 'group');
    scroll.setAttribute('aria-label', `${name}, scrolling`);
    scroll.tabIndex = 0;
  }
}

new MutationObserver(nameEditors).observe(root, { childList: true, subtree: true });
say(token === '' ? 'Paste an access token to begin.' : 'Reading the schema with the token that came with the link.');
show();
