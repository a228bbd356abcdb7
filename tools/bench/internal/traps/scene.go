package traps

import (
	"context"
	"fmt"
	"time"

	v1 "github.com/operkit/operkit/tools/bench/api/v1"
	"github.com/operkit/operkit/tools/envtest/audit"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// enough is how long an operator may take for one step.
	enough = 20 * time.Second
	// quiet is how long an operator must not write before it counts as done.
	quiet = 1500 * time.Millisecond
	// look is the interval at which the state is checked.
	look = 50 * time.Millisecond
	// reconciles is the number of reconciles that changes by others must survive.
	reconciles = 20
)

// others is the field manager of changes by others.
const others = "others"

// scene is the subject of a trap: one Bundle and its children.
type scene struct {
	*stage
	bundle string
}

// create creates the Bundle and waits until it is Ready and the operator at rest.
func (s *scene) create(ctx context.Context) error {
	if err := s.post(ctx); err != nil {
		return err
	}
	if err := s.awaitReady(ctx, 1); err != nil {
		return err
	}
	return s.awaitRest(ctx)
}

// post creates the Bundle.
func (s *scene) post(ctx context.Context) error {
	bundle := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(1), "message": s.message()}}}
	bundle.SetGroupVersionKind(v1.BundleKind)
	bundle.SetName(s.bundle)
	_, err := s.bundles.Create(ctx, bundle, metav1.CreateOptions{FieldManager: others})
	return err
}

// message returns a new message that no Bundle has had.
func (s *scene) message() string { return fmt.Sprintf("edition %d", s.editions.Add(1)) }

// get returns the present Bundle.
func (s *scene) get(ctx context.Context) (*v1.Bundle, error) {
	live, err := s.bundles.Get(ctx, s.bundle, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	bundle := &v1.Bundle{}
	return bundle, runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, bundle)
}

// reword sets another message in the Bundle, and returns its generation.
func (s *scene) reword(ctx context.Context) (int64, error) {
	return s.edit(ctx, fmt.Sprintf(`{"spec":{"message":%q}}`, s.message()))
}

func (s *scene) edit(ctx context.Context, patch string) (int64, error) {
	edited, err := s.bundles.Patch(ctx, s.bundle, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: others})
	if err != nil {
		return 0, err
	}
	return edited.GetGeneration(), nil
}

// reconcile causes that many reconciles of the Bundle, by edits of its message. The operator is at rest afterwards.
func (s *scene) reconcile(ctx context.Context, times int) error {
	for range times {
		generation, err := s.reword(ctx)
		if err != nil {
			return err
		}
		if err := s.awaitReady(ctx, generation); err != nil {
			return err
		}
	}
	return s.awaitRest(ctx)
}

// resize makes the operator write the Deployment and a ConfigMap, which contain the size, and waits until it is at
// rest.
func (s *scene) resize(ctx context.Context) error {
	generation, err := s.edit(ctx, `{"spec":{"size":7}}`)
	if err != nil {
		return err
	}
	if err := s.awaitReady(ctx, generation); err != nil {
		return err
	}
	return s.awaitRest(ctx)
}

// reconciled causes as many reconciles as a trap needs, by edits of the message and a last one of the size, and returns
// what the operator has written.
func (s *scene) reconciled(ctx context.Context) (audit.Calls, error) {
	mark, err := s.mark(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.reconcile(ctx, reconciles-1); err != nil {
		return nil, err
	}
	if err := s.resize(ctx); err != nil {
		return nil, err
	}
	return s.writes(ctx, mark)
}

// isReady reports whether a Bundle is Ready at its generation.
func isReady(bundle *v1.Bundle) bool {
	ready := meta.FindStatusCondition(bundle.Status.Conditions, v1.ConditionReady)
	return ready != nil && ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == bundle.Generation
}

func (s *scene) awaitReady(ctx context.Context, generation int64) error {
	var last *v1.Bundle
	return await(ctx, enough, func(ctx context.Context) (done bool, err error) {
		last, err = s.get(ctx)
		return err == nil && last.Generation >= generation && isReady(last), err
	}, func() string {
		return fmt.Sprintf("the Bundle isn't Ready at generation %d: %s", generation, said(last, ""))
	})
}

// await waits until so returns true. After limit it returns a stuckError with the text that what returns.
func await(ctx context.Context, limit time.Duration, so func(context.Context) (bool, error), what func() string) error {
	for deadline := time.Now().Add(limit); ; {
		done, err := so(ctx)
		if err != nil || done {
			return err
		}
		if time.Now().After(deadline) {
			return &stuckError{fmt.Sprintf("after %s %s", limit, what())}
		}
		if err := pause(ctx, look); err != nil {
			return err
		}
	}
}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
