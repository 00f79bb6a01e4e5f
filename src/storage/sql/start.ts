import type { RevocationBus } from '../bus.ts';
import { type Advice, startFailure, tryWhatIsDone } from '../start-check.ts';
import type { Store } from '../store.ts';
import type { SqlDatabase } from './database.ts';

/**
 * Does what a gate does, and looks at how the server keeps its data. Returns warnings for the operator. Throws
 * GatewayError `store_unavailable` with a message that says what is wrong and where to look.
 */
export async function checkSqlAtStart(
  database: SqlDatabase,
  store: Store,
  bus: RevocationBus,
): Promise<readonly string[]> {
  try {
    const warnings = await database.dialect.judge(database.use);
    await tryWhatIsDone(store);
    await bus.announce();
    return warnings;
  } catch (thrown) {
    throw startFailure(database.dialect.title, thrown, ADVICE, PASSES);
  }
}

/** By SQLSTATE or the driver's code, else by the message. */
const ADVICE: Advice = [
  [/^(28...|ER_ACCESS_DENIED_ERROR)\b/, 'Check the user name and the password.'],
  [
    /^(3D000|ER_BAD_DB_ERROR|ER_DBACCESS_DENIED_ERROR)\b/,
    'Check the name of the database in `store.url`, and create it.',
  ],
  [/^(42501|ER_\w+_?ACCESS_?DENIED_\w+)\b/, 'Grant this user the rights that docs/stores.md lists.'],
  [/certificate|altname|SSL|TLS|EPROTO|CERT_/i, 'Check the TLS settings in `store.url`.'],
  [/^(53100|ER_DISK_FULL|ER_RECORD_FILE_FULL)\b/, 'Its disk is full.'],
  [/^(25006|ER_OPTION_PREVENTS_STATEMENT|ER_READ_ONLY_MODE)\b/, 'Use the address of the primary.'],
  [/npm install|or later is needed|another program|pool_mode/, ''],
];

/** What passes by itself when the server has started, has failed over, or answers again. */
const PASSES =
  /^(57P0\d|53...|25006|08...|40...|55P03|57014|ER_CON_COUNT_ERROR|ER_OPTION_PREVENTS_STATEMENT|ER_READ_ONLY_MODE)\b|time|terminated|connection error/i;
