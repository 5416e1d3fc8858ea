const maximumLength = 200;
const maximumUnbounded = 3;

/** Character classes and escapes, which hold no groups: put out of the way before the structure is looked at. */
const atoms = /\\u\{[0-9a-f]+\}|\\[pP]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]/gisu;
const unboundedQuantifier = /[*+]|\{\d+,\}/g;

/**
 * What is wrong with a regular expression that a caller brings, or null. Some expressions take exponential time on texts of thirty
 * characters, and the engine cannot be interrupted; those with a repeated group that itself repeats or chooses, or with back references,
 * are refused.
 */
export function patternProblem(pattern: string): string | null {
  if (pattern.length > maximumLength) return `Pattern is longer than ${maximumLength} characters`;
  try {
    void new RegExp(pattern, 'u');
  } catch (error) {
    return `Pattern ${JSON.stringify(pattern)} is not a regular expression: ${(error as Error).message}`;
  }
  if (/\\(?:[1-9]|k<)/.test(pattern))
    return `Pattern ${JSON.stringify(pattern)} has a back reference, which can take too long; write it without`;
  const structure = pattern.replaceAll(atoms, 'a');
  if (hasRepeatedChoice(structure))
    return `Pattern ${JSON.stringify(pattern)} repeats a group that itself repeats or chooses, which can take too long; simplify it`;
  if ((structure.match(unboundedQuantifier) ?? []).length > maximumUnbounded)
    return `Pattern ${JSON.stringify(pattern)} has more than ${maximumUnbounded} unbounded repetitions, which can take too long; bound them like {1,20}`;
  return null;
}

/** A group may choose inside when it comes so few times: the parts of an IPv4 address. */
const fewTimes = 4;

function timesRepeated(quantifier: string): number {
  if (/^[*+]/.test(quantifier)) return Infinity;
  const bounds = /^\{(\d+)(,?)(\d*)\}/.exec(quantifier);
  if (!bounds) return 1;
  return bounds[2] === '' ? Number(bounds[1]) : Number(bounds[3] || Infinity);
}

/** Whether a group with a quantifier on it holds a quantifier or an alternative. */
function hasRepeatedChoice(structure: string): boolean {
  const open: { isVariable: boolean }[] = [];
  for (let at = 0; at < structure.length; at++) {
    const character = structure[at]!;
    if (character === '(') {
      open.push({ isVariable: false });
      // The question mark of (?: and its like is no quantifier.
      if (structure[at + 1] === '?') at++;
    } else if (character === ')') {
      const group = open.pop();
      const isRepeated = timesRepeated(structure.slice(at + 1)) > fewTimes;
      if (group?.isVariable && isRepeated) return true;
      const outer = open.at(-1);
      if (outer && (group?.isVariable || isRepeated)) outer.isVariable = true;
    } else if ('*+?{|'.includes(character)) {
      const group = open.at(-1);
      if (group) group.isVariable = true;
    }
  }
  return false;
}
