package core

import "strings"

// ReservedPrefix begins, in whatever case, the types and dedupe keys that only Belfry itself gives to jobs: so a receiver
// may believe what a delivery's type says, and no caller can take the key of an alert.
const ReservedPrefix = "belfry."

const reservedRule = "must not begin with belfry.: Belfry keeps such names for itself"

// AlertType is the type of the jobs that deliver alerts to a webhook.
const AlertType = ReservedPrefix + "alert"

// Reserved reports whether only Belfry itself may give a job this type, or this dedupe key.
func Reserved(name string) bool {
	return len(name) >= len(ReservedPrefix) && strings.EqualFold(name[:len(ReservedPrefix)], ReservedPrefix)
}
