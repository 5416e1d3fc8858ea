/** Mexico dropped the 1 after +52 in 2019, and 01, 044 and 045 before a number. Messaging systems and address books still write them. */
export const withoutMexicanPrefix = (phone: string): string => phone.replace(/^\+52(?:1|01|044|045)(?=\d{10}$)/, '+52');

/** A number as it is dialled in Mexico (`044 55 1234 5678`, `01 55...`), or as WhatsApp writes it without a plus (`521 55...`): its ten digits. */
export const withoutNationalMexicanPrefix = (digits: string): string =>
  digits.replace(/^(?:521|52044|52045|5201|1|01|044|045)(?=\d{10}$)/, '');

/** Mobile numbers of Brazil got a ninth digit until 2016; messaging systems still leave it out. */
const withBrazilianNine = (phone: string): string => phone.replace(/^\+55([1-9][1-9])(?=[6-9]\d{7}$)/, '+55$19');

/** Mobile numbers of Argentina have a 9 when called from abroad. Nothing in the digits tells a mobile number, so every one has it. */
const withArgentineNine = (phone: string): string => phone.replace(/^\+54(?=[1-3]\d{9}$)/, '+549');

/** The one spelling, in E.164, of numbers that reach the same person though their digits differ. A spelling of its own stays as it is. */
export const toOnePersonSpelling = (phone: string): string => withArgentineNine(withBrazilianNine(withoutMexicanPrefix(phone)));

/** The other spelling that an Argentine landline is dialled by; undefined for any other number. */
export const withoutArgentineNine = (phone: string): string | undefined =>
  /^\+549[1-3]\d{9}$/.test(phone) ? `+54${phone.slice(4)}` : undefined;
