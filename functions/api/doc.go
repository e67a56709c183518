// Package api is Belfry over HTTP: it takes jobs in, shows them, and lets an operator change them. It is an
// http.Handler that knows no cloud and no database; the mains give it a store.
//
// Where to look:
//
//	api.go           Options, New: what it needs and how it is put together
//	serve.go         what every request passes: headers, panics, time limits, the log line
//	route.go         operations and their paths; 404 and 405
//	body.go          reading a request's body within its limits
//	decode           strict JSON: every fault named with its field, payloads kept byte for byte; decode_job.go reads a job
//	submit.go, batch.go, jobs.go, change.go, wait.go, dead*.go, stats.go, metrics.go   the calls
//	problem, status.go      errors: RFC 9457 documents, and the table from error to status
//	show             the job document and what else answers hold; write.go sends it
//	openapi          the OpenAPI 3.1 document; docs.go makes it for its first reader, and shows it to people
//
// The OpenAPI document, its schemas and the paths are huma's. Bodies and answers are not: huma decodes and
// encodes through encoding/json, which drops members that stand twice, reads null as absent, and rewrites the
// white space, < > & and U+2028 of a payload that is to be kept byte for byte.
package api
