// Package tick is the tick function without a cloud: a scheduler that makes passes until its context ends,
// or one pass for hosts that call it every second. It logs its events.
package tick
