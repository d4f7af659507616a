// Made by `npm run winnow -- client-types` from the API description; do not edit.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Account: {
            account_id: string;
            name: string;
            status: "active" | "disabled" | "deleted";
            /** @description Whether separating costs it credits. */
            metered: boolean;
            /** @description Seconds of audio. */
            balance_seconds: number;
            /** @description Of these, for requests under way. */
            reserved_seconds: number;
            /** @description Of files and outputs that it holds. */
            media_bytes: number;
            /** @description Besides, for the outputs of requests under way. */
            media_reserved_bytes: number;
            /** @description Of both together; in `GET /v1/account`. */
            media_bytes_max?: number;
            own_limits?: components["schemas"]["OwnLimits"];
            limits?: components["schemas"]["StandingLimits"];
        };
        AccountList: {
            object: "list";
            data: components["schemas"]["Account"][];
        };
        AccountUse: {
            account_id: string;
            /** @description Requests. */
            completed: number;
            /** @description Requests, canceled ones included. */
            failed: number;
            /** @description As they are charged. */
            audio_seconds: number;
            /** @description Of media stored in the last 24 hours that is still held. */
            added_bytes: number;
        };
        Activity: {
            /** Format: date-time */
            at: string;
            /** @description Of UTC, oldest first; the last one is under way. */
            hours: components["schemas"]["ActivityHour"][];
        };
        /**
         * @description The requests that ended in an hour and are not deleted.
         */
        ActivityHour: {
            /** Format: date-time */
            start: string;
            completed: number;
            /** @description Without those that were canceled. */
            failed: number;
            canceled: number;
            /** @description Of the media of completed requests. */
            audio_seconds: number;
            /** @description From submit to the start of the last attempt, on average; null: no request that ended had started. */
            waiting_seconds: number | null;
        };
        AdminChange: {
            /** Format: date-time */
            created_at: string;
            /** @description Such as `admin_api`. */
            tool: string;
            /** @description The client's address, or user and host. */
            origin: string;
            /** @description Such as `key.revoke`. */
            action: string;
            account_id: string | null;
            key_id: string | null;
            /** @description JSON: what was set, without secrets. */
            details: string;
        };
        AdminChangeList: {
            object: "list";
            data: components["schemas"]["AdminChange"][];
            next_cursor: string | null;
        };
        /**
         * @description One attempt to deliver a webhook.
         */
        AdminDelivery: {
            request_id: string;
            account_id: string;
            /** @description The receiver's. */
            host: string;
            /**
             * @description The webhook's, now.
             */
            delivery_status: "pending" | "sending" | "delivered" | "failed";
            /** @description The webhook's, so far. */
            attempts: number;
            next_attempt_at: string | null;
            /** Format: date-time */
            started_at: string;
            duration_ms: number;
            /** @description Null: no answer. */
            status_code: number | null;
            /** @description Null: it was delivered. */
            error: string | null;
        };
        AdminDeliveryList: {
            object: "list";
            data: components["schemas"]["AdminDelivery"][];
            next_cursor: string | null;
        };
        AdminModel: {
            name: string;
            /** @description One sentence. */
            summary: string | null;
            /** @description It came with Winnow, and stays. */
            built_in: boolean;
            /** @description To download. */
            megabytes: number | null;
            /** @description The licence of its weights in a word or two. */
            licence_word: string | null;
            /** @description That in sentences, as far as it is known. */
            licence: string;
            /** @description The page that states it. */
            licence_url: string | null;
            /** @description Whether who fetches it must accept that. */
            licence_question: boolean;
            /** @description Address of its first file. */
            source: string | null;
            /** @description How it is on each. */
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
            prompts: string[];
            file_name: string;
            /** @description The model that the client chose; null: the service chooses. */
            separator: string | null;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            /** @description Seconds of media. */
            duration: number | null;
            progress: number | null;
            engine_id: string | null;
            attempts: number;
            error_code: string | null;
            error_message: string | null;
        };
        AdminRequestList: {
            object: "list";
            data: components["schemas"]["AdminRequest"][];
            next_cursor: string | null;
        };
        AdminUsage: {
            /** Format: date-time */
            at: string;
            /** @description How many days of use are counted; today is the last. */
            days: number;
            /** @description Of every account that is not deleted. */
            data: components["schemas"]["AccountUse"][];
            /** @description Of media of all accounts that expires in the next 24 hours. */
            expiring_bytes: number;
        };
        ApiKey: {
            key_id: string;
            account_id: string;
            name: string;
            scopes: ("models:read" | "files:write" | "files:read" | "audio:separate")[];
            /** Format: date-time */
            created_at: string;
            expires_at: string | null;
            revoked_at: string | null;
            /** @description To the minute. */
            last_used_at: string | null;
            /** @description The key's own limit; null: as its account has it. */
            calls_per_minute: number | null;
        };
        ApiKeyList: {
            object: "list";
            data: components["schemas"]["ApiKey"][];
        };
        /**
         * @description What to separate from what, and how. Unknown fields are refused.
         * @example {
         *       "prompt": "dog barking",
         *       "file_id": "file_0a1b2c3d4e5f60718293a4b5c6d7e8f9",
         *       "acceleration": "balanced",
         *       "output_format": "wav",
         *       "spans": [
         *         {
         *           "start": 1.5,
         *           "end": 4,
         *           "include": true
         *         }
         *       ]
         *     }
         */
        AudioSeparateInput: {
            /** @description The sound to extract, in plain language; counted after trimming. Exactly one of prompt and prompts. */
            prompt?: string | null;
            /** @description An extension: several sounds of one media, each with a target of its own and all with one residual, which is what none of them took. All options hold for each. */
            prompts?: string[] | null;
            /** @description Public HTTPS URL of audio or video; spaces and letters are encoded as browsers do it. Exactly one of audio_url, file_id and request_id. */
            audio_url?: string | null;
            /** @description Of an uploaded file. */
            file_id?: string | null;
            /** @description An extension: of an earlier request, whose output or source is the media. With `output`. */
            request_id?: string | null;
            /** @description An extension: which output of the COMPLETED request of `request_id`; `source`: what that request, in any state, was to separate. */
            output?: ("target" | "residual" | "source") | null;
            /** @description An extension: the place in `data.targets` of the target; 0 by default. */
            output_index?: number | null;
            /** @description An extension: which of the media's tracks of sound, from 1. By default the best, or two of one channel that are alike, as the channels of one sound; `logs` name the rest. */
            audio_track?: number | null;
            /**
             * @description An extension: the model that answers all prompts, by its name in `GET /v1/models`; `auto`: the words of each prompt decide.
             * @default auto
             */
            separator?: string | null;
            /**
             * @description An extension: which output is kept. `residual`: the sounds are taken out at their full level even where it is unsure that they are there; a `target` is softer there.
             * @default target
             */
            side?: ("target" | "residual") | null;
            /**
             * @description An extension: also make what `data.preview_url` streams.
             * @default false
             */
            preview?: boolean | null;
            /**
             * @description Predict first where the target sounds.
             * @default false
             */
            predict_spans?: boolean | null;
            /**
             * @description Candidates to choose the best from.
             * @default 1
             */
            reranking_candidates?: number | null;
            /**
             * @description Speed against quality.
             * @default balanced
             */
            acceleration?: ("fast" | "balanced" | "quality") | null;
            /**
             * @description Seconds of media in one model pass; less than 1 is taken for 1.
             * @default 60
             */
            max_chunk_duration?: number | null;
            /**
             * @description Seconds; more than half a chunk is taken for half of one.
             * @default 5
             */
            chunk_overlap?: number | null;
            /**
             * @description Coding of the outputs.
             * @default wav
             */
            output_format?: ("wav" | "mp3" | "flac") | null;
            /** @description Where the target sounds, or does not. */
            spans?: components["schemas"]["AudioSpan"][] | null;
        } & (unknown | unknown | unknown);
        /**
         * @description The media that is listened to. Unknown fields are refused.
         * @example {
         *       "file_id": "file_0a1b2c3d4e5f60718293a4b5c6d7e8f9"
         *     }
         */
        AudioSoundsInput: {
            /** @description Public HTTPS URL of audio or video; spaces and letters are encoded as browsers do it. Exactly one of audio_url, file_id and request_id. */
            audio_url?: string | null;
            /** @description Of an uploaded file. */
            file_id?: string | null;
            /** @description An extension: of an earlier request, whose output or source is the media. With `output`. */
            request_id?: string | null;
            /** @description An extension: which output of the COMPLETED request of `request_id`; `source`: what that request, in any state, was to separate. */
            output?: ("target" | "residual" | "source") | null;
            /** @description An extension: the place in `data.targets` of the target; 0 by default. */
            output_index?: number | null;
            /** @description An extension: which of the media's tracks of sound, from 1. By default the best, or two of one channel that are alike, as the channels of one sound; `logs` name the rest. */
            audio_track?: number | null;
        } & (unknown | unknown | unknown);
        /**
         * @description A time in which the target sounds, or does not.
         */
        AudioSpan: {
            /** @description Seconds from the start of the media. */
            start: number;
            /** @description Seconds; greater than start. */
            end: number;
            /**
             * @description true: the target sounds here; false: it does not.
             * @default true
             */
            include?: boolean | null;
        };
        ChangeModelRequest: {
            /** @description Without it, all engines. */
            engine_id?: string | null;
        };
        CreateAccountRequest: {
            name: string;
            /** @default false */
            metered?: boolean | null;
        };
        /**
         * @description What the file will be; its bytes are sent afterwards.
         * @example {
         *       "file_name": "walk.wav",
         *       "content_type": "audio/wav",
         *       "file_size": 2400044,
         *       "purpose": "audio.separate.input"
         *     }
         */
        CreateFileRequest: {
            file_name: string;
            /** @description audio/*, video/*, application/ogg or application/octet-stream, in any case. What the bytes are shows when they are measured. */
            content_type: string;
            /** @description Bytes. */
            file_size: number;
            purpose: "audio.separate.input";
        };
        /**
         * @description Where to send the bytes: `upload_method` to `upload_url` with `headers`, until `expires_at`. The address needs no API key.
         * @example {
         *       "file_id": "file_0a1b2c3d4e5f60718293a4b5c6d7e8f9",
         *       "upload_url": "https://winnow.example/media/inputs/file_0a1b2c3d4e5f60718293a4b5c6d7e8f9?size=2400044&expires=1767927845678&signature=3f1c",
         *       "upload_method": "PUT",
         *       "headers": {
         *         "content-type": "audio/wav"
         *       },
         *       "expires_at": "2026-01-02T04:04:05.678Z",
         *       "retention": {
         *         "delete_after": "2026-01-03T03:04:05.678Z"
         *       }
         *     }
         */
        CreateFileResponse: {
            file_id: string;
            /**
             * Format: uri
             * @description Takes the bytes, without an API key.
             */
            upload_url: string;
            upload_method: "PUT";
            headers: {
                "content-type"?: string;
            };
            /** Format: date-time */
            expires_at: string;
            retention: {
                /** Format: date-time */
                delete_after?: string;
            };
        };
        CreateKeyRequest: {
            scopes: ("models:read" | "files:write" | "files:read" | "audio:separate")[];
            /** @default default */
            account_id?: string | null;
            name?: string | null;
            /** @description How long it is valid: `30d`, `12h`, `1 year`. */
            expires?: string | null;
        };
        /**
         * @description How long the address is to work.
         * @example {
         *       "expires_in": 172800
         *     }
         */
        CreateShareRequest: {
            /**
             * @description Seconds. The address ends with the outputs, if these are deleted earlier.
             * @default 86400
             */
            expires_in?: number | null;
        };
        CreditRequest: {
            /** @description Seconds of audio; below 0 they are taken back. */
            seconds: number;
            /** @description Such as the number of an invoice: an account is credited once for each, and another amount with it is refused. */
            reference?: string | null;
        };
        DeliveryAttempt: {
            /** Format: date-time */
            started_at: string;
            duration_ms: number;
            status_code: number | null;
            error: string | null;
        };
        /**
         * @description The attempts to deliver a webhook, oldest first.
         * @example {
         *       "object": "list",
         *       "data": [
         *         {
         *           "started_at": "2026-01-02T03:04:17.012Z",
         *           "duration_ms": 87,
         *           "status_code": 204,
         *           "error": null
         *         }
         *       ]
         *     }
         */
        DeliveryAttemptList: {
            object: "list";
            data: components["schemas"]["DeliveryAttempt"][];
        };
        /**
         * @description An engine that serves the model now, and its model for text.
         */
        Engine: {
            /** @description The same at each call; not the name in logs. */
            engine_id: string;
            version: string;
            /** @description `cpu` or `gpu`. */
            device: string;
            model: {
                name: string;
                summary: string;
                parameters: number;
                weights_sha256: string;
                /** @description Hertz; 0: any. */
                sample_rate: number;
                /** @description More are mixed down. */
                channels_max: number;
                /** @description Whether `reranking_candidates` makes several. */
                gives_candidates: boolean;
                /** @description Whether `predict_spans` does anything. */
                predicts_spans: boolean;
                /** @description Of its products: `float32` or `bfloat16`. */
                precision: string;
            };
        };
        EngineModel: {
            engine_id: string;
            state: "FETCHABLE" | "WAITING" | "DOWNLOADING" | "CONVERTING" | "NOT_LOADED" | "LOADING" | "LOADED" | "UNLOADING";
            /** @description Downloaded; null: it is not being fetched. */
            bytes: number | null;
            /** @description To download, as far as it is known. */
            bytes_total: number | null;
            /** @description Why it is not fetched or loaded, or whom it waits for, in a sentence. */
            problem: string | null;
        };
        /**
         * @description Every error has this form.
         * @example {
         *       "error": {
         *         "code": "INVALID_PARAMETER",
         *         "message": "input.spans[2].end must be greater than the span's start.",
         *         "param": "input.spans[2].end"
         *       }
         *     }
         */
        ErrorResponse: {
            error: {
                /**
                 * @description Machine-readable.
                 */
                code: "INVALID_REQUEST" | "INVALID_PARAMETER" | "INVALID_AUDIO_URL" | "INVALID_WEBHOOK_URL" | "UNAUTHENTICATED" | "INSUFFICIENT_CREDITS" | "PERMISSION_DENIED" | "ACCOUNT_DISABLED" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "FILE_NOT_UPLOADED" | "FILE_ALREADY_UPLOADED" | "RESULT_NOT_READY" | "REQUEST_FAILED" | "REQUEST_FINISHED" | "MEDIA_IN_USE" | "MODEL_CONFLICT" | "IDEMPOTENCY_CONFLICT" | "FILE_EXPIRED" | "PAYLOAD_TOO_LARGE" | "MEDIA_TOO_LONG" | "UNSUPPORTED_MEDIA_TYPE" | "MEDIA_QUOTA_EXCEEDED" | "RATE_LIMITED" | "INTERNAL" | "MEDIA_FETCH_FAILED" | "QUEUE_UNAVAILABLE" | "SERVICE_UNAVAILABLE" | "MODEL_FAILED" | "CHUNK_TOO_LARGE" | "INVALID_MEDIA" | "NO_AUDIO_STREAM" | "ENGINE_LOST" | "CANCELED";
                /** @description What was wrong and what would be right. */
                message: string;
                /** @description The field: `input.spans[2].end`. */
                param?: string;
                /** @description The queue request, if any. */
                request_id?: string;
            };
        };
        FetchModelRequest: {
            /** @description Without it, all engines. */
            engine_id?: string | null;
            /**
             * @description Needed where there is a `licence_question`.
             * @default false
             */
            licence_accepted?: boolean | null;
        };
        /**
         * @description The record of a file. `pending` until its bytes are there, then `uploaded`; `expired` after `expires_at`.
         * @example {
         *       "file_id": "file_0a1b2c3d4e5f60718293a4b5c6d7e8f9",
         *       "file_name": "walk.wav",
         *       "content_type": "audio/wav",
         *       "file_size": 2400044,
         *       "purpose": "audio.separate.input",
         *       "status": "uploaded",
         *       "created_at": "2026-01-02T03:04:05.678Z",
         *       "uploaded_at": "2026-01-02T03:04:17.012Z",
         *       "expires_at": "2026-01-03T03:04:17.012Z"
         *     }
         */
        File: {
            file_id: string;
            file_name: string;
            content_type: string;
            file_size: number;
            purpose: string;
            status: "pending" | "uploaded" | "expired";
            /** Format: date-time */
            created_at: string;
            uploaded_at?: string | null;
            /** Format: date-time */
            expires_at: string;
        };
        /**
         * @description A page of files, newest first.
         * @example {
         *       "object": "list",
         *       "data": [],
         *       "next_cursor": null
         *     }
         */
        FileList: {
            object: "list";
            data: components["schemas"]["File"][];
            next_cursor: string | null;
        };
        /**
         * @description What the model found out about a prompt. Unless `state` is `found`, tell whoever asked: `message` says how.
         * @example {
         *       "prompt": "lawn mower",
         *       "understood_as": null,
         *       "state": "unknown",
         *       "softened_db": 0,
         *       "holds": "everything but speech",
         *       "nearest": [
         *         "helicopter",
         *         "motorcycle",
         *         "vacuum cleaner"
         *       ],
         *       "message": "The model does not know \"lawn mower\": its target holds everything but speech instead. The nearest names to try: \"helicopter\", \"motorcycle\", \"vacuum cleaner\"."
         *     }
         */
        Finding: {
            prompt: string;
            /** @description An extension: how probable it is that the sound is in the media, if half of those are that are asked for; calibrated on mixtures of two sounds. */
            match?: number;
            /** @description An extension: the model's nearest name for the prompt; null: none is near. */
            understood_as?: string | null;
            /**
             * @description `found`: it is there; `similar`: what is there sounds like it (`similar_to`); `unsure`; `absent`: it was not heard. In all but the first the target holds what comes nearest, and may be softer. `unknown`: the model does not know the prompt, and the target holds something else. Of several sounds the least sure one decides, in the order unknown, absent, similar, unsure, found.
             */
            state: "found" | "similar" | "unsure" | "absent" | "unknown";
            /** @description An extension: of a `similar` sound, what was heard instead. */
            similar_to?: string;
            /** @description An extension: where a `found` sound is; of several, where any of those is that are wanted. Of more than 100 spans, neighbours are joined. */
            where?: {
                /** @description Seconds from the start of the media. */
                start: number;
                /** @description Seconds from the start of the media. */
                end: number;
            }[];
            /** @description An extension: the part of the media in which a `found` sound is. */
            share?: number;
            /**
             * @description An extension: how well the target is likely to be separated, whether or not its sound is there: `good` is meant as an SI-SDR from 10 dB on, `poor` as one under 3 dB. An estimate by the built-in model; absent where there is none.
             */
            quality?: "good" | "fair" | "poor";
            /** @description An extension: the sounds that the prompt was read as. */
            asked?: {
                /** @description In English, if the service knows it; else as typed. */
                sound: string;
                /** @description True if it is to be taken away. */
                excluded: boolean;
                state?: "found" | "similar" | "unsure" | "absent" | "unknown";
                similar_to?: string;
            }[];
            /** @description An extension: an earlier prompt that is read as the same sound. Both have one output, which the residual lacks once. */
            same_as?: string;
            /** @description Unless `found`: by how many dB the target is softer than what was found. */
            softened_db?: number;
            /** @description Of an `unknown` prompt: what the target holds. */
            holds?: string;
            /** @description Of an `unknown` prompt: the model's nearest names, to try. */
            nearest?: string[];
            /** @description An extension: the name of the network that made the target, in `separators`. */
            separator?: string;
            /** @description The same as a sentence or two, for people. */
            message: string;
        };
        Fleet: {
            /** Format: date-time */
            at: string;
            engines: {
                engine_id: string;
                version: string;
                model: string;
                device: string;
                state: "READY" | "BUSY" | "DRAINING" | "PAUSED";
                /** Format: date-time */
                started_at: string;
                jobs: number;
                jobs_max: number;
                lanes: number;
                batch_frames_max: number;
                steps_total: number;
                /** @description Of all lanes, in all steps. */
                frames_total: number;
                busy_seconds_total: number;
                /** @description Seconds of media separated. */
                audio_seconds_total: number;
                memory_bytes: number;
            }[];
            models: {
                name: string;
                summary: string;
                parameters: number;
                weights_sha256: string;
                /** @description Of its weights; empty: unknown. */
                licence: string;
                /** @description Engines that hold it. */
                engines: number;
            }[];
            queue: {
                waiting: number;
                in_progress: number;
                /** @description Age of the oldest that waits. */
                oldest_seconds: number;
                jobs_to_hand_over: number;
                webhooks_due: number;
            };
            /** @description Latest first. */
            failures: {
                request_id: string;
                engine_id: string | null;
                /** Format: date-time */
                failed_at: string;
                code: string;
                message: string;
            }[];
            /** @description Latest first. */
            webhook_attempts: {
                request_id: string;
                /** @description The receiver's. */
                host: string;
                /** Format: date-time */
                started_at: string;
                duration_ms: number;
                /** @description Null: no answer. */
                status_code: number | null;
                /** @description Null: it was delivered. */
                error: string | null;
            }[];
            storage: {
                /** @description The media's. */
                place: string;
                /** @description Of files and outputs of all accounts. */
                held_bytes: number;
                /** @description For outputs of requests under way. */
                reserved_bytes: number;
                /** @description That uploads may still take; below 0: they are refused; null: a bucket. */
                free_bytes: number | null;
            };
        };
        /**
         * @description A sound that is in the media, where it sounds, and how sure that is.
         * @example {
         *       "name": "dog",
         *       "spans": [
         *         {
         *           "start": 1.5,
         *           "end": 4
         *         }
         *       ],
         *       "share": 0.2,
         *       "match": 0.97
         *     }
         */
        HeardSound: {
            /** @description Given as a prompt, it separates the sound. */
            name: string;
            /** @description Where it sounds, in order. */
            spans: {
                /** @description Seconds from the start of the media. */
                start: number;
                /** @description Seconds from the start of the media. */
                end: number;
            }[];
            /** @description The part of the media in which it sounds. */
            share: number;
            /** @description How probable it is that the sound is in the media. */
            match: number;
        };
        KeyLimitsRequest: {
            /** @description Without it, as the account has it. */
            calls_per_minute?: number | null;
        };
        LimitsRequest: {
            /** @description Calls of each key in a minute. */
            calls_per_minute?: number | null;
            /** @description Requests that wait. */
            queued_requests?: number | null;
            /** @description Requests that are given to engines at once; more of them wait. */
            concurrent_jobs?: number | null;
            /** @description Bytes of files and outputs. */
            media_bytes?: number | null;
            /** @description Seconds of completed requests in a calendar month, UTC. */
            seconds_per_month?: number | null;
            /** @description Status streams and waiting calls at one gateway. */
            streams?: number | null;
            /** @description Bytes of one uploaded file. */
            file_bytes?: number | null;
        };
        /**
         * @description How a request stands, with its prompt, its file and the time of its outputs.
         * @example {
         *       "request_id": "req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e",
         *       "model": "audio/separate",
         *       "status": "IN_PROGRESS",
         *       "created_at": "2026-01-02T03:04:05.678Z",
         *       "updated_at": "2026-01-02T03:04:17.012Z",
         *       "result_url": "https://winnow.example/v1/queue/requests/req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e/result",
         *       "progress": 0.4,
         *       "prompt": "dog barking",
         *       "file_name": "walk.mp4"
         *     }
         */
        ListedRequest: {
            request_id: string;
            /**
             * @description What was asked for; `audio/sounds`, a list of sounds, is an extension.
             */
            model: "audio/separate" | "audio/sounds";
            status: "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED" | "FAILED";
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** Format: uri */
            result_url: string;
            logs?: {
                /** Format: date-time */
                timestamp: string;
                message: string;
            }[];
            progress?: number;
            /** @description 1: next. */
            queue_position?: number;
            /** @description An extension: until the end, as far as anything can be said. */
            estimated_seconds_left?: number;
            /** @description Why the request FAILED. */
            error?: {
                code: "MODEL_FAILED" | "CHUNK_TOO_LARGE" | "INVALID_MEDIA" | "NO_AUDIO_STREAM" | "INVALID_AUDIO_URL" | "MEDIA_FETCH_FAILED" | "PAYLOAD_TOO_LARGE" | "MEDIA_TOO_LONG" | "INSUFFICIENT_CREDITS" | "MEDIA_QUOTA_EXCEEDED" | "ENGINE_LOST" | "CANCELED" | "INVALID_PARAMETER";
                message: string;
            };
            webhook?: components["schemas"]["WebhookDeliveryStatus"];
            /** @description An extension: as given at submit; large numbers are rounded. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description An extension: how probable it is that the sound is in the media, if half of those are that are asked for; calibrated on mixtures of two sounds. */
            match?: number;
            /** @description An extension: the model's nearest name for the prompt; null: none is near. */
            understood_as?: string | null;
            /** @description An extension: the name of the network that made the target, in `separators`. */
            separator?: string;
            /** @description An extension: of a completed request with `prompts`, in their order. */
            targets?: components["schemas"]["PromptFinding"][];
            /** @description An extension: what the model found out about each prompt of a completed request, in their order. Absent if the model reports none. */
            findings?: components["schemas"]["Finding"][];
            /** @description Of several the first; of a list of sounds empty. */
            prompt: string;
            /** @description Where there are several. */
            prompts?: string[];
            /** @description Of the source. */
            file_name: string;
            /** @description Of a completed one: its outputs are kept until then. */
            retention?: {
                /** Format: date-time */
                delete_after: string;
            };
        };
        Model: {
            id: string;
            object: "model";
            description: string;
            /** @description JSON Schema of `input` at submit. */
            input: Record<string, never>;
            /** @description JSON Schema of `data` of a result. */
            output: Record<string, never>;
            engines?: components["schemas"]["Engine"][];
            /** @description An extension: the networks behind the model, in order of preference. */
            separators?: components["schemas"]["Separator"][];
        };
        /**
         * @description The one model, the engines that serve it now, and its networks.
         */
        ModelList: {
            object: "list";
            data: components["schemas"]["Model"][];
        };
        NewApiKey: {
            key_id: string;
            account_id: string;
            name: string;
            scopes: ("models:read" | "files:write" | "files:read" | "audio:separate")[];
            /** Format: date-time */
            created_at: string;
            expires_at: string | null;
            revoked_at: string | null;
            /** @description To the minute. */
            last_used_at: string | null;
            /** @description The key's own limit; null: as its account has it. */
            calls_per_minute: number | null;
            /** @description The key itself, `sep_<key_id>_<secret>`: only shown now. */
            key: string;
        };
        /**
         * @description The address, once.
         * @example {
         *       "share_id": "share_7d865e959b2466918c9863afca942d0f",
         *       "request_id": "req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e",
         *       "created_at": "2026-01-02T03:04:17.012Z",
         *       "expires_at": "2026-01-04T03:04:17.012Z",
         *       "url": "https://winnow.example/#share=shr_9f86d081884c7d65"
         *     }
         */
        NewShare: {
            share_id: string;
            request_id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            /**
             * Format: uri
             * @description Plays the result in a browser. Its fragment is the secret: only shown now.
             */
            url: string;
        };
        /**
         * @description Addresses are signed: they need no API key, take `Range`, and are valid until `retention.delete_after`.
         * @example {
         *       "url": "https://winnow.example/media/outputs/req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e/target?expires=1767927845678&signature=3f1c",
         *       "content_type": "audio/wav",
         *       "file_name": "walk.dog-barking.wav"
         *     }
         */
        OutputFile: {
            /** Format: uri */
            url: string;
            /** Format: uri */
            video_url?: string;
            content_type: string;
            file_name: string;
        };
        OwnLimits: {
            /** @description Calls of each key in a minute. */
            calls_per_minute: number | null;
            /** @description Requests that wait. */
            queued_requests: number | null;
            /** @description Requests that are given to engines at once; more of them wait. */
            concurrent_jobs: number | null;
            /** @description Bytes of files and outputs. */
            media_bytes: number | null;
            /** @description Seconds of completed requests in a calendar month, UTC. */
            seconds_per_month: number | null;
            /** @description Status streams and waiting calls at one gateway. */
            streams: number | null;
            /** @description Bytes of one uploaded file. */
            file_bytes: number | null;
        };
        PromptFinding: {
            prompt: string;
            /** @description An extension: how probable it is that the sound is in the media, if half of those are that are asked for; calibrated on mixtures of two sounds. */
            match?: number;
            /** @description An extension: the model's nearest name for the prompt; null: none is near. */
            understood_as?: string | null;
            /** @description An extension: the name of the network that made the target, in `separators`. */
            separator?: string;
        };
        PromptTarget: {
            prompt: string;
            /** @description An extension: how probable it is that the sound is in the media, if half of those are that are asked for; calibrated on mixtures of two sounds. */
            match?: number;
            /** @description An extension: the model's nearest name for the prompt; null: none is near. */
            understood_as?: string | null;
            /** @description An extension: the name of the network that made the target, in `separators`. */
            separator?: string;
            /** Format: uri */
            url: string;
            /** Format: uri */
            video_url?: string;
            content_type: string;
            file_name: string;
        };
        /**
         * @description The outputs of a completed request.
         * @example {
         *       "request_id": "req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e",
         *       "model": "audio/separate",
         *       "status": "COMPLETED",
         *       "data": {
         *         "target": {
         *           "url": "https://winnow.example/media/outputs/req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e/target?expires=1767927845678&signature=3f1c",
         *           "content_type": "audio/wav",
         *           "file_name": "walk.dog-barking.wav"
         *         },
         *         "residual": {
         *           "url": "https://winnow.example/media/outputs/req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e/residual?expires=1767927845678&signature=3f1c",
         *           "content_type": "audio/wav",
         *           "file_name": "walk.rest.without-dog-barking.wav"
         *         },
         *         "duration": 12.5,
         *         "sample_rate": 48000,
         *         "gain_db": 0,
         *         "match": 0.97,
         *         "understood_as": "dog",
         *         "findings": [
         *           {
         *             "prompt": "dog barking",
         *             "match": 0.97,
         *             "understood_as": "dog",
         *             "state": "found",
         *             "where": [
         *               {
         *                 "start": 2,
         *                 "end": 4.5
         *               }
         *             ],
         *             "share": 0.2,
         *             "asked": [
         *               {
         *                 "sound": "dog",
         *                 "excluded": false,
         *                 "state": "found"
         *               }
         *             ],
         *             "message": "\"dog barking\", taken for \"dog\", was found (match 97 %)."
         *           }
         *         ]
         *       },
         *       "usage": {
         *         "feature": "audio_seconds",
         *         "quantity": 13,
         *         "billing_status": "not_metered"
         *       },
         *       "retention": {
         *         "delete_after": "2026-01-09T03:04:17.012Z"
         *       }
         *     }
         */
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
            /** @description An extension: as given at submit; large numbers are rounded. */
            metadata?: {
                [key: string]: unknown;
            };
            retention: {
                /** Format: date-time */
                delete_after?: string;
            };
        };
        /**
         * @description How a request stands. `COMPLETED` and `FAILED` are terminal. `progress`, `queue_position` and `error` are extensions of the specification.
         * @example {
         *       "request_id": "req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e",
         *       "model": "audio/separate",
         *       "status": "IN_PROGRESS",
         *       "created_at": "2026-01-02T03:04:05.678Z",
         *       "updated_at": "2026-01-02T03:04:17.012Z",
         *       "result_url": "https://winnow.example/v1/queue/requests/req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e/result",
         *       "progress": 0.4
         *     }
         */
        QueueStatusResponse: {
            request_id: string;
            /**
             * @description What was asked for; `audio/sounds`, a list of sounds, is an extension.
             */
            model: "audio/separate" | "audio/sounds";
            status: "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED" | "FAILED";
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** Format: uri */
            result_url: string;
            logs?: {
                /** Format: date-time */
                timestamp: string;
                message: string;
            }[];
            progress?: number;
            /** @description 1: next. */
            queue_position?: number;
            /** @description An extension: until the end, as far as anything can be said. */
            estimated_seconds_left?: number;
            /** @description Why the request FAILED. */
            error?: {
                code: "MODEL_FAILED" | "CHUNK_TOO_LARGE" | "INVALID_MEDIA" | "NO_AUDIO_STREAM" | "INVALID_AUDIO_URL" | "MEDIA_FETCH_FAILED" | "PAYLOAD_TOO_LARGE" | "MEDIA_TOO_LONG" | "INSUFFICIENT_CREDITS" | "MEDIA_QUOTA_EXCEEDED" | "ENGINE_LOST" | "CANCELED" | "INVALID_PARAMETER";
                message: string;
            };
            webhook?: components["schemas"]["WebhookDeliveryStatus"];
            /** @description An extension: as given at submit; large numbers are rounded. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description An extension: how probable it is that the sound is in the media, if half of those are that are asked for; calibrated on mixtures of two sounds. */
            match?: number;
            /** @description An extension: the model's nearest name for the prompt; null: none is near. */
            understood_as?: string | null;
            /** @description An extension: the name of the network that made the target, in `separators`. */
            separator?: string;
            /** @description An extension: of a completed request with `prompts`, in their order. */
            targets?: components["schemas"]["PromptFinding"][];
            /** @description An extension: what the model found out about each prompt of a completed request, in their order. Absent if the model reports none. */
            findings?: components["schemas"]["Finding"][];
        };
        /**
         * @description The request is in the queue, and will end `COMPLETED` or `FAILED`.
         * @example {
         *       "request_id": "req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e",
         *       "status": "IN_QUEUE",
         *       "model": "audio/separate",
         *       "created_at": "2026-01-02T03:04:05.678Z",
         *       "status_url": "https://winnow.example/v1/queue/requests/req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e/status",
         *       "stream_url": "https://winnow.example/v1/queue/requests/req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e/status/stream",
         *       "result_url": "https://winnow.example/v1/queue/requests/req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e/result"
         *     }
         */
        QueueSubmitResponse: {
            request_id: string;
            status: "IN_QUEUE";
            /**
             * @description What was asked for; `audio/sounds`, a list of sounds, is an extension.
             */
            model: "audio/separate" | "audio/sounds";
            /** Format: date-time */
            created_at: string;
            /** Format: uri */
            status_url: string;
            /** Format: uri */
            stream_url: string;
            /** Format: uri */
            result_url: string;
            webhook?: {
                /** Format: uri */
                url: string;
                /** @description Only when we made it, and only here. */
                signing_secret?: string;
            };
        };
        /**
         * @description A page of requests, newest first.
         * @example {
         *       "object": "list",
         *       "data": [
         *         {
         *           "request_id": "req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e",
         *           "model": "audio/separate",
         *           "status": "IN_PROGRESS",
         *           "created_at": "2026-01-02T03:04:05.678Z",
         *           "updated_at": "2026-01-02T03:04:17.012Z",
         *           "result_url": "https://winnow.example/v1/queue/requests/req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e/result",
         *           "progress": 0.4,
         *           "prompt": "dog barking",
         *           "file_name": "walk.mp4"
         *         }
         *       ],
         *       "next_cursor": null
         *     }
         */
        RequestList: {
            object: "list";
            data: components["schemas"]["ListedRequest"][];
            next_cursor: string | null;
        };
        SeparateForm: {
            /** @description The sound to extract, in plain language; given again, one more of them. */
            prompt: string;
            /** @description Public HTTPS URL of audio or video; spaces and letters are encoded as browsers do it. Exactly one of audio_url, file_id and request_id. */
            audio_url?: string;
            /** @description An extension: of an earlier request, whose output or source is the media. With `output`. */
            request_id?: string;
            /**
             * @description An extension: which output of the COMPLETED request of `request_id`; `source`: what that request, in any state, was to separate.
             */
            output?: "target" | "residual" | "source";
            /** @description An extension: the place in `data.targets` of the target; 0 by default. */
            output_index?: number;
            /** @description An extension: which of the media's tracks of sound, from 1. By default the best, or two of one channel that are alike, as the channels of one sound; `logs` name the rest. */
            audio_track?: number;
            /**
             * @description An extension: the model that answers all prompts, by its name in `GET /v1/models`; `auto`: the words of each prompt decide.
             * @default auto
             */
            separator?: string;
            /**
             * @description An extension: which output is kept. `residual`: the sounds are taken out at their full level even where it is unsure that they are there; a `target` is softer there.
             * @default target
             */
            side?: "target" | "residual";
            /**
             * @description An extension: also make what `data.preview_url` streams.
             * @default false
             */
            preview?: boolean;
            /**
             * @description Predict first where the target sounds.
             * @default false
             */
            predict_spans?: boolean;
            /**
             * @description Candidates to choose the best from.
             * @default 1
             */
            reranking_candidates?: number;
            /**
             * @description Speed against quality.
             * @default balanced
             */
            acceleration?: "fast" | "balanced" | "quality";
            /**
             * @description Seconds of media in one model pass; less than 1 is taken for 1.
             * @default 60
             */
            max_chunk_duration?: number;
            /**
             * @description Seconds; more than half a chunk is taken for half of one.
             * @default 5
             */
            chunk_overlap?: number;
            /**
             * @description Coding of the outputs.
             * @default wav
             */
            output_format?: "wav" | "mp3" | "flac";
            /** @description Where the target sounds, or does not. */
            spans?: components["schemas"]["AudioSpan"][];
            /**
             * Format: uri
             * @description Public HTTPS URL that receives the end of the request; see `webhooks`.
             */
            webhookUrl?: string;
            /** @description Signs the webhook: its UTF-8 bytes or, after `whsec_`, its bytes in base64. Without one we make one. */
            webhookSecret?: string;
            /** @description Comes back in the webhook; at most 16384 bytes of JSON, nested 32 levels deep. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description The media. Exactly one of file, audio_url and request_id. */
            file?: string;
        };
        SeparationCompletedEvent: {
            type: "audio.separate.completed";
            request_id: string;
            model: "audio/separate";
            /** Format: date-time */
            created_at: string;
            status: "COMPLETED";
            /** Format: date-time */
            completed_at: string;
            data: components["schemas"]["SeparationData"];
            usage: {
                feature?: "audio_seconds";
                quantity?: number;
                billing_status?: "deducted" | "not_metered";
            };
            /** @description As given at submit. */
            metadata?: {
                [key: string]: unknown;
            };
        };
        /**
         * @description Both outputs; together they are the input.
         * @example {
         *       "target": {
         *         "url": "https://winnow.example/media/outputs/req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e/target?expires=1767927845678&signature=3f1c",
         *         "content_type": "audio/wav",
         *         "file_name": "walk.dog-barking.wav"
         *       },
         *       "residual": {
         *         "url": "https://winnow.example/media/outputs/req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e/residual?expires=1767927845678&signature=3f1c",
         *         "content_type": "audio/wav",
         *         "file_name": "walk.rest.without-dog-barking.wav"
         *       },
         *       "duration": 12.5,
         *       "sample_rate": 48000,
         *       "gain_db": 0,
         *       "match": 0.97,
         *       "understood_as": "dog",
         *       "findings": [
         *         {
         *           "prompt": "dog barking",
         *           "match": 0.97,
         *           "understood_as": "dog",
         *           "state": "found",
         *           "where": [
         *             {
         *               "start": 2,
         *               "end": 4.5
         *             }
         *           ],
         *           "share": 0.2,
         *           "asked": [
         *             {
         *               "sound": "dog",
         *               "excluded": false,
         *               "state": "found"
         *             }
         *           ],
         *           "message": "\"dog barking\", taken for \"dog\", was found (match 97 %)."
         *         }
         *       ]
         *     }
         */
        SeparationData: {
            target: components["schemas"]["OutputFile"];
            /** @description An extension: of a completed request with `prompts`, in their order. `target` is the first. */
            targets?: components["schemas"]["PromptTarget"][];
            residual: components["schemas"]["OutputFile"];
            /** @description Seconds. */
            duration?: number;
            /** @description Hertz. */
            sample_rate: number;
            /**
             * Format: uri
             * @description An extension: mixture and outputs as Opus, in segments that the peaks list; only where `preview` was asked for and could be made.
             */
            preview_url?: string;
            /** @description An extension: the gain in dB that all outputs have in common so that none clips; 0: none. */
            gain_db?: number;
            /** @description An extension: how probable it is that the sound is in the media, if half of those are that are asked for; calibrated on mixtures of two sounds. */
            match?: number;
            /** @description An extension: the model's nearest name for the prompt; null: none is near. */
            understood_as?: string | null;
            /** @description An extension: the name of the network that made the target, in `separators`. */
            separator?: string;
            /** @description An extension: what the model found out about each prompt of a completed request, in their order. Absent if the model reports none. */
            findings?: components["schemas"]["Finding"][];
            /** @description An extension: all that was heard in the media, the most prominent first. */
            sounds?: components["schemas"]["HeardSound"][];
        };
        SeparationFailedEvent: {
            type: "audio.separate.failed";
            request_id: string;
            model: "audio/separate";
            /** Format: date-time */
            created_at: string;
            status: "FAILED";
            /** Format: date-time */
            failed_at: string;
            error: {
                code: "MODEL_FAILED" | "CHUNK_TOO_LARGE" | "INVALID_MEDIA" | "NO_AUDIO_STREAM" | "INVALID_AUDIO_URL" | "MEDIA_FETCH_FAILED" | "PAYLOAD_TOO_LARGE" | "MEDIA_TOO_LONG" | "INSUFFICIENT_CREDITS" | "MEDIA_QUOTA_EXCEEDED" | "ENGINE_LOST" | "CANCELED" | "INVALID_PARAMETER";
                message: string;
            };
            /** @description As given at submit. */
            metadata?: {
                [key: string]: unknown;
            };
        };
        /**
         * @description A network that engines hold.
         */
        Separator: {
            /** @description For `input.separator`. */
            name: string;
            summary: string;
            /**
             * @description `text`: any prompt; `stems`: prompts that name some of `stems`.
             */
            answers: "text" | "stems";
            /** @description Of a model that answers text: none. */
            stems: string[];
            /** @description Of the sounds that a model for text knows, to choose from; it goes by meaning, and may know others. Absent: it has no such list. */
            names?: string[];
            /** @description What is known of the licence of its weights. */
            licence?: string;
            /** @description The engines that hold it now. */
            engine_ids: string[];
        };
        /**
         * @description An address that plays one result without a key.
         * @example {
         *       "share_id": "share_7d865e959b2466918c9863afca942d0f",
         *       "request_id": "req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e",
         *       "created_at": "2026-01-02T03:04:17.012Z",
         *       "expires_at": "2026-01-04T03:04:17.012Z"
         *     }
         */
        Share: {
            share_id: string;
            request_id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
        };
        /**
         * @description The shares of an account that are not over, newest first.
         * @example {
         *       "object": "list",
         *       "data": [
         *         {
         *           "share_id": "share_7d865e959b2466918c9863afca942d0f",
         *           "request_id": "req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e",
         *           "created_at": "2026-01-02T03:04:17.012Z",
         *           "expires_at": "2026-01-04T03:04:17.012Z"
         *         }
         *       ]
         *     }
         */
        ShareList: {
            object: "list";
            data: components["schemas"]["Share"][];
        };
        /**
         * @description What the page needs to play one result; nothing of the account.
         * @example {
         *       "file_name": "walk.mp4",
         *       "prompts": [
         *         "dog barking"
         *       ],
         *       "data": {
         *         "target": {
         *           "url": "https://winnow.example/media/outputs/req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e/target?expires=1767927845678&signature=3f1c",
         *           "content_type": "audio/wav",
         *           "file_name": "walk.dog-barking.wav"
         *         },
         *         "residual": {
         *           "url": "https://winnow.example/media/outputs/req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e/residual?expires=1767927845678&signature=3f1c",
         *           "content_type": "audio/wav",
         *           "file_name": "walk.rest.without-dog-barking.wav"
         *         },
         *         "duration": 12.5,
         *         "sample_rate": 48000,
         *         "gain_db": 0,
         *         "match": 0.97,
         *         "understood_as": "dog",
         *         "findings": [
         *           {
         *             "prompt": "dog barking",
         *             "match": 0.97,
         *             "understood_as": "dog",
         *             "state": "found",
         *             "where": [
         *               {
         *                 "start": 2,
         *                 "end": 4.5
         *               }
         *             ],
         *             "share": 0.2,
         *             "asked": [
         *               {
         *                 "sound": "dog",
         *                 "excluded": false,
         *                 "state": "found"
         *               }
         *             ],
         *             "message": "\"dog barking\", taken for \"dog\", was found (match 97 %)."
         *           }
         *         ]
         *       },
         *       "expires_at": "2026-01-04T03:04:17.012Z"
         *     }
         */
        SharedResult: {
            /** @description Of the source. */
            file_name: string;
            prompts: string[];
            data: components["schemas"]["SeparationData"];
            /**
             * Format: uri
             * @description Peaks as JSON, where the engine stored them.
             */
            peaks_url?: string;
            /**
             * Format: date-time
             * @description End of the share. The addresses end earlier: read the result again.
             */
            expires_at: string;
        };
        /**
         * @description What a webhook brings when a list of sounds is there.
         */
        SoundsCompletedEvent: {
            type: "audio.sounds.completed";
            request_id: string;
            model: "audio/sounds";
            /** Format: date-time */
            created_at: string;
            status: "COMPLETED";
            /** Format: date-time */
            completed_at: string;
            data: components["schemas"]["SoundsData"];
            usage: {
                feature?: "audio_seconds";
                quantity?: number;
                billing_status?: "deducted" | "not_metered";
            };
            /** @description As given at submit. */
            metadata?: {
                [key: string]: unknown;
            };
        };
        /**
         * @description What is in the media.
         * @example {
         *       "sounds": [
         *         {
         *           "name": "dog",
         *           "spans": [
         *             {
         *               "start": 1.5,
         *               "end": 4
         *             }
         *           ],
         *           "share": 0.2,
         *           "match": 0.97
         *         }
         *       ],
         *       "duration": 12.5
         *     }
         */
        SoundsData: {
            sounds: components["schemas"]["HeardSound"][];
            /** @description Seconds. */
            duration: number;
        };
        /**
         * @description What a webhook brings when a list of sounds has failed.
         */
        SoundsFailedEvent: {
            type: "audio.sounds.failed";
            request_id: string;
            model: "audio/sounds";
            /** Format: date-time */
            created_at: string;
            status: "FAILED";
            /** Format: date-time */
            failed_at: string;
            error: {
                code: "MODEL_FAILED" | "CHUNK_TOO_LARGE" | "INVALID_MEDIA" | "NO_AUDIO_STREAM" | "INVALID_AUDIO_URL" | "MEDIA_FETCH_FAILED" | "PAYLOAD_TOO_LARGE" | "MEDIA_TOO_LONG" | "INSUFFICIENT_CREDITS" | "MEDIA_QUOTA_EXCEEDED" | "ENGINE_LOST" | "CANCELED" | "INVALID_PARAMETER";
                message: string;
            };
            /** @description As given at submit. */
            metadata?: {
                [key: string]: unknown;
            };
        };
        SoundsForm: {
            /** @description Public HTTPS URL of audio or video; spaces and letters are encoded as browsers do it. Exactly one of audio_url, file_id and request_id. */
            audio_url?: string;
            /** @description An extension: of an earlier request, whose output or source is the media. With `output`. */
            request_id?: string;
            /**
             * @description An extension: which output of the COMPLETED request of `request_id`; `source`: what that request, in any state, was to separate.
             */
            output?: "target" | "residual" | "source";
            /** @description An extension: the place in `data.targets` of the target; 0 by default. */
            output_index?: number;
            /** @description An extension: which of the media's tracks of sound, from 1. By default the best, or two of one channel that are alike, as the channels of one sound; `logs` name the rest. */
            audio_track?: number;
            /**
             * Format: uri
             * @description Public HTTPS URL that receives the end of the request; see `webhooks`.
             */
            webhookUrl?: string;
            /** @description Signs the webhook: its UTF-8 bytes or, after `whsec_`, its bytes in base64. Without one we make one. */
            webhookSecret?: string;
            /** @description Comes back in the webhook; at most 16384 bytes of JSON, nested 32 levels deep. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description The media. Exactly one of file, audio_url and request_id. */
            file?: string;
        };
        /**
         * @description A completed list of sounds. It makes no media.
         * @example {
         *       "request_id": "req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e",
         *       "model": "audio/sounds",
         *       "status": "COMPLETED",
         *       "data": {
         *         "sounds": [
         *           {
         *             "name": "dog",
         *             "spans": [
         *               {
         *                 "start": 1.5,
         *                 "end": 4
         *               }
         *             ],
         *             "share": 0.2,
         *             "match": 0.97
         *           }
         *         ],
         *         "duration": 12.5
         *       },
         *       "usage": {
         *         "feature": "audio_seconds",
         *         "quantity": 2,
         *         "billing_status": "deducted"
         *       },
         *       "retention": {
         *         "delete_after": "2026-01-09T03:04:17.012Z"
         *       }
         *     }
         */
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
            /** @description An extension: as given at submit; large numbers are rounded. */
            metadata?: {
                [key: string]: unknown;
            };
            retention: {
                /** Format: date-time */
                delete_after?: string;
            };
        };
        StandingLimits: {
            /** @description Calls of each key in a minute. */
            calls_per_minute: {
                /** @description Null: no limit. */
                max: number | null;
                /** @description Now; null of a limit of each single key or file. */
                used: number | null;
            };
            /** @description Requests that wait. */
            queued_requests: {
                /** @description Null: no limit. */
                max: number | null;
                /** @description Now; null of a limit of each single key or file. */
                used: number | null;
            };
            /** @description Requests that are given to engines at once; more of them wait. */
            concurrent_jobs: {
                /** @description Null: no limit. */
                max: number | null;
                /** @description Now; null of a limit of each single key or file. */
                used: number | null;
            };
            /** @description Bytes of files and outputs. */
            media_bytes: {
                /** @description Null: no limit. */
                max: number | null;
                /** @description Now; null of a limit of each single key or file. */
                used: number | null;
            };
            /** @description Seconds of completed requests in a calendar month, UTC. */
            seconds_per_month: {
                /** @description Null: no limit. */
                max: number | null;
                /** @description Now; null of a limit of each single key or file. */
                used: number | null;
            };
            /** @description Status streams and waiting calls at one gateway. */
            streams: {
                /** @description Null: no limit. */
                max: number | null;
                /** @description Now; null of a limit of each single key or file. */
                used: number | null;
            };
            /** @description Bytes of one uploaded file. */
            file_bytes: {
                /** @description Null: no limit. */
                max: number | null;
                /** @description Now; null of a limit of each single key or file. */
                used: number | null;
            };
        };
        /**
         * @description The stream window has ended before the request; connect again.
         * @example {
         *       "request_id": "req_5f2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e",
         *       "status": "IN_PROGRESS",
         *       "message": "The stream window has ended; connect again to go on."
         *     }
         */
        StreamTimeout: {
            request_id: string;
            status: "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED" | "FAILED";
            message: string;
        };
        /**
         * @description A separation to be queued. Unknown fields are ignored here, not in `input`.
         * @example {
         *       "input": {
         *         "prompt": "dog barking",
         *         "file_id": "file_0a1b2c3d4e5f60718293a4b5c6d7e8f9",
         *         "acceleration": "balanced",
         *         "output_format": "wav",
         *         "spans": [
         *           {
         *             "start": 1.5,
         *             "end": 4,
         *             "include": true
         *           }
         *         ]
         *       },
         *       "metadata": {
         *         "order": 17
         *       }
         *     }
         */
        SubmitAudioSeparateRequest: {
            input: components["schemas"]["AudioSeparateInput"];
            /** @description Public HTTPS URL that receives the end of the request; see `webhooks`. */
            webhookUrl?: string | null;
            /** @description Signs the webhook: its UTF-8 bytes or, after `whsec_`, its bytes in base64. Without one we make one. */
            webhookSecret?: string | null;
            /** @description Comes back in the webhook; at most 16384 bytes of JSON, nested 32 levels deep. */
            metadata?: {
                [key: string]: unknown;
            } | null;
        };
        /**
         * @description A list of sounds to be made. Unknown fields are ignored here, not in `input`.
         * @example {
         *       "input": {
         *         "file_id": "file_0a1b2c3d4e5f60718293a4b5c6d7e8f9"
         *       },
         *       "metadata": {
         *         "order": 17
         *       }
         *     }
         */
        SubmitAudioSoundsRequest: {
            input: components["schemas"]["AudioSoundsInput"];
            /** @description Public HTTPS URL that receives the end of the request; see `webhooks`. */
            webhookUrl?: string | null;
            /** @description Signs the webhook: its UTF-8 bytes or, after `whsec_`, its bytes in base64. Without one we make one. */
            webhookSecret?: string | null;
            /** @description Comes back in the webhook; at most 16384 bytes of JSON, nested 32 levels deep. */
            metadata?: {
                [key: string]: unknown;
            } | null;
        };
        /**
         * @description What an account has used, by day.
         * @example {
         *       "object": "list",
         *       "from": "2026-01-01",
         *       "to": "2026-01-30",
         *       "data": [
         *         {
         *           "day": "2026-01-02",
         *           "completed": 3,
         *           "failed": 1,
         *           "audio_seconds": 512
         *         }
         *       ]
         *     }
         */
        Usage: {
            object: "list";
            /** @description The first day, such as `2026-01-31`. */
            from: string;
            /** @description The last day. */
            to: string;
            /** @description The days on which any request ended, oldest first. */
            data: components["schemas"]["UsageDay"][];
        };
        UsageDay: {
            day: string;
            /** @description Requests. */
            completed: number;
            /** @description Requests, those that were canceled included. */
            failed: number;
            /** @description Of completed requests, as they are charged: of each target as many. */
            audio_seconds: number;
        };
        WebhookDeliveryStatus: {
            delivery_status: "pending" | "sending" | "delivered" | "failed";
            /** @description Attempts begun. */
            attempts: number;
            delivered_at: string | null;
            last_error: string | null;
        };
        /**
         * @description A receiver of webhooks, and what signs the event.
         * @example {
         *       "webhookUrl": "https://hooks.example/winnow",
         *       "webhookSecret": "sixteen characters or more"
         *     }
         */
        WebhookTestRequest: {
            /**
             * Format: uri
             * @description Public HTTPS URL that receives the end of the request; see `webhooks`.
             */
            webhookUrl: string;
            /** @description Signs the webhook: its UTF-8 bytes or, after `whsec_`, its bytes in base64. Without one we make one. */
            webhookSecret?: string | null;
        };
        /**
         * @description What came of the one attempt.
         * @example {
         *       "webhook_id": "msg_2b1c9e8d7a4b3c9d0e1f2a3b4c5d6e5f",
         *       "delivered": true,
         *       "status_code": 204,
         *       "error": null,
         *       "duration_ms": 87
         *     }
         */
        WebhookTestResult: {
            /** @description As in the header `webhook-id`. */
            webhook_id: string;
            delivered: boolean;
            status_code: number | null;
            error: string | null;
            duration_ms: number;
            /** @description What signed the event, where none was given. */
            signing_secret?: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
