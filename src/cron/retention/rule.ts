import type { Database } from '../../database/client.ts';
import type { Settings } from '../../settings.ts';

export interface RetentionRun {
  bindings: Env;
  database: Database;
  settings: Settings;
  /** Epoch ms. */
  now: number;
}

/** How long the rows of a table are kept. */
export interface RetentionRule {
  table: string;
  /** The number of days. Absent: the rows themselves hold their expiry. */
  setting?: DaysSetting;
  /** Removes one page of rows whose time is over: the oldest row of each organization, then the second of each. Returns false when none is left. */
  removePage(run: RetentionRun): Promise<boolean>;
}

const dayMs = 86_400_000;

export type DaysSetting = {
  [Name in keyof Settings]: Settings[Name] extends number ? Name : never;
}[keyof Settings] &
  `${string}_DAYS`;

/** Rows older than this moment (epoch ms) have been kept for as long as the setting says. */
export const retentionCutoff = ({ settings, now }: RetentionRun, setting: DaysSetting): number => now - settings[setting] * dayMs;
