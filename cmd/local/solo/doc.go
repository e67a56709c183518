// Package solo is what programs have in common that run a whole Belfry as one process on one machine.
//
//	options.go  the environment and the flags that each of them has
//	run.go      from the options to a running node
//	greet.go    what it prints once it runs
package solo
