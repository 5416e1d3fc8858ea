import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDirectory } from '../scripts/local/settings.ts';

/** A question with the passage that answers it. */
export interface AnsweredQuestion {
  question: string;
  answer: string;
}

export interface QuestionSet {
  name: string;
  entries: AnsweredQuestion[];
}

const directory = join(projectDirectory, 'bench', 'data');

/** English sets, whose texts and questions fill the knowledge bases of other cases, too. data/README.md names the sources of all. */
export const setNames = ['python-faq', 'perl-faq'];

const languages = ['german', 'french', 'russian', 'japanese', 'korean', 'chinese'];
/** The sets by which the quality of retrieval is measured. */
export const qualitySetNames = [...setNames, ...languages.map((language) => `debian-faq-${language}`)];

/** The translations of one list have one licence. */
export const licenceOf = (name: string): string => `${name.replace(/^(debian-faq)-.*/, '$1')}.LICENSE.txt`;

export function readQuestionSet(name: string): QuestionSet {
  const lines = readFileSync(join(directory, `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n');
  return { name, entries: lines.map((line) => JSON.parse(line) as AnsweredQuestion) };
}

/** A page that holds only the answers, each under a heading with its number, so that a search cannot match a question. */
export function toPage(title: string, answers: string[]): string {
  const sections = answers.map((answer, index) => `<h2>${toHeading(index)}</h2>\n${splitParagraphs(answer)}`);
  return `<!doctype html><html><head><title>${title}</title></head><body>\n${sections.join('\n')}\n</body></html>\n`;
}

/** The position of the entry that a chunk below these headings belongs to; null: none. */
export function findEntry(headings: string[]): number | null {
  const number = /^Passage (\d+)$/.exec(headings.at(-1) ?? '')?.[1];
  return number === undefined ? null : Number(number) - 1;
}

const toHeading = (index: number) => `Passage ${index + 1}`;

const splitParagraphs = (answer: string) =>
  answer
    .split(/\n{2,}/)
    .map((part) => `<p>${escaped(part)}</p>`)
    .join('\n');

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const plain = /^[\w ,.;:'"?!()-]{20,400}$/;

/** Sentences of the answers without code, from which longer texts are made. */
export const listSentences = (sets: QuestionSet[]): string[] =>
  sets.flatMap(({ entries }) =>
    entries.flatMap(({ answer }) =>
      answer
        .replaceAll(/\s+/g, ' ')
        .split(/(?<=[.?!]) (?=[A-Z])/)
        .filter((sentence) => plain.test(sentence)),
    ),
  );
