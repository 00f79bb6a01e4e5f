import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

const { path, sql, login, timeout } = workerData as { path: string; sql: string; login: string; timeout: number };

const database = new DatabaseSync(path, { readOnly: true, timeout, allowExtension: false });
const statement = database.prepare(sql);
// Beyond 2^53, two ids could become the same number.
statement.setReadBigInts(true);
const rows = statement.all({ $1: login });
database.close();
parentPort?.postMessage(rows.map((row) => ({ ...row })));
