//go:build !linux

package sqlite

// otherAct knows no acts that only some systems have.
func otherAct(string, string) int { return 99 }
