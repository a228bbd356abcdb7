package leader

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
)

// scene is what the replicas work on, and somebody who changes it and keeps what they write.
type scene struct {
	t   *testing.T
	env *envtest.Env
	api deploy.Port
	// resources is how many there are.
	resources int

	mu     sync.Mutex
	writes []stored
}

// stored is one version of a Secret.
type stored struct {
	at, term      int64
	holder        string
	object, phase string
}

func newScene(t *testing.T, env *envtest.Env, resources int) *scene {
	t.Helper()
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	s := &scene{t: t, env: env, api: api.Port(), resources: resources}
	for n := range resources {
		_, err := s.api.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": sourceName(n), "namespace": env.Namespace}, "data": map[string]any{"value": "new"},
		}}, deploy.CreateOptions{})
		require.NoError(t, err)
	}
	s.keep()
	return s
}

// keep has every version of every Secret kept until the test ends.
func (s *scene) keep() {
	s.t.Helper()
	client, err := dynamic.NewForConfig(s.env.Admin)
	require.NoError(s.t, err)
	found := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(s.env.Namespace)
	list, err := found.List(s.t.Context(), metav1.ListOptions{})
	require.NoError(s.t, err)
	version := list.GetResourceVersion()
	ctx, stop := context.WithCancel(s.t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			stream, err := found.Watch(ctx, metav1.ListOptions{ResourceVersion: version})
			if err != nil {
				time.Sleep(50 * time.Millisecond)
				continue
			}
			for e := range stream.ResultChan() {
				obj, ok := e.Object.(*unstructured.Unstructured)
				if ok && e.Type != watch.Error {
					version = obj.GetResourceVersion()
					s.add(obj)
				}
			}
			stream.Stop()
		}
	})
	s.t.Cleanup(func() { stop(); running.Wait() })
}

func (s *scene) add(obj *unstructured.Unstructured) {
	at, err := strconv.ParseInt(obj.GetResourceVersion(), 10, 64)
	assert.NoError(s.t, err)
	term, err := strconv.ParseInt(obj.GetAnnotations()["term"], 10, 64)
	assert.NoError(s.t, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	said := obj.GetAnnotations()
	s.writes = append(s.writes, stored{at, term, said["holder"], said["object"], said["phase"]})
}

// history is all that was written, in the order in which the cluster stored it.
func (s *scene) history() []stored {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortFunc(s.writes, func(a, b stored) int { return cmp.Compare(a.at, b.at) })
	return slices.Clone(s.writes)
}

// change changes one ConfigMap after the other, with a pause between, until stop is called.
func (s *scene) change(pause time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		for n := range math.MaxInt {
			if ctx.Err() != nil {
				return
			}
			ref := deploy.Ref{Kind: configMaps, Namespace: s.env.Namespace, Name: sourceName(rand.IntN(s.resources))}
			body := `{"data":{"value":"` + strconv.Itoa(n) + `"}}`
			_, err := s.api.Patch(ctx, ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(body), FieldManager: "somebody"})
			if ctx.Err() == nil {
				assert.NoError(s.t, err)
			}
			time.Sleep(pause)
		}
	})
	return func() { cancel(); running.Wait() }
}

// values are what the resources of a kind say, by their names.
func (s *scene) values(kind schema.GroupVersionKind) map[string]string {
	s.t.Helper()
	all, err := s.api.List(s.t.Context(), kind, s.env.Namespace, deploy.ListOptions{})
	require.NoError(s.t, err)
	values := map[string]string{}
	for _, obj := range all {
		if !strings.HasPrefix(obj.GetName(), sourcePrefix) {
			continue
		}
		if kind == secrets {
			values[obj.GetName()] = valueOf(obj)
			continue
		}
		values[obj.GetName()], _, _ = unstructured.NestedString(obj.Object, "data", "value")
	}
	return values
}
