import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import express, { type Request, type Response } from 'express';

/** A small Express site with its own login, sessions and CSRF tokens, and coursegate's drop-in. */
const { PORT, INTEGRATIONS, SAM_NAME, ...env } = process.env as Record<string, string>;
const { coursegate } = await import(`${INTEGRATIONS}/express/coursegate.js`);

interface Person {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly name: string;
  readonly emailVerified: boolean;
  passwordHash: string;
}
type Asked = Request & {
  user?: Person;
  coursegate?: { client_id: string; scope: string[] };
  csrf?: string;
  authTime?: number;
};

const hash = (password: string) => createHash('sha256').update(`pepper${password}`).digest('hex');
const people: Person[] = [
  {
    id: 1,
    username: 'sam',
    email: 'sam@example.com',
    name: SAM_NAME ?? '',
    emailVerified: true,
    passwordHash: hash('correct horse battery'),
  },
  {
    id: 2,
    username: 'olu',
    email: 'olu@example.com',
    name: 'Olu',
    emailVerified: false,
    passwordHash: hash('staple for the other'),
  },
];
const sessions = new Map<string, { id: number; csrf: string; authTime: number }>();

const gate = coursegate({
  origin: env.COURSEGATE_ORIGIN,
  pagesOrigin: env.COURSEGATE_PAGES_ORIGIN,
  upstream: env.COURSEGATE_UPSTREAM,
  secret: env.COURSEGATE_BRIDGE_SECRET,
  jwksUrl: env.COURSEGATE_JWKS_URL,
  fetchPause: Number(env.COURSEGATE_FETCH_PAUSE),
  boundOnly: env.COURSEGATE_BOUND_ONLY === 'true',
  adminUrl: env.COURSEGATE_ADMIN,
  adminSecret: env.COURSEGATE_ADMIN_SECRET,
  signedIn: async ({ user, authTime }: Asked) => user && { ...user, authTime },
  findMember: async (id: string) => people.find((person) => String(person.id) === id),
  loginUrl: (returnTo: string) => `/login?next=${encodeURIComponent(returnTo)}`,
});

const app = express();
// The package method-override with its default header, and with a query parameter.
app.use((request: Asked & { originalMethod?: string }, _response, next) => {
  request.originalMethod ??= request.method;
  const asked = request.query._method;
  if (request.originalMethod === 'POST' && typeof asked === 'string') request.method = asked.toUpperCase();
  next();
});
app.use(gate.assertion);
app.all('/method', (request, response) => response.json({ method: request.method }));
app.use(express.urlencoded());
app.use((request: Asked, response, next) => {
  const cookie = /(?:^|; )sid=(\w+)/.exec(request.headers.cookie ?? '')?.[1];
  const session = sessions.get(cookie ?? '');
  if (session !== undefined) request.user = people.find(({ id }) => id === session.id) as Person;
  if (session !== undefined) Object.assign(request, { csrf: session.csrf, authTime: session.authTime });
  const safe = request.method === 'GET' || request.path === '/login' || request.coursegate !== undefined;
  if (!safe && (session === undefined || request.body?.csrf !== session.csrf)) response.status(403).end();
  else next();
});

app.get('/coursegate/whoami', gate.whoami);
app.get('/coursegate/bridge', gate.bridge);

const probe = (request: Asked, response: Response) => {
  const { user, coursegate: claims, headers } = request;
  const seen = Object.keys(headers).filter((name) => /member|client.id/i.test(name));
  response.json({
    member: user === undefined ? null : String(user.id),
    client: claims?.client_id ?? null,
    scope: claims?.scope ?? [],
    seen,
  });
};
app.all('/probe', probe);
app.get('/private', (request: Asked, response) => {
  if (request.user === undefined) response.redirect('/login');
  else probe(request, response);
});

const page = (fields: string) => `<form method="post" action="">${fields}<button>Go</button></form>`;
app.get('/login', (_request, response) => void response.send(page('<input name="username"><input name="password">')));
app.post('/login', (request, response) => {
  const { username, password } = request.body;
  const person = people.find((one) => one.username === username && one.passwordHash === hash(password));
  if (person === undefined) return void response.status(200).send('wrong');
  const sid = randomBytes(16).toString('hex');
  sessions.set(sid, { id: person.id, csrf: randomBytes(16).toString('hex'), authTime: Math.floor(Date.now() / 1000) });
  response.cookie('sid', sid, { httpOnly: true });
  response.redirect(303, String(request.query.next ?? '/probe'));
});
app.get('/password', (request: Asked, response) => {
  response.send(page(`<input type="hidden" name="csrf" value="${request.csrf}"><input name="password">`));
});
app.post('/password', async (request: Asked, response) => {
  if (request.user !== undefined) {
    request.user.passwordHash = hash(request.body.password);
    await gate.endConnections(request.user.id, 'password changed');
  }
  response.redirect(303, '/probe');
});

createServer(express().use('/campus', app).use(app)).listen(Number(PORT), '127.0.0.1');
