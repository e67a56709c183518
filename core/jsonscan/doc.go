// Package jsonscan reads JSON as it stands, without decoding it: whether it is valid, how deep it nests, and where it holds what no store
// keeps.
//
//	scan.go, scan_scalar.go  Scan
//	encoding.go              texts that are not UTF-8, and how they were meant
package jsonscan
