const toWordSet = (...texts: string[]) => new Set(texts.flatMap((text) => text.split(' ')));

/** Elements that no tag has to end. */
const loneElements = toWordSet('br hr wbr p li dt dd td th tr thead tbody tfoot caption colgroup option optgroup rt rp html head body');
/** Elements that say nothing without an attribute. */
const elementsByAttribute = toWordSet('a area base col embed iframe img input link map meta object param source track');
const otherElements = toWordSet(
  'abbr acronym address applet article aside audio b bdi bdo big blink blockquote button canvas center cite code data datalist del details dfn dialog dir div dl em',
  'fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 header hgroup i ins kbd label legend main mark marquee menu meter nav nobr noembed',
  'noframes noscript ol output picture pre progress q ruby s samp script search section select slot small span strike strong style sub summary sup svg table',
  'template textarea time title tt u ul var video xmp math',
  // Of formulas and drawings.
  'annotation annotation-xml maction menclose merror mfenced mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt mstyle',
  'msub msubsup msup mtable mtd mtext mtr munder munderover none semantics',
  'animate animatemotion animatetransform circle clippath defs desc ellipse filter foreignobject g image line lineargradient marker mask metadata path pattern',
  'polygon polyline radialgradient rect set stop switch symbol text textpath tspan use view',
);

/** Elements whose contents are not read as text: without an end, they would take the rest of the text with them. */
const unreadElements = toWordSet(
  'audio button canvas datalist iframe map nav noembed noframes noscript object script style svg template textarea title video xmp',
);

const closingTag = /<\/([a-z][\w-]*)/gi;
const anyTag = /<(?:!--|!doctype\b|[!?]|(\/?)([a-z][\w:.-]*)([^<>]*))/gi;
const tagAtBeginning = /^ {0,3}<(\/?)([a-z][\w:.-]*)([^<>]{0,2000})/i;
const commentAtBeginning = /^ {0,3}<!--/;

/**
 * Tells the tags of a Markdown text from other words in angle brackets, such as `<your-key>` and `Vec<String>`. A tag has the name of an element of HTML, or of a custom
 * element. If a tag has to end that element, one in the text does so, or an attribute shows that the name is no word.
 */
export class MarkdownTags {
  private readonly ended: Set<string>;
  private readonly lastCommentEnd: number;
  private readonly length: number;

  constructor(text: string) {
    this.ended = new Set(Array.from(text.matchAll(closingTag), ([, name]) => name!.toLowerCase()));
    this.lastCommentEnd = text.lastIndexOf('-->');
    this.length = text.length;
  }

  /** Whether a text begins with a word in angle brackets that is no tag. */
  beginsWithWord(text: string): boolean {
    const [, slash, name, more = ''] = tagAtBeginning.exec(text) ?? [];
    return name !== undefined && !(slash === '/' ? isElement(name) : this.isTag(name, more));
  }

  /** Whether the rest of the text begins with a comment that nothing ends. */
  beginsWithOpenComment(rest: string): boolean {
    return commentAtBeginning.test(rest) && this.length - rest.length > this.lastCommentEnd;
  }

  /** A piece of HTML in which what is no markup is written as text. */
  keepWords(html: string): string {
    const lastCommentEnd = html.lastIndexOf('-->');
    const pieces: string[] = [];
    let from = 0;
    anyTag.lastIndex = 0;
    for (let found = anyTag.exec(html); found; found = anyTag.exec(html)) {
      const [all, slash, name, more = ''] = found;
      if (all === '<!--' && found.index < lastCommentEnd) {
        anyTag.lastIndex = html.indexOf('-->', found.index);
        continue;
      }
      const isTag = name !== undefined && (slash === '/' ? isElement(name) : this.isTag(name, more));
      if (isTag || /^<!doctype$/i.test(all)) continue;
      pieces.push(html.slice(from, found.index), '&lt;');
      from = found.index + 1;
    }
    return [...pieces, html.slice(from)].join('');
  }

  /** `more`: what stands between the name and the end of the tag. */
  private isTag(name: string, more: string): boolean {
    const element = name.toLowerCase();
    const hasAttribute = more.includes('=');
    if (!isElement(element) || (elementsByAttribute.has(element) && !hasAttribute)) return false;
    if (this.ended.has(element)) return true;
    return !unreadElements.has(element) && (loneElements.has(element) || hasAttribute || more.trimEnd().endsWith('/'));
  }
}

/** Whether HTML has an element of this name. A hyphen makes it the name of a custom element. */
function isElement(name: string): boolean {
  const element = name.toLowerCase();
  return (
    otherElements.has(element) || elementsByAttribute.has(element) || loneElements.has(element) || /^[a-z][\w.]*-[\w.-]*$/.test(element)
  );
}
