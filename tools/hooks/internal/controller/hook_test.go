package controller_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/tools/hooks/internal/controller"
	"github.com/operkit/operkit/tools/hooks/internal/definition"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// asked is what a hook gets.
type asked struct {
	Path        string
	Controller  map[string]any                       `json:"controller"`
	Parent      unstructured.Unstructured            `json:"parent"`
	Object      unstructured.Unstructured            `json:"object"`
	Children    map[string]map[string]map[string]any `json:"children"`
	Attachments map[string]map[string]map[string]any `json:"attachments"`
	Related     map[string]map[string]map[string]any `json:"related"`
	Finalizing  bool                                 `json:"finalizing"`
}

// hook is the server of the hooks of a test. It records what it is asked.
type hook struct {
	*httptest.Server
	mu    sync.Mutex
	calls []asked
	// answers are the responses by path.
	answers map[string]func(asked) any
}

func newHook(t *testing.T, answers map[string]func(asked) any) *hook {
	t.Helper()
	h := &hook{answers: answers}
	h.Server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.Close)
	return h
}

func (h *hook) serve(w http.ResponseWriter, r *http.Request) {
	request := asked{Path: r.URL.Path}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	h.calls = append(h.calls, request)
	h.mu.Unlock()
	response := h.answers[r.URL.Path](request)
	if err, ok := response.(error); ok {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(response)
}

// asked returns what the hooks were asked since the last call.
func (h *hook) asked() []asked {
	h.mu.Lock()
	defer h.mu.Unlock()
	calls := h.calls
	h.calls = nil
	return calls
}

// define returns the definition of a CatSet with some text in the place of ADDRESS, and more fields of the spec.
func define(t *testing.T, address, more string) *definition.Controller {
	t.Helper()
	return read(t, defined(address, more))
}

// defined returns the text of define.
func defined(address, more string) string {
	return `
apiVersion: metacontroller.k8s.io/v1alpha1
kind: CompositeController
metadata: {name: catsets}
spec:
  parentResource: {apiVersion: hooks.operkit.dev/v1, resource: catsets}
  childResources:
  - {apiVersion: v1, resource: configmaps, updateStrategy: {method: InPlace}}
  - {apiVersion: v1, resource: secrets}
` + strings.ReplaceAll(more, "ADDRESS", address)
}

func read(t *testing.T, text string) *definition.Controller {
	t.Helper()
	found, err := definition.Read([]byte(text))
	require.NoError(t, err)
	return found[0]
}

const (
	generated = "  generateSelector: true\n"
	syncOnly  = "  hooks: {sync: {webhook: {url: ADDRESS/sync}}}\n"
	allHooks  = "  hooks: {sync: {webhook: {url: ADDRESS/sync}}, finalize: {webhook: {url: ADDRESS/finalize}}, customize: {webhook: {url: ADDRESS/customize}}}\n"
)

// served are the kinds of the cluster in memory.
func served(context.Context) ([]deploy.ServedKind, error) {
	return []deploy.ServedKind{
		{Kind: schema.GroupVersionKind{Group: "hooks.operkit.dev", Version: "v1", Kind: "CatSet"}, Resource: "catsets"},
		{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Resource: "configmaps"},
		{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Resource: "secrets", Scope: deploy.Namespaced},
		{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Resource: "pods"},
	}, nil
}

// newController returns the controller of a definition without hooks.
func newController(t *testing.T, of *definition.Controller) (*desired.Controller[controller.Parent], error) {
	t.Helper()
	return controller.New(t.Context(), of, of.Parents[0], served, controller.Hooks{})
}

// drive runs a definition in memory.
func drive(t *testing.T, of *definition.Controller) *reconciletest.Harness {
	t.Helper()
	hooks, err := controller.Callers(t.Context(), nil, of)
	require.NoError(t, err)
	c, err := controller.New(t.Context(), of, of.Parents[0], served, hooks)
	require.NoError(t, err)
	return reconciletest.Drive(t, c, reconciletest.Definitions("testdata/crds"), reconciletest.Namespace("default"))
}

const tom = `
apiVersion: hooks.operkit.dev/v1
kind: CatSet
metadata: {name: tom, namespace: default}
spec: {size: 2, color: blue, selector: {matchLabels: {cats: tom}}}
`

// configMaps are the wanted children of a parent.
func configMaps(r asked) any {
	size, _, _ := unstructured.NestedInt64(r.Parent.Object, "spec", "size")
	color, _, _ := unstructured.NestedString(r.Parent.Object, "spec", "color")
	children := []any{}
	for i := range int(size) {
		children = append(children, map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"color": color},
			"metadata": map[string]any{"name": fmt.Sprint("cat-", i), "labels": map[string]any{"cats": "tom"}},
		})
	}
	return map[string]any{"children": children, "status": map[string]any{"cats": len(r.Children["ConfigMap.v1"])}}
}

