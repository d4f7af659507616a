import type { Language } from '../language.ts'

export const fr: Language = {
  name: 'French',
  englishToo:
    'on, son, me, or, a, an, en, d, l, s, as, chat, coin, pain, main, but, tout, sans, piano, ' +
    'violon, moteur, plus, if, table, train, comment, pour, son, note, dans, ton, moins, ' +
    'tambour, dialogue, rires, foule',
  sounds: {
    vocals:
      'voix chantée, voix chantées, voix du chanteur, voix de la chanteuse, voix principale, ' +
      'chanteur, chanteuse, paroles, a cappella, voix de la chanson, chanteurs',
    instrumental:
      'version instrumentale, instrumentale, instrumental, accompagnement, bande instrumentale, ' +
      'playback, bande son sans voix, karaoké, version karaoké, instruments, ' +
      'piste instrumentale',
    other:
      'le reste, reste, tout le reste, autre, autres, les autres sons, autres sons, ' +
      'tous les autres sons, autres bruits, tous les autres bruits, les autres bruits, ' +
      'les autres, tous les autres',
    effects: 'effets sonores, bruitages, bruitage, effets, effet sonore',
    speech:
      'parole, discours, dialogue, dialogues, conversation, conversations, voix parlée, ' +
      'voix parlées, locuteur, orateur, narrateur, narration, personne qui parle, ' +
      'gens qui parlent, présentateur, présentatrice, parler, personne, quelqu’un, gens, ' +
      'animateur, intervenant, quelqu un',
    voice: 'voix, voix humaine, voix humaines',
    woman:
      'femme, femmes, voix de femme, voix féminine, voix féminines, voix de femmes, dame, ' +
      'femme qui parle, voix de la femme',
    man:
      "homme, hommes, voix d'homme, voix masculine, voix masculines, voix d'hommes, monsieur, " +
      "homme qui parle, voix de l'homme",
    child: "enfant, enfants, voix d'enfant, voix d'enfants, gamin, gamins",
    baby: "bébé, bébés, pleurs de bébé, bébé qui pleure, nourrisson, pleurs d'un bébé",
    crowd: 'foule, foules, public, brouhaha, spectateurs',
    singing: 'chant, chants, chanter, chœur, chorale, personne qui chante',
    whisper: 'chuchotement, chuchotements, murmure, murmures, chuchoter',
    laughter: 'rire, rires, éclat de rire, éclats de rire, ricanement',
    scream: 'cri, cris, hurlement, hurlements',
    sneeze: 'éternuement, éternuements, éternuer',
    breathing: 'respiration, respirations, souffle, respirer',
    eating: 'mastication, manger, bruits de mastication, bruit de mastication',
    dog:
      'chien, chiens, aboiement, aboiements, chien qui aboie, aboiement de chien, ' +
      'aboiements de chien, chienne, chiot, chiots, aboiements du chien',
    'cat meowing': 'chat, chats, miaulement, miaulements, chat qui miaule, chaton, chatte, chatons',
    horse: 'cheval, chevaux, hennissement, hennissements, sabots',
    'farm animal':
      'animal de ferme, animaux de ferme, animaux de la ferme, vache, vaches, mouton, moutons, ' +
      'chèvre, cochon, cochons, bétail',
    chicken: 'poule, poules, poulet, poulets, gloussement de poule',
    rooster: 'coq, coqs, chant du coq, cocorico',
    'bird chirping':
      "oiseau, oiseaux, chant d'oiseau, chants d'oiseaux, chant d'oiseaux, chant des oiseaux, " +
      'gazouillis, pépiement, pépiements',
    bee: "abeille, abeilles, bourdonnement d'abeille, bourdonnement d'abeilles",
    crickets: 'grillon, grillons, criquet, criquets, cigales, cigale',
    piano: 'piano, pianos, piano à queue',
    harpsichord: 'clavecin, clavecins',
    organ: "orgue, orgues, orgue d'église",
    accordion: 'accordéon, accordéons',
    vibraphone: 'vibraphone, xylophone, marimba, carillon',
    'acoustic guitar': 'guitare acoustique, guitares acoustiques, guitare classique, guitare sèche',
    'electric guitar': 'guitare électrique, guitares électriques',
    bass: 'basse, basses, guitare basse, contrebasse, ligne de basse, basse électrique, bassiste',
    banjo: 'banjo',
    sitar: 'sitar',
    harp: 'harpe, harpes',
    violin: 'violon, violons',
    cello: 'violoncelle, violoncelles',
    strings: 'cordes, section de cordes, orchestre à cordes',
    trumpet: 'trompette, trompettes',
    trombone: 'trombone, trombones',
    'french horn': "cor d'harmonie, cor, cors, cor français, cors d'harmonie",
    saxophone: 'saxophone, saxophones, saxo, saxos',
    clarinet: 'clarinette, clarinettes',
    oboe: 'hautbois',
    flute: 'flûte, flûtes, flûte traversière, flûte à bec',
    bagpipe: 'cornemuse, cornemuses',
    synth: 'synthétiseur, synthétiseurs, synthé, synthés',
    'drum kit': 'kit de batterie, set de batterie',
    'kick drum': 'grosse caisse, grosses caisses',
    'snare drum': 'caisse claire, caisses claires',
    'hi-hat': 'charleston, charley, cymbale charleston',
    cymbal: 'cymbale, cymbales',
    toms: 'toms, tom',
    congas: 'congas, conga, bongos',
    tambourine: 'tambourin, tambourins, tambour de basque',
    timpani: 'timbale, timbales',
    'steel drum': "tambour d'acier, steel drum",
    helicopter: 'hélicoptère, hélicoptères',
    airplane: 'avion, avions, avion à réaction',
    'car engine':
      'moteur, moteurs, moteur de voiture, voiture, voitures, bruit de moteur, circulation, ' +
      'trafic, bruit de la circulation, automobile',
    motorcycle: 'moto, motos, motocyclette, mobylette',
    'train passing': 'train, trains, chemin de fer, passage de train, train qui passe',
    'car horn': 'klaxon, klaxons, klaxon de voiture, klaxonner',
    'train horn': 'sifflet de train, klaxon de train, corne de train',
    'household appliance':
      'électroménager, appareil électroménager, machine à laver, lave-vaisselle, lave-linge, ' +
      'micro-ondes, sèche-cheveux, appareils électroménagers',
    'vacuum cleaner': 'aspirateur, aspirateurs',
    fan: 'ventilateur, ventilateurs, climatisation, climatiseur, bruit de ventilateur',
    chainsaw: 'tronçonneuse, tronçonneuses',
    'hand saw': 'scie à main, scie, scies',
    drill: 'perceuse, perceuses, foreuse',
    'hissing air': "air sifflant, sifflement d'air, air comprimé",
    clock: "horloge, horloges, tic-tac, pendule, tic-tac d'horloge, tic tac de l'horloge",
    typing:
      'clavier d’ordinateur, frappe au clavier, dactylographie, machine à écrire, ' +
      'bruit de clavier, bruits de clavier, frappe clavier, clavier d ordinateur',
    click: 'clic, clics, clic de souris, clics de souris',
    hum: 'ronflement électrique, bourdonnement, ronronnement, bourdonnement électrique',
    'white noise': 'bruit blanc, bruit rose, souffle de bande, friture, bruit statique',
    noise:
      'bruit, bruits, bruit de fond, bruits de fond, bruit ambiant, bruits ambiants, ' +
      'fond sonore, arrière-plan, bruits parasites, bruit parasite, ambiance, arrière plan, ' +
      'bruit en arrière-plan, bruits en arrière-plan',
    phone:
      'téléphone, téléphones, sonnerie de téléphone, téléphone qui sonne, ' +
      'sonnerie du téléphone',
    'dial tone': 'tonalité, tonalité de téléphone, tonalité téléphonique',
    doorbell: 'sonnette, sonnettes, sonnette de porte, carillon de porte',
    'church bell': "cloche, cloches, cloche d'église, cloches d'église",
    siren: 'sirène, sirènes, sirène de police, ambulance, sirène de pompiers',
    alarm: 'alarme, alarmes, réveil, réveille-matin, alarme incendie',
    'referee whistle':
      "sifflet d'arbitre, coup de sifflet, sifflet de l'arbitre, sifflet, sifflets",
    'morse code': 'code morse, morse',
    'video game': 'jeu vidéo, jeux vidéo',
    rain: 'pluie, pluies, bruit de pluie, bruit de la pluie, averse',
    sea: 'mer, océan, vagues, vague, bruit des vagues, bruit de la mer, ressac',
    wind: 'vent, vents, bruit du vent, bruit de vent, bourrasque',
    thunder: 'tonnerre, orage, coup de tonnerre, coups de tonnerre, foudre, orages',
    stream: "ruisseau, ruisseaux, rivière, eau qui coule, cours d'eau, torrent",
    'water dripping':
      "goutte d'eau, gouttes d'eau, eau qui goutte, robinet qui goutte, gouttes, " +
      'goutte à goutte',
    splash: 'éclaboussure, éclaboussures, plouf, éclaboussement',
    bubbles: 'bulle, bulles',
    'hand clap': 'claquement de mains, battement de mains, claquements de mains, clap',
    applause: 'applaudissement, applaudissements',
    footsteps: 'bruits de pas, bruit de pas, des pas, les pas, marcher, pas de course',
    knock: 'coup à la porte, coups à la porte, frapper à la porte, toc toc, on frappe à la porte',
    door: 'porte, portes, claquement de porte, porte qui claque',
    creaking: 'grincement, grincements, craquement, craquements, porte qui grince',
    'keys jingling': 'clés, clefs, trousseau de clés, cliquetis de clés, tintement de clés, clé',
    coins: 'pièces de monnaie, pièce de monnaie, monnaie, pièces',
    dishes: 'vaisselle, assiettes, couverts',
    chopping: 'hacher, découpe de légumes, couper des légumes, hachage',
    writing: 'écriture, écrire, crayon, stylo, bruit de crayon',
    'paper rustling': 'papier, froissement de papier, bruissement de papier, papier froissé',
    'adhesive tape': 'ruban adhésif, scotch, adhésif',
    'bouncing ball':
      'balle qui rebondit, ballon qui rebondit, ballon, rebond de balle, balle rebondissante',
    'glass breaking':
      'bris de verre, verre brisé, verre qui se brise, verre cassé, verre qui se casse, verre',
    fire: 'feu, feu de camp, feu de cheminée, flammes, incendie, crépitement du feu',
    gunshot: 'coup de feu, coups de feu, tir, tirs, fusil, pistolet, fusillade',
    explosion: 'explosion, explosions, bombe, détonation',
    whistling: 'sifflement, sifflements, siffler, siffleur',
    heartbeat:
      'battement de cœur, battements de cœur, battement cardiaque, battements du cœur, cœur',
    music:
      'musique, musiques, musique de fond, bande originale, musique de film, ' +
      'musique d’ambiance, musique d ambiance',
    animal: "animal, animaux, bruits d'animaux, cris d'animaux",
    guitar: 'guitare, guitares, guitariste',
    'keyboard instrument': 'instrument à clavier, clavier, claviers, instruments à clavier',
    'bowed instrument':
      'instrument à archet, cordes frottées, instruments à archet, instruments à cordes',
    brass: 'cuivres, cuivre, instruments de cuivre, fanfare',
    woodwind: 'bois, instruments à vent en bois, instrument à vent',
    drums: 'batterie, batteries, percussion, percussions, tambour, tambours, batteur',
    vehicle: 'véhicule, véhicules, camion, camions',
    water: "eau, bruit de l'eau, bruit d'eau, eaux",
    'clean speech':
      'débruiter, débruitage, débruité, réduction de bruit, réduction du bruit, ' +
      'suppression du bruit, suppression de bruit, nettoyer, nettoyer le son, nettoyer l’audio, ' +
      'nettoyer l audio, nettoie l audio, nettoyer la voix, nettoyer l enregistrement, ' +
      'améliorer la voix, améliorer la parole, améliorer le son, amélioration de la parole, ' +
      'amélioration de la voix, voix claire, voix propre, audio propre, antibruit, ' +
      'isoler la voix, nettoyer la piste audio, nettoyage audio',
  },
  words: {
    article: 'le, la, les, l, un, une',
    ignored:
      "s'il vous plaît, s'il te plaît, svp, stp, merci, je, veux, voudrais, voudrait, j, " +
      'aimerais, peux, tu, vous, pouvez, pourriez, pourrais, me, moi, donne, donnez, donner, ' +
      'entendre, écouter, avoir, ai, besoin, extraire, extrait, extrais, extrayez, séparer, ' +
      'sépare, séparez, séparé, isolé, isolée, récupérer, obtenir, garder que, est-ce, est, ce, ' +
      'cette, cet, ces, mon, ma, mes, ton, votre, ses, il y a, y a, il, ils, elle, a-t-il, a, ' +
      'où, quel, ' +
      'quelle, quels, son, sons, son de, son du, son des, bruit de, bruit du, bruit des, ' +
      'bruits de, bruits du, bruits des, le son de, le son du, piste, pistes, partie, bonjour, ' +
      'seul, sont, faire, cherche, nous, on, toute, également, complètement, entièrement, fort, ' +
      'en entier, que, te, t, ne, n, qui est, plus de, un peu, autre',
    without:
      'sans, moins, sauf que sans, pas de, pas d, pas la, pas le, pas les, pas l, aucun, ' +
      'aucune, excluant, dépourvu de, à la place de, à la place du, au lieu de, au lieu du, ' +
      'plutôt que, exempt de, en enlevant, en supprimant, en retirant, hors de, exclure, zéro, ' +
      'plus aucun, sans aucun, sans aucune',
    not: 'non, pas, jamais, ni',
    remove:
      'enlève, enlever, enlevez, supprime, supprimer, supprimez, retire, retirer, retirez, ' +
      'retranche, coupe, couper, coupez, élimine, éliminer, éliminez, efface, effacer, effacez, ' +
      'ôte, ôter, mets en sourdine, mettre en sourdine, mettre en muet, débarrasse-toi, ' +
      'débarrasser, débarrasse, se débarrasser, filtre, filtrer, tais, réduis, réduire, exclus, ' +
      'exclure, vire, virer, désactive, désactiver, masquer, rends muet, rendre muet, atténuer, ' +
      'annuler, jeter, faire taire, faire disparaître, soustraire, mute, muter, suppression, ' +
      'élimination, retrait, omets, omettre, laisse de côté, laisser de côté, éteindre, éteins, ' +
      'baisse, baisser',
    after:
      'enlevé, enlevée, enlevés, enlevées, supprimé, supprimée, supprimés, supprimées, retiré, ' +
      'retirée, retirés, retirées, coupé, coupée, éliminé, éliminée, effacé, effacée, exclu, ' +
      'exclue, en moins, en sourdine, muet, muette, suppression, disparu, disparue',
    except:
      "sauf, excepté, hormis, hors, à part, en dehors de, en dehors du, à l'exception de, " +
      "à l'exception du, à l'exception des, mis à part, à l'exclusion de, autre que, " +
      "autres que, outre, à l'exception d, si ce n'est",
    but: 'mais',
    keep:
      'garde, garder, gardez, conserve, conserver, conservez, laisse, laisser, laissez, ' +
      'préserver, préserve, en gardant',
    only:
      'seulement, uniquement, juste, isole, isoler, isolez, rien que, que la, que le, que les, ' +
      'ne garder que, ne garde que, exclusivement, garde seulement, n enlève pas, ' +
      'n enlevez pas, n enlever pas, ne supprime pas, ne supprimez pas, ne retire pas, ' +
      'ne retirez pas, ne coupe pas, ne coupez pas, n efface pas, ne pas enlever, ' +
      'ne pas supprimer, ne pas retirer, ne pas couper, ne pas effacer, n élimine pas, ' +
      'mais seulement',
    everything:
      'tout, tous, toutes, tous les sons, tous les bruits, chanson, chansons, morceau, ' +
      "morceaux, titre, enregistrement, audio, fichier, mix, mixage, vidéo, l'ensemble, " +
      "ensemble, intégralité, n'importe quoi, tout ce, film",
    nothing: "rien, rien d'autre, aucun son, rien d'autre que",
    and: 'et, plus, ainsi que, et aussi, ou, avec aussi, et puis, comme',
    with: 'avec, y compris, accompagné de, accompagnée de',
    of: 'de, du, d, des, de la, de l, depuis, à partir de, dans cette, de cette, de ce',
    preposition:
      'qui, que, dont, devant, derrière, dans, sur, sous, à, au, aux, en, près de, près du, ' +
      'à côté de, à côté du, pendant, quand, lorsque, au-dessus, par, pour, contre, parmi, ' +
      'entre, chez, vers, car, parce, où, jouée par, joué par, en arrière-plan de, face à',
    playing: 'joue, jouant, jouer, jouent, joue de, joue du, joue de la',
    whole: 'drum and bass, rock and roll, salière et poivrière, sel et poivre, noir et blanc',
  },
}
