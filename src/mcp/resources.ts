import type { McpConfig } from '../config/schema.ts';
import { placeholders } from './argument-template.ts';
import type { Tool } from './tool.ts';

/** A resource that clients can read, and the tool that reads it. */
export interface Resource {
  /** A template (RFC 6570 level 1) if it contains `{name}`. */
  readonly uri: string;
  readonly isTemplate: boolean;
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly tool: Tool;
  /** The tool's arguments for a URI; undefined if the URI does not belong to this resource. */
  readonly argumentsOf: (uri: string) => Readonly<Record<string, string>> | undefined;
}

const LONGEST_URI = 2048;

/** Builds the resources. Those whose tool does not exist are left out. */
export function buildResources(resources: McpConfig['resources'], tools: readonly Tool[]): readonly Resource[] {
  return resources.flatMap(({ uri, name, title, description, tool: toolName }): Resource[] => {
    const tool = tools.find((one) => one.name === toolName);
    if (tool === undefined) return [];
    return [{ uri, isTemplate: uri.includes('{'), name, title, description, tool, argumentsOf: matcher(uri) }];
  });
}

/** A value extends to the next slash, so a URI can be read in only one way and is matched in one pass. */
function matcher(template: string): Resource['argumentsOf'] {
  const names = placeholders(template);
  const literals = template.split(/\{[^{}]*\}/).map(RegExp.escape);
  const pattern = new RegExp(`^${literals.join('([^/?#]+)')}$`);
  return (uri) => {
    if (uri.length > LONGEST_URI) return undefined;
    const values = pattern.exec(uri)?.slice(1);
    if (values === undefined) return undefined;
    try {
      return Object.fromEntries(values.map((value, at) => [names[at] ?? '', decodeURIComponent(value)]));
    } catch {
      return undefined;
    }
  };
}

/** The tool that reads the resource of a URI, and the arguments in the URI. */
export function findResource(resources: readonly Resource[], uri: string) {
  for (const { tool, argumentsOf } of resources) {
    const input = argumentsOf(uri);
    if (input !== undefined) return { tool, input };
  }
  return undefined;
}
