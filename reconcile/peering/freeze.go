package peering

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// LongestFreeze is the longest time for which an operator can be frozen, because a Lease holds it in 32 bits.
const LongestFreeze = math.MaxInt32 * time.Second

// Freeze makes all processes of the group pause for a time, which is rounded up to seconds. by is who does it. An
// earlier freeze ends.
func (g Group) Freeze(ctx context.Context, port deploy.Port, by string, lasts time.Duration) error {
	if by == "" || lasts <= 0 || lasts > LongestFreeze {
		return fmt.Errorf("freeze: by %q for %s: it needs a name, and a time of at most %s", by, lasts, LongestFreeze)
	}
	before, err := g.freezes(ctx, port)
	if err != nil {
		return err
	}
	// A new Lease has a new time of creation: from it on the freeze lasts, by the API server's clock. It is there
	// before earlier ones go, so that nothing works in between.
	lease := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"holderIdentity": by, "leaseDurationSeconds": int64((lasts + time.Second - 1) / time.Second),
	}}}
	lease.SetGroupVersionKind(leaseKind)
	lease.SetNamespace(g.Namespace)
	lease.SetName(g.Operator + "-freeze-" + strings.ToLower(rand.Text()[:10]))
	lease.SetLabels(map[string]string{g.labelKey(): g.Operator})
	lease.SetAnnotations(map[string]string{g.priorityKey(): frozen})
	if _, err := port.Create(ctx, lease, deploy.CreateOptions{FieldManager: g.Operator}); err != nil {
		return err
	}
	_, err = remove(ctx, port, before)
	return err
}

// Thaw ends a freeze. It reports whether there was one.
func (g Group) Thaw(ctx context.Context, port deploy.Port) (bool, error) {
	freezes, err := g.freezes(ctx, port)
	if err != nil {
		return false, err
	}
	return remove(ctx, port, freezes)
}

// freezes returns the Leases by which the operator is frozen.
func (g Group) freezes(ctx context.Context, port deploy.Port) ([]*unstructured.Unstructured, error) {
	leases, err := port.List(ctx, leaseKind, g.Namespace, deploy.ListOptions{Labels: g.Selector()})
	return slices.DeleteFunc(leases, func(lease *unstructured.Unstructured) bool {
		return lease.GetAnnotations()[g.priorityKey()] != frozen
	}), err
}

// remove deletes Leases. It reports whether any of them was still there.
func remove(ctx context.Context, port deploy.Port, leases []*unstructured.Unstructured) (removed bool, err error) {
	for _, lease := range leases {
		err := port.Delete(ctx, deploy.RefOf(lease), deploy.DeleteOptions{UID: lease.GetUID()})
		if _, absent := errors.AsType[*deploy.NotFoundError](err); absent {
			continue
		}
		if err != nil {
			return removed, err
		}
		removed = true
	}
	return removed, nil
}

// Listed is a peer with the last renewal of its Lease.
type Listed struct {
	Peer
	// Renewed is the time of the last renewal by the clock of the peer. For a freeze it is the time of its creation by
	// the clock of the API server.
	Renewed time.Time
	// Lasts is for how long the Lease counts after that.
	Lasts time.Duration
}

// List returns the peers of the group, those with the highest priority first. Ends is by the clocks of others, so it is
// for people only. The list may contain peers that have run out.
func (g Group) List(ctx context.Context, port deploy.Port) (all []Listed, err error) {
	leases, err := port.List(ctx, leaseKind, g.Namespace, deploy.ListOptions{Labels: g.Selector()})
	if err != nil {
		return nil, err
	}
	for _, lease := range leases {
		peer, lasts, counts := g.read(lease)
		if !counts {
			continue
		}
		one := Listed{Peer: peer, Lasts: lasts, Renewed: lease.GetCreationTimestamp().Time}
		text, _, _ := unstructured.NestedString(lease.Object, "spec", "renewTime")
		if at, err := time.Parse(time.RFC3339, text); err == nil && !peer.Frozen {
			one.Renewed = at
		}
		one.Ends = one.Renewed.Add(lasts)
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Listed) int {
		return cmp.Or(cmp.Compare(rank(b.Peer), rank(a.Peer)), cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Lease, b.Lease))
	})
	return all, nil
}
