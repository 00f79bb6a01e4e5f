import { Ajv, addFormats } from '@modelcontextprotocol/server/validators/ajv';

/** A compiled JSON Schema: returns what is wrong with a value, in words, or undefined if it is valid. */
export type ValueCheck = (value: unknown) => string | undefined;

const MOST_MISTAKES = 5;

/** Compiles a schema of the configuration, or returns why it cannot be used. */
export type CompileSchema = (schema: Readonly<Record<string, unknown>>) => ValueCheck | { readonly mistake: string };

/**
 * Creates a compiler that is reused for all schemas, because compiling the meta-schemas takes longer than any schema.
 * It is strict: a misspelled keyword is a mistake, not a rule that is silently ignored. Nothing is fetched: a `$ref`
 * can only refer to the schema it is in.
 */
export function schemaCompiler(): CompileSchema {
  const ajv = new Ajv({
    strict: true,
    strictRequired: true,
    allErrors: false,
    allowUnionTypes: true,
    // V8 optimizes the code anyway, and does not delay the start.
    code: { optimize: false },
  });
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
      return { mistake: `is not a valid JSON Schema: ${message.replace(/^strict mode: /, '')}` };
    } finally {
      // Removes all schemas but the meta-schemas, so that an `$id` is only known within its own tool.
      ajv.removeSchema();
    }
  };
}

type SchemaError = NonNullable<ReturnType<InstanceType<typeof Ajv>['compile']>['errors']>[number];

/** Uses only names of the schema and our own words, so that values sent by the client are not echoed. */
function describe({ instancePath, message, keyword, params }: SchemaError): string {
  const where = instancePath === '' ? 'the arguments' : instancePath.slice(1, 101);
  if (keyword === 'additionalProperties') {
    return `${where} must not have ${JSON.stringify(String(params.additionalProperty).slice(0, 50))}`;
  }
  return `${where} ${message ?? 'cannot be used'}`;
}
