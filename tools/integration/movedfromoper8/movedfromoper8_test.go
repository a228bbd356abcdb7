package movedfromoper8

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/tools/envtest"
)

// TestMovedFromOper8 has more subtests in package operator: those that need a whole operator.
func TestMovedFromOper8(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 6: objects are found again by the names to which oper8 has cut theirs", func(t *testing.T) {
		t.Parallel()
		testTruncatedNames(t)
	})
	t.Run("reconcile 7: field selectors select what they do on the API server", func(t *testing.T) {
		t.Parallel()
		testFieldSelectors(t)
	})
	t.Run("status 22: a child in the middle of an upgrade isn't ready", func(t *testing.T) {
		t.Parallel()
		testSubsystem(t)
	})
	t.Run("guide: which Pods the hash of oper8's dependencies restarts", func(t *testing.T) {
		t.Parallel()
		testDependencyHash(t)
	})
}

func testTruncatedNames(t *testing.T) {
	w := newWorld(t)
	const instance = "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiii"
	w.CreateYAML("{apiVersion: " + loaves.GroupVersion().String() + ", kind: Loaf, metadata: {name: " + instance + "}}")
	owner := w.Get(loaves, instance)
	// Recorded from oper8.
	rows := []struct {
		name   string
		scoped bool
		want   string
	}{
		{"short", false, "short"},
		{strings.Repeat("a", 63), false, strings.Repeat("a", 63)},
		{strings.Repeat("a", 65), false, strings.Repeat("a", 59) + "6353"},
		{strings.Repeat("a", 100), false, strings.Repeat("a", 59) + "2816"},
		{strings.Repeat("n", 32), true, instance + "-" + strings.Repeat("n", 27) + "e66d"},
	}
	made := map[string]*unstructured.Unstructured{}
	for _, row := range rows {
		made[row.want] = w.Apply(&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"of": "oper8"},
			"metadata": map[string]any{"name": row.want, "namespace": w.namespace, "ownerReferences": []any{map[string]any{
				"apiVersion": owner.GetAPIVersion(), "kind": owner.GetKind(), "name": instance, "uid": string(owner.GetUID()), "blockOwnerDeletion": true,
			}}},
		}})
	}
	w.reconcile(w.api, instance, func(_ context.Context, s *reconcile.Session) error {
		c := s.Add("names")
		for _, row := range rows {
			name := s.TruncatedName(row.name)
			if row.scoped {
				name = s.ScopedName(row.name)
			}
			c.Add(row.want, map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{"of": "us"},
			})
		}
		return nil
	}, reconcile.Oper8Names())
	for name, before := range made {
		after := w.Get(configMaps, name)
		require.NotNil(t, after, name)
		assert.Equal(t, before.GetUID(), after.GetUID(), name)
		assert.Equal(t, map[string]any{"of": "us"}, after.Object["data"], name)
	}
	found, err := w.api.Port().List(t.Context(), configMaps, w.namespace, deploy.ListOptions{})
	require.NoError(t, err)
	for _, obj := range found {
		assert.True(t, obj.GetName() == "kube-root-ca.crt" || made[obj.GetName()] != nil, "another object: %s", obj.GetName())
	}
}

// selectable are the fields by which an API server selects each kind, beside those of metadata.
var selectable = map[schema.GroupVersionKind][]string{
	loaves: {"spec.flour", "spec.sliced", "spec.weight"},
	{Version: "v1", Kind: "Pod"}: {
		"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
		"status.phase", "status.podIP", "status.nominatedNodeName",
	},
	{Version: "v1", Kind: "Node"}:    {"spec.unschedulable"},
	{Version: "v1", Kind: "Secret"}:  {"type"},
	{Version: "v1", Kind: "Service"}: {"spec.clusterIP", "spec.type"},
	{Version: "v1", Kind: "Event"}: {
		"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid", "involvedObject.apiVersion",
		"involvedObject.resourceVersion", "involvedObject.fieldPath", "reason", "reportingComponent", "source", "type",
	},
	{Group: "batch", Version: "v1", Kind: "Job"}:   {"status.successful"},
	{Version: "v1", Kind: "ReplicationController"}: {"status.replicas"},
	{Version: "v1", Kind: "Namespace"}:             {"status.phase"},
}

func testFieldSelectors(t *testing.T) {
	// Without controllers, which would delete the Pod of a node that doesn't exist after a while.
	w := newWorld(t, envtest.OwnCluster("--components=etcd,apiserver"))
	seeds := w.objects("testdata/objects.yaml")
	for _, obj := range seeds {
		_, err := w.api.Port().Create(t.Context(), obj, deploy.CreateOptions{})
		require.NoError(t, err)
	}
	ours := labels.SelectorFromSet(labels.Set{"of": w.namespace})
	w.reconcile(w.api, "a", func(ctx context.Context, s *reconcile.Session) error {
		stored := decoded(t, "testdata/loaf.yaml")
		for kind := range selectable {
			found, err := s.List(ctx, kind, "", ours)
			require.NoError(t, err)
			require.NotEmpty(t, found, kind.Kind)
			stored = append(stored, found...)
		}
		memory, err := dryrun.New(dryrun.Namespaces("*"), dryrun.Objects(stored...))
		require.NoError(t, err)
		for kind, paths := range selectable {
			for _, path := range append(paths, "metadata.name") {
				compare(ctx, t, s, memory.Port(), w.api.Port(), kind, path, ours)
			}
		}
		found, err := s.List(ctx, loaves, s.Namespace(), ours, fields.OneTermEqualSelector("metadata.labels.of", w.namespace), nil,
			fields.OneTermNotEqualSelector("spec.flour", "rye"))
		require.NoError(t, err, "a field by which the server doesn't select, nil, and one more")
		assert.Equal(t, []string{"b"}, namesOf(found))
		return nil
	})
}

// compare has a kind selected by each value that a field has, and by one that it hasn't, by a session, in memory, and
// by the server.
func compare(ctx context.Context, t *testing.T, s *reconcile.Session, memory, server deploy.Port, kind schema.GroupVersionKind, path string, ours labels.Selector) {
	t.Helper()
	all, err := s.List(ctx, kind, "", ours)
	require.NoError(t, err)
	values := map[string]bool{"": true, "0": true, "false": true}
	for _, obj := range all {
		values[deploy.FieldsOf(obj).Get(path)] = true
	}
	for value := range values {
		for _, selector := range []fields.Selector{fields.OneTermEqualSelector(path, value), fields.OneTermNotEqualSelector(path, value)} {
			options := deploy.ListOptions{Labels: ours, Fields: selector}
			want, err := server.List(ctx, kind, "", options)
			if !assert.NoError(t, err, "%s %s", kind.Kind, selector) {
				continue
			}
			got, err := s.List(ctx, kind, "", ours, selector)
			require.NoError(t, err, "%s %s", kind.Kind, selector)
			assert.Equal(t, namesOf(want), namesOf(got), "%s %s", kind.Kind, selector)
			inMemory, err := memory.List(ctx, kind, "", options)
			require.NoError(t, err, "%s %s", kind.Kind, selector)
			assert.Equal(t, namesOf(want), namesOf(inMemory), "in memory: %s %s", kind.Kind, selector)
		}
	}
}

func namesOf(objects []*unstructured.Unstructured) []string {
	names := []string{}
	for _, obj := range objects {
		names = append(names, obj.GetName())
	}
	return names
}