func edit(h *reconciletest.Harness, field string, value any) {
	h.Edit("CatSet tom", func(obj *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(obj.Object, value, "spec", field)
	})
}

func cats(h *reconciletest.Harness) any {
	found, _, _ := unstructured.NestedFieldNoCopy(h.Get("CatSet tom").Object, "status", "cats")
	return found
}

func TestSync(t *testing.T) {
	t.Parallel()
	server := newHook(t, map[string]func(asked) any{"/sync": configMaps})
	h := drive(t, define(t, server.URL, syncOnly))
	h.Apply(tom)
	h.RunUntilSettled()
	h.Created("ConfigMap cat-0", "ConfigMap cat-1")
	assert.EqualValues(t, 2, cats(h))

	calls := server.asked()
	first := calls[0]
	assert.Equal(t, "catsets", first.Controller["metadata"].(map[string]any)["name"])
	assert.Equal(t, "CompositeController", first.Controller["kind"])
	assert.Equal(t, "tom", first.Parent.GetName())
	assert.False(t, first.Finalizing)
	assert.Equal(t, map[string]map[string]map[string]any{"ConfigMap.v1": {}, "Secret.v1": {}}, first.Children, "kinds without children are there")
	assert.NotNil(t, first.Related)
	last := calls[len(calls)-1]
	assert.Contains(t, last.Children["ConfigMap.v1"], "cat-1")

	h.RunUntilSettled()
	h.Writes(0)
	assert.Empty(t, server.asked(), "nothing has changed: no hook is called")

	edit(h, "color", "red")
	h.RunUntilSettled()
	h.Configured("ConfigMap cat-0", "ConfigMap cat-1")
	edit(h, "size", int64(1))
	h.RunUntilSettled()
	h.Deleted("ConfigMap cat-1")
	h.Delete("ConfigMap cat-0")
	h.RunUntilSettled()
	h.Created("ConfigMap cat-0")
	h.Delete("CatSet tom")
	h.RunUntilSettled()
	h.Gone("CatSet tom", "ConfigMap cat-0")
}

func TestSelectors(t *testing.T) {
	t.Parallel()
	server := newHook(t, map[string]func(asked) any{"/sync": configMaps})
	h := drive(t, define(t, server.URL, generated+syncOnly))
	h.Apply(strings.Replace(tom, ", selector: {matchLabels: {cats: tom}}", "", 1))
	h.RunUntilSettled()
	uid := string(h.Get("CatSet tom").GetUID())
	assert.Equal(t, map[string]string{"cats": "tom", "controller-uid": uid}, h.Get("ConfigMap cat-0").GetLabels())

	for reason, row := range map[string]struct{ selector, want string }{
		"hooks 6: a parent without a selector":                   {"", "spec.selector: needs matchLabels or matchExpressions, or generateSelector"},
		"hooks 6: an empty selector":                             {", selector: {}", "spec.selector: needs matchLabels"},
		"hooks 6: a selector that is none":                       {", selector: {matchLabel: {cats: tom}}", "spec.selector: "},
		"hooks 6: a child that the selector of its parent lacks": {", selector: {matchLabels: {cats: jerry}}", "children[0]: ConfigMap cat-0: its labels don't match the selector of the parent, cats=jerry"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			h := drive(t, define(t, server.URL, syncOnly))
			h.Apply(strings.Replace(tom, ", selector: {matchLabels: {cats: tom}}", row.selector, 1))
			_, err := h.Reconcile("CatSet tom")
			assert.ErrorContains(t, err, row.want)
			h.Writes(0)
		})
	}
	t.Run("hooks 6: an orphan that matches is adopted", func(t *testing.T) {
		t.Parallel()
		h := drive(t, define(t, server.URL, syncOnly))
		orphan := `{apiVersion: v1, kind: ConfigMap, metadata: {name: cat-7, namespace: default, labels: {cats: tom}}}`
		h.Apply(orphan, tom)
		h.RunUntilSettled()
		h.Gone("ConfigMap cat-7")
	})
}

