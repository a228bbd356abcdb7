package cluster

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// leaving holds the last states of objects that a watch with selectors doesn't show any more. The API server reports
// them as deleted, although some may only have lost a label. A read of each object decides which event subscribers get.
// Until then, the View reads these objects from the API server.
type leaving struct {
	objects map[types.NamespacedName]*unstructured.Unstructured
	// more has a value if objects were added.
	more chan struct{}
}

func newLeaving() leaving {
	return leaving{objects: map[types.NamespacedName]*unstructured.Unstructured{}, more: make(chan struct{}, 1)}
}

func (l leaving) add(last *unstructured.Unstructured) {
	l.objects[nameOf(last)] = last
	l.wake()
}

func (l leaving) wake() {
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// take removes the object with the name of obj, and returns its last state. It returns nil if there is none.
func (l leaving) take(obj *unstructured.Unstructured) *unstructured.Unstructured {
	last := l.objects[nameOf(obj)]
	delete(l.objects, nameOf(obj))
	return last
}

func nameOf(obj *unstructured.Unstructured) types.NamespacedName {
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// leave is called for an object that the watch doesn't show any more. It returns the Deleted event, or none if the
// object may still exist. mu is held.
func (i *informer) leave(last *unstructured.Unstructured) []deploy.Event {
	if !i.kind.selects {
		return changes(last, nil)
	}
	i.leaving.add(last)
	return nil
}

// decideLeaving finds out which of the objects that left are deleted, until ctx ends.
func (i *informer) decideLeaving(ctx context.Context) {
	for pause := firstTry; ; {
		select {
		case <-ctx.Done():
			return
		case <-i.leaving.more:
		}
		err := i.decideAll(ctx)
		if err == nil {
			pause = firstTry
			continue
		}
		if pause == firstTry && ctx.Err() == nil {
			i.log().Warn("can't find out whether objects are deleted or only not selected any more, trying again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, longestTry)
		i.leaving.wake()
	}
}

// decideAll reads each object that left, and publishes its event. If a read fails, it returns the error after it has
// tried all objects.
func (i *informer) decideAll(ctx context.Context) error {
	i.mu.RLock()
	left := slices.Collect(maps.Values(i.leaving.objects))
	i.mu.RUnlock()
	var failed error
	for _, last := range left {
		event, err := i.fateOf(ctx, last)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		i.kind.step(i, func() []deploy.Event {
			if i.leaving.objects[nameOf(last)] != last {
				return nil // the watch shows an object of this name again
			}
			i.leaving.take(last)
			return []deploy.Event{{Type: event, Old: last, New: last}}
		})
	}
	return failed
}

// fateOf returns Left if the object still exists, and Deleted if it doesn't. It sends a request, unless an own write
// was the reason why the object left.
func (i *informer) fateOf(ctx context.Context, last *unstructured.Unstructured) (deploy.EventType, error) {
	ref := deploy.Ref{Kind: i.kind.kind, Namespace: last.GetNamespace(), Name: last.GetName()}
	if known, ok := i.kind.store.overlay.fateOf(ref, last); ok {
		return known, nil
	}
	now, err := i.kind.store.liveMetadata(ctx, ref)
	if err != nil {
		return "", err
	}
	if now != nil && now.GetUID() == last.GetUID() {
		return deploy.Left, nil
	}
	return deploy.Deleted, nil
}
