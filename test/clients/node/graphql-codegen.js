import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generate } from '@graphql-codegen/cli';
import { print } from 'graphql';
import { QUERY, useAccount } from './support/account.js';
import { ACCOUNT_URL, json, run, version } from './support/report.js';

const SCHEMA = fileURLToPath(new URL('../../../schema/account.graphql', import.meta.url));
const MODULES = fileURLToPath(new URL('node_modules/', import.meta.url));

await run(async () => {
  version('@graphql-codegen/cli');
  const folder = mkdtempSync(join(tmpdir(), 'client-matrix-'));
  symlinkSync(MODULES, join(folder, 'node_modules'));
  try {
    writeFileSync(join(folder, 'queries.ts'), `import { graphql } from './gql/gql.ts';\ngraphql(\`${QUERY}\`);\n`);
    await generate(
      {
        schema: SCHEMA,
        documents: join(folder, 'queries.ts'),
        generates: { [`${join(folder, 'gql')}/`]: { preset: 'client' } },
        // Node removes types, but not the imports of types.
        config: { useTypeImports: true },
        silent: true,
      },
      true,
    );
    const { MyCoursesDocument } = await import(join(folder, 'gql/graphql.ts'));
    await useAccount('graphql-codegen', (token) => async (variables) => {
      const response = await fetch(ACCOUNT_URL, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${await token()}` },
        body: JSON.stringify({ query: print(MyCoursesDocument), variables }),
      });
      const { data, errors } = await json(response);
      if (errors) throw new Error(JSON.stringify(errors));
      return data;
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
