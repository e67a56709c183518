// Package containers starts the servers that Belfry needs, each in a container of its own. Programs of developers use it,
// and tests where a machine has a container engine but not the server itself.
//
//	server.go  starts one and ends it
//	kinds.go   which there are, by image
//	image.go   brings an image to the machine, and tells how far that is
//	engine/    whether there is a container engine at all
package containers
