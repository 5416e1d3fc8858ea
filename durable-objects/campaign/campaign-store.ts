import type { CampaignConfigs } from '../../src/campaigns/configs/configs.ts';
import type { EndReason } from '../../src/campaigns/rows/apply-report.ts';
import type { LiveState, LogEntry } from '../../src/campaigns/rpc.ts';
import type { openCampaignSource } from '../../src/campaigns/source/open-source.ts';

/** What a campaign is and how it stands. Moments in epoch ms. */
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
  /** All rows are there. */
  isSynced: boolean;
  /** Raised by each withdrawal; `withdrawnEpoch` lags behind until the slots know. */
  epoch: number;
  withdrawnEpoch: number;
  /** Counts what was asked for together; `answeredBatch` lags behind until the slots have answered. */
  batch: number;
  answeredBatch: number;
  /** The row up to which it is known by whose clock each is called. */
  timeZonesAssignedUntil: number;
  breakerClearedAt: number;
  /** The last act of a person, so that its repetition is known. */
  lastAct: string;
  /** Set: no row is called any more. */
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
  lastAct: 'last_act',
  ending: 'ending',
};
const propertyNames = Object.keys(columnNames) as (keyof Campaign)[];
const jsonProperties = new Set<keyof Campaign>(['source', 'configs', 'ending']);

const maxLogs = 500;

/** The campaign and its log in its object's SQLite. */
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
    const row = this.#sql.exec('SELECT * FROM campaign').one();
    return Object.fromEntries(propertyNames.map((name) => [name, fromStored(name, row[columnNames[name]] ?? null)])) as unknown as Campaign;
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

  /** Newest first. */
  logs(limit: number): LogEntry[] {
    return this.#sql
      .exec<Record<string, SqlStorageValue>>('SELECT at, level, event, message, details FROM log ORDER BY id DESC LIMIT ?', limit)
      .toArray()
      .map((row) => Object.assign(row, { details: JSON.parse(row['details'] as string) as unknown }) as unknown as LogEntry);
  }
}

function toStored(name: keyof Campaign, value: unknown): SqlStorageValue {
  if (value === null || value === undefined) return null;
  if (jsonProperties.has(name)) return JSON.stringify(value);
  return typeof value === 'boolean' ? Number(value) : (value as SqlStorageValue);
}

function fromStored(name: keyof Campaign, value: SqlStorageValue): unknown {
  if (name === 'isSynced') return value === 1;
  return jsonProperties.has(name) && value !== null ? JSON.parse(value as string) : value;
}
