// Package operate holds the contract of stores about what operators do: lists, cancels, retries, dead letters, types, tokens, counts.
package operate
