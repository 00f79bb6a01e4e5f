import { parse as parseGraphql, validate } from 'graphql';
import { parseFragment } from 'parse5';
import { checkCommand } from './command-table.ts';
import { checkYaml } from './configuration.ts';
import { accountContract, buildContract } from './contract.ts';
import { checkExchange } from './exchange.ts';
import { complaintOf, JAVA_READER, programPresent, readBy } from './interpreters.ts';
import type { Block } from './markdown.ts';
import { checkNpm, checkUnit } from './operating.ts';
import { BLOCKS } from './pages.ts';
import { commandsIn, coursegateCall } from './shell.ts';

/** The check of the blocks in a language. It throws or rejects if a block is invalid. */
export interface Rule {
  /** The program that the check needs, its Debian package, and whether it is optional in CI. */
  readonly program?: readonly [program: string, debian: string, mayLack?: boolean];
  readonly check: (block: Block) => void | Promise<void>;
}

const shell: Rule = {
  program: ['bash', 'bash'],
  check({ text }) {
    readBy((file) => ['bash', '-n', file], 'block.sh', text);
    const own = /^\s*(?:function )?coursegate *\(\)/m.test(text);
    for (const words of commandsIn(text)) {
      const call = own ? undefined : coursegateCall(words);
      if (call !== undefined) checkCommand(call);
      checkNpm(words);
    }
  },
};

const script: Rule = {
  check({ text, language }) {
    const name = language.startsWith('t') ? 'block.mts' : 'block.mjs';
    readBy((file) => [process.execPath, '--no-warnings', '--check', file], name, text);
  },
};

const PYTHON = process.env.PYTHON ?? '/usr/bin/python3';

