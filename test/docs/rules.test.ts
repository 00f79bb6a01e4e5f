import { describe, expect, it } from 'vitest';
import { type Block, readMarkdown } from './support/markdown.ts';
import { canCheck, RULES } from './support/rules.ts';
import { commandsIn, coursegateCall } from './support/shell.ts';

const block = (language: string, text: string, ...markers: string[]): Block => ({
  file: 'docs/made-up.md',
  line: 1,
  language,
  words: [],
  text,
  markers,
  headings: [],
});

/** A check that throws or rejects fails the test of a page. */
const judge = async (language: string, text: string, ...markers: string[]) =>
  RULES[language]?.check(block(language, text, ...markers));

/** A configuration that loads with a warning, because it does not name its proxy. */
const WHOLE = `profile: B
origin: https://school.example
store: { kind: memory }
upstreams: { school: { url: http://127.0.0.1:4000 } }
login: { kind: session, upstream: school, whoami: { path: /api/me }, loginUrl: https://school.example/login, cookies: [a] }
routes:
  - { match: "GET /x", upstream: school, scopes: [courses:read] }
`;

describe('an invalid code block', () => {
  it.each([
    ['mermaid', 'stateDiagram-v2\n  a -> b', /no line of a state diagram/],
    ['yaml', 'listen: { prt: 8080 }', /listen\.prt|did you mean "port"/],
    ['yaml', 'routes:\n  - { match: "GET /x", upstream: school, scopes: [course:read] }', /no scope "course:read"/],
    ['yaml', 'login: { kind: sesion }', /kind/],
    ['yaml', `version: 1\n${WHOLE}`, /warning: listen.trustedProxies/],
    ['yaml', 'lisen: { port: 8080 }', /neither a configuration of coursegate/],
    ['yaml', 'members:\n  - { id: 1, password: plain }', /password/],
    ['yaml', 'apiVersion: v1\nmetadata: { name: x }', /needs its `kind`/],
    ['yaml', 'apiVersion: v1\nkind: Service\n---\nkind: Secret\nmetadata: { name: x }', /metadata.name|apiVersion/],
    ['yaml', 'services: { gate: { ports: [] } }', /has an image/],
    ['yaml', 'a: [', /flow|Flow/],
    ['sh', 'coursegate chekc coursegate.yaml', /no command coursegate chekc/],
    ['sh', 'npx coursegate check', /takes 1 argument/],
    ['sh', 'npx coursegate serve --confg x.yaml', /no option --confg/],
    [
      'sh',
      'kubectl exec deploy/school -c gate -- coursegate doctr https://school.example',
      /no command coursegate doctr/,
    ],
    ['sh', 'docker run --rm coursegate:0.1.0 chekc /etc/coursegate.yaml', /no command coursegate chekc/],
    ['sh', 'if true; then echo', /syntax error/],
    ['sh', 'npm run demo', /no script demo/],
    ['json', '{ "a": 1, }', /JSON/],
    ['http', 'GET', /neither a request nor an answer/],
    ['http', 'POST /x HTTP/1.1\nContent-Type: application/json\n\n{', /JSON/],
    ['http', 'HTTP/1.1 401 Unauthorized\nWWW-Authenticate Bearer', /no field/],
    ['js', 'const a = ;', /SyntaxError/],
    ['ts', 'const a: = 1;', /SyntaxError/],
    ['graphql', '{ viewer { enroledCourses { nodes { slug } } } }', /enroledCourses/],
    ['graphql', '{ viewer {', /Syntax Error/],
    ['html', '<a href="x" href="y">', /duplicate-attribute/],
    ['php', 'echo 1', /syntax error/],
    ['python', 'def a(:', /SyntaxError/],
    ['ruby', 'def a(', /syntax error/],
    ['java', 'int a( {', /illegal start|expected/],
    ['go', 'package main\n\nfunc main() {\n', /expected/],
    ['go', 'package main\n\nfunc main() { }\n', /\+func main\(\) \{\}/],
    ['properties', 'no property', /no property/],
    ['sql', 'select 1', /does not end/],
    ['sql', "select 'a;", /not closed/],
    ['sql', 'selcet 1;', /no statement/],
    ['nginx', 'location / { proxy_pas http://x; }', /unknown directive/],
    ['apache', 'ProxyPas / http://x/', /Invalid command/],
    ['caddy', 'reverse_prxy x', /reverse_prxy/],
    ['systemd', '[Service]\nExecStart=/usr/bin/npx coursegate serv --config x', /no command coursegate serv/],
    ['systemd', 'ExecStart=x', /no section/],
    ['systemd', '[Service]\nno setting', /no setting/],
    ['promql', 'rate(x[5m]', /unclosed|parse error/],
    ['dockerfile', 'FORM node', /no instruction/],
    ['text', '$ npx coursegate check x', /is a command/],
  ])('in %s is reported: %s', async (language, text, message) => {
    const rule = RULES[language];
    if (rule === undefined) throw new Error(`no rule for ${language}`);
    if (!canCheck(rule)) return;
    await expect(judge(language, text)).rejects.toThrow(message);
  });
});

