import { Ajv, addFormats } from '@modelcontextprotocol/server/validators/ajv';

/** A JSON Schema, compiled. In: a value. Out: what is wrong with it, in words, or undefined when it fits. */
export type Check = (value: unknown) => string | undefined;

const MOST_MISTAKES = 5;

/** In: a schema of the configuration. Out: its check, or why it is none. */
export type CompileSchema = (schema: Readonly<Record<string, unknown>>) => Check | { readonly mistake: string };

/**
 * Out: what compiles schemas, one after another: strict, so that a misspelled keyword is a mistake and not a rule that
 * never holds. Nothing is fetched: a $ref leads inside its schema or nowhere, and never into another one. What schemas are
 * themselves checked with is compiled once, which takes longer than any of them.
 */
export function schemaCompiler(): CompileSchema {
  const ajv = new Ajv({ strict: true, strictRequired: true, allErrors: false, allowUnionTypes: true });
  addFormats(ajv);
  return (schema) => {
    try {
      const validate = ajv.compile(structuredClone(schema));
      return (value) => {
        if (validate(value)) return undefined;
        const errors = validate.errors ?? [];
        return errors.slice(0, MOST_MISTAKES).map(describe).join('; ');
      };
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      return { mistake: `is no JSON Schema that can be held to: ${message.replace(/^strict mode: /, '')}` };
    } finally {
      // All but the schemas of schemas: an $id is its own tool's.
      ajv.removeSchema();
    }
  };
}

/** Only names of the schema and our words: what the client sent is not said back to it. */
function describe({
  instancePath,
  message,
  keyword,
  params,
}: {
  instancePath: string;
  message?: string | undefined;
  keyword: string;
  params: Record<string, unknown>;
}): string {
  const where = instancePath === '' ? 'the arguments' : instancePath.slice(1, 101);
  if (keyword === 'additionalProperties') {
    return `${where} must not have ${JSON.stringify(String(params.additionalProperty).slice(0, 50))}`;
  }
  return `${where} ${message ?? 'cannot be used'}`;
}
