// Package work holds the contract of stores about claims, starts, heartbeats and ends, and every cell of the transition table (table.go).
package work
