import type { Language } from '../language.ts'

export const de: Language = {
  name: 'German',
  englishToo:
    'die, an, man, im, am, was, also, so, fan, bass, wind, alarm, in, hat, war, warm, fern, ' +
    'not, gut, rest, pause',
  sounds: {
    vocals:
      'Gesangsstimme, Gesangsstimmen, Gesangsspur, Leadgesang, Hauptgesang, Sängerstimme, ' +
      'Sänger, Sängerin, Sängers, Gesang des Liedes',
    instrumental:
      'Instrumentalversion, Instrumentalspur, Instrumentalfassung, Begleitung, Playback, ' +
      'Begleitmusik, Karaokeversion, Karaoke-Version, Instrumente, Instrumentale',
    other:
      'alles andere, alle anderen, alles Übrige, der Rest, den Rest, Rest, andere Geräusche, ' +
      'anderen Geräusche, alle anderen Geräusche, sonstiges',
    effects: 'Geräuscheffekte, Soundeffekte, Klangeffekte, Effekte, Toneffekte',
    speech:
      'Sprache, Rede, Sprechen, Sprecher, Sprechers, Sprecherin, Sprechstimme, Sprechstimmen, ' +
      'Dialog, Dialoge, Dialogs, Gespräch, Gespräche, Gesprochenes, Moderator, Moderators, ' +
      'Moderatorin, Gerede, sprechende Person, Person, Personen, Leute, Menschen, jemand, ' +
      'Redner',
    voice: 'Stimme, Stimmen, menschliche Stimme, menschliche Stimmen, Menschenstimme',
    woman:
      'Frau, Frauen, Frauenstimme, Frauenstimmen, weibliche Stimme, weiblichen Stimme, Dame, ' +
      'sprechende Frau, Stimme der Frau, Stimme einer Frau',
    man:
      'Mann, Männer, Mannes, Männern, Männerstimme, Männerstimmen, männliche Stimme, ' +
      'männlichen Stimme, Herr, sprechender Mann, Stimme des Mannes, Stimme eines Mannes',
    child: 'Kind, Kinder, Kindes, Kindern, Kinderstimme, Kinderstimmen',
    baby:
      'Säugling, Babygeschrei, Babyweinen, weinendes Baby, Babys, Baby, schreiendes Baby, ' +
      'Kleinkind',
    crowd: 'Menschenmenge, Menge, Publikum, Publikums, Zuschauer, Stimmengewirr, Menschenmassen',
    singing:
      'Gesang, Gesanges, Gesangs, Gesänge, Singen, Singstimme, Singstimmen, Chor, Gesungenes',
    whisper: 'Flüstern, Geflüster, flüsternde Stimme, Flüsterstimme, Wispern',
    laughter: 'Lachen, Gelächter, Lacher, Kichern',
    scream: 'Schrei, Schreie, Schreien, Geschrei, Kreischen',
    sneeze: 'Niesen, Nieser',
    breathing: 'Atmen, Atem, Atemgeräusche, Atemgeräusch, Atmung, Schnaufen',
    eating: 'Essen, Kauen, Kaugeräusche, Schmatzen, Essgeräusche',
    dog:
      'Hund, Hunde, Hundes, Hunden, Hundegebell, Gebell, Bellen, Hundebellen, bellender Hund, ' +
      'bellenden Hund, bellende Hunde, Welpe, Welpen, Bellen des Hundes, Bellen eines Hundes',
    'cat meowing': 'Katze, Katzen, Kater, Miauen, miauende Katze, Kätzchen, Katzenmiauen',
    horse:
      'Pferd, Pferde, Pferdes, Pferden, Pferdewiehern, Wiehern, Hufe, Hufgetrappel, Hufschläge',
    'farm animal':
      'Nutztier, Nutztiere, Bauernhoftier, Bauernhoftiere, Kuh, Kühe, Schaf, Schafe, Ziege, ' +
      'Schwein, Schweine, Vieh',
    chicken: 'Huhn, Hühner, Henne, Hennen, Gackern, Hühnergackern',
    rooster: 'Hahn, Hähne, Hahnenschrei, krähender Hahn, Krähen eines Hahns, Hahns',
    'bird chirping':
      'Vogel, Vögel, Vögeln, Vogels, Vogelgesang, Vogelgezwitscher, Gezwitscher, Zwitschern, ' +
      'Vogelzwitschern, Vogelstimmen, zwitschernde Vögel, Vogelstimme',
    bee: 'Biene, Bienen, Bienensummen, Summen der Bienen',
    crickets: 'Grille, Grillen, Grillenzirpen, Zirpen, Zikaden',
    piano:
      'Klavier, Klaviere, Klaviers, Flügel, Konzertflügel, Piano, Pianos, Klaviermusik, ' +
      'Klavierspiel, E-Piano',
    harpsichord: 'Cembalo, Cembalos',
    organ: 'Orgel, Orgeln, Kirchenorgel, Hammondorgel',
    accordion: 'Akkordeon, Akkordeons, Ziehharmonika, Schifferklavier, Handharmonika',
    vibraphone: 'Vibraphon, Vibrafon, Xylophon, Xylofon, Marimba, Glockenspiel',
    'acoustic guitar':
      'akustische Gitarre, akustischen Gitarre, Akustikgitarre, Akustikgitarren, ' +
      'Konzertgitarre, Westerngitarre',
    'electric guitar':
      'E-Gitarre, E-Gitarren, elektrische Gitarre, elektrischen Gitarre, Elektrogitarre, ' +
      'Stromgitarre',
    bass: 'Bass, Bässe, Basses, Bassgitarre, E-Bass, Kontrabass, Basslinie, Bassgitarren',
    banjo: 'Banjo, Banjos',
    sitar: 'Sitar',
    harp: 'Harfe, Harfen',
    violin: 'Geige, Geigen, Violine, Violinen',
    cello: 'Cello, Celli, Cellos, Violoncello',
    strings: 'Streicher, Streichern, Streichorchester, Streichersatz, Streichergruppe',
    trumpet: 'Trompete, Trompeten',
    trombone: 'Posaune, Posaunen',
    'french horn': 'Waldhorn, Waldhörner, Horn, Hörner, französisches Horn',
    saxophone: 'Saxophon, Saxofon, Saxophone, Saxofone, Saxophons, Saxofons',
    clarinet: 'Klarinette, Klarinetten',
    oboe: 'Oboe, Oboen',
    flute: 'Flöte, Flöten, Querflöte, Querflöten, Blockflöte, Blockflöten',
    bagpipe: 'Dudelsack, Dudelsäcke, Dudelsackes',
    synth: 'Synthesizer, Synthesizern, Synthesizers, Synthi, Synthie',
    'drum kit': 'Drumset, Schlagzeugset, Drumsets, Drumkit',
    'kick drum': 'große Trommel, Basstrommel, Bassdrum, Kickdrum, Bass-Drum, großen Trommel',
    'snare drum': 'kleine Trommel, Snaredrum, Snare-Drum, Snare, kleinen Trommel',
    'hi-hat': 'Hi-Hat, Hihat, Hi-Hats, Hihats',
    cymbal: 'Becken, Beckenschlag, Beckens',
    toms: 'Tom-Toms, Tomtom, Toms',
    congas: 'Congas, Conga, Bongos, Kongas',
    tambourine: 'Tamburin, Tamburine, Schellenring, Schellenkranz',
    timpani: 'Pauke, Pauken, Kesselpauke, Kesselpauken',
    'steel drum': 'Steeldrum, Steelpan, Stahltrommel, Steeldrums',
    helicopter: 'Hubschrauber, Hubschraubers, Helikopter, Helikopters, Hubschraubern',
    airplane: 'Flugzeug, Flugzeuge, Flugzeugs, Flugzeugen, Flieger, Düsenflugzeug',
    'car engine':
      'Automotor, Motor, Motoren, Motors, Motorengeräusch, Motorgeräusch, Motorengeräusche, ' +
      'Motorgeräusche, Auto, Autos, Straßenverkehr, Verkehr, Verkehrslärm, Automotors, ' +
      'Motorenlärm, Straßenlärm, Pkw',
    motorcycle: 'Motorrad, Motorräder, Motorrads, Motorrädern, Moped, Mopeds',
    'train passing':
      'Zug, Züge, Zuges, Zügen, Eisenbahn, Bahn, vorbeifahrender Zug, vorbeifahrenden Zug, ' +
      'Zuggeräusch',
    'car horn': 'Hupe, Hupen, Autohupe, Autohupen, Gehupe, Hupkonzert',
    'train horn': 'Zughupe, Zughorn, Zugpfeife, Lokpfeife, Lokhorn',
    'household appliance':
      'Haushaltsgerät, Haushaltsgeräte, Waschmaschine, Waschmaschinen, Spülmaschine, ' +
      'Geschirrspüler, Mixer, Mikrowelle, Föhn, Haartrockner',
    'vacuum cleaner': 'Staubsauger, Staubsaugers, Staubsaugen, Staubsaugern',
    fan:
      'Lüfter, Lüfters, Ventilator, Ventilators, Ventilatoren, Gebläse, Klimaanlage, ' +
      'Lüftergeräusch, Lüfterrauschen, Lüftung',
    chainsaw: 'Kettensäge, Kettensägen, Motorsäge, Motorsägen',
    'hand saw': 'Handsäge, Handsägen, Säge, Sägen',
    drill: 'Bohrer, Bohrmaschine, Bohrmaschinen, Bohren, Schlagbohrer, Bohrers',
    'hissing air': 'zischende Luft, Zischen, Luftzischen, Druckluft',
    clock:
      'Uhr, Uhren, Uhrticken, Ticken, tickende Uhr, tickenden Uhr, Ticken der Uhr, ' +
      'Ticken einer Uhr',
    typing:
      'Tippen, Tastatur, Tastaturen, Tastaturgeräusche, Tastaturtippen, Tippgeräusche, ' +
      'Tastaturklappern, Schreibmaschine',
    click: 'Klick, Klicks, Klicken, Mausklick, Mausklicks, Klickgeräusche',
    hum: 'Brummen, Netzbrummen, Summen, Brumm, Brummton, Gebrumm',
    'white noise':
      'weißes Rauschen, Rauschen, Grundrauschen, Bandrauschen, rosa Rauschen, weißen Rauschen',
    noise:
      'Lärm, Lärms, Störgeräusch, Störgeräusche, Störgeräuschen, Hintergrundgeräusch, ' +
      'Hintergrundgeräusche, Hintergrundgeräuschen, Hintergrundlärm, Hintergrund, ' +
      'Hintergrundrauschen, Umgebungsgeräusche, Umgebungsgeräuschen, Umgebungslärm, ' +
      'Nebengeräusche, Nebengeräuschen, Geräusche im Hintergrund, Lärm im Hintergrund, Krach, ' +
      'Störungen',
    phone:
      'Telefon, Telefone, Telefons, Telefonklingeln, Klingelton, Klingeltöne, ' +
      'klingelndes Telefon, Handy, Handyklingeln',
    'dial tone': 'Wählton, Freizeichen, Wähltöne, Tastentöne',
    doorbell: 'Türklingel, Türglocke, Türklingeln, Haustürklingel, Hausklingel, Klingel',
    'church bell':
      'Kirchenglocke, Kirchenglocken, Glocke, Glocken, Glockenläuten, Glockengeläut, ' +
      'Kirchenläuten',
    siren:
      'Sirene, Sirenen, Polizeisirene, Martinshorn, Martinshörner, Krankenwagen, Sirenengeheul, ' +
      'Feuerwehrsirene',
    alarm: 'Alarm, Alarms, Alarme, Alarmton, Wecker, Weckers, Feueralarm, Rauchmelder, Alarmanlage',
    'referee whistle':
      'Schiedsrichterpfeife, Trillerpfeife, Schiedsrichterpfiff, Schiripfeife, ' +
      'Pfiff des Schiedsrichters',
    'morse code': 'Morsecode, Morsezeichen, Morsealphabet, Morsen',
    'video game': 'Videospiel, Videospiele, Computerspiel, Computerspiele, Videospielgeräusche',
    rain:
      'Regen, Regens, Regengeräusch, Regengeräusche, Regnen, Regenprasseln, ' +
      'Prasseln des Regens, Regentropfen',
    sea:
      'Meer, Meeres, Ozean, Meeresrauschen, Wellen, Wellenrauschen, Brandung, Meereswellen, ' +
      'Rauschen des Meeres',
    wind:
      'Wind, Windes, Winds, Winde, Windgeräusch, Windgeräusche, Windrauschen, Sturm, ' +
      'Windgeräuschen',
    thunder: 'Donner, Donners, Donnergrollen, Gewitter, Gewitters, Donnerschlag, Blitz und Donner',
    stream:
      'Bach, Baches, Bäche, Bachrauschen, Fluss, fließendes Wasser, Plätschern, ' +
      'Wasserplätschern',
    'water dripping': 'tropfendes Wasser, Wassertropfen, Tropfen, tropfender Wasserhahn, Getröpfel',
    splash: 'Platschen, Platscher, Wasserspritzer, Plantschen, Wasserplatschen, Spritzen',
    bubbles: 'Blubbern, Blasen, Luftblasen, Wasserblasen, Sprudeln',
    'hand clap': 'Händeklatschen, Klatschen, Klatscher, Handklatschen',
    applause: 'Applaus, Applauses, Beifall, Beifalls, Beifallklatschen',
    footsteps:
      'Schritt, Schritte, Schritten, Fußschritte, Fußschritten, Schrittgeräusche, ' +
      'Trittgeräusche, Tritte, Schritte im Hintergrund',
    knock:
      'Klopfen, Anklopfen, Türklopfen, Klopfgeräusch, Klopfgeräusche, Klopfen an der Tür, ' +
      'Klopfen an die Tür',
    door: 'Tür, Türen, Türschlagen, Türknallen, zuschlagende Tür, Tuer, Türgeräusch',
    creaking: 'Knarren, Quietschen, Knarzen, knarrende Tür, quietschende Tür, Knirschen',
    'keys jingling':
      'Schlüssel, Schlüsselbund, Schlüsselklimpern, klimpernde Schlüssel, Schlüsselklirren, ' +
      'Schlüsseln',
    coins: 'Münze, Münzen, Kleingeld, Münzklimpern, Geldmünzen, Münzgeklimper',
    dishes: 'Geschirr, Geschirrs, Geschirrklappern, Besteck, Teller, Geschirrgeklapper',
    chopping: 'Hacken, Holzhacken, Schneiden von Gemüse, Gemüseschneiden, Hackgeräusche',
    writing: 'Schreiben, Bleistift, Schreibgeräusche, Schreiben mit Bleistift, Stift, Kritzeln',
    'paper rustling':
      'Papierrascheln, raschelndes Papier, Papier, Papiers, Rascheln, Papiergeraschel, ' +
      'Umblättern',
    'adhesive tape': 'Klebeband, Klebestreifen, Tesafilm, Paketband',
    'bouncing ball':
      'springender Ball, hüpfender Ball, prellender Ball, Ball, Balles, Bälle, Basketball, ' +
      'Ballprellen',
    'glass breaking':
      'zerbrechendes Glas, splitterndes Glas, Glas, Glasbruch, Glassplittern, Glasklirren, ' +
      'zerbrochenes Glas, Splittern von Glas',
    fire: 'Feuer, Feuers, Lagerfeuer, Kaminfeuer, knisterndes Feuer, Feuerknistern, Kamin, Flammen',
    gunshot:
      'Schuss, Schüsse, Schusses, Gewehrschuss, Pistolenschuss, Schusswaffe, Schüssen, ' +
      'Gewehrschüsse, Pistole, Gewehr, Schießerei',
    explosion: 'Explosion, Explosionen, Bombe, Detonation, Knall',
    whistling: 'Pfeifen, Pfiff, Pfiffe, Pfeifton, Gepfeife',
    heartbeat: 'Herzschlag, Herzschläge, Herzklopfen, Herz, Herzschlags',
    music: 'Musik, Hintergrundmusik, Filmmusik, Musik im Hintergrund, Begleitmusik im Hintergrund',
    animal: 'Tier, Tiere, Tiers, Tieren, Tiergeräusch, Tiergeräusche, Tierlaute, Tierstimmen',
    guitar: 'Gitarre, Gitarren, Gitarrist, Gitarrenspiel, Gitarrenmusik',
    'keyboard instrument': 'Tasteninstrument, Tasteninstrumente, Keyboard',
    'bowed instrument': 'Streichinstrument, Streichinstrumente, Streichinstrumenten',
    brass: 'Blechbläser, Blechblasinstrument, Blechblasinstrumente, Blech, Blechbläsern, Blasmusik',
    woodwind: 'Holzbläser, Holzblasinstrument, Holzblasinstrumente, Holzbläsern',
    drums:
      'Schlagzeug, Schlagzeuge, Schlagzeugs, Trommel, Trommeln, Perkussion, Percussion, ' +
      'Schlagzeuger, Schlaginstrumente, Schlagwerk, Trommelschläge, Getrommel, Drums',
    vehicle: 'Fahrzeug, Fahrzeuge, Fahrzeugs, Fahrzeugen, Wagen, Lastwagen, Lkw',
    water: 'Wasser, Wassers, Wassergeräusche, Wassergeräusch, Wasserrauschen',
    'clean speech':
      'entrauschen, entrauscht, Rauschunterdrückung, Rauschentfernung, Geräuschunterdrückung, ' +
      'Lärmunterdrückung, Störgeräuschunterdrückung, Entrauschung, bereinigen, ' +
      'Audio bereinigen, das Audio bereinigen, Ton bereinigen, den Ton bereinigen, ' +
      'Aufnahme bereinigen, die Aufnahme bereinigen, säubern, Audio säubern, ' +
      'Sprache verbessern, die Sprache verbessern, Sprachverbesserung, Stimme verbessern, ' +
      'die Stimme verbessern, Sprache verstärken, saubere Sprache, klare Sprache, ' +
      'saubere Stimme, klare Stimme, reinigen, Audio reinigen, bereinige das Audio, ' +
      'bereinige die Aufnahme, verbessere die Sprache, Rauschminderung, Sprache isolieren',
  },
  words: {
    article: 'der, die, das, dem, den, des, ein, eine, einen, einem, einer, eines',
    ignored:
      'bitte, mir, mal, ich, möchte, will, hätte, gern, gerne, kannst, können, könntest, ' +
      'könnten, du, Sie, wir, geben, gib, gebt, hören, haben, brauche, nur noch, isoliert, ' +
      'isolierte, extrahieren, extrahiere, trenne, trennen, abtrennen, freistellen, ' +
      'herauslösen, mein, meine, meinem, meiner, meinen, dieser, diese, dieses, diesem, diesen, ' +
      'jeder, jede, gibt, es, ist, sind, da, dort, wo, was, welche, hier, auch, noch, komplett, ' +
      'ganz, völlig, einfach, einmal, wird, werden, soll, sollen, sollte, wäre, mich, uns, zu, ' +
      'Geräusch, Geräusche der, Geräusch der, Geräusch des, Geräusche des, Geräusch einer, ' +
      'Geräusch eines, Geräusche, Klang, Klang der, Klang des, Klang einer, Klang eines, ' +
      'Ton der, Ton des, Sound, Sound der, Sound des, sein, so, dass, gewünscht, suche, zeig, ' +
      'zeige, laut, lauter, alle die, danke, hallo, und zwar, mehr, weitere, weiteren, ' +
      'jegliche, jeglichen',
    without:
      'ohne, kein, keine, keinen, keinem, keiner, minus, abzüglich, frei von, exklusive, ' +
      'ausgenommen von, statt, anstatt, anstelle, weniger',
    not: 'nicht, nie, niemals, weder',
    remove:
      'entferne, entfernt, entferne bitte, lösche, streiche, beseitige, stummschalten, ' +
      'stumm schalten, unterdrücke, eliminiere, lass weg, werde los, mach weg, dämpfe, tilge, ' +
      'mute, reduziere, kill, entfernen von',
    turn:
      'schneide, nimm, blende, filtere, schalte, schmeiß, wirf, mach, mache, lasse, lass, ' +
      'nehme, dreh, drehe',
    off: 'heraus, hinaus, ab, runter, fort',
    after:
      'entfernen, entfernt, entfernten, löschen, gelöscht, weg, raus, rausnehmen, herausnehmen, ' +
      'herausfiltern, rausfiltern, herausschneiden, rausschneiden, ausblenden, ausgeblendet, ' +
      'stummschalten, stumm schalten, stumm, ausschalten, ausgeschaltet, aus, unterdrücken, ' +
      'unterdrückt, eliminieren, beseitigen, beseitigt, weglassen, wegnehmen, wegmachen, ' +
      'loswerden, los, ausschließen, ausgeschlossen, ausnehmen, streichen, gestrichen, tilgen, ' +
      'wegfiltern, gefiltert, rauslöschen, rausmachen, ausklammern, abziehen, subtrahieren, ' +
      'abschalten, abgeschaltet, muten, gemutet, reduzieren, dämpfen, Entfernung, ' +
      'verschwinden lassen, verschwinden, frei, rauswerfen, tilgen, entfernst, entfernt haben, ' +
      'ausstellen',
    except:
      'außer, ausser, bis auf, ausgenommen, mit Ausnahme von, mit Ausnahme der, ' +
      'mit Ausnahme des, abgesehen von, außer dem, außer der, als',
    but: 'aber, sondern, jedoch, doch',
    keep: 'behalte, behalten, erhalte, bewahre, lass nur, und behalte, beibehalten, lass drin',
    only:
      'nur, bloß, lediglich, ausschließlich, isoliere, isolieren, allein, alleine, einzig, ' +
      'sondern nur, stattdessen',
    everything:
      'alles, alle, allen, allem, sämtliche, ganze, ganzen, gesamte, Lied, Lieds, Liedes, Song, ' +
      'Songs, Stück, Titel, Mix, Mischung, Aufnahme, Audio, Datei, Tonspur, Spur, Track, Video, ' +
      'Videos, Musikstück, Klänge, irgendetwas, jedes Geräusch, alle Geräusche, ' +
      'allen Geräuschen, sämtliche Geräusche, Original, Podcast, Ton, Film',
    nothing: 'nichts, nichts anderes, niemand, keine anderen Geräusche, nichts weiter',
    and:
      'und, sowie, plus, sowohl, als auch, wie auch, oder, noch, zusammen mit, samt, nebst, u, ' +
      'bzw',
    with: 'mit, einschließlich, inklusive',
    of:
      'von, vom, aus, aus dem, aus der, aus diesem, aus meinem, von dem, von der, des, einer, ' +
      'eines',
    preposition:
      'im, in, in der, in dem, ins, auf, vor, hinter, über, unter, neben dem, neben der, bei, ' +
      'beim, an, am, während, wenn, der gerade, die gerade, welcher, welches, das gerade, ' +
      'durch, für, gegen, um, nach, seit, weil, zwischen, dessen, deren, damit, wobei, wo der, ' +
      'gespielt von',
    playing: 'spielt, spielend, spielende, spielenden',
    whole: 'Drum and Bass, Rock and Roll, Salz- und Pfefferstreuer, Salz und Pfeffer',
  },
}
