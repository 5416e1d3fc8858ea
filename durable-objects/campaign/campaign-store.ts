import type { CampaignConfigs } from '../../src/campaigns/configs/configs.ts';
import type { Actor } from '../../src/database/audit/actor.ts';
import type { EndReason } from '../../src/campaigns/rows/apply-report.ts';
import type { LiveState, LogEntry } from '../../src/campaigns/rpc.ts';
import type { openCampaignSource } from '../../src/campaigns/source/open-source.ts';

/** What the campaign's row shows of a change, beside the counts. */
export type ShownColumns = Pick<Campaign, 'name' | 'configs' | 'state' | 'stateReason' | 'completedAt'>;

/** A change that the campaign's row has to show by itself, so that the audit log has it in the name of `actor`; null: the service made it. */
export interface UnshownChange {
  actor: Actor | null;
  /** That of the row which shows it. */
  revision: number;
  shown: ShownColumns;
}

/** The settings and the state of a campaign. Moments in epoch ms. */
export interface Campaign {
  id: number;
  organizationId: number;
  name: string;
  agentId: number;
  source: Parameters<typeof openCampaignSource>[1];
  configs: CampaignConfigs;
  state: LiveState;
  stateReason: string | null;
  startedAt: number;
  completedAt: number | null;
  /** Whether all rows of the source are stored. */
  isSynced: boolean;
  /** Raised by each withdrawal. `withdrawnEpoch` follows once the call slots know. */
  epoch: number;
  withdrawnEpoch: number;
  /** The number of the last batch of requested calls. `answeredBatch` follows once the call slots have answered. */
  batch: number;
  answeredBatch: number;
  /** Rows up to this number are assigned to time zone groups. */
  timeZonesAssignedUntil: number;
  breakerClearedAt: number;
  /** The id of the last action of a person, by which its repetition is recognized. */
  lastActionId: string;
  /** What people have changed and the campaign's row does not show yet, in that order. */
  unshownChanges: UnshownChange[];
  /** Why no further row is called; null: rows are called. */
  ending: EndReason | null;
}

const columnNames: Record<keyof Campaign, string> = {
  id: 'id',
  organizationId: 'organization_id',
  name: 'name',
  agentId: 'agent_id',
  source: 'source',
  configs: 'configs',
  state: 'state',
  stateReason: 'state_reason',
  startedAt: 'started_at',
  completedAt: 'completed_at',
  isSynced: 'is_synced',
  epoch: 'epoch',
  withdrawnEpoch: 'withdrawn_epoch',
  batch: 'portion',
  answeredBatch: 'answered_portion',
  timeZonesAssignedUntil: 'zoned_until',
  breakerClearedAt: 'breaker_cleared_at',
  lastActionId: 'last_act',
  unshownChanges: 'actor',
  ending: 'ending',
};
const propertyNames = Object.keys(columnNames) as (keyof Campaign)[];
const jsonProperties = new Set<keyof Campaign>(['source', 'configs', 'unshownChanges', 'ending']);

type StoredForms = { source: string; configs: string; isSynced: number; unshownChanges: string | null; ending: string | null };

/** A row of `campaign` as `selection` reads it, each column under the name of its property. */
type CampaignDbRow = { [Name in keyof Campaign]: Name extends keyof StoredForms ? StoredForms[Name] : Campaign[Name] };

const selection = propertyNames.map((name) => `${columnNames[name]} AS ${name}`).join(', ');

const maxLogs = 500;

/** The campaign and its log in the SQLite of its object. */
export class CampaignStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  init(campaign: Campaign): void {
    this.#sql.exec(
      `INSERT INTO campaign (${propertyNames.map((name) => columnNames[name]).join(', ')}) VALUES (${propertyNames.map(() => '?').join(', ')})`,
      ...propertyNames.map((name) => toStored(name, campaign[name])),
    );
  }

  read(): Campaign {
    const { source, configs, isSynced, unshownChanges, ending, ...campaign } = this.#sql
      .exec<CampaignDbRow>(`SELECT ${selection} FROM campaign`)
      .one();
    return {
      ...campaign,
      source: JSON.parse(source) as Campaign['source'],
      configs: JSON.parse(configs) as CampaignConfigs,
      isSynced: isSynced === 1,
      unshownChanges: unshownChanges === null ? [] : (JSON.parse(unshownChanges) as UnshownChange[]),
      ending: ending === null ? null : (JSON.parse(ending) as EndReason),
    };
  }

  write(change: Partial<Campaign>): void {
    const changed = Object.keys(change) as (keyof Campaign)[];
    this.#sql.exec(
      `UPDATE campaign SET ${changed.map((name) => `${columnNames[name]} = ?`).join(', ')}`,
      ...changed.map((name) => toStored(name, change[name])),
    );
  }

  log(entry: LogEntry): void {
    const { id } = this.#sql
      .exec<{ id: number }>(
        'INSERT INTO log (at, level, event, message, details) VALUES (?, ?, ?, ?, ?) RETURNING id',
        entry.at,
        entry.level,
        entry.event,
        entry.message,
        JSON.stringify(entry.details),
      )
      .one();
    this.#sql.exec('DELETE FROM log WHERE id <= ?', id - maxLogs);
  }

  /** Log entries, newest first. */
  logs(limit: number): LogEntry[] {
    return this.#sql
      .exec<Omit<LogEntry, 'details'> & { details: string }>(
        'SELECT at, level, event, message, details FROM log ORDER BY id DESC LIMIT ?',
        limit,
      )
      .toArray()
      .map(({ at, level, event, message, details }) => ({
        at,
        level,
        event,
        message,
        details: JSON.parse(details) as LogEntry['details'],
      }));
  }
}

function toStored(name: keyof Campaign, value: unknown): SqlStorageValue {
  if (value === null || value === undefined) return null;
  if (jsonProperties.has(name)) return JSON.stringify(value);
  return typeof value === 'boolean' ? Number(value) : (value as SqlStorageValue);
}