func TestFinalizeAndCustomize(t *testing.T) {
	t.Parallel()
	rules := []any{map[string]any{"apiVersion": "v1", "resource": "secrets", "names": []any{"paint"}}}
	server := newHook(t, map[string]func(asked) any{
		"/sync":      configMaps,
		"/customize": func(asked) any { return map[string]any{"relatedResources": rules} },
		"/finalize": func(r asked) any { // one child after the other
			response := configMaps(r).(map[string]any)
			left := len(r.Children["ConfigMap.v1"])
			response["children"] = response["children"].([]any)[:max(left-1, 0)]
			response["finalized"] = left == 0
			return response
		},
	})
	h := drive(t, define(t, server.URL, allHooks))
	h.Apply(`{apiVersion: v1, kind: Secret, metadata: {name: paint, namespace: default}, stringData: {a: b}}`, tom)
	h.RunUntilSettled()
	assert.Equal(t, []string{"metacontroller.io/compositecontroller-catsets"}, h.Get("CatSet tom").GetFinalizers(), "as metacontroller names it")
	calls := server.asked()
	assert.Equal(t, "/customize", calls[0].Path)
	assert.Contains(t, calls[1].Related["Secret.v1"], "paint")

	h.Edit("Secret paint", func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"a": "b"}) })
	h.RunUntilSettled()
	assert.NotEmpty(t, server.asked(), "a related object has changed")

	h.Delete("CatSet tom")
	h.RunUntilSettled()
	h.Gone("CatSet tom", "ConfigMap cat-0", "ConfigMap cat-1")
	for _, call := range server.asked() {
		if call.Path != "/customize" {
			assert.Equal(t, "/finalize", call.Path)
			assert.True(t, call.Finalizing)
		}
	}
}

// A hook that fails changes nothing, and other parents have their own calls.
func TestFailure(t *testing.T) {
	t.Parallel()
	server := newHook(t, map[string]func(asked) any{"/sync": func(r asked) any {
		if r.Parent.GetName() == "tom" && r.Parent.Object["spec"].(map[string]any)["color"] == "red" {
			return errors.New("KeyError: 'red'")
		}
		return configMaps(r)
	}})
	h := drive(t, define(t, server.URL, syncOnly))
	h.Apply(tom)
	h.RunUntilSettled()
	edit(h, "color", "red")
	_, err := h.Reconcile("CatSet tom")
	assert.ErrorContains(t, err, "CompositeController catsets: hook sync: hook "+server.URL+"/sync: status 500 Internal Server Error, expected 200: KeyError: 'red'")
	h.Exists("ConfigMap cat-0", "ConfigMap cat-1")
	edit(h, "color", "blue")
	h.RunUntilSettled()
	assert.EqualValues(t, 2, cats(h))
}

func TestResync(t *testing.T) {
	t.Parallel()
	every := "  resyncPeriodSeconds: 3600\n"
	soon := time.Duration(0)
	server := newHook(t, map[string]func(asked) any{"/sync": func(r asked) any {
		response := configMaps(r).(map[string]any)
		response["resyncAfterSeconds"] = soon.Seconds()
		return response
	}})
	h := drive(t, define(t, server.URL, every+syncOnly))
	h.Apply(tom)
	h.RunUntilSettled()
	server.asked()
	h.Advance(59 * time.Minute)
	assert.Empty(t, server.asked())
	soon = 90 * time.Second
	h.Advance(2 * time.Minute)
	assert.Len(t, server.asked(), 1)
	h.Advance(45 * time.Second)
	assert.Len(t, server.asked(), 1, "sooner, as the hook wants")
	h.Writes(0)
}

func TestDefinitionsThatCannotRun(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct{ more, want string }{
		"a resource that isn't served": {"  - {apiVersion: apps/v1, resource: deployments}\n", "resource deployments of apps/v1: the cluster doesn't serve it"},
		"a version of it that isn't":   {"  - {apiVersion: v2, resource: pods}\n", "resource pods of v2: the cluster doesn't serve it"},
	} {
		t.Run("hooks 7: "+reason, func(t *testing.T) {
			t.Parallel()
			_, err := newController(t, define(t, "http://a", row.more+syncOnly))
			assert.ErrorContains(t, err, "CompositeController catsets: ")
			assert.ErrorContains(t, err, row.want)
		})
	}
}

