import journal from '../../migrations/meta/_journal.json' with { type: 'json' };

/** The migrations that this code was written for, as `d1_migrations` names them, in order. */
export const codeMigrations = journal.entries.map(({ tag }) => `${tag}.sql`);

export type DatabaseFault =
  /** `cause`: the platform's words, for the log alone. */
  | { status: 'database_unreachable'; database: string; migrations: []; cause: string }
  /** `migrations`: those that the database does not have. */
  | { status: 'migrations_missing'; database: string; migrations: string[] }
  /** `migrations`: those that this code does not know, because a later version of the service applied them. */
  | { status: 'database_newer'; database: string; migrations: string[] };

/** The first database that does not answer within `timeoutMs`, or whose migrations differ from the code's; undefined when there is none. */
export async function findDatabaseFault(
  databases: { name: string; binding: D1Database }[],
  timeoutMs: number,
): Promise<DatabaseFault | undefined> {
  if (databases.length === 0) return { status: 'database_unreachable', database: 'DB', migrations: [], cause: 'it is not bound' };
  const faults = await Promise.all(databases.map(({ name, binding }) => checkMigrations(name, binding, timeoutMs)));
  return faults.find((fault) => fault !== undefined);
}

async function checkMigrations(database: string, binding: D1Database, timeoutMs: number): Promise<DatabaseFault | undefined> {
  const applied = await withTimeout(appliedMigrations(binding), timeoutMs).catch((error: unknown) => String(error));
  if (typeof applied === 'string') return { status: 'database_unreachable', database, migrations: [], cause: applied };
  const missing = codeMigrations.filter((name) => !applied.has(name));
  if (missing.length > 0) return { status: 'migrations_missing', database, migrations: missing };
  const known = new Set(codeMigrations);
  const unknown = [...applied].filter((name) => !known.has(name));
  return unknown.length > 0 ? { status: 'database_newer', database, migrations: unknown } : undefined;
}

/** A new database lacks even the table in which wrangler records applied migrations. */
async function appliedMigrations(binding: D1Database): Promise<Set<string>> {
  try {
    const { results } = await binding.prepare('SELECT name FROM d1_migrations ORDER BY id').all<{ name: string }>();
    return new Set(results.map(({ name }) => name));
  } catch (error) {
    if (String((error as Error).message).includes('no such table: d1_migrations')) return new Set();
    throw error;
  }
}

async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
