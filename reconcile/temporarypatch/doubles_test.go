package temporarypatch_test

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/deploy"
)

// interposed is a Port before whose patches something else may happen.
type interposed struct {
	deploy.Port
	before func(ref deploy.Ref)
	// unserved is a kind that isn't served.
	unserved schema.GroupVersionKind
}

func (p *interposed) Scope(ctx context.Context, kind schema.GroupVersionKind) (deploy.Scope, error) {
	if kind == p.unserved {
		return "", &deploy.KindUnknownError{Kind: kind}
	}
	return p.Port.Scope(ctx, kind)
}

func (p *interposed) Patch(ctx context.Context, ref deploy.Ref, patch deploy.PatchRequest) (*unstructured.Unstructured, error) {
	if p.before != nil {
		p.before(ref)
	}
	return p.Port.Patch(ctx, ref, patch)
}

// shaded is a View of which some kinds can't be read, and where the reads are counted.
type shaded struct {
	deploy.View
	mu    sync.Mutex
	fails map[schema.GroupVersionKind]error
	// blind: it hasn't seen any object of this kind yet.
	blind schema.GroupVersionKind
	lists []schema.GroupVersionKind
}

func (v *shaded) fail(kind schema.GroupVersionKind, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.fails == nil {
		v.fails = map[schema.GroupVersionKind]error{}
	}
	v.fails[kind] = err
}

func (v *shaded) failure(kind schema.GroupVersionKind) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.fails[kind]
}

func (v *shaded) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if err := v.failure(ref.Kind); err != nil {
		return nil, err
	}
	if ref.Kind == v.blind {
		return nil, nil
	}
	return v.View.Get(ctx, ref)
}

func (v *shaded) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	v.mu.Lock()
	v.lists = append(v.lists, kind)
	v.mu.Unlock()
	if err := v.failure(kind); err != nil {
		return nil, err
	}
	return v.View.List(ctx, kind, namespace, selector)
}

// listed counts the lists of a kind.
func (v *shaded) listed(kind schema.GroupVersionKind) (times int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, listed := range v.lists {
		if listed == kind {
			times++
		}
	}
	return times
}

// clock is a time that the test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
