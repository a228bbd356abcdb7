package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
)

// recorded serves the objects of both kinds, and tells which forms were asked for by which path.
func recorded(t *testing.T, all map[string][]runtime.Object) (*rest.Config, func(path string) []string) {
	var mu sync.Mutex
	asked := map[string][]string{}
	s := &apiServer{objects: all}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		form, _, _ := strings.Cut(r.Header.Get("Accept"), ",")
		mu.Lock()
		asked[r.URL.Path] = append(asked[r.URL.Path], form)
		mu.Unlock()
		s.serve(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return &rest.Config{Host: server.URL}, func(path string) []string {
		mu.Lock()
		defer mu.Unlock()
		return asked[path]
	}
}

// TestCachesHold checks that what is measured is all there: each cache shows what the API server has, in the form that it
// asked for.
func TestCachesHold(t *testing.T) {
	all := map[string][]runtime.Object{paths[configMapKind]: configMaps()[:30], paths[deploymentKind]: deployments()[:30]}
	config, asked := recorded(t, all)

	held, err := cache.New(config, cache.Options{})
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- held.Start(t.Context()) }()
	t.Cleanup(func() { assert.NoError(t, <-ended) })
	require.True(t, held.WaitForCacheSync(t.Context()))
	for _, obj := range all[paths[configMapKind]] {
		want := obj.(*corev1.ConfigMap)
		got := &corev1.ConfigMap{}
		require.NoError(t, held.Get(t.Context(), client.ObjectKeyFromObject(want), got))
		assert.Equal(t, want.ManagedFields[1].FieldsV1, got.ManagedFields[1].FieldsV1)
		assert.Equal(t, want.Data, got.Data)
	}
	for _, obj := range all[paths[deploymentKind]] {
		want := obj.(*appsv1.Deployment)
		got := &appsv1.Deployment{}
		require.NoError(t, held.Get(t.Context(), client.ObjectKeyFromObject(want), got))
		assert.True(t, equality.Semantic.DeepEqual(want.Status, got.Status))
		assert.Len(t, got.ManagedFields, 3)
	}
	for _, path := range paths {
		for _, form := range asked(path) {
			assert.Equal(t, "application/vnd.kubernetes.protobuf", form, "controller-runtime asks for protobuf by itself")
		}
	}

	whole, err := cluster.New(t.Context(), config)
	require.NoError(t, err)
	headers, err := cluster.New(t.Context(), config, cluster.MetadataOnly(configMapKind.GroupKind()))
	require.NoError(t, err)
	for _, c := range []*cluster.Cluster{whole, headers} {
		t.Cleanup(c.Wait)
		for kind := range paths {
			subscription, err := c.View().Subscribe(t.Context(), kind, func(deploy.Event) {})
			require.NoError(t, err)
			require.NoError(t, subscription.Synced(t.Context()))
		}
	}
	for _, obj := range all[paths[deploymentKind]] {
		want := obj.(*appsv1.Deployment)
		got, err := whole.View().Get(t.Context(), deploy.Ref{Kind: deploymentKind, Namespace: want.Namespace, Name: want.Name})
		require.NoError(t, err)
		typed := &appsv1.Deployment{}
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(got.Object, typed))
		assert.Equal(t, want.Spec.Template.Spec.Containers[1].Env, typed.Spec.Template.Spec.Containers[1].Env)
		assert.Equal(t, want.Status.Conditions[0].Reason, typed.Status.Conditions[0].Reason)
	}
	view, ok := headers.View().(deploy.PartialView)
	require.True(t, ok)
	for _, obj := range all[paths[configMapKind]] {
		want := obj.(*corev1.ConfigMap)
		got, complete, err := view.Partial(t.Context(), deploy.Ref{Kind: configMapKind, Namespace: want.Namespace, Name: want.Name})
		require.NoError(t, err)
		assert.False(t, complete)
		assert.Equal(t, want.UID, got.GetUID())
		assert.Equal(t, want.Labels, got.GetLabels())
		assert.Equal(t, want.Annotations, got.GetAnnotations())
		assert.Equal(t, want.OwnerReferences, got.GetOwnerReferences())
		assert.NotContains(t, got.Object, "data")
	}
	assert.True(t, apierrors.IsNotFound(held.Get(t.Context(), client.ObjectKey{Namespace: "team-0", Name: "nobody"}, &corev1.ConfigMap{})))
}

// TestCachedObjects checks that the objects are as large as the rows say.
func TestCachedObjects(t *testing.T) {
	t.Parallel()
	for _, obj := range configMaps()[:30] {
		size := 0
		for key, value := range obj.(*corev1.ConfigMap).Data {
			size += len(key) + len(value)
		}
		assert.InDelta(t, 10_000, size, 200)
	}
	for _, obj := range deployments()[:30] {
		entries := obj.(*appsv1.Deployment).ManagedFields
		require.Len(t, entries, 3)
		assert.Contains(t, entries[0].FieldsV1.GetRawString(), `"k:{\"name\":\"web\"}":{".":{},`)
		assert.Equal(t, `{"f:spec":{"f:replicas":{}}}`, entries[1].FieldsV1.GetRawString())
		assert.Contains(t, entries[2].FieldsV1.GetRawString(), `"f:conditions":{"k:{\"type\":\"Available\"}":`)
		assert.NotContains(t, entries[0].FieldsV1.GetRawString(), "f:status")
	}
}

// TestEngines checks that both engines reconcile what exists, and once more what has changed.
func TestEngines(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]engine{"ours": ourEngine, "controller-runtime": peerEngine} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			names := make(chan string, eventObjects+2)
			update := start(t, func(name string) { names <- name })
			seen := map[string]bool{}
			for range eventObjects {
				seen[<-names] = true
			}
			assert.Len(t, seen, eventObjects)
			update(7)
			assert.Equal(t, "shop-7", <-names)
			update(7)
			assert.Equal(t, "shop-7", <-names)
			assert.Empty(t, names)
		})
	}
}

// TestSettled checks when a side of watch-throughput counts as done.
func TestSettled(t *testing.T) {
	t.Parallel()
	s := &settled{}
	s.expect(2)
	for i := range eventObjects {
		s.told(i)
		s.reconciled(i)
		s.reconciled(i)
	}
	assert.Equal(t, int64(eventObjects), s.left.Load(), "each has an event to come")
	for i := range eventObjects {
		s.told(i)
		if i > 0 {
			s.reconciled(i)
			s.reconciled(i)
		}
	}
	select {
	case <-s.done:
		assert.Fail(t, "object 0 hasn't been reconciled after its last event")
	default:
	}
	s.reconciled(0)
	<-s.done
}
