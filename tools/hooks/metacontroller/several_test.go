package metacontroller_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/finalizer"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/hooks/metacontroller"
)

var catSets = schema.GroupVersionKind{Group: "hooks.operkit.dev", Version: "v1", Kind: "CatSet"}

// several are two controllers of the same parents, which both have the ConfigMaps that their hooks return.
const several = `
apiVersion: metacontroller.k8s.io/v1alpha1
kind: CompositeController
metadata: {name: cats}
spec:
  parentResource: {apiVersion: hooks.operkit.dev/v1, resource: catsets}
  generateSelector: true
  resyncPeriodSeconds: 60
  childResources: [{apiVersion: v1, resource: configmaps, updateStrategy: {method: InPlace}}]
  hooks: {sync: {webhook: {url: ADDRESS/cats}}}
---
apiVersion: metacontroller.k8s.io/v1alpha1
kind: DecoratorController
metadata: {name: paint}
spec:
  resources: [{apiVersion: hooks.operkit.dev/v1, resource: catsets}]
  attachments: [{apiVersion: v1, resource: configmaps, updateStrategy: {method: InPlace}}]
  hooks: {sync: {webhook: {url: ADDRESS/paint}}, finalize: {webhook: {url: ADDRESS/clean}}}
`

func TestSeveralOfOneKind(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"/cats":  `{"children": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cat"}}], "status": {"cats": 1}}`,
		"/paint": `{"attachments": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "paint"}}]}`,
		"/clean": `{"finalized": true}`,
	}
	seen := map[string][]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Children, Attachments map[string]map[string]any }
		_ = json.NewDecoder(r.Body).Decode(&request)
		var names []string
		for name := range request.Children["ConfigMap.v1"] {
			names = append(names, name)
		}
		for name := range request.Attachments["ConfigMap.v1"] {
			names = append(names, name)
		}
		seen[r.URL.Path] = names
		if answers[r.URL.Path] == "" {
			http.Error(w, "no answer", http.StatusInternalServerError)
		}
		_, _ = fmt.Fprint(w, answers[r.URL.Path])
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "several.yaml")
	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(several, "ADDRESS", server.URL)), 0o600))
	var controllers metacontroller.Controllers
	require.NoError(t, controllers.ReadFiles(file))
	var made watch.Reconciler
	h := reconciletest.Drive(t, watch.NewController(catSets, func(ctx context.Context, env watch.Env) (watch.Reconciler, error) {
		var err error
		made, err = controllers.Reconciler(ctx, env, deploy.ServedKind{Kind: catSets, Resource: "catsets"})
		return made, err
	}), reconciletest.Definitions("../internal/controller/testdata/crds"), reconciletest.Namespace("default"))
	h.Apply("{apiVersion: hooks.operkit.dev/v1, kind: CatSet, metadata: {name: tom}}")
	h.RunUntilSettled()
	h.Created("ConfigMap cat", "ConfigMap paint")
	assert.Equal(t, map[string][]string{"/cats": {"cat"}, "/paint": {"paint"}}, seen, "hooks 10: each has its own children")
	h.RunUntilSettled()
	h.Writes(0)
	assert.Equal(t, []string{"metacontroller.io/decoratorcontroller-paint"}, h.Get("CatSet tom").GetFinalizers())
	assert.Subset(t, made.(finalizer.Provider).Finalizers(), h.Get("CatSet tom").GetFinalizers())
	assert.Equal(t, 2, made.(standing.Provider).Tally().Resources[standing.Settled])
	assert.NotEmpty(t, made.(watch.RightsProvider).Rights())

	t.Run("hooks 10: an error of one doesn't keep the other from its work", func(t *testing.T) {
		cats := answers["/cats"]
		answers["/cats"] = ""
		h.Delete("ConfigMap paint")
		_, err := h.Reconcile("CatSet tom")
		require.ErrorContains(t, err, "CompositeController cats: hook sync: ")
		h.Exists("ConfigMap paint")
		answers["/cats"] = cats
		h.Delete("ConfigMap cat")
		h.RunUntilSettled()
		h.Exists("ConfigMap cat")
	})
	t.Run("hooks 10: each has its own field manager", func(t *testing.T) {
		assert.Equal(t, "operkit/CompositeController/cats", managerOf(h.Get("ConfigMap cat")))
		assert.Equal(t, "operkit/DecoratorController/paint", managerOf(h.Get("ConfigMap paint")))
	})
	h.Delete("CatSet tom")
	h.RunUntilSettled()
	h.Gone("CatSet tom", "ConfigMap cat", "ConfigMap paint")
}

func managerOf(obj *unstructured.Unstructured) string { return obj.GetManagedFields()[0].Manager }
