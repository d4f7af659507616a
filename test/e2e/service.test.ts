/** What needs nothing but a service that runs; the files of service/ share one. */

import './service/separate.ts'
import './service/options.ts'
import './service/video.ts'
import './service/audio-url.ts'
import './service/folder.ts'
import './service/doctor.ts'
import './service/client-package.ts'
import './service/mcp.ts' // kills the engine
