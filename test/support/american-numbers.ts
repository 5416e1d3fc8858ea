const exchanges = 800;
const areaCodes = [2, 3, 4, 5, 6, 7, 8, 9].flatMap((hundred) =>
  ['01', '02', '03', '04', '05', '06', '07', '08', '09', '12', '13', '14', '15', '16', '17', '18', '19'].map((rest) => `${hundred}${rest}`),
);

/**
 * A number of the North American plan, in E.164, that ends with four chosen digits: simulated people behave by them. The numbers of 0 to 108,799
 * differ in the digits before; then they begin anew.
 */
export const americanNumber = (number: number, lastDigits: string): string =>
  `+1${areaCodes[Math.floor(number / exchanges) % areaCodes.length]}${200 + (number % exchanges)}${lastDigits}`;
