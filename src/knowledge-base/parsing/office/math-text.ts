import { above, below, group } from '../formula-signs.ts';

/** A part of a formula: its own text, and the texts of its named parts, such as the numerator of a fraction. */
interface Part {
  name: string;
  text: string;
  children: { name: string; text: string }[];
  properties: Record<string, string>;
}

/**
 * Writes a formula of Office (ECMA-376, part 1, 22.1) on one line, as it is typed: `(a+b)/2`, `x^2`, `√(a)`. Takes the elements inside of
 * `oMath`, by names without their prefix.
 */
export class MathText {
  private readonly parts: Part[] = [newPart('oMath')];
  private isInText = false;

  open(name: string, attributes: Record<string, string>): void {
    if (name === 't') this.isInText = true;
    const part = this.parts.at(-1)!;
    // Properties such as `begChr` belong to the structure around their list.
    if (propertyNames.has(name)) (this.parts.at(-2) ?? part).properties[name] = attributes['m:val'] ?? '';
    this.parts.push(newPart(name));
  }

  text(text: string): void {
    if (this.isInText) this.parts.at(-1)!.text += text;
  }

  close(name: string): void {
    if (name === 't') this.isInText = false;
    const part = this.parts.pop()!;
    this.parts.at(-1)?.children.push({ name: part.name, text: write(part) });
  }

  end(): string {
    return write(this.parts[0]!).trim();
  }
}

const propertyNames = new Set(['begChr', 'endChr', 'sepChr', 'chr']);
const newPart = (name: string): Part => ({ name, text: '', children: [], properties: {} });

function write(part: Part): string {
  const all = (wanted: string) => part.children.filter(({ name }) => name === wanted).map(({ text }) => text);
  const one = (wanted: string) => all(wanted).join('');
  const { properties } = part;
  switch (part.name) {
    case 't':
      return part.text;
    case 'f':
      return `${group(one('num'))}/${group(one('den'))}`;
    case 'sSup':
      return `${group(one('e'))}${above(one('sup'))}`;
    case 'sSub':
      return `${group(one('e'))}${below(one('sub'))}`;
    case 'sSubSup':
      return `${group(one('e'))}${below(one('sub'))}${above(one('sup'))}`;
    case 'sPre':
      return `${below(one('sub'))}${above(one('sup'))} ${one('e')}`;
    case 'rad':
      return `${one('deg') === '' ? '' : `${one('deg')} `}√${group(one('e'))}`;
    case 'nary':
      return `${properties['chr'] ?? '∫'}${below(one('sub'))}${above(one('sup'))} ${one('e')}`;
    case 'd':
      return `${properties['begChr'] ?? '('}${all('e').join(properties['sepChr'] ?? '|')}${properties['endChr'] ?? ')'}`;
    case 'func':
      return `${one('fName')} ${one('e')}`;
    case 'limLow':
      return `${one('e')}${below(one('lim'))}`;
    case 'limUpp':
      return `${one('e')}${above(one('lim'))}`;
    case 'mr':
      return all('e').join(', ');
    case 'm':
      return `[${all('mr').join('; ')}]`;
    case 'eqArr':
      return all('e').join('; ');
    default:
      return part.children.map(({ text }) => text).join('');
  }
}
