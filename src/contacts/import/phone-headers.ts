import { toHeaderKeys } from './header-key.ts';

/** Headers of phone columns, in order of preference: English, then other languages. */
export const phoneHeaders = toHeaderKeys(`
  phone number, phone, telephone, telephone number, number, mobile, mobile phone, cell, cell phone, cellular,
  contact number, contact no, tel, to number, phone 1 - value, msisdn, handphone, whatsapp, landline, direct dial, direct line, e164,
  Telefon, Telefonnummer, Rufnummer, Fon, Mobil, Mobiltelefon, Mobilfunk, Handy, Handynummer, Festnetz,
  téléphone, numéro de téléphone, numéro, portable, téléphone portable, téléphone mobile, n° de téléphone,
  teléfono, número de teléfono, móvil, teléfono móvil, celular, teléfono celular, número de celular,
  telefone, número de telefone, telemóvel, número de telemóvel, telefone celular, telefone móvel,
  telefono, numero di telefono, cellulare, telefono cellulare, numero di cellulare, recapito telefonico,
  telefoon, telefoonnummer, mobiel, mobiele telefoon, mobiel nummer, gsm, gsm nummer,
  mobilnummer, mobiltelefonnummer, tlf, telefonnr, puhelin, puhelinnumero, matkapuhelin, matkapuhelinnumero, kännykkä, sími, farsími,
  numer telefonu, nr telefonu, telefon komórkowy, tel. kom., komórka, numer komórki, telefonní číslo, telefón, telefónne číslo,
  telefonszám, mobilszám, număr de telefon, telefon mobil, broj telefona, mobitel, telefonska številka, telefonas,
  telefono numeris, tālrunis, telefoninumber,
  telefon numarası, cep telefonu, cep telefonu numarası, τηλέφωνο, αριθμός τηλεφώνου, κινητό, κινητό τηλέφωνο,
  телефон, номер телефона, мобильный, мобильный телефон, сотовый, сотовый телефон, контактный телефон, моб,
  номер телефону, мобільний, мобільний телефон, мобилен, мобилен телефон, телефонен номер,
  電話, 電話番号, 携帯, 携帯電話, 携帯番号, 携帯電話番号, 連絡先電話番号,
  电话, 电话号码, 联系电话, 手机, 手机号, 手机号码, 移动电话, 電話號碼, 聯絡電話, 手機, 手機號碼, 行動電話, 联系方式,
  전화, 전화번호, 휴대폰, 휴대폰번호, 휴대전화, 휴대전화번호, 핸드폰, 핸드폰번호, 연락처,
  هاتف, الهاتف, رقم الهاتف, جوال, الجوال, رقم الجوال, موبايل, טלפון, מספר טלפון, נייד, טלפון נייד, تلفن, شماره تلفن, موبایل,
  फ़ोन, फ़ोन नंबर, मोबाइल, मोबाइल नंबर, โทรศัพท์, เบอร์โทร, เบอร์โทรศัพท์, มือถือ, điện thoại, số điện thoại, di động, sđt,
  telepon, nomor telepon, no telepon, hp, no hp, nomor hp, ponsel, telefon bimbit, nombor telefon,
`);

/** Headers of other columns too. They count only without a better phone column. */
export const ambiguousPhoneHeaders = toHeaderKeys('number, numéro, 联系方式');

/** Words before or after a phone word that keep it the contact's number. Words for an assistant's phone or a fax are left out. */
export const phoneHeaderModifiers = toHeaderKeys(`
  primary, main, home, work, business, office, company, direct, personal, private, other, default, preferred,
  hq, headquarters, switchboard, empresa, société, azienda, bedrijf, address, billing, shipping, customer, client, contact, lead, user, caller, callee, recipient, guest, patient, member,
  owner, buyer, student, candidate, applicant, employee, prospect, subscriber, participant, your, my, alt, alternate, alternative, secondary,
  numero, número de, numero di, numer, first, second, international, full, formatted, normalized, raw, e164, day, daytime,
  evening, person, account, to,
  number, numbers, no, nr, num, nummer, value, line, field, phone, mobile, cell, sms, call, callback, wa, voice,
  geschäftlich, privat, dienstlich, firma, firmen, büro, zentrale, haupt, weiteres, kunde, kunden, wert,
  bureau, domicile, travail, professionnel, pro, personnel, fixe, principal, client, perso, valeur,
  casa, trabajo, oficina, particular, fijo, fixo, cliente, comercial, residencial, trabalho, ufficio, fisso, contacto, contato, valor,
  thuis, werk, zakelijk, prive, służbowy, domowy, stacjonarny, kontaktowy, kontakt, jobb, hem, arbejde, iş, ev,
  рабочий, домашний, основной, личный, контактный, 自宅, 会社, 勤務先, 主要, 家庭, 办公, 公司,
`);
