import { toHeaderKey, toHeaderKeys } from './header-key.ts';

/** Words that tell whose phone a column has, from the person's own to the company's. A column with none of them is between direct and home. */
const mobileWords = toHeaderKeys(`
  mobile, cell, cellular, handphone, whatsapp, sms, mobil, handy, portable, móvil, celular, telemóvel, cellulare, mobiel, gsm, matkapuhelin, kännykkä,
  komórka, komórkowy, komórki, mobitel, cep telefonu, κινητό, мобильный, сотовый, моб, мобільний, мобилен, 携帯, 手机, 手機, 移动电话, 行動電話, 휴대폰, 휴대전화,
  핸드폰, جوال, موبايل, موبایل, נייד, मोबाइल, มือถือ, di động, hp, ponsel, bimbit, farsími,
`);
const directWords = toHeaderKeys('direct, durchwahl, personal, private, personnel, perso, privat, privé, личный, particular');
const homeWords = toHeaderKeys(`
  home, evening, landline, domicile, fixe, casa, fijo, fixo, fisso, residencial, thuis, domowy, stacjonarny, hjem, hem, ev, festnetz, домашний, 自宅, 家庭,
`);
const workWords = toHeaderKeys(`
  work, business, office, day, daytime, geschäftlich, dienstlich, büro, bureau, travail, professionnel, pro, trabajo, oficina, comercial, trabalho, ufficio,
  werk, zakelijk, służbowy, jobb, arbejde, iş, рабочий, 勤務先, 办公,
`);
const otherWords = toHeaderKeys('other, alt, alternate, alternative, secondary, weiteres');
const companyWords = toHeaderKeys(
  'company, hq, headquarters, switchboard, firma, firmen, zentrale, empresa, société, azienda, bedrijf, 会社, 公司',
);

/** 0: the person's mobile phone; higher numbers are nearer to the company. A work mobile is a mobile phone; a company's is the company's. */
export function rankPhoneOwner(header: string): number {
  const words = new Set(splitWords(header));
  const key = toHeaderKey(header);
  const has = (list: string[]) => list.some((word) => words.has(word) || (isLong(word) && key.includes(word)));
  if (has(companyWords)) return 6;
  if (has(mobileWords)) return 0;
  if (has(directWords)) return 1;
  if (has(homeWords)) return 3;
  if (has(workWords)) return 4;
  return has(otherWords) ? 5 : 2;
}

/** `workPhone` and `Work Phone` are two words. */
const splitWords = (header: string): string[] =>
  header
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .map(toHeaderKey);

/** Short words stand alone (`hp`, `ev`); longer ones are found inside others (`mobilephone`), as are those of scripts without spaces. */
const isLong = (word: string): boolean => word.length >= 4 || /[^\p{Script=Latin}\p{N}]/u.test(word);
