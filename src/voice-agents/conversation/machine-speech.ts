import type { StoredMessage } from './contract.ts';

/** Words of greetings of mailboxes; a few of each of the larger languages. */
const mailboxWords = [
  /\b(?:voice ?mail|mailbox|answering machine|after the (?:tone|beep)|at the (?:tone|beep)|leave (?:a|your|me a) (?:short )?message|record your message)\b/i,
  /\b(?:not available|nobody is available|no one is available|can ?not (?:take|come to)|can't (?:take|come to)|unable to take) .{0,30}\b(?:call|phone)\b/i,
  /\b(?:mailbox|anrufbeantworter|nach dem (?:signal)?ton|hinterlassen sie|nicht erreichbar)\b/i,
  /\b(?:messagerie|répondeur|après le (?:signal|bip)|laissez (?:un|votre) message)/i,
  /\b(?:buzón|contestador|después (?:de la señal|del tono)|deje (?:su|un) mensaje)/i,
  /\b(?:segreteria|dopo il segnale|lasciate? un messaggio|caixa postal|após o sinal|deixe (?:a sua|sua|uma) mensagem|voicemail|na de (?:piep|toon))/i,
];
/** Nobody answers a phone with more words than this; a greeting of a mailbox mostly has more. */
const maxAnswerWords = 25;

/** Whether words on the phone are those of a mailbox. */
export const isMailboxSpeech = (text: string): boolean =>
  mailboxWords.some((pattern) => pattern.test(text)) || text.trim().split(/\s+/).length > maxAnswerWords;

/**
 * Who talks, by what the other side has said so far: a machine if anything of it is of a mailbox, else a person. Null: nothing was said.
 * Machine detection hears only the first seconds, and takes a long greeting of a person for a machine.
 */
export function whoTalks(messages: readonly Pick<StoredMessage, 'role' | 'text'>[]): 'person' | 'machine' | null {
  const said = messages.filter(({ role }) => role === 'user');
  if (said.length === 0) return null;
  return said.some(({ text }) => isMailboxSpeech(text)) ? 'machine' : 'person';
}
