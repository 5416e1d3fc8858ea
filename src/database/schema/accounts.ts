import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { flag, json, moment } from './columns.ts';

export type Role = 'owner' | 'admin' | 'operator' | 'viewer';

/** The catalog: these tables live in the first database only; `shard` says where the organization's own rows are. */
export const organization = sqliteTable(
  'organization',
  {
    id: integer('id').primaryKey(),
    name: text('name').notNull(),
    shard: integer('shard').notNull().default(0),
    defaultCountry: text('default_country').notNull().default('US'),
    timezone: text('timezone').notNull().default('UTC'),
    /** The minimum time between two calls to one person, from all sources. */
    minHoursBetweenCalls: real('min_hours_between_calls').notNull().default(0),
    /** Overrides of the plan variables; null means the variable counts. */
    planMaxIntegrations: integer('plan_max_integrations'),
    planMaxContacts: integer('plan_max_contacts'),
    planConcurrentCalls: integer('plan_concurrent_calls'),
    /** Overrides of all other limits, by their names. */
    planLimits: json<Record<string, number>>('plan_limits'),
    createdAt: moment('created_at').notNull(),
    /** When the deletion was requested. From then on no lookup finds the organization. */
    deletingAt: moment('deleting_at'),
    /** The shard to which the organization is moving. Until it has, nobody caches this row. */
    movingTo: integer('moving_to'),
    /** How far its statistics are counted again, `RebuildPlace` as JSON; null: nobody has asked for it, or it is done. */
    statisticsRebuild: text('statistics_rebuild'),
  },
  (table) => [
    index('organization_statistics_rebuild')
      .on(table.id)
      .where(sql`statistics_rebuild IS NOT NULL`),
  ],
);

export const user = sqliteTable(
  'user',
  {
    id: integer('id').primaryKey(),
    email: text('email').notNull(),
    name: text('name'),
    passwordHash: text('password_hash').notNull(),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [uniqueIndex('user_email').on(table.email)],
);

export const membership = sqliteTable(
  'membership',
  {
    userId: integer('user_id').notNull(),
    organizationId: integer('organization_id').notNull(),
    createdAt: moment('created_at').notNull(),
    /** Whoever was a member before there were roles could do everything. */
    role: text('role').$type<Role>().notNull().default('owner'),
  },
  (table) => [primaryKey({ columns: [table.userId, table.organizationId] }), index('membership_organization').on(table.organizationId)],
);

export const session = sqliteTable(
  'session',
  {
    tokenHash: text('token_hash').primaryKey(),
    userId: integer('user_id').notNull(),
    organizationId: integer('organization_id'),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
    /** The network in which the session began, in the form of `toNetworkPrefix`; null: unknown. */
    network: text('network'),
    /** The program that logged in, as it names itself; null: it did not. */
    userAgent: text('user_agent'),
  },
  (table) => [
    index('session_expiry').on(table.expiresAt),
    index('session_organization').on(table.organizationId),
    index('session_user').on(table.userId),
  ],
);

/** A link by which somebody becomes a member, once. */
export const invitation = sqliteTable(
  'invitation',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    role: text('role').$type<Role>().notNull(),
    /** In lower case: who it is for. Null: whoever has the link. */
    email: text('email'),
    tokenHash: text('token_hash').notNull(),
    createdBy: integer('created_by').notNull(),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
    acceptedAt: moment('accepted_at'),
    acceptedBy: integer('accepted_by'),
    revokedAt: moment('revoked_at'),
  },
  (table) => [
    uniqueIndex('invitation_token').on(table.tokenHash),
    index('invitation_organization').on(table.organizationId),
    index('invitation_expiry').on(table.expiresAt),
  ],
);

