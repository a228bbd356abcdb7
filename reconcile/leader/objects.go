package leader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// The keys of the annotations of a lock on an object, after their domain.
const (
	leaseName = "/lease-name"
	leaseTime = "/lease-time"
)

// conflictPause is the time before the next attempt for an object that changed during each attempt to lock it.
const conflictPause = 200 * time.Millisecond

// writeAttempts is how often a lock is written while others keep changing its object.
const writeAttempts = 3

// objects implements locks in annotations of objects.
type objects struct {
	port     deploy.Port
	view     deploy.View
	options  options
	identity string
	// domain is that of the annotations.
	domain string

	mu sync.Mutex
	// seen are the locks of other replicas, as they were last seen.
	seen map[deploy.Ref]sighting
}

// sighting is the content of a lock, and since when this replica has seen it unchanged.
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
	// holder is the holder otherwise, as far as is known, and wait the time before the next look.
	holder string
	wait   time.Duration
}

func newObjects(manager *deploy.Manager, o options, identity string) *objects {
	return &objects{port: manager.Port(), view: manager.View(), options: o, identity: identity, domain: manager.KeyDomain(), seen: map[deploy.Ref]sighting{}}
}

func (o *objects) pairOf(obj *unstructured.Unstructured) pair {
	annotations := obj.GetAnnotations()
	return pair{annotations[o.domain+leaseName], annotations[o.domain+leaseTime]}
}

// oper8Domain is the domain of annotations that replicas of an operator written with oper8 read, too.
const oper8Domain = "oper8.org"

// ours returns what the lock says when this replica holds it from now on. The time is to the nanosecond, or to the
// microsecond that oper8 reads, so that no two of them are the same. It has no zone for oper8, which can't compare a
// time with a zone, and then stops reconciling.
func (o *objects) ours() pair {
	layout := time.RFC3339Nano
	if o.domain == oper8Domain {
		layout = "2006-01-02T15:04:05.000000"
	}
	return pair{o.identity, time.Now().UTC().Format(layout)}
}

// take makes this replica the holder of a lock that is free, has run out, or is ours because an answer was lost.
func (o *objects) take(ctx context.Context, key deploy.Ref) (claim, error) {
	current, err := o.read(ctx, key)
	for range writeAttempts {
		if err != nil {
			return claim{}, err
		}
		if current == nil {
			o.forget(key)
			return claim{gone: true}, nil
		}
		if holder, wait := o.busy(key, o.pairOf(current)); wait > 0 {
			return claim{holder: holder, wait: wait}, nil
		}
		conflict := o.write(ctx, key, current, o.ours())
		if conflict == nil {
			o.forget(key)
			return claim{held: true}, nil
		}
		if !changed(conflict) {
			return claim{}, conflict
		}
		current, err = o.live(ctx, key)
	}
	return claim{wait: jittered(conflictPause)}, nil
}

// busy returns which other replica holds a lock, and the time until it is checked again; zero if it can be taken.
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
	return o.rewrite(ctx, key, func(current *unstructured.Unstructured) (pair, error) {
		if current == nil {
			return pair{}, fmt.Errorf("%w: the object is gone", ErrLost)
		}
		switch found := o.pairOf(current); found.holder {
		case o.identity:
			return o.ours(), nil
		case "":
			return pair{}, fmt.Errorf("%w: the lock was taken away", ErrLost)
		default:
			return pair{}, fmt.Errorf("%w: %s works on it", ErrLost, found.holder)
		}
	})
}

// errNotOurs means that there is no lock to release.
var errNotOurs = errors.New("not ours")

// release frees a lock that is ours.
func (o *objects) release(ctx context.Context, key deploy.Ref) error {
	err := o.rewrite(ctx, key, func(current *unstructured.Unstructured) (pair, error) {
		if current == nil || o.pairOf(current).holder != o.identity {
			return pair{}, errNotOurs
		}
		return pair{}, nil
	})
	if errors.Is(err, errNotOurs) {
		return nil
	}
	return err
}

// rewrite writes the lock that decide returns for the present object.
func (o *objects) rewrite(ctx context.Context, key deploy.Ref, decide func(current *unstructured.Unstructured) (pair, error)) error {
	var last error
	current, err := o.read(ctx, key)
	for range writeAttempts {
		if err != nil {
			return err
		}
		next, refused := decide(current)
		if refused != nil {
			return refused
		}
		conflict := o.write(ctx, key, current, next)
		if !changed(conflict) {
			return conflict
		}
		last = conflict
		current, err = o.live(ctx, key)
	}
	return last
}

// read returns the object as the View shows it, nil if it or its kind is gone.
func (o *objects) read(ctx context.Context, key deploy.Ref) (*unstructured.Unstructured, error) {
	obj, err := o.view.Get(ctx, key)
	var unserved *deploy.KindUnknownError
	if errors.As(err, &unserved) {
		return nil, nil
	}
	return obj, err
}

// live reads an object from the cluster itself: the View hasn't seen yet the change by which a write failed.
func (o *objects) live(ctx context.Context, key deploy.Ref) (*unstructured.Unstructured, error) {
	return o.port.Get(ctx, key)
}

// changed reports whether a write failed because the object has changed since it was read.
func changed(err error) bool {
	var stale *deploy.StaleError
	var absent *deploy.NotFoundError
	return errors.As(err, &stale) || errors.As(err, &absent)
}

// write sets the annotations if the cluster still has current.
func (o *objects) write(ctx context.Context, key deploy.Ref, current *unstructured.Unstructured, next pair) error {
	annotations := map[string]any{o.domain + leaseName: next.holder, o.domain + leaseTime: next.renewed}
	if next == (pair{}) {
		annotations = map[string]any{o.domain + leaseName: nil, o.domain + leaseTime: nil}
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": current.GetResourceVersion(), "annotations": annotations}})
	if err != nil {
		return err
	}
	_, err = o.port.Patch(ctx, key, deploy.PatchRequest{Type: types.MergePatchType, Body: body, FieldManager: fieldManager})
	return err
}
