import { expect, test } from 'vitest';
import { knowledgeService } from '../knowledge-service.ts';

/** Passages, each with queries that must find it before all others by their words alone. */
const libraries: Record<string, [passage: string, queries: string[]][]> = {
  'words with signs': [
    ['Our tools for C++ need version 14 of the compiler.', ['C++', 'c++', 'C++ tools', 'What about C++?', '(C++)', 'C++17']],
    ['Our tools for C# run wherever the runtime does.', ['C#', 'c# tools', 'do you support C#?']],
    ['Vitamin C is best taken in the morning.', ['vitamin C', 'C vitamin']],
    ['Plan C covers travel in the Alps.', ['plan C']],
    ['The R&D department sits in Ghent.', ['R&D', 'r&d department', 'R & D', 'where is R&D?']],
    ['Phones of AT&T are unlocked at the counter.', ['AT&T', 'at&t phones', 'AT & T']],
    ['Parties at t-junctions are no fun.', ['t-junctions']],
    ['Write services in .NET or in Java.', ['.NET', 'services in .net']],
    ['The net below the trapeze is checked daily.', ['net below the trapeze']],
    ['Notepad++ opens large logs.', ['Notepad++', 'notepad']],
    ['Type A+ blood is given in room 4.', ['A+ blood', 'A+']],
  ],
  'numbers and codes': [
    ['The kettle AB-1234/56-X holds two litres.', ['AB-1234/56-X', 'AB123456X', 'ab 1234 56 x', 'AB1234-56X', 'ab-1234-56-x']],
    ['The kettle AB-1235/56-X holds three litres.', ['AB-1235/56-X', 'AB123556X']],
    ['Pumps RX580 are sold out.', ['RX-580', 'rx 580', 'RX580', 'RX/580']],
    ['Pumps RX 590 are in stock.', ['RX590', 'rx-590', 'RX 590']],
    ['We are certified by ISO 27001 since May.', ['ISO-27001', 'iso27001', 'ISO 27001']],
    ['The iPhone 15 has a port of the usual kind.', ['iphone15', 'iPhone-15', 'iphone 15']],
    ['Version v2.1.3 mends the login.', ['v2.1.3', 'V2.1.3']],
    ['The order number is 4500 0123 45.', ['4500012345', '4500-0123-45']],
    ['The fee is 1,234,567 dollars.', ['1234567', "1'234'567"]],
  ],
  'words, versions and amounts in two spellings': [
    ['Write an e-mail to the desk.', ['email', 'e-mail', 'E-Mail']],
    ['Our newsletter goes out by gmail, which you may leave.', ['gmail']],
    ['The Wi-Fi of the lounge is free.', ['wifi', 'Wi-Fi', 'WiFi', 'wi-fi']],
    ['The wlan of the cellar needs a key.', ['wlan']],
    ['The cable has a USB-C plug.', ['usbc', 'USB-C', 'usb-c']],
    ['Release v2.3.1 mends the export.', ['2.3.1', 'v2.3.1', 'V2.3.1']],
    ['Release 4.7.2 mends the import.', ['v4.7.2', '4.7.2']],
    ['The bicycle costs €1,299.00 this week.', ['1299', '1,299', '1.299,00', '€1,299.00']],
    ['The tandem costs 2499 this week.', ['2,499.00', '2499', "2'499"]],
    ['Le vélo cargo coûte 3 599,00 € cette semaine.', ['3599', '3 599', '3.599,00']],
    ['The kettle AB-1234/5 is red.', ['AB1234', 'AB-1234', 'AB-1234/5', 'ab12345']],
    ['The kettle AB-9876/5 is blue.', ['AB9876', 'AB98765']],
    ['Take a screw M6x20 for the hinge.', ['M6 x 20', 'M6x20', 'm6 X 20']],
    ['Take a screw M8 x 30 for the door.', ['M8x30', 'M8 x 30']],
  ],
  'phone numbers': [
    [
      'The desk in Berlin: +49 (0)30 901820.',
      ['030 901820', '+4930901820', '0049 30 90 18 20', '030/901820', '(030) 90 18 20', '49 30 901820'],
    ],
    ['The desk in Hamburg: 040/428280.', ['+49 40 428280', '+4940428280', '040 42 82 80']],
    ['The desk in Boston: (617) 555-0134.', ['617-555-0134', '+1 617 555 0134', '6175550134', '1.617.555.0134']],
    ['The desk in Chicago: 1-312-555-0171.', ['312 555 0171', '+13125550171']],
    ['The desk in Rome: +39 06 698 85458.', ['06 69885458', '+390669885458']],
    ['The desk in Dubai: ٠٤ ٣٣١ ٧٧٧٧', ['04 331 7777', '+971 4 331 7777']],
  ],
  'East Asian questions in other inflections and with other numerals': [
    ['当店は九時から十八時まで開いています。', ['何時に開きますか', '9時に開いていますか', '開く時刻', '当店は9時から']],
    ['返金は三営業日以内に送られます。', ['返金を送ってもらえますか', '返金は送りますか']],
    ['パスワードは設定の画面で変えられます。', ['パスワードを変えるには', 'パスワードの変え方', 'パスワードを変えたい']],
    ['保証は二十四ヶ月です。', ['保証は何ヶ月ですか', '24ヶ月', '保証 24か月']],
    ['门店早上九点营业，晚上十点半打烊。', ['几点营业', '9点', '门店9点营业吗']],
    ['收到商品后四十五天内可以退货。', ['几天内可以退货', '45天', '多少天可以退货']],
    ['매장은 아침 아홉 시에 문을 엽니다.', ['몇 시에 문을 여나요', '9시에 열어요?', '문 여는 시간']],
    ['비밀번호는 설정에서 바꿀 수 있습니다.', ['비밀번호를 바꾸려면', '비밀번호 바꿔요', '어떻게 바꾸나요']],
    ['영수증은 이메일로 보내 드립니다.', ['영수증을 보내나요', '영수증 보내려면']],
    ['주전자는 3년 동안 보증됩니다.', ['주전자 보증은 몇 년인가요', '삼 년 보증']],
  ],
  Chinese: [
    ['未拆封的商品可以在四十五天内退货。', ['商品多久可以退货？', '退货', '我想退货怎么办']],
    ['水壶的保修期是三年，不包括水垢。', ['水壶保修几年？', '保修期']],
    ['周末客服中心不开放。', ['周末可以打电话给客服吗？', '客服中心']],
  ],
  Japanese: [
    ['未開封の商品は45日以内に返品できます。', ['商品の返品はいつまでできますか？', '返品']],
    ['ケトルの保証期間は三年です。水垢は対象外です。', ['ケトルの保証は何年ですか', 'ｹﾄﾙ', '保証期間']],
    ['サーバーの設定は管理者だけが変更できます。', ['サーバーの設定を変えるには？', 'サーバー']],
  ],
  Korean: [
    ['개봉하지 않은 상품은 45일 이내에 반품할 수 있습니다.', ['상품을 반품하려면 어떻게 하나요?', '반품은 언제까지 되나요', '반품']],
    ['주전자의 보증 기간은 3년입니다.', ['주전자 보증기간이 얼마나 되나요?', '보증 기간']],
    ['주말에는 고객센터가 열리지 않습니다.', ['고객센터는 주말에 여나요?', '고객 센터']],
  ],
  Thai: [
    ['สินค้าที่ยังไม่เปิดสามารถคืนได้ภายในสี่สิบห้าวัน', ['คืนสินค้าได้ภายในกี่วัน', 'คืนสินค้า']],
    ['กาต้มน้ำมีประกันสามปี ไม่รวมคราบหินปูน', ['กาต้มน้ำรับประกันกี่ปี', 'คราบหินปูน']],
    ['ศูนย์บริการลูกค้าปิดวันเสาร์และอาทิตย์', ['ศูนย์บริการลูกค้าเปิดวันเสาร์ไหม', 'วันอาทิตย์']],
  ],
  Arabic: [
    ['يمكن إرجاع المنتجات غير المفتوحة خلال خمسة وأربعين يومًا.', ['كيف يمكنني ارجاع منتج؟', 'إرجاع', 'الإرجاع', 'المنتج']],
    ['ضمان الغلّاية ثلاث سنوات ولا يشمل الترسبات.', ['ما هي مدة الضمان للغلاية؟', 'الغلاية', 'ضمان']],
    ['مركز خدمة العملاء مغلق في عطلة نهاية الأسبوع.', ['هل مركز خدمه العملاء مفتوح في نهاية الاسبوع؟', 'العميل وخدمة']],
  ],
  Hebrew: [
    ['ניתן להחזיר מוצרים שלא נפתחו תוך ארבעים וחמישה ימים.', ['איך מחזירים מוצר? להחזיר', 'המוצרים', 'מוצר']],
    ['האחריות על הקומקום היא שלוש שנים ואינה כוללת אבנית.', ['כמה שנים אחריות יש לקומקום?', 'קומקום', 'באחריות']],
    ['מוקד שירות הלקוחות סגור בשבת. צה"ל מקבל הנחה.', ['האם מוקד השירות פתוח בשבת?', 'לקוח', 'צה״ל', 'צהל']],
  ],
  'other spellings of Latin letters': [
    ['Die Straße zum Lager ist gesperrt.', ['Strasse', 'Straße zum Lager', 'STRASSE']],
    ['Das Büro in Köln öffnet um neun.', ['buro koln', 'Büro Köln']],
    ['Ｆｕｌｌ width ＫＥＴＴＬＥ', ['kettle', 'ＫＥＴＴＬＥ']],
    ['İstanbul ofisi kapalı.', ['istanbul', 'İSTANBUL']],
  ],
  'stop words': [
    ['What is the point of it all, and how do I get to the end of this? It is what it is, and so it goes on and on.', ['point of it all']],
    [
      'Limescale in kettles is removed with vinegar.',
      ['how do I get rid of the limescale that is in it?', 'what is to be done about limescale?'],
    ],
    ['The IT department resets passwords.', ['how do I reach IT?', 'IT']],
    ['Die Maschinen werden von der Werkstatt abgeholt.', ['wann werden die Maschinen von uns abgeholt?', 'Maschinen']],
    ['To be or not to be is asked in the third act.', ['to be or not to be']],
  ],
};

test.each(Object.entries(libraries))('%s: each passage is found by its words in any spelling', async (_name, passages) => {
  const service = await knowledgeService();
  const content = passages.map(([passage], index) => `# ${'x'.repeat(index + 1)}z\n\n${passage}`).join('\n\n');
  const { processing_status, processing_error, total_chunks } = await service.process({ content });
  expect({ processing_status, processing_error, total_chunks }).toEqual({
    processing_status: 'completed',
    processing_error: null,
    total_chunks: passages.length,
  });
  const wrong: unknown[] = [];
  for (const [passage, queries] of passages)
    for (const query of queries) {
      const [first] = await service.search(query, { mode: 'keyword', limit: 3 });
      if (!first?.chunk_text.includes(passage.normalize('NFC'))) wrong.push({ query, found: first?.chunk_text });
    }
  expect(wrong).toEqual([]);
});