// What a hook may not do is an error that names the child, and nothing is changed.
func TestForeignChildren(t *testing.T) {
	t.Parallel()
	child := func(kind, namespace, name string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{
			"name": name, "namespace": namespace, "labels": map[string]any{"cats": "tom"},
		}}
	}
	own := child("ConfigMap", "", "own")
	for reason, row := range map[string]struct {
		children []any
		want     string
	}{
		"a kind that isn't declared":         {[]any{own, child("ServiceAccount", "", "a")}, "children[1]: ServiceAccount a of v1: spec.childResources doesn't have this kind"},
		"another namespace":                  {[]any{own, child("ConfigMap", "kube-system", "a")}, "child 1, ConfigMap kube-system/a: "},
		"one child twice":                    {[]any{own, own}, "child 1, ConfigMap default/own: it is returned twice"},
		"another version of a declared kind": {[]any{own, map[string]any{"apiVersion": "v2", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "labels": map[string]any{"cats": "tom"}}}}, "children[1]: ConfigMap a of v2: "},
		"the parent itself":                  {[]any{own, map[string]any{"apiVersion": "hooks.operkit.dev/v1", "kind": "CatSet", "metadata": map[string]any{"name": "tom", "labels": map[string]any{"cats": "tom"}}}}, "children[1]: CatSet tom of hooks.operkit.dev/v1: "},
	} {
		t.Run("hooks 8: "+reason, func(t *testing.T) {
			t.Parallel()
			server := newHook(t, map[string]func(asked) any{"/sync": func(asked) any { return map[string]any{"children": row.children} }})
			h := drive(t, define(t, server.URL, syncOnly))
			h.Apply(tom)
			_, err := h.Reconcile("CatSet tom")
			assert.ErrorContains(t, err, row.want)
			h.Gone("ConfigMap own")
		})
	}
	t.Run("hooks 8: an object of somebody else stays as it is, and other children are made", func(t *testing.T) {
		t.Parallel()
		server := newHook(t, map[string]func(asked) any{"/sync": func(asked) any {
			return map[string]any{"children": []any{own, child("ConfigMap", "", "theirs")}}
		}})
		h := drive(t, define(t, server.URL, syncOnly))
		theirs := `{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs, namespace: default, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u, controller: true}]}, data: {a: b}}`
		h.Apply(theirs, tom)
		_, err := h.Reconcile("CatSet tom")
		assert.ErrorContains(t, err, "ConfigMap default/theirs")
		assert.Equal(t, map[string]any{"a": "b"}, h.Get("ConfigMap theirs").Object["data"])
		h.Exists("ConfigMap own")
	})
	t.Run("hooks 8: a thousand children are a thousand children", func(t *testing.T) {
		t.Parallel()
		var all []any
		for i := range 1000 {
			all = append(all, child("ConfigMap", "", fmt.Sprint("cat-", i)))
		}
		server := newHook(t, map[string]func(asked) any{"/sync": func(asked) any { return map[string]any{"children": all} }})
		h := drive(t, define(t, server.URL, syncOnly))
		h.Apply(tom)
		h.RunUntilSettled()
		h.Exists("ConfigMap cat-0", "ConfigMap cat-999")
		h.RunUntilSettled()
		h.Writes(0)
	})
}

