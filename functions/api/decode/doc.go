// Package decode reads documents of requests, field by field, and names every field that breaks a rule.
//
//	decode.go   Decoder, and values of each kind
//	members.go  objects and arrays as they stand
package decode
