import type { Language } from '../language.ts'

export const es: Language = {
  name: 'Spanish',
  englishToo:
    'no, a, me, he, son, once, ten, pan, mar, real, total, solo, sólo, menos, todo, motor, ' +
    'piano, audio, bajo, animal, son, saber',
  sounds: {
    vocals:
      'voz principal, voces principales, voz cantada, voz del cantante, voz de la cantante, ' +
      'cantante, cantantes, a capela, acapela, vocales, voz de la canción',
    instrumental:
      'versión instrumental, pista instrumental, instrumental, acompañamiento, ' +
      'pista de acompañamiento, base instrumental, pista de karaoke, instrumentos',
    other:
      'el resto, resto, todo lo demás, lo demás, los demás, otros sonidos, los demás sonidos, ' +
      'demás sonidos, otros, otros ruidos',
    effects: 'efectos de sonido, efectos, efectos sonoros, efecto de sonido',
    speech:
      'habla, discurso, diálogo, diálogos, conversación, conversaciones, hablar, hablante, ' +
      'locutor, locutora, narrador, narración, voz hablada, persona hablando, gente hablando, ' +
      'presentador, presentadora, palabras, persona, personas, gente, alguien, entrevista',
    voice: 'voz, voces, voz humana, voces humanas',
    woman:
      'mujer, mujeres, voz de mujer, voz femenina, voces femeninas, señora, mujer hablando, ' +
      'voz de la mujer',
    man:
      'hombre, hombres, voz de hombre, voz masculina, voces masculinas, señor, hombre hablando, ' +
      'voz del hombre',
    child: 'niño, niña, niños, niñas, voz de niño, voz infantil, voces de niños, voz de niña',
    baby: 'bebé, bebés, llanto de bebé, bebé llorando, llanto del bebé',
    crowd: 'multitud, multitudes, público, muchedumbre, gentío, murmullo de gente',
    singing: 'canto, cantos, cantar, cantando, coro, persona cantando',
    whisper: 'susurro, susurros, susurrar, susurrando, cuchicheo',
    laughter: 'risa, risas, carcajada, carcajadas, reír',
    scream: 'grito, gritos, chillido, chillidos, alarido',
    sneeze: 'estornudo, estornudos',
    breathing: 'respiración, respiraciones, respirar, jadeo',
    eating: 'comer, masticar, masticación, comiendo',
    dog:
      'perro, perros, perra, ladrido, ladridos, perro ladrando, ladrido de perro, ' +
      'ladridos de perro, cachorro, latido de cachorro, latidos de cachorro, ladridos del perro',
    'cat meowing': 'gato, gatos, gata, maullido, maullidos, gato maullando, gatito',
    horse: 'caballo, caballos, relincho, relinchos, cascos de caballo, yegua',
    'farm animal':
      'animal de granja, animales de granja, vaca, vacas, oveja, ovejas, cabra, cerdo, cerdos, ' +
      'ganado',
    chicken: 'gallina, gallinas, pollo, pollos, cacareo',
    rooster: 'gallo, gallos, canto del gallo',
    'bird chirping':
      'pájaro, pájaros, ave, aves, canto de pájaros, canto de los pájaros, trino, trinos, ' +
      'gorjeo, pajarito, pajaritos',
    bee: 'abeja, abejas, zumbido de abeja, zumbido de abejas',
    crickets: 'grillo, grillos, cigarra, cigarras, canto de grillos',
    piano: 'piano, pianos, piano de cola',
    harpsichord: 'clavecín, clavicémbalo, clave barroco',
    organ: 'órgano, órganos, órgano de iglesia',
    accordion: 'acordeón, acordeones',
    vibraphone: 'vibráfono, xilófono, marimba',
    'acoustic guitar':
      'guitarra acústica, guitarras acústicas, guitarra clásica, guitarra española',
    'electric guitar': 'guitarra eléctrica, guitarras eléctricas',
    bass: 'bajo, bajos, bajo eléctrico, contrabajo, línea de bajo, guitarra baja, bajista',
    banjo: 'banyo, banjo',
    sitar: 'sitar',
    harp: 'arpa, arpas',
    violin: 'violín, violines',
    cello: 'violonchelo, violonchelos, chelo, violoncelo, violonchelo solista',
    strings: 'cuerdas, sección de cuerdas, orquesta de cuerdas',
    trumpet: 'trompeta, trompetas',
    trombone: 'trombón, trombones',
    'french horn': 'trompa, trompas, corno francés, corno',
    saxophone: 'saxofón, saxofones, saxo, saxófono',
    clarinet: 'clarinete, clarinetes',
    oboe: 'oboe, oboes',
    flute: 'flauta, flautas, flauta travesera, flauta dulce',
    bagpipe: 'gaita, gaitas',
    synth: 'sintetizador, sintetizadores, sinte',
    'drum kit': 'set de batería, kit de batería',
    'kick drum': 'bombo, bombos',
    'snare drum': 'caja clara, redoblante, redoblantes, tarola',
    'hi-hat': 'hi-hat, charles, contratiempo de batería, platillos hi-hat',
    cymbal: 'platillo, platillos, címbalo, címbalos',
    toms: 'toms, tom-toms',
    congas: 'congas, conga, bongos, bongó',
    tambourine: 'pandereta, panderetas, pandero',
    timpani: 'timbal, timbales, tímpanos',
    'steel drum': 'tambor metálico, tambor de acero, steel drum',
    helicopter: 'helicóptero, helicópteros',
    airplane: 'avión, aviones, aeroplano',
    'car engine':
      'motor, motores, motor de coche, motor de auto, coche, coches, carro, carros, auto, ' +
      'autos, tráfico, ruido de tráfico, ruido del tráfico, motor del coche, automóvil',
    motorcycle: 'moto, motos, motocicleta, motocicletas',
    'train passing': 'tren, trenes, ferrocarril, tren pasando, paso del tren',
    'car horn': 'claxon, bocina, bocinas, pito del coche, bocina de coche, bocinazo, bocinazos',
    'train horn': 'silbato de tren, bocina de tren, pito del tren, silbato del tren',
    'household appliance':
      'electrodoméstico, electrodomésticos, lavadora, lavadoras, lavavajillas, microondas, ' +
      'secador de pelo, licuadora',
    'vacuum cleaner': 'aspiradora, aspiradoras, aspirador',
    fan: 'ventilador, ventiladores, aire acondicionado, ruido del ventilador',
    chainsaw: 'motosierra, motosierras',
    'hand saw': 'sierra de mano, sierra, serrucho, serruchos, sierras',
    drill: 'taladro, taladros, taladradora, taladrar',
    'hissing air': 'siseo de aire, aire comprimido, escape de aire',
    clock: 'reloj, relojes, tictac, tictac del reloj, tic-tac',
    typing:
      'teclado de ordenador, teclado de computadora, teclear, tecleo, máquina de escribir, ' +
      'mecanografía, tecleando',
    click: 'clic, clics, clic del ratón, chasquido, clic de ratón',
    hum: 'zumbido, zumbidos, zumbido eléctrico',
    'white noise': 'ruido blanco, ruido rosa, siseo, estática',
    noise:
      'ruido, ruidos, ruido de fondo, ruidos de fondo, ruido ambiental, ruido ambiente, ' +
      'sonido de fondo, sonidos de fondo, fondo, ambiente, sonido ambiente',
    phone:
      'teléfono, teléfonos, timbre de teléfono, teléfono sonando, tono de llamada, móvil, ' +
      'celular',
    'dial tone': 'tono de marcado, tono de línea, tono de marcar',
    doorbell: 'timbre, timbres, timbre de la puerta, timbre de puerta',
    'church bell': 'campana, campanas, campanas de iglesia, campana de iglesia, campanadas',
    siren: 'sirena, sirenas, sirena de policía, ambulancia, sirena de ambulancia',
    alarm: 'alarma, alarmas, despertador, alarma de incendios',
    'referee whistle':
      'silbato, silbatos, silbato de árbitro, silbato del árbitro, pitido del árbitro',
    'morse code': 'código morse, morse',
    'video game': 'videojuego, videojuegos',
    rain: 'lluvia, lluvias, llover, sonido de lluvia, aguacero, lloviendo',
    sea: 'mar, océano, olas, ola, oleaje, olas del mar',
    wind: 'viento, vientos, brisa, ráfaga',
    thunder: 'trueno, truenos, tormenta, tormentas, relámpago',
    stream: 'arroyo, arroyos, río, ríos, agua corriente, riachuelo',
    'water dripping':
      'goteo, gotas de agua, gota de agua, agua goteando, goteras, gotas, grifo que gotea',
    splash: 'salpicadura, salpicaduras, chapoteo, chapuzón',
    bubbles: 'burbuja, burbujas, burbujeo',
    'hand clap': 'palmada, palmadas, palmas, dar palmas',
    applause: 'aplauso, aplausos, aplaudir, ovación',
    footsteps: 'paso, pasos, pisadas, pisada, caminar',
    knock:
      'golpe en la puerta, golpes en la puerta, llamar a la puerta, toc toc, golpear la puerta',
    door: 'puerta, puertas, portazo, portazos',
    creaking: 'chirrido, chirridos, crujido, crujidos, rechinido',
    'keys jingling': 'llaves, llave, tintineo de llaves, manojo de llaves',
    coins: 'moneda, monedas, dinero suelto',
    dishes: 'platos, vajilla, cubiertos, loza',
    chopping: 'picar verduras, cortar verduras, cortar leña, cortar madera',
    writing: 'escritura, escribir, lápiz, bolígrafo, escribiendo',
    'paper rustling': 'papel, papeles, crujido de papel, arrugar papel, papel arrugado',
    'adhesive tape': 'cinta adhesiva, celo, cinta aislante',
    'bouncing ball':
      'pelota rebotando, balón rebotando, pelota, balón, rebote de pelota, pelota que rebota, ' +
      'baloncesto',
    'glass breaking':
      'vidrio roto, cristal roto, rotura de cristal, vidrio rompiéndose, cristales rotos, ' +
      'vidrio, cristal',
    fire: 'fuego, hoguera, fogata, llamas, incendio, chimenea',
    gunshot: 'disparo, disparos, tiro, tiros, tiroteo, balazo, pistola',
    explosion: 'explosión, explosiones, bomba, estallido',
    whistling: 'silbido, silbidos, silbar, silbando',
    heartbeat: 'latido, latidos, latido del corazón, latidos del corazón, corazón',
    music: 'música, músicas, música de fondo, banda sonora, música ambiental',
    animal: 'animal, animales, sonidos de animales',
    guitar: 'guitarra, guitarras, guitarrista',
    'keyboard instrument': 'teclado, teclados, instrumento de teclado',
    'bowed instrument': 'instrumento de arco, cuerda frotada, instrumentos de arco',
    brass: 'metales, viento metal, instrumentos de metal, vientos metales',
    woodwind: 'viento madera, instrumentos de viento madera, maderas',
    drums: 'batería, baterías, percusión, percusiones, tambor, tambores, baterista',
    vehicle: 'vehículo, vehículos, camión, camiones',
    water: 'agua, aguas, sonido del agua',
    'clean speech':
      'limpiar, limpiar el audio, limpiar audio, limpia el audio, limpiar la voz, ' +
      'limpiar la grabación, limpia la grabación, limpiar el sonido, mejorar la voz, ' +
      'mejorar el habla, mejorar voz, mejora la voz, mejorar el audio, reducción de ruido, ' +
      'reducción del ruido, reducir el ruido, reducir ruido, eliminación de ruido, ' +
      'cancelación de ruido, supresión de ruido, voz limpia, voz clara, audio limpio, ' +
      'aislar la voz, mejora de voz, quitar ruido, eliminar ruido',
  },
  words: {
    article: 'el, la, los, las, un, una, unos, unas, lo',
    ignored:
      'por favor, quiero, quisiera, querría, puedes, podrías, puede, me, dame, dar, oír, ' +
      'escuchar, extraer, extrae, extraiga, separar, separa, separe, necesito, hay, este, esta, ' +
      'estos, estas, ese, esa, mi, mis, tu, su, sus, dónde, está, qué, cuál, es, son, sonido, ' +
      'sonidos, sonido de, sonido del, el sonido de, el sonido del, ruido de, ruido del, ' +
      'ruidos de, ruido de la, pista de, parte, partes, gracias, hola, que, se, te, poder, ' +
      'obtener, aislado, aislada, sacarme, ver, tener, busco, todo el, completamente, nada más, ' +
      'más, ningún otro, favor, algún, alguna, al, gustaría, yo, y también, otro, otra',
    without:
      'sin, menos, excluyendo, sin la, sin el, quitando, eliminando, libre de, carente de, ' +
      'en vez de, en lugar de, ningún, ninguna, cero, sin ningún, sin ninguna, nada de, ' +
      'en vez del, en lugar del',
    not: 'no, nunca, tampoco, ni, jamás',
    remove:
      'quita, quitar, quite, quiten, quites, quítame, elimina, eliminar, elimine, elimines, ' +
      'borra, borrar, borre, borres, suprime, suprimir, suprimas, silencia, silenciar, ' +
      'silencies, saca, sacar, saques, retira, retirar, retires, corta, cortar, cortes, ' +
      'excluye, excluir, excluyas, deshazte, deshacerse, filtra, filtrar, apaga, apagar, omite, ' +
      'omitir, descarta, descartar, remueve, remover, mutea, mutear, reduce, reducir, ' +
      'eliminación, borrado, anula, anular, enmudece, deja fuera, dejar fuera, desactiva, ' +
      'desactivar, baja, bajar',
    after:
      'quitado, quitada, quitados, quitadas, eliminado, eliminada, eliminados, eliminadas, ' +
      'borrado, borrada, suprimido, suprimida, silenciado, silenciada, silenciados, removido, ' +
      'removida, excluido, excluida, fuera, eliminación, cortado, cortada',
    except:
      'excepto, salvo, exceptuando, a excepción de, a excepción del, con excepción de, ' +
      'aparte de, fuera de, con la excepción de, además de, distinto de, distintos de, ' +
      'que no sea, que no sean, quitando',
    but: 'pero, sino',
    keep: 'mantén, mantener, conserva, conservar, deja, dejar, guarda, preserva, mantenga',
    only:
      'solo, sólo, solamente, únicamente, aísla, aislar, aísle, nada más que, deja solo, ' +
      'dejar solo, exclusivamente, sino solo',
    everything:
      'todo, todos, todas, toda, canción, canciones, tema, mezcla, grabación, audio, archivo, ' +
      'vídeo, video, todos los sonidos, cualquier cosa, película, todo lo que',
    nothing: 'nada, ningún sonido, nada más, nadie',
    and:
      'y, e, más, así como, además, también, junto con, o, u, ni tampoco, y también, tanto, ' +
      'como también',
    with: 'con, incluyendo',
    of: 'de, del, de la, de los, de las, desde, de esta, de este, a partir de',
    preposition:
      'que, quien, en, en el, en la, delante de, detrás de, sobre, bajo el, encima de, ' +
      'cerca de, al lado de, junto a, durante, cuando, mientras, frente a, por, para, contra, ' +
      'entre, hacia, porque, donde, cuyo, tocada por, tocado por, al fondo',
    playing: 'toca, tocando, tocar, tocan',
    whole: 'drum and bass, rock and roll, blanco y negro, sal y pimienta',
  },
}
