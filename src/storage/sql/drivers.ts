/** A database driver is not installed. The message names the package. */
export class MissingDriver extends Error {}

/** @throws {MissingDriver} */
export const loadPg = () => driver('pg', () => import('pg'));

/** @throws {MissingDriver} */
export const loadMysql = () => driver('mysql2', () => import('mysql2/promise'));

/** Loads a driver, which is not part of coursegate: operators install the one they need. */
async function driver<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (thrown) {
    throw new MissingDriver(`needs the package ${name} installed next to coursegate: npm install ${name}`, {
      cause: thrown,
    });
  }
}
