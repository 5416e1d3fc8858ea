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
  /** Says for how many days; absent: the rows say themselves until when they count. */
  setting?: DaysSetting;
  /** Removes one page of what is kept no longer; the oldest of each organization first, then the second of each. False: nothing is left for now. */
  removePage(sweeping: RetentionRun): Promise<boolean>;
}

const dayMs = 86_400_000;

export type DaysSetting = {
  [Name in keyof Settings]: Settings[Name] extends number ? Name : never;
}[keyof Settings] &
  `${string}_DAYS`;

/** What is older than this (epoch ms) has been kept for as long as the setting says. */
export const retentionCutoff = ({ settings, now }: RetentionRun, setting: DaysSetting): number => now - settings[setting] * dayMs;
