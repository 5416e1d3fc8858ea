import { toStems } from './words.ts';

export type Polarity = 'yes' | 'no';

const reassurance = /\b(?:no (?:problem|worries|doubt)|why not|of course|sounds (?:good|great|fine)|go ahead)\b/gi;
const yesStems = new Set(
  toStems(
    'yes yeah yep yup sure ok okay absolutely definitely certainly correct true fine good great perfect agree accept confirm gladly interested affirmative positive',
  ),
);
const noStems = new Set(
  toStems(
    'no nope nah not never none dont doesnt didnt cant cannot wont wouldnt isnt arent decline refuse reject negative false wrong without uninterested unwilling',
  ),
);

/** Whether a text, or the description of one, says yes or no; null: neither. One negation makes it a no. */
export function detectPolarity(text: string): Polarity | null {
  const stems = toStems(text.replace(reassurance, ' yes '));
  if (stems.some((stem) => noStems.has(stem))) return 'no';
  return stems.some((stem) => yesStems.has(stem)) ? 'yes' : null;
}
