/**
 * A drawn line in reading position: points from the upper left corner. `at`: its height if it runs across the page, else its distance from
 * the left; `from` and `to`: its ends in the other direction.
 */
export interface Rule {
  isAcross: boolean;
  at: number;
  from: number;
  to: number;
}

/** Lines closer than this are one line: a border is often drawn by both cells beside it, and cell by cell. */
const tolerance = 2.5;

/** Joins the pieces of lines. Across comes before down, each from the upper left. */
export function mergeRules(rules: Rule[]): Rule[] {
  return [true, false].flatMap((isAcross) => {
    const inOrder = rules.filter((rule) => rule.isAcross === isAcross).toSorted((one, other) => one.at - other.at);
    const levels: Rule[][] = [];
    for (const rule of inOrder) {
      const level = levels.at(-1);
      if (level && rule.at - level[0]!.at <= tolerance) level.push(rule);
      else levels.push([rule]);
    }
    return levels.flatMap(mergeLevel);
  });
}

function mergeLevel(level: Rule[]): Rule[] {
  const merged: Rule[] = [];
  for (const rule of level.toSorted((one, other) => one.from - other.from)) {
    const last = merged.at(-1);
    if (last && rule.from <= last.to + tolerance) last.to = Math.max(last.to, rule.to);
    else merged.push({ ...rule, at: level[0]!.at });
  }
  return merged;
}

/** Whether the rule runs along at least half of the stretch. */
export const covers = (rule: Rule, from: number, to: number): boolean =>
  Math.min(rule.to, to) - Math.max(rule.from, from) >= (to - from) / 2;