/** Every language that a page may use. Add a rule before you use another one. */
export const RULES: Readonly<Record<string, Rule>> = {
  yaml: { check: checkYaml },
  sh: shell,
  js: script,
  ts: script,
  json: {
    check({ text }) {
      JSON.parse(text);
    },
  },
  http: { check: ({ text }) => checkExchange(text) },
  graphql: {
    check(block) {
      const document = parseGraphql(block.text);
      if (block.words[0] === 'contract' || block.words[0] === 'mapping') return;
      const isOperation = document.definitions.some(({ kind }) => kind === 'OperationDefinition');
      if (!isOperation) return;
      const own = BLOCKS.find(({ file, words }) => file === block.file && words[0] === 'contract');
      const [mistake] = validate(own === undefined ? accountContract() : buildContract(own.text), document);
      if (mistake) throw mistake;
    },
  },
  html: {
    check({ text }) {
      const mistakes: string[] = [];
      parseFragment(text, { onParseError: ({ code, startLine }) => mistakes.push(`${code} in its line ${startLine}`) });
      if (mistakes.length > 0) throw new Error(mistakes.join('; '));
    },
  },
  php: {
    program: ['php', 'php-cli'],
    check: ({ text }) =>
      readBy((file) => ['php', '-l', file], 'block.php', text.includes('<?php') ? text : `<?php\n${text}`),
  },
  python: {
    program: [PYTHON, 'python3'],
    check: ({ text }) =>
      readBy((file) => [PYTHON, '-c', `import ast; ast.parse(open(${JSON.stringify(file)}).read())`], 'block.py', text),
  },
  ruby: { program: ['ruby', 'ruby'], check: ({ text }) => readBy((file) => ['ruby', '-c', file], 'block.rb', text) },
  java: {
    program: ['javac', 'default-jdk-headless', true],
    check({ text }) {
      // A single-file program, which `java` compiles at start.
      readBy(
        (file, folder) => [
          'sh',
          '-c',
          `cat > Reader.java <<'END'\n${JAVA_READER}\nEND\nexec java Reader.java ${file} ${folder}`,
        ],
        'Block.txt',
        text,
      );
    },
  },
  go: {
    program: ['gofmt', 'golang-go', true],
    // Prints what it would change. Only newer versions also fail then.
    check: ({ text }) =>
      readBy(
        (file) => ['sh', '-c', 'gofmt -d "$0" >diff; code=$?; cat diff; test $code = 0 && test ! -s diff', file],
        'block.go',
        text,
      ),
  },
  properties: {
    check({ text }) {
      for (const line of text.split('\n')) {
        if (line.trim() !== '' && !/^\s*#/.test(line) && !/^[\w.-]+=\S/.test(line))
          throw new Error(`no property: ${line}`);
      }
    },
  },
  mermaid: {
    check({ text }) {
      const [first, ...lines] = text.trimEnd().split('\n');
      if (first !== 'stateDiagram-v2') throw new Error(`no state diagram: ${first}`);
      for (const line of lines)
        if (!/^ {2}(?:direction (?:LR|TB)|state "[^"]+" as \w+|(?:\[\*\]|\w+) --> \w+: [^:;]+)$/.test(line))
          throw new Error(`no line of a state diagram: ${line}`);
    },
  },
  sql: { check: ({ text }) => checkSql(text) },
  nginx: {
    program: ['/usr/sbin/nginx', 'nginx'],
    check: ({ text }) => readAs(nginxAround(text), (file) => ['/usr/sbin/nginx', '-t', '-c', file]),
  },
  apache: {
    program: ['/usr/sbin/apache2', 'apache2'],
    check: ({ text }) => readAs([apacheAround(text)], (file) => ['/usr/sbin/apache2', '-t', '-f', file]),
  },
  caddy: {
    program: ['/usr/bin/caddy', 'caddy'],
    check: ({ text }) =>
      readAs([isCaddyfile(text) ? text : `localhost {\n${text}\n}`], (file) => [
        '/usr/bin/caddy',
        'adapt',
        '--adapter',
        'caddyfile',
        '--config',
        file,
      ]),
  },
  systemd: { check: ({ text }) => checkUnit(text) },
  promql: {
    program: ['promtool', 'prometheus', true],
    check: ({ text }) =>
      readBy(
        (file) => ['promtool', 'check', 'rules', file],
        'rules.yaml',
        JSON.stringify({
          groups: [{ name: 'docs', rules: expressions(text).map((expr, at) => ({ record: `docs:${at}`, expr })) }],
        }),
      ),
  },
  dockerfile: { check: ({ text }) => checkDockerfile(text) },
  text: {
    check({ text }) {
      const command = text
        .split('\n')
        .find((line) => /^\s*(?:\$ |npx |npm |curl |sudo |kubectl |helm |systemctl )/.test(line));
      if (command !== undefined) throw new Error(`“${command.trim()}” is a command: say sh, so that it is checked`);
    },
  },
};

/** Whether the program of a rule is installed, if it needs one. */
export const canCheck = ({ program }: Rule): boolean => program === undefined || programPresent(...program);

/** Expressions are separated by empty lines; lines that begin with # are comments. */
function expressions(text: string): string[] {
  return text
    .split(/\n\s*\n/)
    .map((one) => one.replace(/^#.*$/gm, '').trim())
    .filter(Boolean);
}

/** Throws unless one of the texts is valid. */
function readAs(
  texts: readonly string[],
  command: (file: string, folder: string) => readonly [string, ...string[]],
): void {
  const complaints: string[] = [];
  for (const text of texts) {
    const complaint = complaintOf(command, 'server.conf', text);
    if (complaint === undefined) return;
    complaints.push(complaint);
  }
  throw new Error(complaints.join('\n'));
}

/** Lines for nginx may belong in `server`, `http` or `location`. */
function nginxAround(text: string): string[] {
  const around = (inside: string) =>
    `pid /tmp/none.pid; error_log stderr; events {} http { access_log off; ${inside} }`;
  const server = (inside: string) => around(`server { listen 127.0.0.1:8; ${inside} }`);
  return [server(text), around(text), server(`location / { ${text} }`)];
}

/** Whether it has site blocks: an address and a block. Otherwise it is the content of one. */
const isCaddyfile = (text: string): boolean =>
  /^(?:https:\/\/ |(?:https?:\/\/)?[\w*-]+(?:[.:][\w.-]+)+.*)\{$/m.test(text);

function apacheAround(text: string): string {
  const modules = [
    'mpm_event',
    'authz_core',
    'authn_core',
    'proxy',
    'proxy_http',
    'headers',
    'rewrite',
    'setenvif',
    'ssl',
    'socache_shmcb',
  ];
  return `ServerRoot /tmp
ServerName localhost
Listen 127.0.0.1:8
ErrorLog /dev/stderr
DefaultRuntimeDir /tmp
${modules.map((module) => `LoadModule ${module}_module /usr/lib/apache2/modules/mod_${module}.so`).join('\n')}
${text}
`;
}

const STATEMENTS = /^(?:select|insert|update|delete|create|alter|grant|revoke|drop|with|set|vacuum|pragma)\b/i;

/** A check of SQL without a database: complete statements, with quotes and parentheses closed. */
function checkSql(text: string): void {
  const bare = text.replace(/--.*$/gm, '').replace(/'(?:[^']|'')*'/g, "''");
  if ((bare.replaceAll("''", '').match(/'/g) ?? []).length > 0) throw new Error('a quote is not closed');
  if (bare.split('(').length !== bare.split(')').length) throw new Error('a parenthesis is not closed');
  const statements = bare.split(';').map((one) => one.trim());
  if (statements.pop() !== '') throw new Error('the last statement does not end with ;');
  for (const one of statements) if (!STATEMENTS.test(one)) throw new Error(`no statement: ${one}`);
}

const INSTRUCTIONS =
  /^(?:FROM|RUN|COPY|ADD|CMD|ENTRYPOINT|ENV|ARG|LABEL|USER|WORKDIR|EXPOSE|VOLUME|HEALTHCHECK|STOPSIGNAL|SHELL)\s/;

function checkDockerfile(text: string): void {
  const lines = text
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));
  for (const line of lines) if (!INSTRUCTIONS.test(line)) throw new Error(`no instruction: ${line}`);
}
