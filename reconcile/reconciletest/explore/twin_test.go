package explore

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// explorerOfTwo returns an explorer of resources with few fields, and its lives of two resources.
func explorerOfTwo(t *testing.T, sound bool, reconcile func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error, opts ...Option) (e *explorer, paired []life) {
	t.Helper()
	o, err := newOptions(append([]Option{Definitions("testdata/faults/crd"), Samples("testdata/faults/samples"), Neighbours()}, opts...))
	require.NoError(t, err)
	e = explorerOf(t, func() *manual { return newManual(reconcile, sound, "ConfigMap") }, o, startDriven[*manual])
	lives, err := e.lives()
	require.NoError(t, err)
	for _, l := range lives {
		if l.paired() {
			paired = append(paired, l)
		}
	}
	return e, paired
}

// overlapOf returns a disturbance by which two reconciles overlap.
func overlapOf(t *testing.T) choice {
	t.Helper()
	e, lives := explorerOfTwo(t, true, mistaken)
	known, err := e.learn(lives[0])
	require.NoError(t, err)
	var all []choice
	for _, c := range e.possible(known.trace, 1) {
		if c.act == overlap {
			tr, err := e.attempt(known, plan{c})
			require.NoError(t, err)
			assert.Nil(t, known.judge(tr), "%s", c)
			assert.Contains(t, tr.disturbances[0].tell(), "the other resource")
			all = append(all, c)
		}
	}
	require.NotEmpty(t, all)
	return all[0]
}

// inCommon has an object for all resources in a namespace, which stays as long as one of them does.
func inCommon(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	all, err := m.get(ctx, "ConfigMap", "common", resource)
	if err != nil {
		return err
	}
	if all == nil {
		return m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: common}, data: {open: 'yes'}}")
	}
	owners := ""
	for _, owner := range all.GetOwnerReferences() {
		if owner.UID == resource.GetUID() {
			return nil
		}
		owners += fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q},`, owner.APIVersion, owner.Kind, owner.Name, owner.UID)
	}
	return m.patch(ctx, all, "", fmt.Sprintf(`{"metadata":{"ownerReferences":[%s{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q}]}}`, owners,
		resource.GetAPIVersion(), resource.GetKind(), resource.GetName(), resource.GetUID()))
}

// jealous refuses each resource but the first one.
func jealous(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	till, err := m.get(ctx, "ConfigMap", "till", resource)
	switch {
	case err != nil:
		return err
	case till == nil:
		return m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: till}}")
	case till.GetOwnerReferences()[0].UID != resource.GetUID():
		return request.Configuration("%w", errors.New("there is another shop"))
	}
	return nil
}

func TestTwins(t *testing.T) {
	t.Run("explore 60: another name, another namespace, and an edit", func(t *testing.T) {
		_, lives := explorerOfTwo(t, true, sharing)
		require.Len(t, lives, 3)
		assert.Equal(t, "Shop.explore.operkit.dev test/tea beside tea-2", lives[0].name)
		assert.Equal(t, "Shop.explore.operkit.dev test/tea beside elsewhere/tea", lives[1].name)
		assert.Equal(t, "Shop.explore.operkit.dev test/tea beside tea-2 with spec.size: 2", lives[2].name)
	})
	t.Run("explore 60: there are none without Neighbours", func(t *testing.T) {
		_, lives := explorerOfTwo(t, false, sharing, func(o *options) { o.neighbours = false })
		assert.Empty(t, lives)
	})
	t.Run("explore 60: a life with them is replayed", func(t *testing.T) {
		e, lives := explorerOfTwo(t, false, sharing)
		require.NoError(t, e.replay(lives[0].name, lives, false))
		require.Len(t, e.findings, 1)
		f := e.shrink(e.findings[0], executions)
		e.findings = nil
		require.NoError(t, e.replay(f.replay(), lives, false), f.story())
		assert.Len(t, e.findings, 1, f.story())
	})
	t.Run("explore 61: what is shared is no finding", func(t *testing.T) {
		e, lives := explorerOfTwo(t, true, inCommon)
		for _, l := range lives {
			known, err := e.learn(l)
			require.NoError(t, err)
			assert.NotNil(t, known, l)
		}
		assert.Empty(t, e.findings, stories(e.report))
	})
	t.Run("explore 60: a second resource that is refused is no finding", func(t *testing.T) {
		e, lives := explorerOfTwo(t, true, jealous)
		known, err := e.learn(lives[0])
		require.NoError(t, err)
		assert.Nil(t, known)
		assert.Empty(t, e.findings, stories(e.report))
	})
}
