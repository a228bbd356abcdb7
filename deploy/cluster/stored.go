package cluster

import (
	"fmt"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
)

var (
	_ cache.ReflectorStore         = (*informer)(nil)
	_ cache.ReflectorBookmarkStore = (*informer)(nil)
)

// Add implements cache.ReflectorStore.
func (i *informer) Add(obj any) error { return i.Update(obj) }

// Update implements cache.ReflectorStore.
func (i *informer) Update(obj any) error {
	after, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("a %T is no object", obj)
	}
	i.kind.step(i, func() []deploy.Event {
		i.watched(after.GetResourceVersion())
		return change(i.objects.put(after), after)
	})
	return nil
}

// Delete implements cache.ReflectorStore.
func (i *informer) Delete(obj any) error {
	last, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("a %T is no object", obj)
	}
	i.kind.step(i, func() []deploy.Event {
		i.watched(last.GetResourceVersion())
		if i.objects.remove(last.GetNamespace(), last.GetName()) == nil {
			return nil
		}
		return change(last, nil)
	})
	return nil
}

// Replace implements cache.ReflectorStore.
func (i *informer) Replace(all []any, version string) error {
	fresh := newObjects(i.kind.feed.holder())
	for _, obj := range all {
		switch obj := obj.(type) {
		case listed:
			fresh.add(obj)
		case *unstructured.Unstructured:
			fresh.put(obj)
		}
	}
	i.kind.step(i, func() []deploy.Event {
		var events []deploy.Event
		for _, before := range i.objects.in("") {
			if fresh.get(before.GetNamespace(), before.GetName()) == nil {
				events = append(events, change(before, nil)...)
			}
		}
		for _, after := range fresh.in("") {
			events = append(events, change(i.objects.get(after.GetNamespace(), after.GetName()), after)...)
		}
		i.objects, i.version, i.listed, i.synced = fresh, version, i.relisting, true
		i.relisted()
		if i.listing {
			i.listing = false
			i.standing.Store(true)
		}
		return events
	})
	return nil
}

// Bookmark implements cache.ReflectorBookmarkStore.
func (i *informer) Bookmark(version string) error {
	i.kind.step(i, func() []deploy.Event {
		i.watched(version)
		return nil
	})
	return nil
}

// Resync implements cache.ReflectorStore.
func (i *informer) Resync() error { return nil }
