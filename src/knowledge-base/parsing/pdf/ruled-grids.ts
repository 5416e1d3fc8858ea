import { covers, type Rule } from './rules.ts';

/** A table whose cells are drawn: the lines between its rows and columns, and which of its fields are one merged cell. */
export interface RuledGrid {
  /** The places of the lines across, from above, and of the lines down, from the left. */
  heights: number[];
  widths: number[];
  /** The number of the cell of each field, row by row. Fields without a line between them are one cell. */
  cells: number[][];
}

/** Lines that end this close to another touch it, in points. */
const reach = 4;
/** Rows and columns are at least this far apart. */
const minStep = 4;
/** A page with more lines, or a grid with more fields, is a drawing. */
const maxRulesOfGrids = 600;
const maxFields = 4000;

/** The grids that rules form: lines across and down that touch each other and part at least two cells. */
export function findRuledGrids(rules: Rule[]): RuledGrid[] {
  if (rules.length > maxRulesOfGrids) return [];
  return groupTouching(rules).flatMap((group) => {
    const grid = toGrid(
      group.filter((rule) => rule.isAcross),
      group.filter((rule) => !rule.isAcross),
    );
    return grid ? [grid] : [];
  });
}

function groupTouching(rules: Rule[]): Rule[][] {
  const across = rules.filter((rule) => rule.isAcross);
  const groups = rules.map((_, index) => index);
  const find = (index: number): number => {
    let root = index;
    while (groups[root] !== root) root = groups[root]!;
    groups[index] = root;
    return root;
  };
  for (const [index, one] of across.entries())
    for (let other = across.length; other < rules.length; other += 1) if (touch(one, rules[other]!)) groups[find(index)] = find(other);
  const found = new Map<number, Rule[]>();
  for (const [index, rule] of rules.entries()) {
    const root = find(index);
    found.set(root, [...(found.get(root) ?? []), rule]);
  }
  return [...found.values()];
}

const touch = (across: Rule, down: Rule): boolean =>
  across.at >= down.from - reach && across.at <= down.to + reach && down.at >= across.from - reach && down.at <= across.to + reach;

function toGrid(across: Rule[], down: Rule[]): RuledGrid | undefined {
  if (across.length === 0 || down.length === 0) return undefined;
  // The sides of a table are not always drawn.
  const heights = toSteps([
    ...across.map((rule) => rule.at),
    Math.min(...down.map((rule) => rule.from)),
    Math.max(...down.map((rule) => rule.to)),
  ]);
  const widths = toSteps([
    ...down.map((rule) => rule.at),
    Math.min(...across.map((rule) => rule.from)),
    Math.max(...across.map((rule) => rule.to)),
  ]);
  const [rows, columns] = [heights.length - 1, widths.length - 1];
  if (rows * columns < 2 || rows * columns > maxFields) return undefined;
  const cells = mergeFields(heights, widths, across, down);
  return new Set(cells.flat()).size < 2 ? undefined : { heights, widths, cells };
}

function toSteps(places: number[]): number[] {
  const steps: number[] = [];
  for (const place of places.toSorted((one, other) => one - other)) if (place - (steps.at(-1) ?? -Infinity) > minStep) steps.push(place);
  return steps;
}

/** Numbers the cells. A field without a line on its left or above belongs to the cell there. */
function mergeFields(heights: number[], widths: number[], across: Rule[], down: Rule[]): number[][] {
  const [above, before] = [groupByStep(across, heights), groupByStep(down, widths)];
  const cells: number[][] = [];
  let count = 0;
  for (let row = 0; row < heights.length - 1; row += 1) {
    const [top = 0, bottom = 0] = [heights[row], heights[row + 1]];
    const own: number[] = [];
    for (let column = 0; column < widths.length - 1; column += 1) {
      const [left = 0, right = 0] = [widths[column], widths[column + 1]];
      const isNewColumn = column === 0 || before[column]!.some((rule) => covers(rule, top, bottom));
      const isNewRow = row === 0 || above[row]!.some((rule) => covers(rule, left, right));
      const cell = isNewColumn ? (isNewRow ? undefined : cells[row - 1]?.[column]) : own[column - 1];
      own.push(cell ?? count);
      if (cell === undefined) count += 1;
    }
    cells.push(own);
  }
  return cells;
}

/** The rules at each step. */
function groupByStep(rules: Rule[], steps: number[]): Rule[][] {
  const groups: Rule[][] = steps.map(() => []);
  for (const rule of rules) {
    const step = steps.findLastIndex((place) => place <= rule.at);
    groups[step]?.push(rule);
  }
  return groups;
}
