/**
 * Says that tests are skipped, and what they need: `no nginx found: its tests need one (apt-get install nginx)`. In CI it
 * throws instead, because there a green run must mean that they ran.
 *
 * The end of `npm test` lists these messages, and the packages in one command (reporter.ts).
 * @param alsoInCi for what CI may lack as well
 * @returns false, as the answer to whether it is present
 */
export function missing(advice: string, alsoInCi = false): false {
  if (process.env.CI && !alsoInCi) throw new Error(advice);
  console.warn(`SKIPPED: ${advice}`);
  return false;
}
