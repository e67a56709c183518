// Package submit holds the contract of stores about writing jobs: payloads, dedupe keys, idempotency keys.
package submit
