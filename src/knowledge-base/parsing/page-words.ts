/** The words beside a page number, in the languages of the larger office programs. */
const pageWords = new Set(
  (
    'page pages p pp pg of seite seiten s von sur de du página páginas pág pagina pagine pag di van sida sid av side sider af sivu oldal ' +
    'strona str z stran strana strany sayfa puslapis lapa lehekülg страница стр из сторінка з стор σελίδα από עמוד מתוך صفحة من หน้า ' +
    'trang halaman dari 第 页 頁 共 ページ 쪽 페이지 の'
  ).split(' '),
);

/** Whether a line of a header or footer has nothing but a page number and words such as "Page" and "of". */
export const isPageNumber = (line: string): boolean => {
  const words = line.toLowerCase().match(/[\p{L}\p{M}]+|\p{N}+/gu) ?? [];
  return words.length > 0 && words.every((word) => /^\p{N}+$/u.test(word) || pageWords.has(word));
};
