import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isObject, type JsonObject } from '../../../src/http/json-object.ts';
import type { Block } from './markdown.ts';
import { ROOT } from './pages.ts';

interface Foreign {
  readonly what: string;
  readonly is: (tree: JsonObject) => boolean;
  readonly check: (tree: JsonObject) => void;
}

const must = (holds: boolean, what: string) => {
  if (!holds) throw new Error(what);
};
const treesIn = (value: unknown) => (isObject(value) ? Object.values(value) : []).filter(isObject);

/** Files of other programs, recognised by their top-level keys. */
const FOREIGN: readonly Foreign[] = [
  {
    what: 'a Kubernetes object',
    is: (tree) => 'apiVersion' in tree || 'kind' in tree,
    check(tree) {
      must(/^(?:[a-z][a-z0-9.-]*\/)?v\d/.test(String(tree.apiVersion)), 'a Kubernetes object needs its `apiVersion`');
      must(/^[A-Z][A-Za-z]+$/.test(String(tree.kind)), 'a Kubernetes object needs its `kind`');
      if (tree.kind === 'Kustomization') return;
      must(
        isObject(tree.metadata) && typeof tree.metadata.name === 'string',
        'a Kubernetes object needs `metadata.name`',
      );
    },
  },
  {
    what: 'a chart',
    is: (tree) => Array.isArray(tree.dependencies),
    check: (tree) => {
      for (const one of tree.dependencies as unknown[])
        must(
          isObject(one) && 'name' in one && 'version' in one && 'repository' in one,
          'a dependency of a chart is by name, version and repository',
        );
    },
  },
  {
    what: 'a Compose file',
    is: (tree) => 'services' in tree,
    check: (tree) => {
      must(treesIn(tree.services).length > 0, 'a Compose file has services');
      for (const service of treesIn(tree.services))
        must('image' in service || 'build' in service, 'a service has an image');
    },
  },
  {
    what: 'a configuration of Prometheus',
    is: (tree) => 'scrape_configs' in tree || 'rule_files' in tree,
    check: (tree) => {
      for (const one of (tree.scrape_configs ?? []) as unknown[])
        must(isObject(one) && typeof one.job_name === 'string', 'what is scraped has a `job_name`');
    },
  },
  {
    what: 'rules of Prometheus',
    is: (tree) => Array.isArray(tree.groups),
    check: (tree) => {
      for (const group of tree.groups as unknown[])
        must(
          isObject(group) && typeof group.name === 'string' && Array.isArray(group.rules),
          'a group of rules has a name and rules',
        );
    },
  },
  {
    what: 'a GitHub workflow',
    is: (tree) => 'jobs' in tree,
    check: (tree) => {
      for (const job of treesIn(tree.jobs))
        must('runs-on' in job && Array.isArray(job.steps), 'a job has `runs-on` and steps');
    },
  },
];

const VALUES_SCHEMA = join(ROOT, 'helm/coursegate/values.schema.json');

/**
 * Checks YAML that is not a coursegate configuration. Throws if its kind is unknown, or if it is invalid.
 */
export function checkForeignYaml(tree: unknown, block: Block): void {
  if (block.markers.includes('values') || /^# values\.yaml/.test(block.text)) {
    checkValues(tree);
    return;
  }
  const found = isObject(tree) ? FOREIGN.find(({ is }) => is(tree)) : undefined;
  if (found === undefined || !isObject(tree)) {
    const keys = isObject(tree) ? Object.keys(tree).join(', ') : 'no mapping';
    throw new Error(
      `this YAML (${keys}) is neither a configuration of coursegate, whole or in part, from its top-level keys on, nor ` +
        `${FOREIGN.map(({ what }) => what).join(', ')}. Values of the chart: write <!-- values --> above the block`,
    );
  }
  found.check(tree);
}

/** Values of the chart, possibly only a part of them; in a parent chart, under the name of ours. */
function checkValues(tree: unknown): void {
  must(existsSync(VALUES_SCHEMA), 'there is no chart whose values these could be');
  const schema = JSON.parse(readFileSync(VALUES_SCHEMA, 'utf8')) as Record<string, unknown>;
  const { required: _, ...partial } = schema;
  const options = { strict: false, allErrors: true, logger: false } as const;
  const validator = String(schema.$schema).includes('draft-07') ? new Ajv(options) : new Ajv2020(options);
  const validate = validator.compile(partial);
  if (!validate(isObject(tree) && isObject(tree.coursegate) ? tree.coursegate : tree)) {
    throw new Error((validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`).join('; '));
  }
}
