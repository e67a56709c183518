// Package api is Belfry over HTTP: it takes jobs in, shows them, and lets an operator change them. It is an
// http.Handler that knows no cloud and no database; the mains give it a store.
//
// Where to look:
//
//	api.go                  New: how it is put together
//	serve.go                what every request passes: headers, panics, time limits, the log line
//	route.go                operations and their paths; 404 and 405
//	access_table.go         what each operation asks of its caller; access_admit.go judges it, access knows the callers
//	call                    Options, and how requests are read; decode reads JSON strictly: every fault is named with its field
//	jobs, leases, jobtypes, schedules, deadletters, tokens, stats    the calls, a package for each noun
//	answer, show, problem   answers: how they are sent, the documents in them, RFC 9457 problems; memory bounds what they hold
//	openapi                 the OpenAPI 3.1 document; docs.go makes it for its first reader, and shows it to people
//
// The OpenAPI document, its schemas and the paths are huma's. Bodies and answers are not: huma decodes and
// encodes through encoding/json, which drops members that stand twice, reads null as absent, and rewrites the
// white space, < > & and U+2028 of a payload that is to be kept byte for byte.
package api
