// Made by `npm run winnow -- client-types` from the API description; do not edit.

export interface components {
    schemas: {
        Account: {
            account_id: string;
            name: string;
            status: "active" | "disabled" | "deleted";
            /** Whether separations cost credits. */
            metered: boolean;
            /** In seconds of audio. */
            balance_seconds: number;
            /** The part reserved for requests in progress. */
            reserved_seconds: number;
            /** Size of the files and outputs that the account holds. */
            media_bytes: number;
            /** Size reserved for the outputs of requests in progress. */
            media_reserved_bytes: number;
            /** The limit for both together. Only in `GET /v1/account`. */
            media_bytes_max?: number;
            /** The highest class of requests with this key, which is also their default. Only in `GET /v1/account`. */
            priority?: "interactive" | "batch";
            own_limits?: components["schemas"]["OwnLimits"];
            limits?: components["schemas"]["StandingLimits"];
        };
        AccountList: {
            object: "list";
            data: components["schemas"]["Account"][];
        };
        AccountUse: {
            account_id: string;
            /** Completed requests. */
            completed: number;
            /** Failed requests, including canceled ones. */
            failed: number;
            /** Seconds as charged. */
            audio_seconds: number;
            /** Seconds of engines' devices. */
            device_seconds: number;
            /** Media that was stored in the last 24 hours and is still held. */
            added_bytes: number;
            /** The limit for its media; null: no limit. */
            media_bytes_max: number | null;
        };
        Activity: {
            at: string;
            /** Hours in UTC, oldest first; the last one is not over yet. */
            hours: components["schemas"]["ActivityHour"][];
        };
        /** The requests that ended in an hour and are not deleted. */
        ActivityHour: {
            start: string;
            completed: number;
            /** Without canceled requests. */
            failed: number;
            canceled: number;
            /** Seconds of media of completed requests. */
            audio_seconds: number;
            /** Average time from submit to the start of the last attempt; `null` if no request that ended had started. */
            waiting_seconds: number | null;
        };
        AdminChange: {
            created_at: string;
            /** For example `admin_api`. */
            tool: string;
            /** The client's address, or user and host. */
            origin: string;
            admin_subject: string | null;
            admin_name: string | null;
            /** For example `key.revoke`. */
            action: string;
            account_id: string | null;
            key_id: string | null;
            /** What was set, as JSON without secrets. */
            details: string;
        };
        /** A webhook for one receiver. */
        AdminDelivery: {
            /** The value of the header `webhook-id`. */
            webhook_id: string;
            request_id: string;
            account_id: string;
            endpoint_id: string | null;
            /** Host of the receiver. */
            host: string;
            created_at: string;
            delivery_status: "pending" | "sending" | "delivered" | "failed";
            /** Attempts started so far. */
            attempts: number;
            delivered_at: string | null;
            last_error: string | null;
            next_attempt_at: string | null;
        };
        AdminModel: {
            name: string;
            /** One sentence. */
            summary: string | null;
            /** It came with Winnow and cannot be removed. */
            built_in: boolean;
            /** Size of the download. */
            megabytes: number | null;
            /** The licence of its weights, in a word or two. */
            licence_word: string | null;
            /** The licence in sentences, as far as it is known. */
            licence: string;
            /** The page that states the licence. */
            licence_url: string | null;
            /** Whether the licence must be accepted to fetch it. */
            licence_question: boolean;
            /** The address of its first file. */
            source: string | null;
            /** Its state on each engine. */
            engines: components["schemas"]["EngineModel"][];
        };
        AdminModelList: {
            object: "list";
            data: components["schemas"]["AdminModel"][];
        };
        AdminRequest: {
            request_id: string;
            account_id: string;
            kind: "separate" | "sounds";
            status: "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED" | "FAILED";
            priority: "interactive" | "batch";
            prompts: string[];
            file_name: string;
            /** The model that the client chose; `null` if the service chooses. */
            separator: string | null;
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            /** Seconds of media. */
            duration: number | null;
            progress: number | null;
            engine_id: string | null;
            attempts: number;
            error_code: string | null;
            error_message: string | null;
        };
        AdminUsage: {
            at: string;
            /** Number of days counted, of which today is the last. */
            days: number;
            /** Every account that is not deleted. */
            data: components["schemas"]["AccountUse"][];
            /** Media of all accounts that expires in the next 24 hours. */
            expiring_bytes: number;
        };
        ApiKey: {
            key_id: string;
            account_id: string;
            name: string;
            scopes: ("models:read" | "files:write" | "files:read" | "audio:separate" | "keys:manage")[];
            created_at: string;
            expires_at: string | null;
            revoked_at: string | null;
            /** Updated once a minute. */
            last_used_at: string | null;
            /** The key's own limit; `null` to use that of its account. */
            calls_per_minute: number | null;
            /** The highest class of its requests, which is also their default. `null` to use that of its account. */
            priority: ("interactive" | "batch") | null;
        };
        ApiKeyList: {
            object: "list";
            data: components["schemas"]["ApiKey"][];
        };
        /** What to separate from what, and how. Unknown fields are refused. */
        AudioSeparateInput: {
            /** The sound to extract, in plain language; counted after trimming. Exactly one of prompt and prompts. */
            prompt?: string | null;
            /** An extension: several sounds in the same media, each with its own target. They share one residual, which is what none of the targets took. The options apply to all of them. */
            prompts?: string[] | null;
            /** A public HTTPS URL of audio or video. Spaces and letters are encoded as in browsers. Exactly one of audio_url, file_id and request_id. */
            audio_url?: string | null;
            /** The id of an uploaded file. */
            file_id?: string | null;
            /** An extension: an earlier request, one of whose outputs, or whose source, is the media. Requires `output`. */
            request_id?: string | null;
            /** An extension: which output of the COMPLETED request `request_id` to use. `source` is the media that a request in any state was to separate. */
            output?: ("target" | "residual" | "source") | null;
            /** An extension: index of the target in `data.targets` (default 0). */
            output_index?: number | null;
            /** An extension: which audio track of the media to separate, from 1. By default it is the best one, or two matching mono tracks as the channels of one sound; `logs` name the others. */
            audio_track?: number | null;
            /** An extension: the model that answers all prompts, named as in `GET /v1/models`. With `auto`, the words of each prompt decide. Default: auto. */
            separator?: string | null;
            /** An extension: which output you will keep. With `residual`, the sounds are removed at full level even if it is uncertain that they are present; with `target`, uncertain targets are softened. Default: target. */
            side?: ("target" | "residual") | null;
            /** An extension: also makes a compressed preview, at `data.preview_url`. Default: false. */
            preview?: boolean | null;
            /** Predict first where the target sounds. Default: false. */
            predict_spans?: boolean | null;
            /** Candidates to choose the best from. Default: 1. */
            reranking_candidates?: number | null;
            /** Speed against quality. Default: balanced. */
            acceleration?: ("fast" | "balanced" | "quality") | null;
            /** Seconds of media in one model pass; anything less than 1 counts as 1. Default: 60. */
            max_chunk_duration?: number | null;
            /** Seconds that neighbouring chunks share; at most half a chunk is used. Default: 5. */
            chunk_overlap?: number | null;
            /** Format of the outputs. Default: wav. */
            output_format?: ("wav" | "mp3" | "flac") | null;
            /** Where the target is present, or absent. */
            spans?: components["schemas"]["AudioSpan"][] | null;
        } & (unknown | unknown | unknown);
        /** The media to list the sounds of. Unknown fields are refused. */
        AudioSoundsInput: {
            /** A public HTTPS URL of audio or video. Spaces and letters are encoded as in browsers. Exactly one of audio_url, file_id and request_id. */
            audio_url?: string | null;
            /** The id of an uploaded file. */
            file_id?: string | null;
            /** An extension: an earlier request, one of whose outputs, or whose source, is the media. Requires `output`. */
            request_id?: string | null;
            /** An extension: which output of the COMPLETED request `request_id` to use. `source` is the media that a request in any state was to separate. */
            output?: ("target" | "residual" | "source") | null;
            /** An extension: index of the target in `data.targets` (default 0). */
            output_index?: number | null;
            /** An extension: which audio track of the media to separate, from 1. By default it is the best one, or two matching mono tracks as the channels of one sound; `logs` name the others. */
            audio_track?: number | null;
        } & (unknown | unknown | unknown);
        /** A time range in which the target is present, or absent. */
        AudioSpan: {
            /** Seconds from the start of the media. */
            start: number;
            /** Seconds; greater than start. */
            end: number;
            /** Whether the target is present here (`true`) or absent (`false`). Default: true. */
            include?: boolean | null;
        };
        CreateEndpointRequest: {
            /** A public HTTPS URL. */
            url: string;
            /** The types of events that it receives. Default: all. */
            events?: ("audio.separate.completed" | "audio.separate.failed" | "audio.sounds.completed" | "audio.sounds.failed")[] | null;
            description?: string | null;
        };
        /** Describes a file whose bytes are sent afterwards. */
        CreateFileRequest: {
            file_name: string;
            /** audio/*, video/*, application/ogg or application/octet-stream, in upper or lower case. The service looks at the bytes to find out what they are. */
            content_type: string;
            /** Size in bytes. */
            file_size: number;
            purpose: "audio.separate.input";
        };
        /** Where to send the bytes: use `upload_method` on `upload_url` with `headers` before `expires_at`. The address needs no API key. */
        CreateFileResponse: {
            file_id: string;
            /** Accepts the bytes, without an API key. */
            upload_url: string;
            upload_method: "PUT";
            headers: {
                "content-type"?: string;
            };
            expires_at: string;
            retention: {
                delete_after?: string;
            };
        };
        CreateOwnKeyRequest: {
            scopes: ("models:read" | "files:write" | "files:read" | "audio:separate" | "keys:manage")[];
            name?: string | null;
            /** How long the key is valid: `30d`, `12h`, `1 year`. */
            expires?: string | null;
            /** The highest class of its requests, which is also their default. Omit to use that of the account, which it cannot exceed. */
            priority?: ("interactive" | "batch") | null;
        };
        DeliveryAttempt: {
            started_at: string;
            duration_ms: number;
            status_code: number | null;
            error: string | null;
        };
        /** The attempts to deliver a webhook, oldest first. */
        DeliveryAttemptList: {
            object: "list";
            data: components["schemas"]["DeliveryAttempt"][];
        };
        EndpointDeliveryList: {
            object: "list";
            data: {
                /** The value of the header `webhook-id`. */
                webhook_id: string;
                request_id: string;
                type: "audio.separate.completed" | "audio.separate.failed" | "audio.sounds.completed" | "audio.sounds.failed";
                created_at: string;
                delivery_status: "pending" | "sending" | "delivered" | "failed";
                /** Attempts started so far. */
                attempts: number;
                delivered_at: string | null;
                last_error: string | null;
                next_attempt_at: string | null;
            }[];
            next_cursor: string | null;
        };
        /** An engine that serves the model now, with its model for text. */
        Engine: {
            /** The same in every call, but not the name in logs. */
            engine_id: string;
            version: string;
            /** `cpu` or `gpu`. */
            device: string;
            model: {
                name: string;
                summary: string;
                parameters: number;
                weights_sha256: string;
                /** In hertz; 0 if any rate is supported. */
                sample_rate: number;
                /** Media with more channels is downmixed. */
                channels_max: number;
                /** Whether `reranking_candidates` makes several. */
                gives_candidates: boolean;
                /** Whether `predict_spans` has an effect. */
                predicts_spans: boolean;
                /** Precision of the matrix products: `float32` or `bfloat16`. */
                precision: string;
            };
        };
        EngineModel: {
            engine_id: string;
            state: "FETCHABLE" | "WAITING" | "DOWNLOADING" | "CONVERTING" | "NOT_LOADED" | "LOADING" | "LOADED" | "UNLOADING";
            /** Bytes downloaded; `null` if it is not being fetched. */
            bytes: number | null;
            /** Bytes to download, if known. */
            bytes_total: number | null;
            /** A sentence on why it is not fetched or loaded, or what it waits for. */
            problem: string | null;
        };
        /** A file. Its status is `pending` until its bytes have arrived, then `uploaded`, and `expired` after `expires_at`. */
        File: {
            file_id: string;
            file_name: string;
            content_type: string;
            file_size: number;
            purpose: string;
            status: "pending" | "uploaded" | "expired";
            created_at: string;
            uploaded_at?: string | null;
            expires_at: string;
        };
        /** A page of files, newest first. */
        FileList: {
            object: "list";
            data: components["schemas"]["File"][];
            next_cursor: string | null;
        };
        /** What was found out about a prompt. Unless `state` is `found`, tell the user; `message` is a text for that. */
        Finding: {
            prompt: string;
            /** An extension: the probability that the sound is in the media, assuming that half of the requested sounds are; calibrated on mixtures of two sounds. */
            match?: number;
            /** An extension: the name known to the model that is nearest to the prompt; `null` if none is near. */
            understood_as?: string | null;
            /** `found`: the sound is there; `similar`: a similar sound is there (`similar_to`); `unsure`; `absent`: it was not heard. Except for `found`, the target contains the closest match and may be softer. `unknown`: the model does not know the prompt, and the target contains something else. Of several sounds the least certain one decides, in the order unknown, absent, similar, unsure, found. */
            state: "found" | "similar" | "unsure" | "absent" | "unknown";
            /** An extension: for a `similar` sound, what was heard instead. */
            similar_to?: string;
            /** An extension: where a `found` sound is; for several sounds, where any wanted one is. If there are more than 100 spans, neighbouring ones are merged. */
            where?: {
                /** Seconds from the start of the media. */
                start: number;
                /** Seconds from the start of the media. */
                end: number;
            }[];
            /** An extension: the share of the media that contains a `found` sound. */
            share?: number;
            /** An extension: how well the target is probably separated, whether or not the sound is there. `good` means an SI-SDR of at least 10 dB, `poor` one below 3 dB. An estimate by the built-in model; absent if there is none. */
            quality?: "good" | "fair" | "poor";
            /** An extension: the sounds that the prompt was understood to mean. */
            asked?: {
                /** In English if the service knows the sound; otherwise as typed. */
                sound: string;
                /** Whether it is to be removed. */
                excluded: boolean;
                state?: "found" | "similar" | "unsure" | "absent" | "unknown";
                similar_to?: string;
            }[];
            /** An extension: an earlier prompt with the same meaning. Both share one output, which is missing from the residual once. */
            same_as?: string;
            /** Unless `found`: by how many dB the target is softer than what was separated. */
            softened_db?: number;
            /** For an `unknown` prompt: what the target contains. */
            holds?: string;
            /** For an `unknown` prompt: the nearest names known to the model, to try instead. */
            nearest?: string[];
            /** An extension: the name of the model that made the target, as in `separators`. */
            separator?: string;
            /** The same in a sentence or two, for people. */
            message: string;
        };
        Fleet: {
            at: string;
            engines: {
                engine_id: string;
                version: string;
                model: string;
                device: string;
                state: "READY" | "BUSY" | "DRAINING" | "PAUSED";
                started_at: string;
                jobs: number;
                jobs_max: number;
                lanes: number;
                batch_frames_max: number;
                steps_total: number;
                /** Frames of all lanes in all steps. */
                frames_total: number;
                busy_seconds_total: number;
                /** Seconds of media separated. */
                audio_seconds_total: number;
                memory_bytes: number;
            }[];
            models: {
                name: string;
                summary: string;
                parameters: number;
                weights_sha256: string;
                /** Licence of its weights; empty if unknown. */
                licence: string;
                /** Number of engines that hold it. */
                engines: number;
            }[];
            queue: {
                waiting: number;
                in_progress: number;
                /** Age of the oldest waiting request. */
                oldest_seconds: number;
                jobs_to_hand_over: number;
                webhooks_due: number;
            };
            /** Latest first. */
            failures: {
                request_id: string;
                engine_id: string | null;
                failed_at: string;
                code: string;
                message: string;
            }[];
            /** Latest first. */
            webhook_attempts: {
                request_id: string;
                endpoint_id: string | null;
                /** Host of the receiver. */
                host: string;
                started_at: string;
                duration_ms: number;
                status_code: number | null;
                error: string | null;
            }[];
            storage: {
                /** Where the media is. */
                place: string;
                /** Files and outputs of all accounts. */
                held_bytes: number;
                /** For outputs of unfinished requests. */
                reserved_bytes: number;
                /** How much uploads may still take; if negative, they are refused; `null` for a bucket. */
                free_bytes: number | null;
            };
        };
        /** A sound in the media, where it is, and how certain that is. */
        HeardSound: {
            /** Use it as a prompt to separate the sound. */
            name: string;
            /** Where it is heard, in order. */
            spans: {
                /** Seconds from the start of the media. */
                start: number;
                /** Seconds from the start of the media. */
                end: number;
            }[];
            /** The share of the media in which it is heard. */
            share: number;
            /** The probability that the sound is in the media. */
            match: number;
        };
        /** The status of a request, with its prompt, its file and how long its outputs are kept. */
        ListedRequest: {
            request_id: string;
            /** What was requested. `audio/sounds`, a list of sounds, is an extension. */
            model: "audio/separate" | "audio/sounds";
            status: "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED" | "FAILED";
            /** An extension. */
            priority?: "interactive" | "batch";
            created_at: string;
            updated_at: string;
            result_url: string;
            logs?: {
                timestamp: string;
                message: string;
            }[];
            progress?: number;
            /** An extension: how much of the media can be played while the rest is still separated; see `GET /v1/queue/requests/{request_id}/live-preview`. */
            preview_seconds?: number;
            /** 1 means next. */
            queue_position?: number;
            /** An extension: estimated time until the end, if it can be estimated. */
            estimated_seconds_left?: number;
            /** Why the request FAILED. */
            error?: {
                code: "MODEL_FAILED" | "CHUNK_TOO_LARGE" | "INVALID_MEDIA" | "NO_AUDIO_STREAM" | "INVALID_AUDIO_URL" | "MEDIA_FETCH_FAILED" | "PAYLOAD_TOO_LARGE" | "MEDIA_TOO_LONG" | "INSUFFICIENT_CREDITS" | "MEDIA_QUOTA_EXCEEDED" | "ENGINE_LOST" | "CANCELED" | "INVALID_PARAMETER";
                message: string;
            };
            webhook?: components["schemas"]["WebhookDeliveryStatus"];
            /** An extension: as submitted, except that large numbers are rounded. */
            metadata?: {
                [key: string]: unknown;
            };
            /** An extension: the probability that the sound is in the media, assuming that half of the requested sounds are; calibrated on mixtures of two sounds. */
            match?: number;
            /** An extension: the name known to the model that is nearest to the prompt; `null` if none is near. */
            understood_as?: string | null;
            /** An extension: the name of the model that made the target, as in `separators`. */
            separator?: string;
            /** An extension: of a completed request with `prompts`, in their order. */
            targets?: components["schemas"]["PromptFinding"][];
            /** An extension: what was found out about each prompt of a completed request, in order. Absent if the model reports nothing. */
            findings?: components["schemas"]["Finding"][];
            /** The first one if there are several; empty for a list of sounds. */
            prompt: string;
            /** Present if there are several. */
            prompts?: string[];
            /** Name of the source. */
            file_name: string;
            /** For a completed request: until when its outputs are kept. */
            retention?: {
                delete_after: string;
            };
        };
        /** What can be played of a request while the rest is still separated. */
        LivePreview: {
            /** Who made the parts. If this changes, the media is separated again from its start, and the parts of before are replaced. */
            attempt: string;
            /** Length of all parts together. */
            seconds: number;
            /** Length of the media in seconds. */
            duration: number;
            /** Addresses of the parts, in order, valid for an hour. They need no key. */
            part_urls: string[];
        };
        Model: {
            id: string;
            object: "model";
            description: string;
            /** JSON Schema of `input` in a submit. */
            input: Record<string, never>;
            /** JSON Schema of `data` in a result. */
            output: Record<string, never>;
            /** An extension: the longest media that it takes, in seconds. */
            media_seconds_max?: number;
            engines?: components["schemas"]["Engine"][];
            /** An extension: the models to choose from, in order of preference. */
            separators?: components["schemas"]["Separator"][];
        };
        /** The one API model, the engines that serve it now, and the models that they have loaded. */
        ModelList: {
            object: "list";
            data: components["schemas"]["Model"][];
        };
        NewApiKey: {
            key_id: string;
            account_id: string;
            name: string;
            scopes: ("models:read" | "files:write" | "files:read" | "audio:separate" | "keys:manage")[];
            created_at: string;
            expires_at: string | null;
            revoked_at: string | null;
            /** Updated once a minute. */
            last_used_at: string | null;
            /** The key's own limit; `null` to use that of its account. */
            calls_per_minute: number | null;
            /** The highest class of its requests, which is also their default. `null` to use that of its account. */
            priority: ("interactive" | "batch") | null;
            /** The key itself, `sep_<key_id>_<secret>`. It is shown only once. */
            key: string;
        };
        /** The address, which is shown only once. */
        NewShare: {
            share_id: string;
            request_id: string;
            created_at: string;
            expires_at: string;
            /** Plays the result in a browser. The fragment is the secret and is shown only once. */
            url: string;
        };
        NewWebhookEndpoint: {
            endpoint_id: string;
            /** A public HTTPS URL. */
            url: string;
            /** The types of events that it receives. */
            events: ("audio.separate.completed" | "audio.separate.failed" | "audio.sounds.completed" | "audio.sounds.failed")[];
            description: string;
            enabled: boolean;
            disabled_at: string | null;
            disabled_reason: string | null;
            failing_since: string | null;
            old_secret_ends_at: string | null;
            created_at: string;
            /** The secret that signs, `whsec_…`. It is shown only once. */
            signing_secret: string;
        };
        /** The addresses are signed: they need no API key, accept `Range`, and are valid until `retention.delete_after`. */
        OutputFile: {
            url: string;
            video_url?: string;
            content_type: string;
            file_name: string;
        };
        OwnKeyList: {
            object: "list";
            data: components["schemas"]["ApiKey"][];
            /** The key of this call. */
            current_key_id: string;
        };
        OwnLimits: {
            /** Calls per minute of each key. */
            calls_per_minute: number | null;
            /** Waiting requests. */
            queued_requests: number | null;
            /** Requests that engines have at once; further ones wait. */
            concurrent_jobs: number | null;
            /** Bytes of files and outputs. */
            media_bytes: number | null;
            /** Seconds of completed requests in a calendar month, UTC. */
            seconds_per_month: number | null;
            /** Status streams and waiting calls at one gateway. */
            streams: number | null;
            /** Bytes of one uploaded file. */
            file_bytes: number | null;
            /** The highest class of its requests, which is also their default. */
            priority: ("interactive" | "batch") | null;
        };
        PromptFinding: {
            prompt: string;
            /** An extension: the probability that the sound is in the media, assuming that half of the requested sounds are; calibrated on mixtures of two sounds. */
            match?: number;
            /** An extension: the name known to the model that is nearest to the prompt; `null` if none is near. */
            understood_as?: string | null;
            /** An extension: the name of the model that made the target, as in `separators`. */
            separator?: string;
        };
        PromptTarget: {
            prompt: string;
            /** An extension: the probability that the sound is in the media, assuming that half of the requested sounds are; calibrated on mixtures of two sounds. */
            match?: number;
            /** An extension: the name known to the model that is nearest to the prompt; `null` if none is near. */
            understood_as?: string | null;
            /** An extension: the name of the model that made the target, as in `separators`. */
            separator?: string;
            url: string;
            video_url?: string;
            content_type: string;
            file_name: string;
        };
        /** The outputs of a completed request. */
        QueueResultResponse: {
            request_id: string;
            model: "audio/separate";
            status: "COMPLETED";
            data: components["schemas"]["SeparationData"];
            usage: {
                feature?: "audio_seconds";
                quantity?: number;
                billing_status?: "deducted" | "not_metered";
            };
            webhook?: components["schemas"]["WebhookDeliveryStatus"];
            /** An extension: as submitted, except that large numbers are rounded. */
            metadata?: {
                [key: string]: unknown;
            };
            retention: {
                delete_after?: string;
            };
        };
        /** The status of a request. `COMPLETED` and `FAILED` are final. `progress`, `queue_position` and `error` are extensions of the specification. */
        QueueStatusResponse: {
            request_id: string;
            /** What was requested. `audio/sounds`, a list of sounds, is an extension. */
            model: "audio/separate" | "audio/sounds";
            status: "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED" | "FAILED";
            /** An extension. */
            priority?: "interactive" | "batch";
            created_at: string;
            updated_at: string;
            result_url: string;
            logs?: {
                timestamp: string;
                message: string;
            }[];
            progress?: number;
            /** An extension: how much of the media can be played while the rest is still separated; see `GET /v1/queue/requests/{request_id}/live-preview`. */
            preview_seconds?: number;
            /** 1 means next. */
            queue_position?: number;
            /** An extension: estimated time until the end, if it can be estimated. */
            estimated_seconds_left?: number;
            /** Why the request FAILED. */
            error?: {
                code: "MODEL_FAILED" | "CHUNK_TOO_LARGE" | "INVALID_MEDIA" | "NO_AUDIO_STREAM" | "INVALID_AUDIO_URL" | "MEDIA_FETCH_FAILED" | "PAYLOAD_TOO_LARGE" | "MEDIA_TOO_LONG" | "INSUFFICIENT_CREDITS" | "MEDIA_QUOTA_EXCEEDED" | "ENGINE_LOST" | "CANCELED" | "INVALID_PARAMETER";
                message: string;
            };
            webhook?: components["schemas"]["WebhookDeliveryStatus"];
            /** An extension: as submitted, except that large numbers are rounded. */
            metadata?: {
                [key: string]: unknown;
            };
            /** An extension: the probability that the sound is in the media, assuming that half of the requested sounds are; calibrated on mixtures of two sounds. */
            match?: number;
            /** An extension: the name known to the model that is nearest to the prompt; `null` if none is near. */
            understood_as?: string | null;
            /** An extension: the name of the model that made the target, as in `separators`. */
            separator?: string;
            /** An extension: of a completed request with `prompts`, in their order. */
            targets?: components["schemas"]["PromptFinding"][];
            /** An extension: what was found out about each prompt of a completed request, in order. Absent if the model reports nothing. */
            findings?: components["schemas"]["Finding"][];
        };
        /** The request is queued, and will end as `COMPLETED` or `FAILED`. */
        QueueSubmitResponse: {
            request_id: string;
            status: "IN_QUEUE";
            /** What was requested. `audio/sounds`, a list of sounds, is an extension. */
            model: "audio/separate" | "audio/sounds";
            created_at: string;
            status_url: string;
            stream_url: string;
            result_url: string;
            webhook?: {
                url: string;
                /** Only if the service created it, and only in this response. */
                signing_secret?: string;
            };
        };
        Replay: {
            /** Deliveries. */
            replayed: number;
            next_since: string | null;
        };
        /** A page of requests, newest first. */
        RequestList: {
            object: "list";
            data: components["schemas"]["ListedRequest"][];
            next_cursor: string | null;
        };
        SeparationCompletedEvent: {
            type: "audio.separate.completed";
            request_id: string;
            model: "audio/separate";
            created_at: string;
            status: "COMPLETED";
            completed_at: string;
            data: components["schemas"]["SeparationData"];
            usage: {
                feature?: "audio_seconds";
                quantity?: number;
                billing_status?: "deducted" | "not_metered";
            };
            /** As submitted. */
            metadata?: {
                [key: string]: unknown;
            };
        };
        /** The two outputs, which add up to the input. */
        SeparationData: {
            target: components["schemas"]["OutputFile"];
            /** An extension: of a completed request with `prompts`, in their order. `target` is the first one. */
            targets?: components["schemas"]["PromptTarget"][];
            residual: components["schemas"]["OutputFile"];
            /** In seconds. */
            duration?: number;
            /** In hertz. */
            sample_rate: number;
            /** An extension: the mixture and the outputs as Opus, in segments that are indexed in the peaks. Only if `preview` was requested and could be made. */
            preview_url?: string;
            /** An extension: the gain in dB that was applied to all outputs so that none clips; 0 if none was needed. */
            gain_db?: number;
            /** An extension: the probability that the sound is in the media, assuming that half of the requested sounds are; calibrated on mixtures of two sounds. */
            match?: number;
            /** An extension: the name known to the model that is nearest to the prompt; `null` if none is near. */
            understood_as?: string | null;
            /** An extension: the name of the model that made the target, as in `separators`. */
            separator?: string;
            /** An extension: what was found out about each prompt of a completed request, in order. Absent if the model reports nothing. */
            findings?: components["schemas"]["Finding"][];
            /** An extension: all sounds heard in the media, the most prominent first. */
            sounds?: components["schemas"]["HeardSound"][];
        };
        SeparationFailedEvent: {
            type: "audio.separate.failed";
            request_id: string;
            model: "audio/separate";
            created_at: string;
            status: "FAILED";
            failed_at: string;
            error: {
                code: "MODEL_FAILED" | "CHUNK_TOO_LARGE" | "INVALID_MEDIA" | "NO_AUDIO_STREAM" | "INVALID_AUDIO_URL" | "MEDIA_FETCH_FAILED" | "PAYLOAD_TOO_LARGE" | "MEDIA_TOO_LONG" | "INSUFFICIENT_CREDITS" | "MEDIA_QUOTA_EXCEEDED" | "ENGINE_LOST" | "CANCELED" | "INVALID_PARAMETER";
                message: string;
            };
            /** As submitted. */
            metadata?: {
                [key: string]: unknown;
            };
        };
        /** A model that engines have loaded. */
        Separator: {
            /** The value for `input.separator`. */
            name: string;
            summary: string;
            /** `text` takes any prompt; `stems` takes prompts that name some of `stems`. */
            answers: "text" | "stems";
            /** Empty for a model that takes text. */
            stems: string[];
            /** Sounds that a model for text knows, to choose from. It goes by meaning and may understand others. Absent if it has no such list. */
            names?: string[];
            /** What is known about the licence of its weights. */
            licence?: string;
            /** The engines that have the model loaded. */
            engine_ids: string[];
        };
        /** An address that plays one result without a key. */
        Share: {
            share_id: string;
            request_id: string;
            created_at: string;
            expires_at: string;
        };
        /** The active shares of an account, newest first. */
        ShareList: {
            object: "list";
            data: components["schemas"]["Share"][];
        };
        /** What the page needs to play one result, and nothing else about the account. */
        SharedResult: {
            /** Name of the source. */
            file_name: string;
            prompts: string[];
            data: components["schemas"]["SeparationData"];
            /** The peaks as JSON, if the engine stored them. */
            peaks_url?: string;
            /** When the share ends. The media addresses expire earlier; read the result again to renew them. */
            expires_at: string;
        };
        /** The webhook of a completed list of sounds. */
        SoundsCompletedEvent: {
            type: "audio.sounds.completed";
            request_id: string;
            model: "audio/sounds";
            created_at: string;
            status: "COMPLETED";
            completed_at: string;
            data: components["schemas"]["SoundsData"];
            usage: {
                feature?: "audio_seconds";
                quantity?: number;
                billing_status?: "deducted" | "not_metered";
            };
            /** As submitted. */
            metadata?: {
                [key: string]: unknown;
            };
        };
        /** The sounds in the media. */
        SoundsData: {
            sounds: components["schemas"]["HeardSound"][];
            /** In seconds. */
            duration: number;
        };
        /** The webhook of a failed list of sounds. */
        SoundsFailedEvent: {
            type: "audio.sounds.failed";
            request_id: string;
            model: "audio/sounds";
            created_at: string;
            status: "FAILED";
            failed_at: string;
            error: {
                code: "MODEL_FAILED" | "CHUNK_TOO_LARGE" | "INVALID_MEDIA" | "NO_AUDIO_STREAM" | "INVALID_AUDIO_URL" | "MEDIA_FETCH_FAILED" | "PAYLOAD_TOO_LARGE" | "MEDIA_TOO_LONG" | "INSUFFICIENT_CREDITS" | "MEDIA_QUOTA_EXCEEDED" | "ENGINE_LOST" | "CANCELED" | "INVALID_PARAMETER";
                message: string;
            };
            /** As submitted. */
            metadata?: {
                [key: string]: unknown;
            };
        };
        /** A completed list of sounds. It produces no media. */
        SoundsResultResponse: {
            request_id: string;
            model: "audio/sounds";
            status: "COMPLETED";
            data: components["schemas"]["SoundsData"];
            usage: {
                feature?: "audio_seconds";
                quantity?: number;
                billing_status?: "deducted" | "not_metered";
            };
            webhook?: components["schemas"]["WebhookDeliveryStatus"];
            /** An extension: as submitted, except that large numbers are rounded. */
            metadata?: {
                [key: string]: unknown;
            };
            retention: {
                delete_after?: string;
            };
        };
        StandingLimits: {
            /** Calls per minute of each key. */
            calls_per_minute: {
                /** `null` means no limit. */
                max: number | null;
                /** How much is used now; `null` for a limit that applies to each key or file. */
                used: number | null;
            };
            /** Waiting requests. */
            queued_requests: {
                /** `null` means no limit. */
                max: number | null;
                /** How much is used now; `null` for a limit that applies to each key or file. */
                used: number | null;
            };
            /** Requests that engines have at once; further ones wait. */
            concurrent_jobs: {
                /** `null` means no limit. */
                max: number | null;
                /** How much is used now; `null` for a limit that applies to each key or file. */
                used: number | null;
            };
            /** Bytes of files and outputs. */
            media_bytes: {
                /** `null` means no limit. */
                max: number | null;
                /** How much is used now; `null` for a limit that applies to each key or file. */
                used: number | null;
            };
            /** Seconds of completed requests in a calendar month, UTC. */
            seconds_per_month: {
                /** `null` means no limit. */
                max: number | null;
                /** How much is used now; `null` for a limit that applies to each key or file. */
                used: number | null;
            };
            /** Status streams and waiting calls at one gateway. */
            streams: {
                /** `null` means no limit. */
                max: number | null;
                /** How much is used now; `null` for a limit that applies to each key or file. */
                used: number | null;
            };
            /** Bytes of one uploaded file. */
            file_bytes: {
                /** `null` means no limit. */
                max: number | null;
                /** How much is used now; `null` for a limit that applies to each key or file. */
                used: number | null;
            };
        };
        /** A request for a separation. Unknown fields are ignored here, but not in `input`. */
        SubmitAudioSeparateRequest: {
            input: components["schemas"]["AudioSeparateInput"];
            /** An extension: `batch` lets interactive requests go first. The default is the highest class that the account may have, usually `interactive`. */
            priority?: ("interactive" | "batch") | null;
            /** A public HTTPS URL to notify when the request ends; see `webhooks`. */
            webhookUrl?: string | null;
            /** The secret that signs the webhook: its UTF-8 bytes or, after `whsec_`, its base64-decoded bytes. Without one the service creates one. */
            webhookSecret?: string | null;
            /** Returned in the webhook; at most 16384 bytes of JSON, nested up to 32 levels. */
            metadata?: {
                [key: string]: unknown;
            } | null;
        };
        /** A request for a list of sounds. Unknown fields are ignored here, but not in `input`. */
        SubmitAudioSoundsRequest: {
            input: components["schemas"]["AudioSoundsInput"];
            /** An extension: `batch` lets interactive requests go first. The default is the highest class that the account may have, usually `interactive`. */
            priority?: ("interactive" | "batch") | null;
            /** A public HTTPS URL to notify when the request ends; see `webhooks`. */
            webhookUrl?: string | null;
            /** The secret that signs the webhook: its UTF-8 bytes or, after `whsec_`, its base64-decoded bytes. Without one the service creates one. */
            webhookSecret?: string | null;
            /** Returned in the webhook; at most 16384 bytes of JSON, nested up to 32 levels. */
            metadata?: {
                [key: string]: unknown;
            } | null;
        };
        /** The usage of an account, by day. */
        Usage: {
            object: "list";
            /** The first day, for example `2026-01-31`. */
            from: string;
            /** The last day. */
            to: string;
            /** The days on which requests ended, oldest first. */
            data: components["schemas"]["UsageDay"][];
        };
        UsageDay: {
            day: string;
            /** Number of requests. */
            completed: number;
            /** Number of requests, including canceled ones. */
            failed: number;
            /** Seconds of completed requests as charged, that is, once for each target. */
            audio_seconds: number;
        };
        WebhookAttemptList: {
            object: "list";
            data: {
                request_id: string;
                endpoint_id: string | null;
                /** Host of the receiver. */
                host: string;
                started_at: string;
                duration_ms: number;
                status_code: number | null;
                error: string | null;
            }[];
        };
        WebhookDeliveryStatus: {
            delivery_status: "pending" | "sending" | "delivered" | "failed";
            /** Attempts started so far. */
            attempts: number;
            delivered_at: string | null;
            last_error: string | null;
        };
        WebhookEndpoint: {
            endpoint_id: string;
            /** A public HTTPS URL. */
            url: string;
            /** The types of events that it receives. */
            events: ("audio.separate.completed" | "audio.separate.failed" | "audio.sounds.completed" | "audio.sounds.failed")[];
            description: string;
            enabled: boolean;
            disabled_at: string | null;
            disabled_reason: string | null;
            failing_since: string | null;
            old_secret_ends_at: string | null;
            created_at: string;
        };
        /** A webhook receiver, and the secret that signs the event. */
        WebhookTestRequest: {
            /** A public HTTPS URL to notify when the request ends; see `webhooks`. */
            webhookUrl: string;
            /** The secret that signs the webhook: its UTF-8 bytes or, after `whsec_`, its base64-decoded bytes. Without one the service creates one. */
            webhookSecret?: string | null;
        };
        /** The outcome of the attempt. */
        WebhookTestResult: {
            /** The value of the header `webhook-id`. */
            webhook_id: string;
            delivered: boolean;
            status_code: number | null;
            error: string | null;
            duration_ms: number;
            /** The secret that signed the event, if none was given. */
            signing_secret?: string;
        };
    };
}
