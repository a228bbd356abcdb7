package peering

import (
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var leaseKind = schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}

// frozen is the priority of a freeze, as a Lease has it.
const frozen = "frozen"

// Group are the processes of one operator that are peers of each other: those whose Leases are in one namespace.
type Group struct {
	// Domain is the domain of the keys of labels and annotations, as deploy.Manager.KeyDomain returns it.
	Domain string
	// Operator is the operator's name, and Namespace is the namespace of the Leases.
	Operator, Namespace string
}

func (g Group) labelKey() string    { return g.Domain + "/peering" }
func (g Group) priorityKey() string { return g.Domain + "/priority" }
func (g Group) electionKey() string { return g.Domain + "/election" }

// Selector selects the Leases of the group.
func (g Group) Selector() labels.Selector {
	return labels.SelectorFromSet(labels.Set{g.labelKey(): g.Operator})
}

// read returns what a Lease says about a peer, and for how long it counts after a renewal. It returns false for a Lease
// that nobody holds, or that isn't one of the group's.
func (g Group) read(lease *unstructured.Unstructured) (p Peer, lasts time.Duration, ok bool) {
	marks := lease.GetAnnotations()
	p = Peer{Lease: lease.GetName(), Election: marks[g.electionKey()], Frozen: marks[g.priorityKey()] == frozen}
	p.Holder, _, _ = unstructured.NestedString(lease.Object, "spec", "holderIdentity")
	seconds, _, _ := unstructured.NestedInt64(lease.Object, "spec", "leaseDurationSeconds")
	priority, err := ParsePriority(marks[g.priorityKey()])
	p.Priority = priority
	valid := p.Frozen || err == nil
	return p, time.Duration(seconds) * time.Second, valid && p.Holder != "" && seconds > 0
}

// ParsePriority reads a priority, which is a whole number of 32 bits.
func ParsePriority(text string) (int, error) {
	priority, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("priority %q: use a whole number, such as 100", text)
	}
	return int(priority), nil
}

// table is what a process knows of the Leases of its group. The times in a Lease come from other clocks: a Lease counts
// for its duration after the process has seen it change.
type table struct {
	group Group

	mu    sync.Mutex
	known map[string]*seen
}

// seen is a Lease as it was seen to change last.
type seen struct {
	Peer
	object *unstructured.Unstructured
	counts bool
	// aged means that Ends of a freeze was corrected for the time that had passed when it was first seen.
	aged bool
}

func newTable(group Group) *table { return &table{group: group, known: map[string]*seen{}} }

// saw records a Lease.
func (t *table) saw(lease *unstructured.Unstructured, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.known[lease.GetName()]
	if before != nil && before.object.GetUID() == lease.GetUID() && reflect.DeepEqual(before.object.Object["spec"], lease.Object["spec"]) &&
		reflect.DeepEqual(before.object.GetAnnotations(), lease.GetAnnotations()) {
		return // it wasn't renewed
	}
	peer, lasts, counts := t.group.read(lease)
	peer.Ends = now.Add(lasts)
	t.known[lease.GetName()] = &seen{Peer: peer, object: lease, counts: counts}
}

// gone forgets a Lease.
func (t *table) gone(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.known, name)
}

// replace records all Leases that there are now.
func (t *table) replace(leases []*unstructured.Unstructured, now time.Time) {
	there := map[string]bool{}
	for _, lease := range leases {
		there[lease.GetName()] = true
		t.saw(lease, now)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for name := range t.known {
		if !there[name] {
			delete(t.known, name)
		}
	}
}

// peers returns those who count, also those that have run out.
func (t *table) peers() (all []Peer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.known {
		if s.counts {
			all = append(all, s.Peer)
		}
	}
	return all
}

// next returns when the first of the others runs out unless it is renewed, zero if there are no others.
func (t *table) next(self string) (next time.Time) {
	for _, p := range t.peers() {
		if p.Lease != self && (next.IsZero() || p.Ends.Before(next)) {
			next = p.Ends
		}
	}
	return next
}

// ended returns the Leases of others that have run out.
func (t *table) ended(self string, now time.Time) (all []*unstructured.Unstructured) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.known {
		if s.counts && s.Lease != self && !now.Before(s.Ends) {
			all = append(all, s.object)
		}
	}
	return all
}

// drop makes a Lease that has run out count no more until it changes.
func (t *table) drop(lease *unstructured.Unstructured) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.known[lease.GetName()]; s != nil && s.object == lease {
		s.counts = false
	}
}

// ageless returns the freezes of which it isn't known for how long they have lasted.
func (t *table) ageless() (freezes []*unstructured.Unstructured) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.known {
		if s.Frozen && s.counts && !s.aged {
			freezes = append(freezes, s.object)
		}
	}
	return freezes
}

// age shortens a freeze by the time that it had lasted at now, by the API server's clock.
func (t *table) age(lease *unstructured.Unstructured, lasted time.Duration, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.known[lease.GetName()]
	if s == nil || s.object.GetUID() != lease.GetUID() {
		return
	}
	_, lasts, _ := t.group.read(lease)
	s.aged, s.Ends = true, now.Add(lasts-max(lasted, 0))
}
