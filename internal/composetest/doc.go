// Package composetest brings compose.yaml up as a user would and kills parts of it.
package composetest
