// Package jsonscan checks JSON without decoding it: whether it is valid, how deep it nests, and where it holds characters
// that no store keeps.
//
//	scan.go, scan_scalar.go  Scan
//	encoding.go              texts that are not UTF-8, and which encoding they seem to use
package jsonscan
