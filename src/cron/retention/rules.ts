import { archiveRules } from './archive-rules.ts';
import { deletionRules } from './deletion-rules.ts';
import { expireArchives } from './expire-archives.ts';
import type { RetentionRule } from './rule.ts';

/** Every table whose rows go when they have been kept for long enough. `kept-with.ts` names the others. */
export const retentionRules: RetentionRule[] = [...archiveRules, ...deletionRules, ...expireArchives];
