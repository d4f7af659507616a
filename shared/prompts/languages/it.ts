import type { Language } from '../language.ts'

export const it: Language = {
  name: 'Italian',
  englishToo:
    'me, a, ma, the, in, come, note, solo, meno, no, i, do, o, e, pure, piano, sole, dove, due, ' +
    'fan, fine, via, audio, video, salvo, rumore, tale',
  sounds: {
    vocals:
      'voce principale, voci principali, voce cantata, voce del cantante, voce della cantante, ' +
      'cantante, cantanti, a cappella, voce della canzone',
    instrumental:
      'strumentale, versione strumentale, base, base musicale, traccia strumentale, ' +
      'accompagnamento, base karaoke, basi, strumenti',
    other:
      'il resto, resto, tutto il resto, altro, altri suoni, gli altri suoni, ' +
      'tutti gli altri suoni, altri rumori, altri',
    effects: 'effetti sonori, effetti, effetto sonoro',
    speech:
      'parlato, discorso, dialogo, dialoghi, conversazione, conversazioni, parlare, ' +
      'voce parlata, narratore, narrazione, persona che parla, presentatore, presentatrice, ' +
      'parole, persona, persone, gente, qualcuno, oratore, intervista',
    voice: 'voce, voci, voce umana, voci umane',
    woman:
      'donna, donne, voce di donna, voce femminile, voci femminili, signora, donna che parla, ' +
      'voce della donna',
    man:
      "uomo, uomini, voce d'uomo, voce maschile, voci maschili, signore, uomo che parla, " +
      "voce dell'uomo, voce di uomo",
    child: 'bambino, bambina, bambini, bambine, voce di bambino, voci di bambini',
    baby: 'neonato, neonati, bebè, pianto di neonato, pianto del neonato, neonato che piange',
    crowd: 'folla, folle, pubblico, brusio, spettatori',
    singing: 'canto, canti, cantare, cantato, coro',
    whisper: 'sussurro, sussurri, bisbiglio, bisbigli, sussurrare',
    laughter: 'risata, risate, riso, risa, ridere',
    scream: 'urlo, urla, grido, grida, strillo',
    sneeze: 'starnuto, starnuti',
    breathing: 'respiro, respiri, respirazione, respirare',
    eating: 'masticare, mangiare, masticazione',
    dog: 'cane, cani, abbaio, abbaiare, latrato, latrati, cane che abbaia, cagnolino, cucciolo',
    'cat meowing': 'gatto, gatti, gatta, miagolio, miagolii, gatto che miagola, gattino, micio',
    horse: 'cavallo, cavalli, nitrito, nitriti, zoccoli di cavallo',
    'farm animal':
      'animale da fattoria, animali da fattoria, animali della fattoria, mucca, mucche, pecora, ' +
      'pecore, capra, maiale, maiali, bestiame',
    chicken: 'gallina, galline, pollo, polli',
    rooster: 'gallo, galli, canto del gallo',
    'bird chirping':
      'uccello, uccelli, uccellino, uccellini, cinguettio, cinguettii, canto degli uccelli',
    bee: 'ape, api, ronzio di api',
    crickets: 'grillo, grilli, cicala, cicale, canto dei grilli',
    piano: 'pianoforte, pianoforti, piano, pianoforte a coda',
    harpsichord: 'clavicembalo, clavicembali, cembalo',
    organ: 'organo, organi, organo da chiesa',
    accordion: 'fisarmonica, fisarmoniche',
    vibraphone: 'vibrafono, xilofono, marimba',
    'acoustic guitar': 'chitarra acustica, chitarre acustiche, chitarra classica',
    'electric guitar': 'chitarra elettrica, chitarre elettriche',
    bass: 'basso, bassi, basso elettrico, contrabbasso, linea di basso, bassista, chitarra basso',
    banjo: 'banjo',
    sitar: 'sitar',
    harp: 'arpa, arpe',
    violin: 'violino, violini',
    cello: 'violoncello, violoncelli',
    strings: 'archi, sezione di archi, orchestra di archi, sezione archi',
    trumpet: 'tromba, trombe',
    trombone: 'trombone, tromboni',
    'french horn': 'corno francese, corno, corni',
    saxophone: 'sassofono, sassofoni, sax',
    clarinet: 'clarinetto, clarinetti',
    oboe: 'oboe, oboi',
    flute: 'flauto, flauti, flauto traverso, flauto dolce',
    bagpipe: 'cornamusa, cornamuse, zampogna',
    synth: 'sintetizzatore, sintetizzatori',
    'drum kit': 'set di batteria, kit di batteria',
    'kick drum': 'grancassa, cassa della batteria, gran cassa',
    'snare drum': 'rullante, rullanti',
    'hi-hat': 'charleston, hi-hat',
    cymbal: 'piatto della batteria, piatti della batteria',
    toms: 'toms, tom-tom',
    congas: 'congas, conga, bonghi, bongo',
    tambourine: 'tamburello, tamburelli',
    timpani: 'timpani, timpano',
    'steel drum': 'steel drum, tamburo metallico',
    helicopter: 'elicottero, elicotteri',
    airplane: 'aereo, aerei, aeroplano, aeroplani',
    'car engine':
      "motore, motori, motore di auto, motore dell'auto, auto, automobile, automobili, " +
      'macchina, macchine, traffico, rumore del traffico',
    motorcycle: 'moto, motocicletta, motociclette, motorino',
    'train passing': 'treno, treni, ferrovia, treno che passa, passaggio del treno',
    'car horn': 'clacson, clacson di auto, strombazzare',
    'train horn': 'fischio del treno, sirena del treno, fischio di treno',
    'household appliance':
      'elettrodomestico, elettrodomestici, lavatrice, lavatrici, lavastoviglie, microonde, ' +
      'asciugacapelli, frullatore',
    'vacuum cleaner': 'aspirapolvere, aspirapolveri',
    fan: 'ventilatore, ventilatori, ventola, ventole, condizionatore',
    chainsaw: 'motosega, motoseghe',
    'hand saw': 'sega a mano, sega, seghe, seghetto',
    drill: 'trapano, trapani',
    'hissing air': "sibilo d'aria, aria compressa, sibilo dell'aria",
    clock: "orologio, orologi, ticchettio, ticchettio dell'orologio, tic tac",
    typing:
      'digitazione, battitura, tastiera del computer, macchina da scrivere, ' +
      'battere sulla tastiera, digitare',
    click: 'clic, clic del mouse',
    hum: 'ronzio, ronzii, ronzio elettrico',
    'white noise': 'rumore bianco, rumore rosa, fruscio di fondo, fruscio',
    noise:
      'rumore, rumori, rumore di fondo, rumori di fondo, rumore ambientale, rumori ambientali, ' +
      'sottofondo, suoni di sottofondo, sfondo, rumore di sottofondo, rumori di sottofondo',
    phone:
      'telefono, telefoni, squillo del telefono, squillo, suoneria, telefono che squilla, ' +
      'cellulare',
    'dial tone': 'tono di linea, segnale di libero, tono di selezione',
    doorbell: 'campanello, campanelli, campanello della porta',
    'church bell': 'campana, campane, campane della chiesa, campana della chiesa',
    siren: 'sirena, sirene, sirena della polizia, ambulanza',
    alarm: 'allarme, allarmi, sveglia, allarme antincendio',
    'referee whistle':
      "fischietto, fischietti, fischio dell'arbitro, fischietto dell'arbitro, " +
      'fischio arbitrale',
    'morse code': 'codice morse, morse',
    'video game': 'videogioco, videogiochi',
    rain: 'pioggia, piogge, piovere, rumore della pioggia, acquazzone',
    sea: 'mare, oceano, onde, onda, onde del mare',
    wind: 'vento, venti, brezza, raffica',
    thunder: 'tuono, tuoni, temporale, temporali, fulmine',
    stream: 'ruscello, ruscelli, fiume, acqua corrente, torrente, acqua che scorre',
    'water dripping':
      "gocciolio, goccia d'acqua, gocce d'acqua, acqua che gocciola, gocce, gocciolamento",
    splash: 'tuffo, tuffi, schizzo, schizzi',
    bubbles: 'bolla, bolle',
    'hand clap': 'battito di mani, battere le mani, battimano',
    applause: 'applauso, applausi, applaudire',
    footsteps: 'passo, passi, camminare, rumore di passi',
    knock: 'bussare, bussata, bussare alla porta, colpi alla porta',
    door: 'porta, porte, porta che sbatte',
    creaking: 'cigolio, cigolii, scricchiolio, scricchiolii, porta che cigola',
    'keys jingling': 'chiavi, chiave, mazzo di chiavi, tintinnio di chiavi',
    coins: 'moneta, monete, spiccioli',
    dishes: 'piatti, stoviglie, posate',
    chopping: 'tritare, tagliare verdure, tagliare la legna',
    writing: 'scrittura, scrivere, matita, penna',
    'paper rustling': 'carta, fruscio di carta, accartocciare carta, fogli',
    'adhesive tape': 'nastro adesivo, scotch',
    'bouncing ball':
      'palla che rimbalza, pallone che rimbalza, palla, pallone, rimbalzo della palla',
    'glass breaking':
      'vetro rotto, vetri rotti, vetro che si rompe, rottura del vetro, vetro, vetro infranto',
    fire: 'fuoco, falò, fiamme, incendio, caminetto',
    gunshot: 'sparo, spari, colpo di pistola, colpi di pistola, sparatoria, pistola',
    explosion: 'esplosione, esplosioni, bomba, scoppio',
    whistling: 'fischio, fischi, fischiettare, fischiettio, fischiare',
    heartbeat: 'battito cardiaco, battito del cuore, battiti del cuore, cuore',
    music: 'musica, musiche, musica di sottofondo, colonna sonora, musica di fondo',
    animal: 'animale, animali, versi di animali',
    guitar: 'chitarra, chitarre, chitarrista',
    'keyboard instrument': 'tastiera, tastiere, strumento a tastiera',
    'bowed instrument': 'strumento ad arco, strumenti ad arco',
    brass: 'ottoni, strumenti a fiato in ottone, fiati in ottone',
    woodwind: 'legni, strumenti a fiato in legno',
    drums: 'batteria, batterie, percussione, percussioni, tamburo, tamburi, batterista',
    vehicle: 'veicolo, veicoli, camion',
    water: "acqua, acque, rumore dell'acqua",
    'clean speech':
      "pulire, pulire l'audio, pulisci l'audio, pulire la voce, pulire la registrazione, " +
      "pulisci la registrazione, migliorare la voce, migliorare il parlato, migliorare l'audio, " +
      'migliora la voce, riduzione del rumore, riduzione rumore, ridurre il rumore, ' +
      'eliminazione del rumore, soppressione del rumore, cancellazione del rumore, voce pulita, ' +
      "voce chiara, audio pulito, isolare la voce, ripulire l'audio, ripulire",
  },
  words: {
    article: 'il, lo, la, i, gli, le, l, un, uno, una, dei, degli',
    ignored:
      'per favore, per piacere, voglio, vorrei, puoi, potresti, può, mi, dammi, dare, sentire, ' +
      "ascoltare, estrarre, estrai, separare, separa, ho bisogno, bisogno, c'è, ci sono, " +
      'questo, questa, questi, quel, mio, mia, tuo, dove, che cosa, cosa, quale, è, sono, ' +
      'suono, suoni, suono di, suono del, suono della, il suono del, il suono della, rumore di, ' +
      'rumore del, rumore della, rumore dei, traccia, parte, grazie, ciao, si, ti, ottenere, ' +
      'isolato, isolata, avere, cerco, completamente, più nessun, d, ho, tutto il, io, qui, ' +
      'favore, lì, altra, altro suono, portami',
    without:
      'senza, meno, escludendo, privo di, privo del, togliendo, eliminando, al posto di, ' +
      'invece di, invece del, invece della, nessun, nessuna, nessuno, zero, libero da, ' +
      'senza alcun, piuttosto che, al posto del, al posto della',
    not: 'non, no, mai, né, neanche, nemmeno',
    remove:
      'togli, togliere, togliete, rimuovi, rimuovere, rimuova, elimina, eliminare, cancella, ' +
      'cancellare, taglia, tagliare, silenzia, silenziare, leva, levare, escludi, escludere, ' +
      'muta, mutare, disattiva, disattivare, sopprimi, sopprimere, sbarazzati, sbarazzarsi, ' +
      'filtra, filtrare, scarta, scartare, spegni, spegnere, ometti, omettere, riduci, ridurre, ' +
      'rimozione, eliminazione, lascia fuori, lasciare fuori, abbassa, abbassare, sottrai, ' +
      'sottrarre, toglimi, azzittisci, zittisci',
    after:
      'tolto, tolta, tolti, tolte, rimosso, rimossa, rimossi, rimosse, eliminato, eliminata, ' +
      'eliminati, eliminate, cancellato, cancellata, silenziato, silenziata, escluso, esclusa, ' +
      'esclusi, escluse, via, fuori, rimozione, eliminazione, muto, muta',
    except:
      'tranne, eccetto, salvo, fuorché, ad eccezione di, ad eccezione del, ad eccezione della, ' +
      'a parte, al di fuori di, oltre a, oltre al, oltre alla, all infuori di, diverso da, ' +
      'diversi da, escluso, meno che, a eccezione di, eccetto che',
    but: 'ma, bensì, però',
    keep: 'tieni, tenere, mantieni, mantenere, conserva, conservare, lascia, lasciare',
    only:
      'solo, soltanto, solamente, unicamente, isola, isolare, lascia solo, esclusivamente, ' +
      'tieni solo, ma solo, nient altro che',
    everything:
      'tutto, tutti, tutte, tutta, canzone, canzoni, brano, brani, pezzo, mix, registrazione, ' +
      'audio, file, video, tutti i suoni, qualsiasi cosa, film, ogni suono',
    nothing: 'niente, nulla, nessun suono, nient altro, niente altro',
    and: 'e, ed, più, così come, insieme a, insieme al, o, oppure, anche, sia, nonché',
    with: 'con, col, incluso, inclusa, compreso',
    of:
      'di, del, dello, della, dell, dei, degli, delle, da, dal, dalla, dalle, dall, da questa, ' +
      'di questa',
    preposition:
      'che, chi, in, nel, nella, nello, nell, sul, sulla, su, davanti a, davanti al, ' +
      'davanti alla, dietro, dietro a, sotto, sopra, vicino a, vicino al, accanto a, ' +
      'accanto al, durante, quando, mentre, di fronte a, di fronte al, per, contro, tra, fra, ' +
      'verso, perché, dove suona, a, al, alla, sullo sfondo, in sottofondo, suonato da',
    playing: 'suona, suonando, suonare, suonano',
    whole: 'drum and bass, rock and roll, bianco e nero, sale e pepe',
  },
}
