package peering

import (
	"cmp"
	"slices"
	"time"
)

// Peer is a process of the operator, or a freeze, as others see it.
type Peer struct {
	// Lease is the name of its Lease, and Holder is who holds it.
	Lease, Holder string
	// Priority is the priority of a process. Frozen means that it is a freeze, which is above every priority.
	Priority int
	Frozen   bool
	// Election is the leader election that the process leads, empty if there is none. The replicas of one election are
	// one peer.
	Election string
	// Ends is when it no longer counts, unless it is renewed before.
	Ends time.Time
}

// Why says why a process pauses.
type Why string

// Why a process pauses.
const (
	// None means that the process works.
	None Why = ""
	// Frozen means that somebody has frozen the operator.
	Frozen Why = "frozen"
	// Lower means that another process has a higher priority.
	Lower Why = "lower"
	// Equal means that another process has the same priority: all of them pause.
	Equal Why = "equal"
)

// Verdict says whether a process pauses.
type Verdict struct {
	// Why is why it pauses, None if it works.
	Why Why
	// By are the peers because of which it pauses, those with the highest priority first.
	By []Peer
	// Until is when the first of By no longer counts unless it is renewed. Then the verdict may be another one.
	Until time.Time
}

// Paused reports whether the process pauses.
func (v Verdict) Paused() bool { return v.Why != None }

// Judge returns whether own pauses now because of others: while there is a freeze, or a process of a higher or of the
// same priority. Equals aren't ranked by anything else, because nobody has decided which of them is to work. others may
// contain own.
func Judge(own Peer, others []Peer, now time.Time) Verdict {
	var v Verdict
	for _, p := range others {
		same := p.Lease == own.Lease || p.Election != "" && p.Election == own.Election
		if !now.Before(p.Ends) || !p.Frozen && (same || p.Priority < own.Priority) {
			continue
		}
		v.By = append(v.By, p)
		if v.Until.IsZero() || p.Ends.Before(v.Until) {
			v.Until = p.Ends
		}
	}
	if len(v.By) == 0 {
		return v
	}
	slices.SortFunc(v.By, func(a, b Peer) int {
		return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Lease, b.Lease))
	})
	switch highest := v.By[0]; {
	case highest.Frozen:
		v.Why = Frozen
	case highest.Priority > own.Priority:
		v.Why = Lower
	default:
		v.Why = Equal
	}
	return v
}

func rank(p Peer) int {
	if p.Frozen {
		return 1
	}
	return 0
}
