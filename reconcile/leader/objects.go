package leader

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// The keys of the annotations of a lock on an object, after their domain.
const (
	leaseName = "/lease-name"
	leaseTime = "/lease-time"
)

// conflictPause is the time before the next attempt for an object that changed during each attempt to lock it.
const conflictPause = 200 * time.Millisecond

// objects implements locks in annotations of objects.
type objects struct {
	manager  *deploy.Manager
	options  options
	identity string
	// domain is the domain of the annotations.
	domain string

	mu sync.Mutex
	// seen are the locks of other replicas, as they were last seen.
	seen map[deploy.Ref]sighting
}

// sighting is the content of a lock, and the time since which this replica has seen it unchanged.
type sighting struct {
	pair
	since time.Time
}

// pair is the values of the two annotations; the zero pair is a free lock.
type pair struct{ holder, renewed string }

// claim is the result of an attempt to take a lock.
type claim struct {
	// held: this replica has the lock; gone: there is no object.
	held, gone bool
	// If neither is true, holder is the replica that has the lock, empty if unknown, and wait is the time before the
	// next look.
	holder string
	wait   time.Duration
}

func newObjects(manager *deploy.Manager, o options, identity string) (*objects, error) {
	// The caller repeats a renewal that has failed.
	manager, err := manager.With(deploy.FieldManager(fieldManager), deploy.RetryFor(0))
	if err != nil {
		return nil, err
	}
	return &objects{manager: manager, options: o, identity: identity, domain: manager.KeyDomain(), seen: map[deploy.Ref]sighting{}}, nil
}

func (o *objects) pairOf(obj *unstructured.Unstructured) pair {
	annotations := obj.GetAnnotations()
	return pair{annotations[o.domain+leaseName], annotations[o.domain+leaseTime]}
}

// oper8Domain is the domain of annotations that replicas of an operator written with oper8 read, too.
const oper8Domain = "oper8.org"

// ours returns the content of the lock if this replica holds it from now on. The time has nanoseconds, or microseconds
// for oper8, so that no two contents are the same. It has no zone for oper8, which can't compare a time with a zone,
// and then stops reconciling.
func (o *objects) ours() pair {
	layout := time.RFC3339Nano
	if o.domain == oper8Domain {
		layout = "2006-01-02T15:04:05.000000"
	}
	return pair{o.identity, time.Now().UTC().Format(layout)}
}

// take makes this replica the holder of a lock that is free, has run out, or is ours because an answer was lost.
func (o *objects) take(ctx context.Context, key deploy.Ref) (claim, error) {
	var busy claim
	present, err := o.change(ctx, key, func(current pair) (pair, error) {
		if busy.holder, busy.wait = o.busy(key, current); busy.wait > 0 {
			return current, nil
		}
		return o.ours(), nil
	})
	switch {
	case failure.Is[*deploy.StaleError](err):
		return claim{wait: jittered(conflictPause)}, nil
	case err != nil || busy.wait > 0:
		return busy, err
	}
	o.forget(key)
	return claim{held: present, gone: !present}, nil
}

// busy returns the other replica that holds a lock, and the time until the lock is checked again. The time is zero if
// the lock can be taken.
func (o *objects) busy(key deploy.Ref, found pair) (string, time.Duration) {
	if found.holder == "" || found.holder == o.identity {
		return "", 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	last, known := o.seen[key]
	if !known || last.pair != found {
		last = sighting{found, time.Now()}
		o.seen[key] = last
	}
	left := time.Until(last.since.Add(o.options.duration))
	return found.holder, min(left, jittered(o.options.retry))
}

func (o *objects) forget(key deploy.Ref) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.seen, key)
}

// keep renews a lock that is ours; the error is ErrLost when it isn't.
func (o *objects) keep(ctx context.Context, key deploy.Ref) error {
	present, err := o.change(ctx, key, func(current pair) (pair, error) {
		switch current.holder {
		case o.identity:
			return o.ours(), nil
		case "":
			return pair{}, fmt.Errorf("%w: the lock was taken away", ErrLost)
		default:
			return pair{}, fmt.Errorf("%w: %s works on it", ErrLost, current.holder)
		}
	})
	if err == nil && !present {
		return fmt.Errorf("%w: the object is gone", ErrLost)
	}
	return err
}

// release frees a lock that is ours.
func (o *objects) release(ctx context.Context, key deploy.Ref) error {
	_, err := o.change(ctx, key, func(current pair) (pair, error) {
		if current.holder != o.identity {
			return current, nil
		}
		return pair{}, nil
	})
	return err
}

// change writes the lock that decide returns for the present lock. It returns false if the object or its kind is gone.
func (o *objects) change(ctx context.Context, key deploy.Ref, decide func(current pair) (pair, error)) (present bool, err error) {
	result, err := o.manager.Change(ctx, key, func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		found := o.pairOf(current)
		next, err := decide(found)
		if err != nil || next == found {
			return nil, err
		}
		return o.withPair(current, next), nil
	})
	if failure.Is[*deploy.KindUnknownError](err) {
		return false, nil
	}
	return result.Action != deploy.Skipped, err
}

// withPair returns a copy of obj with the annotations of a lock.
func (o *objects) withPair(obj *unstructured.Unstructured, next pair) *unstructured.Unstructured {
	obj = obj.DeepCopy()
	annotations := obj.GetAnnotations() // a copy
	if next == (pair{}) {
		delete(annotations, o.domain+leaseName)
		delete(annotations, o.domain+leaseTime)
	} else {
		annotations = labels.Merge(annotations, labels.Set{o.domain + leaseName: next.holder, o.domain + leaseTime: next.renewed})
	}
	obj.SetAnnotations(annotations)
	return obj
}
