declare module 'stopword' {
  export const ara: string[], ces: string[], dan: string[], deu: string[], ell: string[], eng: string[], fas: string[], fin: string[];
  export const fra: string[], heb: string[], hin: string[], hun: string[], ind: string[], ita: string[], jpn: string[], kor: string[];
  export const nld: string[], nob: string[], pol: string[], por: string[], ron: string[], rus: string[], spa: string[], swe: string[];
  export const tha: string[], tur: string[], ukr: string[], vie: string[], zho: string[];
}
