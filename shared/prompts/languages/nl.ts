import type { Language } from '../language.ts'

export const nl: Language = {
  name: 'Dutch',
  englishToo:
    'de, het, me, is, of, we, over, in, op, man, hand, water, wind, alarm, drum, drums, bas, ' +
    'die, dit, was, want, even, toe, stem, er, had, kind, regen, sax, en, alle, van, ' +
    'door, far, film, rest, haar, hen, zee, pan, pot',
  sounds: {
    vocals:
      'zangstem, zangstemmen, leadzang, hoofdzang, zanger, zangeres, zangers, ' +
      'stem van de zanger, stem van de zangeres',
    instrumental:
      'instrumentaal, instrumentale versie, begeleiding, karaokeversie, backing track, ' +
      'begeleidingsband, instrumenten, instrumentale',
    other:
      'de rest, rest, al het andere, alle andere geluiden, andere geluiden, overige geluiden, ' +
      'overige, al het overige, anderen',
    effects: 'geluidseffecten, effecten, geluidseffect',
    speech:
      'spraak, toespraak, gesprek, gesprekken, dialoog, dialogen, praten, gepraat, spreker, ' +
      'spreekster, verteller, pratende persoon, presentator, presentatrice, spreken, ' +
      'gesproken tekst, persoon, personen, mensen, iemand, interview, spreekstem',
    voice: 'stem, stemmen, menselijke stem, menselijke stemmen, mensenstem',
    woman:
      'vrouw, vrouwen, vrouwenstem, vrouwenstemmen, vrouwelijke stem, dame, pratende vrouw, ' +
      'stem van de vrouw, stem van een vrouw',
    man:
      'man, mannen, mannenstem, mannenstemmen, mannelijke stem, meneer, pratende man, ' +
      'stem van de man, stem van een man',
    child: 'kind, kinderen, kinderstem, kinderstemmen',
    baby: "baby, baby's, babygehuil, huilende baby, zuigeling",
    crowd: 'menigte, publiek, mensenmassa, geroezemoes, toeschouwers',
    singing: 'zang, zingen, gezang, gezangen, koor, zingend persoon',
    whisper: 'gefluister, fluisteren, fluisterstem',
    laughter: 'gelach, lachen, lach, gegiechel',
    scream: 'schreeuw, schreeuwen, gil, gillen, geschreeuw, gegil',
    sneeze: 'nies, niezen, genies',
    breathing: 'ademhaling, ademen, adem, ademgeluiden',
    eating: 'eten, kauwen, gekauw, smakken',
    dog:
      'hond, honden, geblaf, blaffen, blaffende hond, blaffende honden, hondje, puppy, ' +
      'hondengeblaf',
    'cat meowing': 'kat, katten, poes, poezen, gemiauw, miauwen, miauwende kat, kitten',
    horse: 'paard, paarden, gehinnik, hinniken, hoefgetrappel, hoeven',
    'farm animal':
      'boerderijdier, boerderijdieren, koe, koeien, schaap, schapen, geit, varken, varkens, ' +
      'vee',
    chicken: 'kip, kippen, hen, hennen, gekakel',
    rooster: 'haan, hanen, hanengekraai, kraaiende haan',
    'bird chirping':
      'vogel, vogels, vogelgezang, gefluit van vogels, vogelgeluiden, getjilp, vogelzang, ' +
      'tjilpen, fluitende vogels',
    bee: 'bij, bijen, gezoem van bijen, bijengezoem',
    crickets: 'krekel, krekels, krekelgezang',
    piano: "piano, piano's, vleugel, pianomuziek, pianospel",
    harpsichord: 'klavecimbel, klavecimbels, clavecimbel',
    organ: 'orgel, orgels, kerkorgel',
    accordion: 'accordeon, accordeons, trekharmonica',
    vibraphone: 'vibrafoon, xylofoon, marimba',
    'acoustic guitar': 'akoestische gitaar, akoestische gitaren, klassieke gitaar',
    'electric guitar': 'elektrische gitaar, elektrische gitaren',
    bass: 'bas, basgitaar, basgitaren, contrabas, baslijn, bassist',
    banjo: 'banjo',
    sitar: 'sitar',
    harp: 'harp, harpen',
    violin: 'viool, violen',
    cello: "cello, cello's",
    strings: 'strijkers, strijkorkest',
    trumpet: 'trompet, trompetten',
    trombone: 'trombone, trombones, schuiftrompet',
    'french horn': 'hoorn, hoorns, waldhoorn, Franse hoorn',
    saxophone: 'saxofoon, saxofoons, sax',
    clarinet: 'klarinet, klarinetten',
    oboe: "hobo, hobo's",
    flute: 'fluit, fluiten, dwarsfluit, blokfluit, dwarsfluiten',
    bagpipe: 'doedelzak, doedelzakken',
    synth: 'synthesizer, synthesizers',
    'drum kit': 'drumstel, drumstellen',
    'kick drum': 'basdrum, grote trom, bassdrum',
    'snare drum': 'kleine trom, snaredrum',
    'hi-hat': 'hi-hat, hihat',
    cymbal: 'bekken, bekkens, cimbaal',
    toms: 'toms',
    congas: "conga's, conga, bongo's",
    tambourine: 'tamboerijn, tamboerijnen',
    timpani: 'pauk, pauken',
    'steel drum': 'steeldrum, steelpan',
    helicopter: 'helikopter, helikopters, heli',
    airplane: 'vliegtuig, vliegtuigen',
    'car engine':
      "automotor, motor, motoren, motorgeluid, auto, auto's, verkeer, verkeerslawaai, " +
      'verkeersgeluid, verkeersgeluiden',
    motorcycle: 'motorfiets, motorfietsen, brommer, brommers',
    'train passing': 'trein, treinen, spoorweg, passerende trein, voorbijrijdende trein',
    'car horn': 'claxon, autoclaxon, toeter, getoeter, toeteren, claxons',
    'train horn': 'treinhoorn, treinfluit',
    'household appliance':
      'huishoudelijk apparaat, huishoudelijke apparaten, wasmachine, vaatwasser, magnetron, ' +
      'föhn, mixer',
    'vacuum cleaner': 'stofzuiger, stofzuigers, stofzuigen',
    fan: 'ventilator, ventilatoren, airco, ventilatorgeluid, airconditioning',
    chainsaw: 'kettingzaag, kettingzagen, motorzaag',
    'hand saw': 'handzaag, zaag, zagen',
    drill: 'boor, boormachine, boren, boormachines',
    'hissing air': 'sissende lucht, perslucht, gesis van lucht',
    clock: 'klok, klokken, getik, tikkende klok, getik van de klok',
    typing: 'typen, toetsenbord, getyp, typemachine, toetsenbordgeluiden',
    click: 'klik, klikken, muisklik, geklik',
    hum: 'brom, gebrom, zoem, gezoem',
    'white noise': 'witte ruis, ruis, roze ruis',
    noise:
      'lawaai, herrie, achtergrondgeluid, achtergrondgeluiden, achtergrondlawaai, achtergrond, ' +
      'achtergrondruis, omgevingsgeluid, omgevingsgeluiden, omgevingslawaai, bijgeluiden, ' +
      'storende geluiden, geluiden op de achtergrond, geluid op de achtergrond, rumoer, ' +
      'bijgeluid',
    phone: 'telefoon, telefoons, rinkelende telefoon, ringtone, beltoon, mobieltje',
    'dial tone': 'kiestoon',
    doorbell: 'deurbel, deurbellen, bel van de deur',
    'church bell': 'kerkklok, kerkklokken, klokgelui, bel, klokkengelui',
    siren: 'sirene, sirenes, politiesirene, ambulance',
    alarm: 'alarm, alarmen, wekker, brandalarm, rookmelder',
    'referee whistle':
      'scheidsrechtersfluit, scheidsrechtersfluitje, fluitje van de scheidsrechter, fluitje, ' +
      'fluitsignaal',
    'morse code': 'morsecode, morse, morsesignaal',
    'video game': 'videospel, videospelletje, computerspel, computerspelletje, videogame',
    rain: 'regen, regenbui, regengeluid, regenen, regendruppels',
    sea: 'zee, oceaan, golven, branding, golf, zeegeluid',
    wind: 'wind, winden, windgeruis, windgeluid',
    thunder: 'donder, onweer, donderslag, onweersbui',
    stream: 'beek, beekje, rivier, stromend water, kabbelend water',
    'water dripping':
      'druppelend water, waterdruppels, waterdruppel, gedruppel, druppels, lekkende kraan, ' +
      'druppelende kraan',
    splash: 'plons, plonzen, spetter, gespetter, gespat',
    bubbles: 'bubbels, bubbel, belletjes, gebubbel, luchtbellen',
    'hand clap': 'handgeklap, klappen, klap, handklap',
    applause: 'applaus, applaudisseren',
    footsteps: 'voetstap, voetstappen, stappen, lopen, voetstappen op de achtergrond',
    knock: 'klop, kloppen, geklop, klop op de deur, kloppen op de deur, geklop op de deur',
    door: 'deur, deuren, dichtslaande deur',
    creaking: 'gekraak, kraken, gepiep, piepende deur, krakende deur',
    'keys jingling': 'sleutels, sleutel, sleutelbos, rinkelende sleutels',
    coins: 'munt, munten, muntgeld, kleingeld',
    dishes: 'borden, vaat, serviesgoed, bestek, servies, afwas',
    chopping: 'hakken, groenten snijden, hout hakken',
    writing: 'schrijven, potlood, pen, geschrijf',
    'paper rustling': 'papier, geritsel van papier, papiergeritsel, ritselend papier',
    'adhesive tape': 'plakband, kleefband, tape',
    'bouncing ball': 'stuiterende bal, bal, stuiterbal, ballen, basketbal',
    'glass breaking': 'brekend glas, gebroken glas, glasgerinkel, glas, brekende ruit',
    fire: 'vuur, kampvuur, haardvuur, vlammen, knetterend vuur, open haard',
    gunshot: 'schot, schoten, geweerschot, pistoolschot, geweerschoten, pistool',
    explosion: 'explosie, explosies, ontploffing, bom',
    whistling: 'gefluit, fluiten met de mond, gefluit van een mens',
    heartbeat: 'hartslag, hartslagen, hart, hartkloppingen, kloppend hart',
    music: 'muziek, achtergrondmuziek, filmmuziek, muziek op de achtergrond',
    animal: 'dier, dieren, dierengeluid, dierengeluiden',
    guitar: 'gitaar, gitaren, gitarist',
    'keyboard instrument': 'toetsinstrument, toetsinstrumenten',
    'bowed instrument': 'strijkinstrument, strijkinstrumenten',
    brass: 'koperblazers, koper, koperblaasinstrument, koperblaasinstrumenten',
    woodwind: 'houtblazers, houtblaasinstrument, houtblaasinstrumenten',
    drums: 'trommel, trommels, slagwerk, percussie, drumgeluid, drummer, tromgeroffel, drums',
    vehicle: 'voertuig, voertuigen, vrachtwagen, vrachtwagens',
    water: 'water, watergeluid, watergeluiden',
    'clean speech':
      'opschonen, audio opschonen, het audio opschonen, opname opschonen, de opname opschonen, ' +
      'geluid opschonen, het geluid opschonen, schoonmaken, spraak verbeteren, ' +
      'de spraak verbeteren, spraakverbetering, stem verbeteren, de stem verbeteren, ' +
      'ruisonderdrukking, ruisreductie, ruisverwijdering, ontruisen, heldere spraak, ' +
      'heldere stem, schone spraak, schone stem, schoon geluid, verbeter de spraak, ' +
      'verbeter de stem, schoon de opname op, schoon het geluid op',
  },
  words: {
    article: 'de, het, een, t, n',
    ignored:
      'alsjeblieft, alstublieft, ik, wil, zou, graag, kun, kunt, kan, kunnen, je, jij, u, mij, ' +
      'me, geef, geven, horen, luisteren, heb, nodig, haal, is, zijn, er, daar, dit, deze, dat, ' +
      'die, mijn, jouw, waar, wat, welke, ook, nog, gewoon, geluid, geluiden, geluid van, ' +
      'geluid van de, het geluid van, het geluid van de, het geluid van een, geluid van een, ' +
      'klank, deel, bedankt, hallo, hoor, worden, wordt, moet, extraheer, extraheren, scheid, ' +
      'scheiden, gescheiden, geïsoleerd, geïsoleerde, helemaal, volledig, zoek, we, wij, ' +
      'hebben, alleen nog, alle, meer, spoor, te, hoe, ons, even, willen, zo, maken',
    without:
      'zonder, geen, minus, exclusief, vrij van, in plaats van, behalve dan, nul, ' +
      'met uitsluiting van, zonder enige',
    not: 'niet, nooit, noch',
    remove:
      'verwijder, verwijderen van, wis, schrap, demp, elimineer, onderdruk, laat weg, ' +
      'schakel uit, zet uit, mute, doe weg, sluit uit, filter, gooi weg, snij weg, snijd weg, ' +
      'haal weg, dempen van, reduceer, verminder, stop, ontdoe',
    after:
      'verwijderen, verwijderd, weg, weghalen, weggehaald, weglaten, weggelaten, eruit, ' +
      'eruit halen, eruithalen, eruit gehaald, wissen, gewist, dempen, gedempt, uitzetten, uit, ' +
      'uitgezet, onderdrukken, onderdrukt, elimineren, uitschakelen, uitgeschakeld, ' +
      'wegfilteren, uitfilteren, wegfilteren, filteren, gefilterd, schrappen, geschrapt, ' +
      'verwijdering, uitsluiten, uitgesloten, weg te halen, muten, gemute, verdwijnen, wegdoen, ' +
      'wegsnijden',
    turn: 'haal, zet, laat, doe, gooi, snij, snijd, neem, schakel, draai',
    off: 'af',
    except:
      'behalve, uitgezonderd, met uitzondering van, buiten, op na, naast, anders dan, ' +
      'afgezien van, dan',
    but: 'maar, doch',
    keep: 'behoud, behouden, bewaar, hou, houd, laat staan, bewaren, hou over, laat alleen',
    only:
      'alleen, enkel, slechts, uitsluitend, isoleer, isoleren, maar alleen, alleen maar, ' +
      'niets dan',
    everything:
      'alles, allemaal, hele, heel, alle geluiden, alle andere, nummer, nummers, lied, liedje, ' +
      'liedjes, opname, audio, bestand, mix, track, video, muziekstuk, film, elk geluid, al de',
    nothing: 'niets, niets anders, niks, niemand, geen ander geluid, geen andere geluiden',
    and: 'en, plus, alsook, evenals, zowel, als, samen met, of, en ook',
    with: 'met, inclusief',
    of: 'van, van de, van het, van een, uit de, uit het, uit dit, uit deze, uit mijn, van dit',
    preposition:
      'die zingt, die speelt, die praat, voor de, voor het, achter, in, in de, in het, op, ' +
      'op de, op het, onder, boven, tijdens, wanneer, terwijl, bij, aan, door, tegen, tussen, ' +
      'over, vlakbij, dichtbij, omdat, waar de, zodat, gespeeld door, voor, tegenover',
    playing: 'speelt, spelend, spelende, spelen',
    whole: 'drum and bass, rock and roll, peper en zout, peper- en zoutvaatje, zwart-wit',
  },
}
