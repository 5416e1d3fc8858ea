/** A line of a chart: its name, its bars, and what is written beside them. */
export interface ChartLine {
  name: string;
  bars: { value: number; kind: 'ours' | 'other' }[];
  label: string;
}

const nameWidth = 430;
const barWidth = 330;
const labelWidth = 200;
const barHeight = 9;
const gap = 10;
const top = 34;
const colors = { ours: '#0b6e99', other: '#b8c4cc' };

/** A chart of horizontal bars as SVG; `mark` is a value at which a line stands. It is readable on light and dark pages. */
export function barChart(title: string, lines: ChartLine[], mark?: number): string {
  const most = Math.max(mark ?? 0, ...lines.flatMap(({ bars }) => bars.map(({ value }) => value)));
  const toWidth = (value: number) => Number(((value / most) * barWidth).toFixed(1));
  let y = top;
  const parts = lines.flatMap(({ name, bars, label }) => {
    const height = Math.max(16, bars.length * barHeight);
    const middle = y + height / 2 + 4;
    const drawn = bars.map(
      ({ value, kind }, index) =>
        `<rect x="${nameWidth}" y="${y + index * barHeight}" width="${toWidth(value)}" height="${barHeight - 1}" fill="${colors[kind]}"/>`,
    );
    y += height + gap;
    return [
      `<text x="${nameWidth - 8}" y="${middle}" text-anchor="end">${escaped(name)}</text>`,
      ...drawn,
      `<text x="${nameWidth + barWidth + 10}" y="${middle}">${escaped(label)}</text>`,
    ];
  });
  const markLine =
    mark === undefined
      ? []
      : [
          `<line x1="${nameWidth + toWidth(mark)}" x2="${nameWidth + toWidth(mark)}" y1="${top - 6}" y2="${y - gap + 4}" stroke="#c0392b"/>`,
        ];
  const width = nameWidth + barWidth + labelWidth;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" width="${width}" height="${y}" role="img" aria-label="${escaped(title)}">`,
    `<rect width="${width}" height="${y}" fill="#ffffff"/>`,
    `<g font-family="system-ui, sans-serif" font-size="12" fill="#24292f">`,
    `<text x="8" y="20" font-weight="bold">${escaped(title)}</text>`,
    ...parts,
    ...markLine,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
