const firstNames = ['Amara', 'Bruno', 'Chiara', 'Dmitri', 'Elif', 'Farid', 'Greta', 'Hiroshi', 'Ines', 'Jonas', 'Kavya', 'Liam', 'Mei'];
const lastNames = ['Adeyemi', 'Brandt', 'Costa', 'Dubois', 'Eriksen', 'Fischer', 'Garcia', 'Haddad', 'Ivanova', 'Jensen', 'Kapoor'];
const companies = ['Northwind', 'Blue Harbor', 'Cedar & Co', 'Delta Works', 'Evergreen'];
const cities = ['Lisbon', 'Austin', 'Pune', 'Oslo', 'Lyon', 'Osaka', 'Lagos'];

export interface Person {
  first_name: string;
  last_name: string;
  company: string;
  city: string;
  email: string;
}

/** A person for every number, with an email address of their own. */
export function toPerson(index: number, domain: string): Person {
  const pick = (words: string[]) => words[index % words.length]!;
  const [first_name, last_name] = [pick(firstNames), pick(lastNames)];
  const email = `${first_name}.${last_name}.${index}@${domain}`.toLowerCase();
  return { first_name, last_name, company: pick(companies), city: pick(cities), email };
}
