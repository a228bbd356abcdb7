package bundles

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Drift edits the message ConfigMap of the first count Bundles, as the given field manager, and deletes the size
// ConfigMap of the next count Bundles. It waits until all are repaired, and returns the time from the first request to
// the last repair.
func (f *Fleet) Drift(ctx context.Context, manager string, count, edition int) (time.Duration, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	maps := f.children.CoreV1().ConfigMaps(f.namespace)
	all, err := maps.List(ctx, ours)
	if err != nil {
		return 0, err
	}
	broken := map[string]types.UID{}
	for _, obj := range all.Items {
		broken[obj.Name] = obj.UID
	}
	stream, err := maps.Watch(ctx, metav1.ListOptions{LabelSelector: ours.LabelSelector, ResourceVersion: all.ResourceVersion})
	if err != nil {
		return 0, fmt.Errorf("watch of drifts: %w", err)
	}
	defer stream.Stop()
	start := time.Now()
	repaired := make(chan error, 1)
	go func() { repaired <- repairs(stream, count, edition, broken) }()
	err = each(ctx, 0, 2*count, func(n int) error {
		// Edits and deletions alternate.
		if bundle := n / 2; n%2 == 0 {
			_, err := maps.Patch(ctx, Name(bundle)+"-message", types.MergePatchType, []byte(`{"data":{"message":"drifted"}}`), metav1.PatchOptions{FieldManager: manager})
			return err
		}
		return maps.Delete(ctx, Name(count+n/2)+"-size", metav1.DeleteOptions{})
	})
	if err != nil {
		return 0, err
	}
	select {
	case err := <-repaired:
		return time.Since(start), err
	case <-ctx.Done():
		return 0, fmt.Errorf("drifts that aren't repaired: %w", context.Cause(ctx))
	}
}

// repairs returns when all edits and deletions are repaired.
func repairs(stream watch.Interface, count, edition int, before map[string]types.UID) error {
	drifted, left := map[string]bool{}, map[string]string{}
	for n := range count {
		left[Name(n)+"-message"] = Message(n, edition)
		left[Name(count+n)+"-size"] = ""
	}
	for event := range stream.ResultChan() {
		obj, ok := event.Object.(*corev1.ConfigMap)
		if !ok {
			return fmt.Errorf("watch of drifts: %v", event.Object)
		}
		message, wanted := left[obj.Name]
		switch {
		case !wanted || event.Type == watch.Deleted:
			continue
		case message == "" && obj.UID != before[obj.Name]:
			delete(left, obj.Name)
		case message != "" && obj.Data["message"] == "drifted":
			drifted[obj.Name] = true
		case message != "" && drifted[obj.Name] && obj.Data["message"] == message:
			delete(left, obj.Name)
		}
		if len(left) == 0 {
			return nil
		}
	}
	return fmt.Errorf("watch of drifts: it ended with %d that aren't repaired", len(left))
}
