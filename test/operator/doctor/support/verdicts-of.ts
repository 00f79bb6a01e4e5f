interface RunCheck {
  readonly id: string;
  run(known: never): unknown;
}
type Said = readonly { readonly level: string; readonly seen: string }[];

/** The verdicts of one check about what is known, one a line; or the name and message of what it throws. */
export async function verdictsOf(checks: readonly RunCheck[], id: string, known: object): Promise<string> {
  const run = async () => [await checks.find((one) => one.id === id)?.run(known as never)].flat() as Said;
  const verdicts = await run().catch(({ name, message }: Error) => [{ level: name, seen: message }]);
  return verdicts.map(({ level, seen }) => `${level}: ${seen}`).join('\n');
}
