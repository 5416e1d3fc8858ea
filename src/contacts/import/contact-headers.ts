import { toHeaderKeys } from './header-key.ts';

/** Headers of each field, in order of preference: the API's names, English exports, then other languages. */
export const fieldHeaders = {
  external_id: toHeaderKeys(`
    external id, customer id, contact id, record id, record id - contact, lead id, person id, user id, client id, member id,
    subscriber id, patient id, crm id, customer number, customer no, id, uuid, guid,
    Kundennummer, Kunden-Nr, Kunden-ID, Kontakt-ID, Kundnummer, numéro client, n° client, ID client, identifiant, code client,
    ID cliente, id de cliente, número de cliente, código cliente, código de cliente, codice cliente, ID contatto, klantnummer, klant-ID,
    identyfikator, ID klienta, numer klienta, id zákazníka, ügyfél azonosító, müşteri no, müşteri numarası, ID клиента, код клиента,
    顧客ID, 顧客番号, 会員番号, 会員ID, 客户编号, 客户ID, 客戶編號, 고객번호, 고객 ID,
  `),
  email: toHeaderKeys(`
    email, e-mail, email address, e-mail address, e-mail 1 - value, mail, primary email, work email, personal email, customer email,
    contact email, user email, mail address, E-Mail-Adresse, E-Mail Adresse, Mailadresse, adresse e-mail, adresse mail,
    adresse électronique, courriel,
    correo, correo electrónico, dirección de correo electrónico, endereço de e-mail, e-mail principal, indirizzo e-mail,
    posta elettronica,
    e-mailadres, adres e-mail, adres email, e-postadress, epost, e-post, sähköposti, e-posta, e-posta adresi, e-mail cím,
    эл. почта, электронная почта, почта, адрес электронной почты, メール, メールアドレス, Eメール, 邮箱, 电子邮件, 电子邮箱, 電子郵件, 이메일,
  `),
  first_name: toHeaderKeys(`
    first name, given name, forename, fname, firstname, customer first name, contact first name, Vorname, Rufname, prénom,
    nombre de pila,
    primeiro nome, voornaam, förnamn, fornavn, etunimi, imię, křestní jméno, keresztnév, utónév, prenume,
    名,
  `),
  last_name: toHeaderKeys(`
    last name, family name, surname, lname, lastname, second name, customer last name, contact last name, Nachname, Familienname, Zuname,
    nom de famille, apellido, apellidos, primer apellido, sobrenome, apelido, último nome, cognome, achternaam, efternamn,
    etternavn, efternavn,
    sukunimi, nazwisko, příjmení, priezvisko, vezetéknév, nume de familie, soyad, soyadı, επώνυμο, фамилия, прізвище, 姓, 苗字, 성,
  `),
  company: toHeaderKeys(`
    company, company name, organization, organisation, organization name, organisation name, organization 1 - name, account name,
    account,
    associated company, employer, business name, default address company, billing company, shipping company, Firma, Firmenname, Unternehmen,
    société, entreprise, raison sociale, empresa, compañía, companhia, azienda, società, ragione sociale, bedrijf, bedrijfsnaam, företag,
    virksomhed, bedrift, yritys, nazwa firmy, společnost, cég, cégnév, companie, şirket, εταιρεία, компания, организация, компанія,
    会社, 会社名, 勤務先, 企業名, 公司, 公司名称, 单位, 회사, 회사명,
  `),
  title: toHeaderKeys(`
    job title, title, position, job position, job role, role, organization title, organization 1 - title, Berufsbezeichnung,
    Stellenbezeichnung,
    fonction, poste, intitulé du poste, cargo, puesto, qualifica, ruolo, functie, functietitel, stanowisko, pozice, beosztás,
    ünvan, должность, посада,
    役職, 職位, 职位, 职务, 직책, 직위,
  `),
  tags: toHeaderKeys(`
    tags, tag, labels, label, group membership, categories, Schlagwörter, Schlagworte, Kategorien, étiquettes, libellés,
    etiquetas, etichette,
    tagi, etykiety, štítky, címkék, etiketler, теги, метки, ярлыки, タグ, ラベル, 标签, 標籤, 태그,
  `),
};

export const fullNameHeaders = toHeaderKeys(`
  full name, customer name, contact name, display name, client name, lead name, person name, customer, contact,
  vollständiger Name, Vor- und Nachname,
  Kontaktname, Kundenname, nom complet, prénom et nom, nombre completo, nombre y apellidos, nome completo,
  nome e cognome, volledige naam,
  imię i nazwisko, celé jméno, jméno a příjmení, ad soyad, adı soyadı, ονοματεπώνυμο, полное имя,
  お名前, họ và tên, họ tên, nama lengkap,
`);

/** Full names that begin with the family name. */
export const familyFirstNameHeaders = toHeaderKeys(
  'nom et prénom, cognome e nome, apellidos y nombre, příjmení a jméno, név, teljes név, ФИО, ПІБ, 氏名, 姓名, 성명',
);

/** A family name, a first name or a full name: the other columns decide. */
export const ambiguousNameHeaders = toHeaderKeys(`
  name, nom, nombre, nome, naam, namn, navn, nimi, nume, jméno, meno, ad, adı, isim, όνομα, имя, ім'я, nama,
  名前, 名字, 이름,
`);
