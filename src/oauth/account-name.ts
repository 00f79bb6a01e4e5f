/**
 * Out: what a name that somebody typed is looked up and counted by: on a telephone it begins with a capital and ends with
 * a space, and an account is not guessed at more often by spelling it differently. Never for the id of a member.
 */
export function foldAccountName(typed: string): string {
  return typed.normalize('NFKC').trim().toLowerCase();
}