describe('a valid code block', () => {
  it.each([
    ['yaml', 'listen: { port: 9000 }'],
    ['yaml', 'routes:\n  - { match: "GET /x", upstream: another }'],
    ['yaml', 'admin:\n  mtls: { cert: /etc/x/admin.crt, key: admin.key, clientCa: ca.crt, names: [backend.internal] }'],
    ['yaml', 'login: { kind: webhook, upstream: school, path: /in, secret: { file: /run/secrets/in } }'],
    [
      'yaml',
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: gate }\n---\napiVersion: v1\nkind: Service\nmetadata: { name: gate }',
    ],
    ['sh', 'npx coursegate check coursegate.yaml && echo "it is $(coursegate --version)"'],
    ['sh', 'systemctl restart coursegate\nhelm install coursegate ./helm/coursegate'],
    ['sh', "cat > x <<'END'\ncoursegate nonsense\nEND\n"],
    ['sh', 'coursegate hash-password < password.txt > hash.txt   # coursegate nonsense'],
    ['http', 'HTTP/1.1 401 Unauthorized\nWWW-Authenticate: Bearer error="invalid_token",\n  scope="a"\n\n'],
    ['java', '@Bean\nString a() { return "a"; }'],
    ['java', 'accounts.end(1, "a");'],
    ['nginx', 'location /oauth/ { proxy_pass http://127.0.0.1:8080; }'],
    ['promql', '# how many\nrate(a[5m])\n\nsum by (b) (c)'],
    [
      'systemd',
      '[Unit]\nAfter=network.target\n\n[Service]\nExecStart=/usr/bin/npx coursegate serve --config /etc/x.yaml\n',
    ],
  ])('in %s passes: %s', async (language, text) => {
    const rule = RULES[language];
    if (rule === undefined) throw new Error(`no rule for ${language}`);
    if (!canCheck(rule)) return;
    await judge(language, text);
  });
});

describe('the Markdown parser', () => {
  it('reads blocks in lists, with their headings and comments', () => {
    const { blocks, anchors } = readMarkdown(
      'docs/made-up.md',
      '# One\n## Two `x`\n1. a\n\n   <!-- run -->\n   ```sh\n   true\n   ```\n## Two x\ntext\n```json answer\n{}\n```\n',
    );
    expect(blocks).toEqual([
      {
        file: 'docs/made-up.md',
        line: 6,
        language: 'sh',
        words: [],
        text: 'true\n',
        markers: ['run'],
        headings: ['One', 'Two `x`'],
      },
      {
        file: 'docs/made-up.md',
        line: 11,
        language: 'json',
        words: ['answer'],
        text: '{}\n',
        markers: [],
        headings: ['One', 'Two x'],
      },
    ]);
    expect([...anchors]).toEqual(['one', 'two-x', 'two-x-1']);
  });

  it('refuses an unclosed block and a block in a quotation', () => {
    expect(() => readMarkdown('a.md', 'x\n```sh\ntrue\n')).toThrow('a.md:2: this block is never closed');
    expect(() => readMarkdown('a.md', '> ```sh\n> true\n> ```\n')).toThrow('a.md:1: no test looks at');
  });
});

describe('a shell command', () => {
  it.each([
    ['A=1 coursegate check x', ['check', 'x']],
    ['npx coursegate connect https://school.example', ['connect', 'https://school.example']],
    ['sudo -u coursegate /usr/local/bin/coursegate check x', ['check', 'x']],
    ['kubectl exec deploy/x -c gate -- coursegate check x', ['check', 'x']],
    [
      'podman run --rm -v "$PWD:/etc/x:ro" ghcr.example/coursegate:0.1.0 check /etc/x/c.yaml',
      ['check', '/etc/x/c.yaml'],
    ],
    ['echo x | coursegate hash-password', ['hash-password']],
    ['coursegate doctor \\\n  --json https://school.example', ['doctor', '--json', 'https://school.example']],
    ['systemctl restart coursegate', undefined],
    ['helm upgrade coursegate ./helm/coursegate', undefined],
    ['useradd --system coursegate', undefined],
    ['sudo useradd --home-dir /var/lib/coursegate --shell /bin/sh coursegate', undefined],
    ['docker exec school_gate coursegate check x', ['check', 'x']],
  ])('%s runs coursegate with %j', (text, words) => {
    expect(
      commandsIn(text)
        .map(coursegateCall)
        .find((call) => call !== undefined),
    ).toEqual(words);
  });
});
