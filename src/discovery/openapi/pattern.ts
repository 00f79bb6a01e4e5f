/**
 * Whether every path of one pattern is a path of another. In: both as parts, where `*` and `{…}` stand for one part and
 * a final `**` for the rest, including nothing.
 */
export function covers(wide: readonly string[], narrow: readonly string[]): boolean {
  const [first, ...wider] = wide;
  const [part, ...narrower] = narrow;
  if (first === '**') return true;
  if (first === undefined || part === undefined) return first === part;
  if (part === '**') return false;
  return (isOnePart(first) || first === part) && covers(wider, narrower);
}

export function isOnePart(segment: string): boolean {
  return segment === '*' || /^\{.*\}$/.test(segment);
}

export function segmentsOf(path: string): readonly string[] {
  return path.slice(1).split('/');
}
