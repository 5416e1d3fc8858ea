import { above, below, group } from '../formula-signs.ts';

interface Part {
  name: string;
  text: string;
  children: string[];
  attributes: Record<string, string>;
}

const newPart = (name: string, attributes: Record<string, string> = {}): Part => ({ name, text: '', children: [], attributes });

/** Writes a formula of MathML on one line, as it is typed: `(a+b)/2`, `x^2`. Its source in another language is left out. */
export class MarkupMath {
  private readonly parts: Part[] = [newPart('math')];

  open(name: string, attributes: Record<string, string>): void {
    this.parts.push(newPart(name, attributes));
  }

  text(text: string): void {
    this.parts.at(-1)!.text += text.replace(/\s+/g, ' ');
  }

  /** Whether the formula goes on. */
  close(): boolean {
    if (this.parts.length === 1) return false;
    const part = this.parts.pop()!;
    this.parts.at(-1)!.children.push(write(part));
    return true;
  }

  end(): string {
    while (this.close());
    return write(this.parts[0]!).trim();
  }
}

function write({ name, text, children, attributes }: Part): string {
  const [first = '', second = '', third = ''] = children;
  switch (name) {
    case 'mfrac':
      return `${group(first)}/${group(second)}`;
    case 'msup':
      return `${group(first)}${above(second)}`;
    case 'msub':
      return `${group(first)}${below(second)}`;
    case 'msubsup':
      return `${group(first)}${below(second)}${above(third)}`;
    case 'mover':
      return `${first}${above(second)}`;
    case 'munder':
      return `${first}${below(second)}`;
    case 'munderover':
      return `${first}${below(second)}${above(third)} `;
    case 'msqrt':
      return `√${group(children.join(''))}`;
    case 'mroot':
      return `${second} √${group(first)}`;
    case 'mfenced':
      return `${attributes['open'] ?? '('}${children.join(attributes['separators']?.trim() || ', ')}${attributes['close'] ?? ')'}`;
    case 'mtr':
      return children.join(', ');
    case 'mtable':
      return `[${children.join('; ')}]`;
    case 'mspace':
      return ' ';
    case 'annotation':
    case 'annotation-xml':
    case 'mphantom':
      return '';
    default:
      // Blanks between elements are no text of a formula.
      return children.length > 0 ? children.join('') : text.trim();
  }
}
