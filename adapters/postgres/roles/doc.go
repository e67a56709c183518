// Package roles gives each function of a deployment a database role of its own, with the rights it needs on Belfry's
// schema. The schema belongs to one further role, which nobody signs in as.
//
// Where to look:
//
//	roles.go      Prepare, before migrations; Grant, after them
//	database.go   a database that is readied for a deployment
//	sql/          their statements
package roles
