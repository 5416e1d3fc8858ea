import { format } from '@cfworker/json-schema';
import type { WorkBudget } from '../../limits/work-budget.ts';

const letter = '[a-z\\u{a1}-\\u{ffff}0-9]';
const label = `${letter}+(?:-${letter}+)*`;
const privateAddress =
  '10(?:\\.\\d{1,3}){3}|127(?:\\.\\d{1,3}){3}|169\\.254(?:\\.\\d{1,3}){2}|192\\.168(?:\\.\\d{1,3}){2}|172\\.(?:1[6-9]|2\\d|3[01])(?:\\.\\d{1,3}){2}';
const address =
  `(?!${privateAddress})(?:[1-9]\\d?|1\\d\\d|2[01]\\d|22[0-3])(?:\\.(?:1?\\d{1,2}|2[0-4]\\d|25[0-5])){2}` +
  '\\.(?:[1-9]\\d?|1\\d\\d|2[0-4]\\d|25[0-4])';
const url = new RegExp(
  `^(?:https?|ftp)://(?:\\S+@)?(?:${address}|${label}(?:\\.${label})*\\.[a-z\\u{a1}-\\u{ffff}]{2,})(?::\\d{2,5})?(?:/\\S*)?$`,
  'iu',
);
const maxUrlLength = 2048;

/** Whether `text` has the format. An unknown format is only a note, which every text fits. Throws OverBudgetError. */
export function matchesFormat(text: string, name: string, budget: WorkBudget): boolean {
  budget.spend(4 + text.length / 8);
  if (!Object.hasOwn(format, name)) return true;
  // The library's takes exponential time on a long host name.
  if (name === 'url') return text.length <= maxUrlLength && url.test(text);
  return format[name]!(text);
}
