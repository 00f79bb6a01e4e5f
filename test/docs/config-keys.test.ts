import { describe, expect, it } from 'vitest';
import { configPathsOf, isConfigPath } from './support/config-keys.ts';
import { PAGES } from './support/pages.ts';

describe('the configuration keys in the docs', () => {
  it.each(PAGES)('exist: $file', (page) => {
    const wrong = configPathsOf(page).filter(({ path }) => !isConfigPath(path));
    expect(wrong.map(({ line, path }) => `${page.file}:${line}: the configuration has no ${path}`)).toEqual([]);
  });

  it('are recognised from the top level, within a block, with an operator’s names and in lists', () => {
    const there = ['listen.port', 'login.kind', 'anonymous.statuses', 'upstreams.*.openapi', 'routes[].match'];
    expect(there.filter((path) => !isConfigPath(path))).toEqual([]);
    const gone = ['listen.prt', 'login.knd', 'routes.mode', 'listen.port.number', 'upstreams.*.opnapi'];
    expect(gone.filter(isConfigPath)).toEqual([]);
  });

  it('are found with and without a value, but not files and log fields', () => {
    const page = {
      file: 'a.md',
      blocks: [],
      anchors: new Set<string>(),
      prose: [
        {
          number: 7,
          text: 'Say `login.kind: session`, `listen.drain.grace` and `log.level`, in `config.yaml` or `account.graphql`',
        },
      ],
    };
    expect(configPathsOf(page)).toEqual([
      { line: 7, path: 'login.kind' },
      { line: 7, path: 'listen.drain.grace' },
    ]);
  });
});
