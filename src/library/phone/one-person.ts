/** Mexico dropped the 1 after +52 in 2019; messaging systems still write it. */
export const withoutMexicanOne = (phone: string): string => phone.replace(/^\+521(?=\d{10}$)/, '+52');

/** Mobile numbers of Brazil got a ninth digit until 2016; messaging systems still leave it out. */
const withBrazilianNine = (phone: string): string => phone.replace(/^\+55([1-9][1-9])(?=[6-9]\d{7}$)/, '+55$19');

/** Mobile numbers of Argentina have a 9 when called from abroad. Nothing in the digits tells a mobile number, so every one has it. */
const withArgentineNine = (phone: string): string => phone.replace(/^\+54(?=[1-3]\d{9}$)/, '+549');

/** The one spelling, in E.164, of numbers that reach the same person though their digits differ. A spelling of its own stays as it is. */
export const toOnePersonSpelling = (phone: string): string => withArgentineNine(withBrazilianNine(withoutMexicanOne(phone)));

/** The other spelling that an Argentine landline is dialled by; undefined for any other number. */
export const withoutArgentineNine = (phone: string): string | undefined =>
  /^\+549[1-3]\d{9}$/.test(phone) ? `+54${phone.slice(4)}` : undefined;
