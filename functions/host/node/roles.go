package node

import (
	"fmt"
	"strings"
)

// Roles says which parts of Belfry a process runs.
type Roles struct{ API, Tick, Worker bool }

// ParseRoles reads "all", one of api, tick and worker, or several with commas.
func ParseRoles(text string) (Roles, error) {
	var r Roles
	for word := range strings.SplitSeq(text, ",") {
		switch strings.TrimSpace(word) {
		case "all":
			r = Roles{true, true, true}
		case "api":
			r.API = true
		case "tick":
			r.Tick = true
		case "worker":
			r.Worker = true
		default:
			return Roles{}, fmt.Errorf("role %q: want all, api, tick or worker, or several with commas", word)
		}
	}
	return r, nil
}

// String is the inverse of ParseRoles.
func (r Roles) String() string {
	var words []string
	for i, on := range []bool{r.API, r.Tick, r.Worker} {
		if on {
			words = append(words, []string{"api", "tick", "worker"}[i])
		}
	}
	if len(words) == 3 {
		return "all"
	}
	return strings.Join(words, ",")
}
