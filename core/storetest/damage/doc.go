// Package damage holds the contract of stores about rows that cannot be read, and rows that raise errors.
package damage
