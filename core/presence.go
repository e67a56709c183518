package core

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// How announcements age.
const (
	PresenceEvery = 30 * time.Second    // a worker announces itself this often
	PresenceTTL   = 90 * time.Second    // and counts as live for this long after
	FunctionKeep  = 30 * 24 * time.Hour // how long a function counts as present after its last invocation
	GoneKeep      = 24 * time.Hour      // how long a worker that died is remembered
	MaxTypesTold  = 1_000               // types that statistics name
	TypeIdle      = 24 * time.Hour      // after which the totals of a type are merged with those of other idle types
)

// Presence is what a worker says of itself.
type Presence struct {
	ID       string   // names it among all
	Host     string   // the machine or platform it is on
	Version  string   // of its program
	Function bool     // it lives only while there is work: it still counts as there for FunctionKeep, unless a job of the type comes back
	Queues   bool     // it receives from queues; else it claims from the table
	Delivers bool     // it delivers jobs to targets: it handles every type that has one, or whose jobs bring their own
	Types    []string // those of its handlers, sorted
	SlotUse           // of a function, of one of its instances
}

// SlotUse is how many slots workers have, and how many of them are in use.
type SlotUse struct {
	Slots         int // handlers that run at once
	Busy          int // of these, in use
	DeliverySlots int // of Slots, those that deliveries to targets may use
	Deliveries    int // of these, in use
}

// SlotCounter is implemented by a Options.Deliver that bounds how many slots it uses.
type SlotCounter interface {
	DeliverySlots() (slots, inUse int)
}

// NearlyFull reports whether nine tenths of the slots, or of those for deliveries, are in use: what operators should soon
// know.
func (u SlotUse) NearlyFull() bool {
	return u.Slots > 0 && u.Busy*10 >= u.Slots*9 || u.DeliverySlots > 0 && u.Deliveries*10 >= u.DeliverySlots*9
}

// TypesKey is equal for workers of the same types, and hardly ever for others.
func (p Presence) TypesKey() string {
	sum := sha256.New()
	for _, t := range p.Types {
		sum.Write([]byte(t))
		sum.Write([]byte{0})
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// Fleet is what workers handle now that receive from queues. It is not changed once it was read.
type Fleet struct {
	Live     map[string]bool // types for which a live worker has a handler
	Delivers bool            // a live worker delivers jobs to targets
	Marked   map[string]bool // types that are not published for a while: jobs came back when nobody lived who handles them
	Earlier  map[string]bool // types that a worker announced whose version does not say whether it lives
}

// Handles reports whether a live worker runs jobs of the type. A type is deliverable where it has a target, or its jobs
// bring their own.
func (f Fleet) Handles(typ string, deliverable bool) bool {
	return f.Live[typ] || f.Delivers && deliverable
}

// Publishes reports whether jobs of the type may be published: a live worker handles them, or consumers may be
// functions, which live only while there is work, and the type is not marked as unhandled.
func (f Fleet) Publishes(typ string, deliverable, unannounced bool) bool {
	return f.Handles(typ, deliverable) || (unannounced || f.Earlier[typ]) && !f.Marked[typ]
}

// SameTypes reports whether two workers would handle the same.
func (p Presence) SameTypes(o Presence) bool {
	return p.Delivers == o.Delivers && slices.Equal(p.Types, o.Types)
}
