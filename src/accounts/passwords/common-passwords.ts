/**
 * What people choose most: the 3000 most frequent words of 4 to 11 characters, and all of 12 and more, of `passwords.json` of
 * @zxcvbn-ts/language-common 4.1.3, which counts them in leaked lists. In lower case.
 *
 * Copyright (c) 2012-2016 Dan Wheeler and Dropbox, Inc.; Copyright (c) 2021 @zxcvbn-ts. Permission is hereby granted, free of charge,
 * to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without
 * restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies
 * of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions: The above
 * copyright notice and this permission notice shall be included in all copies or substantial portions of the Software. THE SOFTWARE IS
 * PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
 * FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
 * DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
 * SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 */
const words = `
010203040506 012345678910 014702580369 01telemike01 050605rostik 102030405060 1111111111zz 111222333000 111222333444555 112233445566
122333444455555 123123qweqwe 123321123321 123321456654 123321qweewq 123456654321 12345677654321 123456782000 1234567887654321 123456789000
12345678900987654321 123456789012 1234567890987654321 1234567890qaz 1234567890qw 1234567890qwe 1234567890qwerty 1234567890zzz 123456789101
123456789123 1234567892000 12345678987654321 123456789987654321 123456789aaa 123456789abc 123456789asd 123456789qaz 123456789qqq
123456789qwe 123456789qwer 123456789qwerty 123456789zxc 1234567qwertyu 123456qwerty 123456zxcvbn 1234qwerasdf 1234qwerasdfzxcv
123ewqasdcxz 123qwe123qwe 123qwe456rty 123qweasdzxc 123qwerty123 12qw34er56ty 159753159753 159753456852 193570356033 19960610ilja
1a2a3a4a5a6a 1a2s3d4f5g6h 1q2w3e4r5t6y 1qa2ws3ed4rf 1qa2ws3ed4rf5tg 1qaz2wsx3edc 1qaz2wsx3edc4rfv 1qazxsw23edc 1qazxsw23edcvfr4
23176djivanfros 23wkoa0fp78dk 31217221027711 32615948worms 41d8cd98f00b 420842084208555 4815162342lf 4815162342lost 541233432442
59382113kevinp 6215mila6215 742617000027 89063032220m 89231243658s 89876065093rax 89semtsriuty a1s2d3f4g5h6 aardvark aaron abc123456789
aberdeen abgrtyu abigail access accord account achilles action active adam adgjmptw adidas admin admin18533362 administrator admiral
adrian adriana adult aezakmi africa aggies aikido airborne airbus airforce airplane aksjdlasdakj89879 alabama alan alaska albatros albert
alberto albion alejandr aleksandr alex alexande alexander alexandr alexandra alexis alfred alibaba alice alicia alien aliens alison allen
alliance allison alpha alpha135792468 alpine always alyssa amadeus amadeusptfcor amanda amateur amazon amber amelia america american
amsterda amsterdam an83546921an13 anaconda anakin anal analsex anarchy anastasia anders anderson andre andrea andreas andrei andrew
andrewjackie andrey andy anfield angel angela angelica angelina angelo angels angie anhyeuem animal anime anna annette annie antananarivu
anthony anton antonio anubis anything anytimetoday apache apollo apple applepie apples april aquarius aragorn archer archie arizona arjay
armani arnold arsenal artemis arthur artist asd123asd123 asdasd asdf asdfasdf asdfg asdfgh asdfgh123456 asdfghj asdfghjk asdfghjkl
asdfghjkl123 asdfjkl asdzxc ashley ashton asian aspire aspirine assass assassin assfuck asshole assman asterix astros athena atlanta
atlantic atlantis atomic attack auburn auckland2010 audrey august aurora aussie austin australi australia autumn avalon avatar avenger
avrillavigne awesome azamat azerty azsxdc azsxdcfv babe babes babies baby babyboy babydoll babygirl babylon backdoor bacon badass badboy
baddog badger badiman28200 baggins bailey ball baller balloon balls bambam banana bananas bandit bang bangbang bangkok banshee barbara
barbie barcelon barcelona barkley barney barsik bart baseball basket basketba basketball bass bassman bastard batman battle baxter beach
beagle beaner bear bearbear bears beast beatles beatrice beautiful beauty beaver beavis beckham becky beefcake beer beetle belinda bell
bella bender benjamin bennett benson bentley berlin bernard bernie bertha bethany better betty beverly bhrh0h2oof6xbqjeh bianca bicycle
bigballs bigbird bigboobs bigboy bigcock bigdaddy bigdick bigdog bigfoot bigger biggie bigguy bigmac bigman bigmoney bigone bigred bigsexy
bigtime bigtits bikini bill billie billy billybob billyboy bingo bird birdie birdman birthday biscuit bishop bitch bitches biteme bizkit
blabla black blackcat blackdog blackie blackjac blackman blacks blacksonblon blacky blade blades blahblah blake blaster blazer blessed
blizzard blonde blondes blondie blood bloody blow blowjob blowme bltynbabrfwbz blue bluebird blueblue blueeyes bluemoon blues bluesky boat
bobafett bobbie bobbob bobby bobcat boeing bogart bogdan bohica bollocks bollox bomber bond bondage bone bonehead boner bones bonita
bonjour bonnie bonsai boob boobies booboo boobs booger boogie boomer bootie boots booty boris bosco boss bossman boston bottom bowler
bowling bowser boxing boy4u2ownnyc boys bpgjldsgjldthnf br0d3r brad bradford bradley brandi brando brandon brandy brasil braves brazil
breast breeze brenda brendan brian brianna bridge bridget bristol britney brittany broken bronco broncos brooke brooklyn brooks brother
brothers brown brownie browns bruce brucelee bruins bruno brutus bryan bryant bubba bubbas bubble bubbles buck buckeye buckeyes buddha
buddy budlight budman buffalo buffett buffy bugger bull bulldog bulldogs bullet bullnuts2003 bullshit bunghole bunny burger burton bush
business businessbabe buster butch butler butt butter butterfl butterfly butthead butthole buttman buttons byteme cabbage cactus cadillac
caesar caitlin calico caliente californ california callie calvin camaro camel camelot camels camera cameron camilla camille campbell
canada cancel cancer cancun candle candy candyman cannon canon cantona capital capone captain cardinal carl carlo carlos carlton carmen
carol carolina caroline carolyn carpet carrera carrie carrot carson carter cartman cartoon caserta casey cash casino casper cassidy cassie
castle catalina catdog catfish catherin catherine catman cats cavalier ccbill cdtnkfyf cecilia celeste celica celine celtic celtics center
central cessna chair champion champs chance chandler chanel chang change changeme chaos charger chargers charles charli charlie charlott
charlotte charlton charly charmed chase chaser check cheers cheese cheeseburger cheetah chelsea cheng cherokee cherry cheryl chester
chesterfield chevelle chevrole chevy chewie cheyenne chicago chichi chicken chickens chickenwing101 chicks chief chiefs children china
chipper chloe chocolat chocolate chopper chris chrissy christ christia christian christin christine christop christopher christopher1
christy chronic chubby chuck chucky church cindy cinnamon civilization cjdthitycndj cjkysirj cjkywt claire clancy clapton clarence classic
claude claudia clayton clemson clifford clinton clitoris clover cnfc35762209 cobra cocacola cock cocks coconut cody coffee coke coleman
colleen college collins colombia colorado colors coltrane columbia columbus combat123654 comics command commando compaq computer concrete
condom condor configuratio connect conner connie connor conrad construction consumer content contortionist control cookie cookies cool
cooldude cooler coolio coolman cooper cooter copper corona corperfmonsy corrado corvette cosmo cosmopolitan cosmos cosworth cotton cougar
counterstrike country courtney cowboy cowboys coyote cracker crash crazy crazybab cream creampie creamy creative cricket crimson cristina
cruise crunch crusader crystal cthulhu cthutq cuddles cumming cumshot cunt cupcake curious curtis cutlass cutter cxfcnmt cyclone cynthia
daddy dagger daisy dakota dale dallas dalton damian damien damnit dana dance dancer danger danie daniel daniela danielle daniil danila
danni danny dannyboy dark darkness darkside darkstar darling darren darwin dave david davids davidson davis dawg dawson daytona dbrnjhbz
dead deadhead deadman dean deanna death debbie deborah december deedee deeznuts defender defiant deftones delete delta demon denali denis
denise deniska dennis denver derrick desert design designer desire deskjet destiny detroit devil devildog devilmaycry4 devils dexter
dfkthbz dfvgbh diablo diamond diamonds diana dick dickhead dicks diesel dietcoke digger digital digitalprodu dilbert dildo dilligaf dillon
dima dinamo dingdong dinosaur director dirty discover disney divine dixie dkflbvbh dkflbvbhjdbx dkflbvbhjdyf doberman doctor dodge dodger
dodgeram dodgers dogg doggie doggy dogman dogs dollar dolphin dolphins domainlock2005 dominic domino donald dong donkey donna donnie
doobie doodle dookie dorothy double doughboy douglas down dracula drago dragon dragons dragoon drake dream dreamer dreams drew driver
drizzt drowssap drpepper drummer dthjybrf dublin ducati duchess duck dude dudley duke dumbass duncan durango duster dustin dusty dylan
eagle eagles easy eatme eatpussy eatshit eclipse eddie eduard edward edwardcullen eeyore eileen einstein ekaterina elaine electric element
elena elephant eleven elijah elizabet elizabeth elliot elliott elvira elvis elwood emerald emerson emily eminem emmanuel empire energy
engage engine engineer england english enigma enjoy enter enterpri enterprise entertainment eric ericsson ernest erotic escape escort
esther eternity eugene evelyn everest everton excalibu exigen exigent exodus explorer express extreme fabian fabie faggot faith falcon
falcons fallen family fantasy farmer farside fart fashion fast faster fatass fatboy fatcat father fatima fatima753357 fatman february feet
felicia felix fender fernand fernando ferrari ferret fetish ficken fiesta figaro fighter filter finalfantasy findaupair007 finger fingers
finish fire fireball firebird firefly firefox fireman first fish fisher fishing fitness fkmnthyfnbdf fktrcfylh fktrcfylhf fktrcfylhjdbx
fktrcfylhjdf fktrcfylhjdyf fktrctq flames flamingo flash flatron fletch fletcher flight flipper florence florida flower flowers fluffy
flvbybcnhfnjh flyboy flyers flying foobar football ford forest forever foreveryoung forget forgot formula forrest fortuna fortune fossil
foster fowler foxtrot france frances francis franco francois frank frankie franklin franky freak freaks freaky freckles fred freddie
freddy frederic frederiksberg fredfred free freedom freeman freepass freeporn freeuser french friday friend friends fright frisco fritz
frog frogger froggy frontier frosty fubar fuck fucked fucker fuckers fuckface fuckfuck fuckin fucking fuckit fuckme fuckoff fucktheworld
fuckyou fuckyoubitch fugazi function funny funtime fusion future fyfcnfcbz fylhtq fynfyfyfhbde gabrie gabriel galaxy galina galore gambit
gandalf gang gangbang gangsta gangster garage garbage garcia garden garfield garrett gary gateway gator gators gbpltw geheim gemini
general genesis genius george georgia gerald gerard german germany geronimo getsome gfhfktkjuhfv gfhjkm gfhjkmgfhjkm ghbdtn ghbdtnbr
ghbdtnghbdtn ghbdtnrfrltkf ghhh47hj7649 ghjatccbjyfk ghjcnj ghjcnjgbpltw ghjcnjgfhjkm ghjcnjghjcnj ghjcnjqgfhjkm ghjcnjrdfibyj
ghjnbdjcnjzybt ghost ghtdtlvtldtl giant giants gibson gilbert gillian ginger giorgi giovanni girl girls gizmo gizmodo gjkbyf gjkysqgbpltw
global gloria gmoney goblin goblue goddess godsmack godzilla gofish goforit goku gold goldberg golden goldfish goldie golf golfball golfer
golfing goliath goober good goodbye goodluck goodtime google goose gopher gordon gorilla gotcha gothic gotohell govols grace gracie graham
grandma granny grateful great greatone green greenbay greenday greenlantern greens greg gregory gremlin grendel gretchen griffey griffin
gringo grizzly groovy grover grumpy gthtrfnbgjkt gtnhjpfdjlcr guardian guest guinness guitar gundam gunner gustav hacker hailey halflife
hallo hamburg hamilton hamlet hammer hammers hamster handsome hannah hannibal hansen hansolo happy happyday hard hardcore harder hardon
hardrock harley harmony harold harper harris harrison harry harvey hastings hawaii hawk hawkeye hayden hayley hd764nw5d7e1vb1
hd764nw5d7e1vbv head hearts heather heaven hector hedgehog hedimaptfcor heidi helen helena hell hellfire hello hellyeah help helpme
hendrix henry hentai herbert herbie hercules herman hermes hershey hesoyam hidden highland hilton hiphop history hithere hitler hitman
hjvfirf hobbes hobbit hockey holden holiday holland holly hollywoo hollywood holmes holyshit home homer homers homerun honda honey
hongkong hooker hooter hooters hoover hope hopper horndog hornet horney horny horse horses hotboy hotdog hotrod hotsex hotstuff hottie
house houses houston howard hudson hummer hungry hunter hunting hurrican husker huskers huskies hustler hyperion iampurehaha2 ibanez
icecream iceman iforgot igor iguana ihateyou illini iloveboobies ilovemyfamily ilovesex iloveu iloveyo iloveyou imagine immortal impala
imperial incubus indian indiana indians indigo infantry inferno infiniti infinity ingodwetrust ingrid insane inside installdevic
installsqlst integra intelligence international internet intrepid ipo54tj45uy856 ireland irina irish ironman isabel isabella isabelle
isaiah iseedeadpeople island israel italia ivan ivanov iverson iwantu jack jackal jackass jackie jackoff jackson jacob jaguar jake jamaica
james jamesbon jamesbond007 jamie jammer janice janine january japan japanese jarhead jasmin jasmine jason jasper javier jazz jazzman
jeanette jedi jeep jeff jeffrey jenna jennie jennifer jenny jensen jeremiah jeremy jericho jerkoff jerome jerry jersey jesse jessica
jessie jester jesus jethro jimbo jimbob jimmy joanna joanne joejoe joey johanna john johnjohn johnny johnson joker jonathan jones jordan
jose joseph josephphone7 josh joshua jrcfyf juan judith juice julia julian julie juliet julius jumper junebug jungle junior jupiter
justdoit justice justin justinbieber justine justme juventus kaiser kaktus kamikaze kangaroo kansas karate karen karina karolina kasper
katana katerina kathleen kathryn kathy katie katrin katrina kawasaki keeper keith kelley kelly kelsey kennedy kenneth kenny kenshin
kentucky kenwood kenworth kermit kevin keyboard keystone keywest kicker killbill killer killme kimberly king kingdom kingfish kingkong
kingpin kingston kipper kirill kirsten kiss kisses kissme kitkat kitten kitty kittycat klaster knicks knight knights knopka kodiak kolobok
kong koshka kotenok kramer krishna krista kristen kristi kristin kristina kristy ktjynsq40147 kume kyle labrador labtec lacrosse ladies
lady ladybug laguna lakers lancelot lancer lansing laptop larisa larry lasvegas latin latino laura lauren laurie lawrence lawyer leader
leather leavemealone ledzep legacy legend legion legolas lemons lennon leonard leonardo leopard lesbian lesbians leslie lespaul lestat
lester letmein letsgo lewis lexmark lhbjkjubz2957704 liberty lick licker lickit lickme life lifehack lifetime light lightnin lights
lillian lincoln linda lindsay lindsey lion lionking liquid lisa lisalisa little liverpoo liverpool lizard lizzie lobster logan logitech
lolita lollipop lollol london lonely lonestar lonewolf long longhorn looker looking lorenzo lorraine loser lost4815162342 louise loulou
love love777321777 loveit lovelove lovely loveme lover loverboy lovers loveyou loving lowrider lucas lucifer lucky luckydog lucy ludwig
luke luther lvbnhbq lytdybrbdfvgbhf lytghjgtnhjdcr macdaddy machine madden maddie maddog madeline madison madman madmax madness madonna
madrid maestro maggie magic magnolia magnum magnus maiden mailcreated5240 mailman majestic makaveli maksim malaka malcolm malibu mallard
manager manchest manchester mandingo mandy maniac manson manuel manutd maprchem56458 maradona marathon marc marcel marco marcos marcus
margaret margarita maria mariah marian marianne marie marilyn marina marinamarina marine mariners marines marino mario marion marisa
marissa mark market markus marlboro marlene marley marlin marshall martha martin martina martinez martini marvel marvin mary maryjane
maryland mason massimiliano massive master masterbaiting masterbating masters masturbation matilda matrix matt matthew mattie mature
maurice maurolarastefy maverick maxell maxima maximus maxine maxmax maxwell mayday mayhem maynard meatball meatloaf mechanic megadeth
megaman megan meghan melanie melinda melissa mellon melody melvin member memorex memory memphis mercedes mercury meridian merlin mersedes
metal metallic metallica method mevefalkcakk mexico miami michael michaela michaeljackson michel michele michelle michigan mickey microlab
microsof microsoft midget midnight mighty miguel mike mikemike mikey milana milano milena miles military miller millie million milton mine
minecraft minecraft123 minnesota_hp minnie miracle mirage miranda miriam mission missy mister mistress misty mitchell mobile models mojo
mollie molly moloko molson momoney momsanaladventure monday money moneys mongoose monica monika monique monitor monkey monkeys monopoly
monroe monster montana montreal monty moocow mookie moomoo moon moose morgan morganstanley morpheus morris morrison mortalkombat moscow
mother motherfucker motorola mountain mouse movie movies mozart msoracle32re msorcloledbr muffin mulder munchkin muppet murphy murray
muscle mushroom music musicman mustang mustangs mylove mypass myself mystery mystic nadine naked nancy napass napoleon naruto nascar nasty
nastya nastyanastya natali natalia natalie natasha nathalie nathan national natural naughty ncc1701a ncc1701d ncc1701e ne_e_pod_chehyl
nebraska necronomicon needforspeed nellie nelson nemesis nemvxyheqdd5oqxyxyzi neptune network networkingpe nevada newlife newman newpass
newport newproject2004 newton newyork nfnmzyf nguyen nhbujyjvtnhbz nhecsyfujkjdt nhfdvfnjkju123 nhfycajhvths nicholas nick nick1234-rem936
nicola nicolas nicole nigger night nightcrawler nikita nikki nikola nimrod nina niners ninja nintendo nipple nipples nirvana nissan nobody
nofear nokia nolimit nondriversig none noodle noodles nookie nopass norman norton nothing november ntktdbpjh1994 nugget nuttertools nyjets
nylons nymets oakland oakley obiwan oblivion october odessa office ohyeah oilers oklahoma oksana olcrackmaster oldman olga oliver olivia
omega onelove online ontheoutside open openup operator oracle orange oranges oregon orgasm orioles orion orlando oscar osiris outlaw
overlord oxford pa55w0rd pa55word pacific packard packer packers pacman painter pakistan palace paladin palmer pamela panama panasonic
pancho panda pandora pantera panther panthers panties pantyhos panzer paradise paradox paraklast1974 paris parker parola parrot party
pascal pass passat passion passport passw0rd passwor password password1234 passwordassword passwordpassword passwords passwordstandard
passwort patches patricia patrick patriot patriots patton paul pauline pavilion payton peace peaches peanut peanutbutter peanuts pearljam
pebbles pedro peekaboo peewee pegasus pencil penelope penguin penguins penis penny pentium people pepper pepsi perfect personal pervert
pete peter peterpan peters peugeot pfqwtd27121988 phantom philadelphia philip philips phillies phillip philly phoebe phoenix photo photos
phpbb picard picasso piccolo pickle pickles pics picture pierre piglet pikachu pillow pilot pimp pimpin pineappl ping pingpong pink
pinkfloy pioneer pirate pirates pistol pitbull pizza planet plastic platinum play playboy player playstation2 playstation3 playtime please
pleasure plumber plymouth poison pokemon polaris police polina polniypizdec0211 polniypizdec1102 polniypizdec110211 polo polska pompey
poncho pontiac poodle pooh poohbear pookie poontang poop pooper poopie poopoo pooppoop pooter popcorn popeye porkchop porn porno
pornographic pornstar porsche porter portland portugal positive possum postal potato potter powder powell power powers precious predator
prelude presario presto preston pretty primus prince princes princess printer private privet prodigy professional profit psycho
ptybnxtvgbjy pumpkin punisher punkin punkrock punksnotdead puppies puppy purple pussies pussy pussycat pussys putter pyramid python
q1w2e3r4t5y6 q1w2e3r4t5y6u7 q1w2e3r4t5y6u7i8 q1w2e3r4t5y6u7i8o9p0 qawsed qawsedrf qawsedrftgyh qaz123wsx456 qazqaz qazwsx qazwsx123456
qazwsxed qazwsxedc qazwsxedc123 qazwsxedcrfv qazwsxedcrfvtgb qazwsxqazwsx qazxsw qazxswedc qazxswedc123 qazxswedcvfr quality queen quincy
qwaszx qwaszxerdfcv qwe123qwe123 qweasd qweasdzxc qweasdzxc123 qweqwe qwerasdf qwerasdfzxcv qwert qwertasdfgzxcvb qwerty qwerty123456
qwerty123456789 qwertyasdfgh qwertyu qwertyui qwertyuio qwertyuiop qwertyuiop10 qwertyuiop12 qwertyuiop123 qwertyuiop12345 qwertyytrewq
rabbit racecar racerx rachael rachel racing rafael ragnarok raider raiders rainbow raistlin ralph rambler rammstein ramona ramses randall
random randy ranger rangers raptor rascal rasputin rastaman raven ravens raymond razz rbhbkk rctybz ready reagan reality reaper rebecca
rebel rebels redalert redbull reddog redhead redhot redman redneck redrum redskins redsox redwings reebok reggie regina remember renegade
rereirf rescue research residentevil retard revenge review rfhbyf rfnthbyf rfnthbyf1988 rfrfirf rfrnec rhbcnbyf rhonda ricardo rich
richard richards richie richmond rick ricky rightnow ripper river rjirfrgbde rjntyjr roadkill robbie robert roberta roberto roberts robin
robinson robotech rock rocker rocket rockets rockhard rockon rocks rockstar rocky rodney roger rogers roland roller rolltide roman romance
romashka romeo rommel ronald ronaldinho10 ronaldo ronnie rookie rooster rootbeer roscoe rose rosebud rosemary rotten rovers roxanne rubber
rugby rulez runner running rupert rush ruslan russell russia russian rustam rusty ryan sabbath sabina sabine sabrina sadie safety sailboat
sailing sailor saint saints sakura sally salmon salvador samantha samiam sammie sammy sampson samson samsung samuel samurai sanchez
sanders sandiego sandman sandra sandro sandy sanfrancisco santana santiago santos sapphire sara sarah saratoga sasha sassy satan
satisfaction saturn saun saun24865709 sausage savage savannah sayang scandinavian scarface scarlet scarlett school schoolgirlie science
scooby scoobydo scooter scorpio scorpion scotch scotland scott scottie scotty scrappy scratch scream scruffy scully sdicmt7seytn sean
search seattle sebastia sebastian secret security seemnemaailm seinfeld select selena seminole semperfi sentinel septembe september serega
serena serenity sergei sergey sergio server service sesame seven sex4me sexsex sexual sexx sexy sexygirl shado shadow shaggy shalom shaman
shamrock shane shania shannon shaolin shark sharks sharon shasta shaved shazam sheena sheila shelby shelley shelly shemale sherlock
sherman sherry sherwood shiloh shirley shit shithead shitty shogun shooter shopping short shorty shotgun showme showtime sidney siemens
sierra silver silvia simba simon simone simple simpson simpsons sinatra singer single sinner sirius sister sithlord sixers skater skeeter
skiing skinny skipper skippy skittles skorpion skyline skywalke skywalker slacker slappy slapshot slayer sleepy slick slider slipknot slut
sluts slutty smile smiles smiley smith smitty smoke smoker smokey smokin smooth smudge smut snake snakes snapper snatch snickers sniper
snoopy snow snowball snowman snuggles sobaka soccer socrates softball software sojdlg123aljg soldier soleil solomon somethin sommer sonic
sonnenschein sony sonyericsson sooner sooners sophia sophie soso123aljg southern space spank spanking spankme spanky sparkle sparky sparta
spartak spartan spartans speaker special specialinsta spectrum speed speedy spencer spider spiderma spiderman spidey spike spirit spitfire
splash spooky sport sports spring springer sprint sprite spunky spurs spyder squirrel squirt srinivas stacey stalker stallion standard
stanley star starbuck starcraft stardust starfish stargate stars starship startrek starwars station stealth steele steeler steelers stefan
stefano stella stephani stephanie stephen sterlin sterling steve steven stevie stewart stick stickdaddy77 sticks sticky stimpy stinger
stingray stinky stinkyfinger stocking stocks stolen stone stonecol stoner stones storm stormy stranger stratocaster street strider strike
striker stripper strong stuart stud student studio stuff stupid subaru sublime success suck sucker suckit suckme sucks sugar sultan summer
summit sundance sunday sunny sunrise sunset sunshine super superfly superman supernatural superstar support surf surfer surfing susan
suzanne suzuki svetik svetlana swallow sweden sweet sweetie sweetpea sweets sweety swimming swinger swingers sword swordfis swordfish
sydney sylvia syracuse system systemofadown tacobell tacoma tamara tammy tanker tanner tanya tara tardis target tarheel tarheels tarzan
tasha tatiana tattoo tatyana taurus taylor tazman tdutybq teacher technics techno teddy teen teens tekken telefon temp tempest temple
temppassword tennis tequila teresa terminal terminator terror terry test tester testing testtest texas thailand thanks thankyou
thecakeisalie thegame thekid theking theman theodore theone theresa therock thomas thompson thor throat thuglife thumper thunder
ticketmaster tickle tiffany tiger tigers tigger tight timber time timmy timothy tina tinker tinman tintin titanic titans titleist tits
titties tobias toby today tolkien tomato tomcat tommy tomtom tony tool tootsie topcat topdog topgun topper tornado toronto torres toshiba
tottenha toyota tracey tractor tracy traffic trains trance transam transformers travel travis treasure trebor tree trevor trfnthbyf tricky
trident trigger trinidad trinity tristan triton triumph trixie trojan trojans trombone trooper trouble truck trucker trucks truelove
trumpet trunks tsunami tucker tuesday tundra turbo turkey turner turtle tweety twilight twisted twister tyler tyrone ultima ultimate
unbelievable unicorn united universe unknown unreal utopia vacation vader vagina valentin valentina valera valeria valerie valhalla valley
vampire vanessa vanhalen vanilla vanyarespekt vectra vegeta velvet verbatim veritas vernon verona veronica veronika vertigo vette vfczyz
vfhbyf vfhbyfvfhbyf vfhecz vfksirf vfrcbv vfrcbvrf vfrcbvvfrcbv vfvekz vfvfvskfhfve vfvjxrf viagra victor victoria victory video viking
vikings viktor viktoria vincent violet viper vipers virgin virginia vision vitalik vivian vkontakte vladik vladimir vladimirovna vladislav
volley volume voodoo vortex voyager voyeur vulcan walker wallace walleye wally walnut walter wanker warcraft warhammer warhammer40k
warlock warlord warren warrior warriors water waterloo waters watson wayne wazzkaprivet weasel weather webmaster websolutions
websolutionssu webster webuivalidat weed weezer weihnachtsbau weihnachtsbaum welcome wendy werewolf werner wesley western westham westside
wetpussy whatever wheels whiskey whisper white whitney whocares whore whosyourdaddy whynot wibble wicked wilbur wildcat wildcats wildfire
william williams willie willis willow willy wilson window windows winner winnie winston winter wisdom wizard wolf wolfgang wolfie wolfman
wolfpack wolverin wolverine wolves wombat women wonder wood woody woofwoof wookie wordpass world wrangler wrestlin wright writer wutang
xanadu xavier xfiles xtreme xxxp455w0rd5 yamaha yankee yankees ybrbnf yellow yfnfif yomama yosemite young yourmom yvonne z1x2c3v4b5n6
z1x2c3v4b5n6m7 zachary zaphod zaq12wsx zaq12wsxcde3 zaq1xsw2cde3 zaqwsx zaqwsxcderfv zaqxsw zcfvfzkexifz zenith zeppelin zidane zipper
zombie zorro zqjphsyf6ctifgu zvezda zxcasd zxcasdqwe zxcasdqwe123 zxcvbn zxcvbn123456 zxcvbnm zxcvbnm123456789 zxcvbnmmnbvcxz
`;

export const commonPasswords: ReadonlySet<string> = new Set(words.trim().split(/\s+/));
