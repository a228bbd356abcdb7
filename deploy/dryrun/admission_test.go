package dryrun_test

import (
	"errors"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAdmission(t *testing.T) {
	t.Parallel()
	t.Run("deploy W24: what it refuses isn't written", func(t *testing.T) {
		t.Parallel()
		reason := errors.New("no gifts")
		cluster := newCluster(t, dryrun.Admit(func(request dryrun.AdmissionRequest, live, _ *unstructured.Unstructured) error {
			assert.Equal(t, settingsRef, request.Ref)
			if live == nil {
				return nil
			}
			return reason
		}))
		before := apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
		_, err := cluster.Port().Apply(t.Context(), settings(t, "{a: '2'}"), deploy.ApplyOptions{FieldManager: "operkit"})
		require.ErrorIs(t, err, reason)
		var forbidden *deploy.ForbiddenError
		require.ErrorAs(t, err, &forbidden)
		assert.Equal(t, "configmaps", forbidden.Resource.Resource)
		assert.Equal(t, before, get(t, cluster, settingsRef))
	})
	t.Run("deploy W24: what it rewrites stays the applier's, and settles", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, dryrun.Admit(func(_ dryrun.AdmissionRequest, _, next *unstructured.Unstructured) error {
			return unstructured.SetNestedStringMap(next.Object, map[string]string{"a": "REWRITTEN", "injected": "x"}, "data")
		}))
		first := apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
		assert.Equal(t, map[string]string{"a": "REWRITTEN", "injected": "x"}, data(first))
		assert.Equal(t, `{"f:data":{"f:a":{}}}`, owned(first, "operkit", "Apply", ""), "what is injected is nobody's")
		for range 3 {
			assert.Equal(t, first, apply(t, cluster, "operkit", settings(t, "{a: '1'}")))
		}
	})
}
