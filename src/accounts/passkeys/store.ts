import { and, count, desc, eq } from 'drizzle-orm';
import type { Database } from '../../database/client.ts';
import { passkey } from '../../database/schema/accounts.ts';

export type PasskeyRow = typeof passkey.$inferSelect;

/** The passkeys of a person, the newest first. */
export const listPasskeys = (catalog: Database, userId: number): Promise<PasskeyRow[]> =>
  catalog.run(() => catalog.orm.select().from(passkey).where(eq(passkey.userId, userId)).orderBy(desc(passkey.id)));

export async function countPasskeys(catalog: Database, userId: number): Promise<number> {
  const [row] = await catalog.run(() => catalog.orm.select({ value: count() }).from(passkey).where(eq(passkey.userId, userId)));
  return row!.value;
}

export async function findPasskey(catalog: Database, credentialId: string): Promise<PasskeyRow | undefined> {
  return (await catalog.run(() => catalog.orm.select().from(passkey).where(eq(passkey.credentialId, credentialId))))[0];
}

/** Undefined when an authenticator's id is known already. A repeat finds the row of before. */
export async function insertPasskey(catalog: Database, row: typeof passkey.$inferInsert): Promise<PasskeyRow | undefined> {
  const query = catalog.orm
    .insert(passkey)
    .values(row)
    .onConflictDoUpdate({
      target: passkey.credentialId,
      set: { userId: row.userId },
      setWhere: and(eq(passkey.userId, row.userId), eq(passkey.createdAt, row.createdAt)),
    })
    .returning();
  return (await catalog.write(() => query, 'passkey.credential_id'))[0];
}

/** Whether the person had it. */
export async function deletePasskey(catalog: Database, userId: number, id: number): Promise<boolean> {
  const query = catalog.orm
    .delete(passkey)
    .where(and(eq(passkey.id, id), eq(passkey.userId, userId)))
    .returning({ id: passkey.id });
  return (await catalog.write(() => query, 'idempotent')).length > 0;
}

/** Notes a log-in: when it was, and how often the authenticator says that the passkey has signed. */
export async function notePasskeyUse(catalog: Database, id: number, signatureCount: number, now: number): Promise<void> {
  const query = catalog.orm.update(passkey).set({ signatureCount, lastUsedAt: now }).where(eq(passkey.id, id));
  await catalog.write(() => query, 'idempotent');
}