/** A token with which a user chooses a new password, once. One row a user, the newest. */
export const passwordReset = sqliteTable(
  'password_reset',
  {
    userId: integer('user_id').primaryKey(),
    tokenHash: text('token_hash').notNull(),
    /** The organization whose admin created the token; 0: the user asked for it, and it came by mail. */
    organizationId: integer('organization_id').notNull(),
    createdBy: integer('created_by').notNull(),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [
    uniqueIndex('password_reset_token').on(table.tokenHash),
    index('password_reset_organization').on(table.organizationId),
    index('password_reset_expiry').on(table.expiresAt),
  ],
);

/** A key in somebody's device, by which they log in without a password. */
export const passkey = sqliteTable(
  'passkey',
  {
    id: integer('id').primaryKey(),
    userId: integer('user_id').notNull(),
    name: text('name').notNull(),
    /** The authenticator's id and public key (COSE), in base64url. */
    credentialId: text('credential_id').notNull(),
    publicKey: text('public_key').notNull(),
    /** How often it has signed, as it says itself; many always say 0. */
    signatureCount: integer('signature_count').notNull(),
    isBackedUp: flag('is_backed_up').notNull(),
    createdAt: moment('created_at').notNull(),
    lastUsedAt: moment('last_used_at'),
  },
  (table) => [uniqueIndex('passkey_credential').on(table.credentialId), index('passkey_user').on(table.userId)],
);

/** A challenge that was answered, by its hash: it is not answered again. */
export const usedChallenge = sqliteTable(
  'used_challenge',
  { hash: text('hash').primaryKey(), expiresAt: moment('expires_at').notNull() },
  (table) => [index('used_challenge_expiry').on(table.expiresAt)],
);

export const apiKey = sqliteTable(
  'api_key',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    createdBy: integer('created_by').notNull(),
    name: text('name').notNull(),
    keyPrefix: text('key_prefix').notNull(),
    keyHash: text('key_hash').notNull(),
    scopes: json<string[]>('scopes').notNull(),
    expiresAt: moment('expires_at'),
    archivedAt: moment('archived_at'),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('api_key_hash').on(table.keyHash),
    index('api_key_organization').on(table.organizationId),
    index('api_key_live')
      .on(table.organizationId)
      .where(sql`archived_at IS NULL`),
  ],
);

/** Failed log-ins of a device, of an e-mail address or from a network address, and sign-ups inside one window. */
export const loginFailure = sqliteTable(
  'login_failure',
  {
    subject: text('subject').primaryKey(),
    failures: integer('failures').notNull(),
    windowEndsAt: moment('window_ends_at').notNull(),
  },
  (table) => [index('login_failure_end').on(table.windowEndsAt)],
);

export type MovePhase =
  | 'asked'
  | 'copying'
  | 'fenced'
  /** The new shard is in use; what began before may still write to the old one, and is refused. */
  | 'left'
  | 'clearing'
  | 'moved'
  | 'cancelling'
  | 'cancelled'
  | 'refused';

/** The latest move of an organization between shards, running or finished. */
export const organizationMove = sqliteTable(
  'organization_move',
  {
    /** The organization's id. */
    subjectId: integer('subject_id').primaryKey(),
    fromShard: integer('from_shard').notNull(),
    toShard: integer('to_shard').notNull(),
    phase: text('phase').$type<MovePhase>().notNull(),
    /** The table that is being copied or cleared, by its place in the list of tables. */
    step: integer('step').notNull().default(0),
    /** The primary key of the last row of that table that was looked at. */
    cursor: json<(string | number)[]>('cursor'),
    /** How many rows were copied; rows that changed meanwhile count again. */
    copied: integer('copied').notNull().default(0),
    /** How many changes are still to be copied, when it was last looked at. */
    changesLeft: integer('changes_left').notNull().default(0),
    /** How often the end was begun and put off. */
    tries: integer('tries').notNull().default(0),
    /** Raised by each worker that takes up the move, so that an earlier one writes nothing any more. */
    claim: integer('claim').notNull().default(0),
    /** Why the move waits, or how it ended. */
    note: text('note'),
    /** The moment after which the tick sends the move's message again; null: done. */
    dueAt: moment('due_at'),
    requestedAt: moment('requested_at').notNull(),
    announcedAt: moment('announced_at'),
    /** When the new shard came into use. */
    movedAt: moment('moved_at'),
    finishedAt: moment('finished_at'),
  },
  (table) => [
    index('organization_move_due')
      .on(table.dueAt)
      .where(sql`due_at IS NOT NULL`),
  ],
);

/** Deletions of organizations, running or finished. A row outlives its organization and names no person. */
export const deletion = sqliteTable(
  'deletion',
  {
    id: text('id').primaryKey(),
    /** The organization's id. */
    subjectId: integer('subject_id').notNull(),
    requestedBy: integer('requested_by').notNull(),
    /** The current step: `{number of steps} * 1000 + {index of the step}`; 0 at first. */
    step: integer('step').notNull(),
    /** How many rows and files were removed. */
    removed: integer('removed').notNull(),
    /** The moment after which the tick sends the deletion's message again; null: done. */
    dueAt: moment('due_at'),
    createdAt: moment('created_at').notNull(),
    finishedAt: moment('finished_at'),
  },
  (table) => [
    uniqueIndex('deletion_subject').on(table.subjectId),
    index('deletion_due')
      .on(table.dueAt)
      .where(sql`due_at IS NOT NULL`),
    index('deletion_finished')
      .on(table.finishedAt)
      .where(sql`finished_at IS NOT NULL`),
  ],
);
