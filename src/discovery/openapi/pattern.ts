/**
 * Whether the pattern `wide` matches every path that `narrow` matches. Both are split into segments, where `*` and
 * `{…}` match one segment and a final `**` matches any number of segments, including none.
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