// A hook is mended outside of the cluster: no event says so.
func TestMendedHooksAreAskedAgain(t *testing.T) {
	t.Parallel()
	for reason, answer := range map[string]any{
		"a kind that isn't declared": map[string]any{"children": []any{map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a"}}}},
		"no JSON":                    "{",
		"a condition that is none":   map[string]any{"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "yes"}}}},
		"conditions that are none":   map[string]any{"status": map[string]any{"conditions": "Ready"}},
	} {
		t.Run("hooks 2: "+reason, func(t *testing.T) {
			t.Parallel()
			broken := true
			server := newHook(t, map[string]func(asked) any{"/sync": func(r asked) any {
				if broken {
					return answer
				}
				return configMaps(r)
			}})
			h := drive(t, define(t, server.URL, syncOnly))
			h.Apply(tom)
			_, err := h.Reconcile("CatSet tom")
			require.Error(t, err)
			assert.False(t, request.IsPermanent(err), "%v", err)
			h.Writes(0)
			broken = false
			h.Advance(time.Hour)
			h.Exists("ConfigMap cat-0")
		})
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	t.Run("hooks 13: conditions are those of the hook, with times and reasons of ours", conditions)
}

func conditions(t *testing.T) {
	t.Parallel()
	server := newHook(t, map[string]func(asked) any{"/sync": func(r asked) any {
		response := configMaps(r).(map[string]any)
		response["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "Complete", "lastTransitionTime": "soon"}, map[string]any{"type": "Fed", "status": "False"}}}
		return response
	}})
	h := drive(t, define(t, server.URL, syncOnly))
	h.Apply(tom)
	h.RunUntilSettled()
	h.Exists("ConfigMap cat-0")
	assert.Equal(t, "Complete", h.Condition("CatSet tom", "Ready").Reason)
	assert.Equal(t, "Unspecified", h.Condition("CatSet tom", "Fed").Reason, "hooks 13: a condition without a reason gets one")
	h.RunUntilSettled()
	h.Writes(0)
}

func TestRelatedRules(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, version, rule string
		want, refused         string
	}{
		{"v1 has only the namespace of the parent", "v1", `{"apiVersion": "v1", "resource": "secrets", "labelSelector": {}}`, "paint", ""},
		{"v2 has all of them", "v2", `{"apiVersion": "v1", "resource": "secrets", "labelSelector": {}}`, "default/paint other/paint", ""},
		{"a rule without a selector has all objects", "v1", `{"apiVersion": "v1", "resource": "secrets"}`, "paint", ""},
		{"v2 with a namespace", "v2", `{"apiVersion": "v1", "resource": "secrets", "namespace": "other", "names": ["paint"]}`, "other/paint", ""},
		{"v1 with another namespace", "v1", `{"apiVersion": "v1", "resource": "secrets", "namespace": "other", "names": ["paint"]}`, "", "relatedResources[0]: namespace other: in version v1, related objects of this parent are in its namespace default"},
		{"v2 with names in all namespaces", "v2", `{"apiVersion": "v1", "resource": "secrets", "names": ["paint"]}`, "default/paint other/paint", ""},
		{"v2 with namespaces by labels", "v2", `{"apiVersion": "v1", "resource": "secrets", "namespaceSelector": {"matchLabels": {"team": "cats"}}}`, "other/paint", ""},
		{"v1 with namespaces by labels", "v1", `{"apiVersion": "v1", "resource": "secrets", "namespaceSelector": {}}`, "", "namespaceSelector: in version v1, related objects of this parent are in its namespace default"},
		{"a resource that isn't served", "v1", `{"apiVersion": "v1", "resource": "services"}`, "", "resource services of v1: the cluster doesn't serve it"},
	} {
		t.Run("hooks 3: "+row.reason, func(t *testing.T) {
			t.Parallel()
			server := newHook(t, map[string]func(asked) any{
				"/sync":      configMaps,
				"/customize": func(asked) any { return map[string]any{"relatedResources": []any{json.RawMessage(row.rule)}} },
			})
			version := "version: " + row.version + ", "
			h := drive(t, define(t, server.URL, "  hooks: {sync: {"+version+"webhook: {url: ADDRESS/sync}}, customize: {"+version+"webhook: {url: ADDRESS/customize}}}\n"))
			h.Apply(`{apiVersion: v1, kind: Namespace, metadata: {name: other, labels: {team: cats}}}`)
			for _, namespace := range []string{"default", "other"} {
				h.Apply(`{apiVersion: v1, kind: Secret, metadata: {name: paint, namespace: ` + namespace + `}}`)
			}
			h.Apply(tom)
			_, err := h.Reconcile("CatSet tom")
			if row.refused != "" {
				assert.ErrorContains(t, err, row.refused)
				return
			}
			require.NoError(t, err)
			for _, call := range server.asked() {
				if call.Path == "/sync" {
					assert.ElementsMatch(t, strings.Fields(row.want), slices.Collect(maps.Keys(call.Related["Secret.v1"])))
				}
			}
		})
	}
}
