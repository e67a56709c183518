// Package openapi describes the API: the schemas of what it reads and answers, its problems, and operations with their parameters.
//
// Where to look:
//
//	openapi.go       Operation, and how one is described
//	schemas.go       the documents that come and go; schema_rules.go and schema_texts.go rules that tags cannot say
//	complete.go      what every operation has; example.go examples of problems; link.go the calls that follow an answer
package openapi
