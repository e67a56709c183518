// Package operate holds the contract of stores about operators' calls: lists, cancels, retries, dead letters, types, tokens,
// counts.
package operate
