package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var podKind = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}

// controllerLabel is the label of Pods that has the uid of their Job. Pods of an earlier Job of the same name have
// another one.
const controllerLabel = "batch.kubernetes.io/controller-uid"

// startGrace is how long the Pods of a Job may take to start before they are read.
const startGrace = 10 * time.Second

// Verify implements reconcile.Verifier: a Job that has failed or doesn't start is reported with what its Pods report.
func (o *once) Verify(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	err := c.Verify(ctx)
	if err == nil || ctx.Err() != nil {
		return err
	}
	ref, locateErr := s.Manager().Locate(ctx, c.Objects()[0])
	if locateErr != nil {
		return err
	}
	job, getErr := s.Get(ctx, ref)
	if getErr != nil || job == nil {
		return err
	}
	if words := o.explain(ctx, s, job); words != "" {
		return fmt.Errorf("%w; %s", err, words)
	}
	return err
}

// explain returns what the Pods of a Job report that has failed, or fails, or doesn't start; empty for nothing.
func (o *once) explain(ctx context.Context, s *reconcile.Session, job *unstructured.Unstructured) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := string(job.GetUID()) + "/" + job.GetResourceVersion()
	words, known := o.explained[key]
	if !known {
		words = o.read(ctx, s, job)
		o.explained[key] = words
	}
	return words
}

// read reads the Pods of a Job if they can have something to report.
func (o *once) read(ctx context.Context, s *reconcile.Session, job *unstructured.Unstructured) string {
	fails := is(job, "Failed") || is(job, "FailureTarget") || count(job, "failed") > 0
	if !fails {
		if count(job, "active") == 0 || count(job, "ready") > 0 {
			return ""
		}
		if left := startGrace - s.Now().Sub(started(job)); left > 0 {
			s.RequeueWithin(left)
			return ""
		}
	}
	selector := labels.SelectorFromSet(labels.Set{controllerLabel: string(job.GetUID())})
	pods, err := s.Manager().Port().List(ctx, podKind, job.GetNamespace(), deploy.ListOptions{Labels: selector})
	if err != nil {
		return fmt.Sprintf("its Pods can't be read: %v", err)
	}
	if fails {
		if pod := latestFailed(pods); pod != nil {
			return describe(pod, o.hide)
		}
	}
	return describe(latest(pods), o.hide)
}

// count returns a number of the status.
func count(job *unstructured.Unstructured, field string) int64 {
	n, _, err := unstructured.NestedInt64(job.Object, "status", field)
	if err != nil {
		return 0
	}
	return n
}

// started returns when a Job began.
func started(job *unstructured.Unstructured) time.Time {
	text, _, _ := unstructured.NestedString(job.Object, "status", "startTime")
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return job.GetCreationTimestamp().Time
	}
	return at
}
