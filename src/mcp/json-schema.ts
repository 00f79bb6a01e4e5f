import { Ajv, addFormats } from '@modelcontextprotocol/server/validators/ajv';

/** A JSON Schema, compiled. In: a value. Out: what is wrong with it, in words, or undefined when it fits. */
export type Check = (value: unknown) => string | undefined;

const MOST_MISTAKES = 5;

/**
 * Compiles a schema of the configuration. Out: the check, or why the schema is none: strict, so that a misspelled
 * keyword is a mistake and not a rule that never holds. Nothing is fetched: a $ref leads inside the schema or nowhere.
 */
export function compileSchema(schema: Readonly<Record<string, unknown>>): Check | { readonly mistake: string } {
  const ajv = new Ajv({ strict: true, strictRequired: true, allErrors: false, allowUnionTypes: true });
  addFormats(ajv);
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
  }
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
