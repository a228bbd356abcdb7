package temporarypatch_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/temporarypatch"
)

func TestApply(t *testing.T) {
	t.Parallel()
	const containers = "{spec: {template: {spec: {containers: "
	for reason, row := range map[string]struct {
		spec   string
		images string
	}{
		"patches 3, 20, mistake 13: elements merge by their keys": {
			"patchType: strategic, patch: {web: {deployment: " + containers + `[{name: log, image: "log:2"}]}}}}}}`, "web=web:1 log=log:2"},
		"patches 20: oper8's name of the type": {
			"patchType: patchStrategicMerge, patch: {web: {deployment: " + containers + `[{name: log, image: "log:2"}]}}}}}}`, "web=web:1 log=log:2"},
		"patches 20: operations": {
			`patchType: json, patch: {web: {deployment: [{op: replace, path: /spec/template/spec/containers/0/image, value: "web:2"}]}}`, "web=web:2 log=log:1"},
		"patches 20: oper8's name of that": {
			`patchType: patchJson6902, patch: {web: {deployment: [{op: replace, path: /spec/template/spec/containers/0/image, value: "web:2"}]}}`, "web=web:2 log=log:1"},
		"patches 21: an element is deleted": {
			"patchType: strategic, patch: {web: {deployment: " + containers + `[{name: log, $patch: delete}]}}}}}}`, "web=web:1"},
		"patches 21: a null deletes": {
			"patchType: strategic, patch: {web: {deployment: " + containers + `[{name: log, image: null}]}}}}}}`, "web=web:1 log="},
		"patches mistake 14: a list is replaced on request": {
			"patchType: strategic, patch: {web: {deployment: " + containers + `[{name: new, image: "new:1"}, {$patch: replace}]}}}}}}`, "new=new:1"},
		"patches mistake 12: as a list": {
			`patchType: json, patches: [{component: web, object: deployment, patch: [{op: remove, path: /spec/template/spec/containers/1}]}]`, "web=web:1"},
		"patches 19: an empty body says nothing": {
			`patchType: strategic, patch: {web: {deployment: {}}}`, "web=web:1 log=log:1"},
		"patches 19: a null body says nothing": {
			`patchType: json, patch: {web: {deployment: null}}`, "web=web:1 log=log:1"},
		"patches 19: only whole names match": {
			`patchType: json, patch: {web: [{op: remove, path: /spec}]}`, "web=web:1 log=log:1"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.create("a", row.spec)
			w.patched("a")
			w.rendered()
			assert.Equal(t, row.images, strings.Join(w.images(), " "))
			assert.Equal(t, "quiet", w.data("settings", "mode"), "patches 19: only what matches is touched")
		})
	}
}

func TestSeveralBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.create("a", `patchType: strategic, patch: {web: {deployment: {spec: {replicas: 5}}, configmap/settings: {data: {mode: loud}}}, db: {settings: {data: {size: big}}}}`)
	w.patched("a")
	w.rendered()
	assert.Equal(t, "5 loud big", fmt.Sprint(w.replicas(), " ", w.data("settings", "mode"), " ", w.data("db", "size")), "patches 3")
	w.delete(ref)
	w.patched("a")
	w.rendered()
	assert.Equal(t, "1 quiet small", fmt.Sprint(w.replicas(), " ", w.data("settings", "mode"), " ", w.data("db", "size")), "removal brings it back")
}

func TestDottedNames(t *testing.T) {
	t.Parallel()
	for reason, spec := range map[string]string{
		"patches mistake 12: a tree with the names as they are": `patchType: strategic, patch: {a.b: {c.d: {data: {k: new}}}}`,
		"patches mistake 12: a list":                            `patchType: strategic, patches: [{component: a.b, object: c.d, patch: {data: {k: new}}}]`,
		"patches 19: a tree with the names split":               `patchType: strategic, patch: {a: {b: {c: {d: {data: {k: new}}}}}}`,
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.control.more = func(s *reconcile.Session) {
				s.Add("a.b").Add("c.d", object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: dotted}, data: {k: old}}`))
			}
			ref := w.create("a", spec)
			w.patched("a")
			w.rendered()
			assert.Equal(t, "new", w.data("dotted", "k"))
			w.patched("a")
			assert.Equal(t, []string{"a.b.c.d"}, w.names(ref, "matched"))
			assert.Empty(t, w.names(ref, "unmatched"))
		})
	}
}

// What is wrong with one patch fails the component that it matches, and no other (spec: patches mistake 8).
func TestBadPatch(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct{ spec, err string }{
		"patches 20: a JSON patch that is no list": {
			`patchType: json, patch: {web: {deployment: {spec: {}}}}`,
			"component web: object deployment: patch a: Deployment web: "},
		"patches 20: a strategic one that is a list": {
			`patchType: strategic, patch: {web: {deployment: [1]}}`,
			"component web: object deployment: patch a: Deployment web: a patchStrategicMerge is an object"},
		"patches mistake 8: a path that isn't there, with its operation": {
			`patchType: json, patch: {web: {deployment: [{op: add, path: /spec/paused, value: true}, {op: replace, path: /spec/nothing/here, value: 1}]}}`,
			"component web: object deployment: patch a: Deployment web: /spec/nothing/here: operation 1"},
		"patches 21: an unknown directive": {
			`patchType: strategic, patch: {web: {deployment: {spec: {template: {spec: {containers: [{name: web, $patch: maybe}]}}}}}}`,
			"component web: object deployment: patch a: Deployment web: /spec/template/spec/containers"},
		"patches 21: an element without its key": {
			`patchType: strategic, patch: {web: {deployment: {spec: {template: {spec: {containers: [{image: "x"}]}}}}}}`,
			"component web: object deployment: patch a: Deployment web: /spec/template/spec/containers"},
		"another object must not come of it": {
			`patchType: strategic, patch: {web: {deployment: {metadata: {name: other}}}}`,
			"component web: object deployment: patch a: Deployment web"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ref := w.create("a", row.spec)
			w.patched("a")
			_, _, err := w.run(w.target, "w")
			require.ErrorContains(t, err, row.err)
			assert.Equal(t, "ConfigError/Errored", w.verdict(widgetRef))
			assert.Equal(t, "small", w.data("db", "size"), "the other component is deployed")
			assert.Nil(t, w.get(webRef))
			w.patched("a")
			condition := w.condition(ref, "Applied")
			assert.Equal(t, temporarypatch.ReasonFailed, condition.Reason)
			assert.Contains(t, condition.Message, "web.deployment: Deployment web")
			assert.Equal(t, "Stable/Stable", w.verdict(ref))

			w.merge(ref, `{"spec": {"patchType": "strategic", "patch": null, "patches": [{"component": "web", "object": "deployment", "patch": {"spec": {"replicas": 2}}}]}}`)
			w.patched("a")
			w.rendered()
			assert.EqualValues(t, 2, w.replicas(), "mended without a restart")
			w.patched("a")
			assert.Equal(t, temporarypatch.ReasonApplied, w.condition(ref, "Applied").Reason)
		})
	}
	t.Run("patches 20: an unknown type, only for an object that matches", func(t *testing.T) {
		t.Parallel()
		w := newWorldOf(t, []string{"Widget"}, nil, temporarypatch.AlsoReads(foreignPatches))
		unchecked := func(name, component string) {
			w.put(object(`{apiVersion: other.dev/v1, kind: TemporaryPatch, metadata: {name: ` + name + `, namespace: shop}, spec: {
				apiVersion: example.dev/v1, kind: Widget, name: w, patchType: merge, patch: {` + component + `: {settings: {data: {}}}}}}`))
		}
		unchecked("a", "nothing")
		unchecked("b", "db")
		w.annotate(`{"a": {"api_version": "other.dev/v1"}}`)
		w.rendered()
		w.annotate(`{"b": {"api_version": "other.dev/v1"}}`)
		_, _, err := w.run(w.target, "w")
		require.EqualError(t, err, `component db: object settings: patch b: spec.patchType: unknown type "merge": choose strategic or json`)
	})
}

// Patches come before what the component's own last word is (spec: patches 22).
func TestBeforeTheComponentsWord(t *testing.T) {
	t.Parallel()
	t.Run("patches 22: before the name and the component's own word", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.control.more = func(s *reconcile.Session) { s.Use("c", revising{}) }
		w.create("a", `patchType: strategic, patch: {c: {o: {data: {k: patched, other: patched}, metadata: {annotations: {operkit.dev/internal-name: patched}}}}}`)
		w.patched("a")
		named, err := reconcile.New(w.control, w.manager, reconcile.WithPatches(w.patches), reconcile.NameObjects(), reconcile.Clock(w.clock.Now))
		require.NoError(t, err)
		_, _, err = w.run(named, "w")
		require.NoError(t, err)
		assert.Equal(t, "patched, and revised", w.data("revised", "k"), "patches 22")
		assert.Equal(t, "patched", w.data("revised", "other"))
		obj := w.get(deploy.Ref{Kind: configMaps, Namespace: "shop", Name: "revised"})
		assert.Equal(t, "c.o", obj.GetAnnotations()["operkit.dev/internal-name"], "patches 22: no patch hides the name")
	})
}

func TestCustomResources(t *testing.T) {
	t.Parallel()
	const gadgets = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gadgets.example.dev}, spec: {
		group: example.dev, scope: Namespaced, names: {kind: Gadget, plural: gadgets}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {
		type: object, properties: {spec: {type: object, properties: {doors: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [floor, side],
		items: {type: object, required: [floor, side], properties: {floor: {type: integer}, side: {type: string}, colour: {type: string}}}}}}}}}}]}}`
	const others = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gadgets.a.dev}, spec: {
		group: a.dev, scope: Namespaced, names: {kind: Gadget, plural: gadgets}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {
		type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`
	render := func(w *world) {
		w.control.more = func(s *reconcile.Session) {
			s.Add("g").Add("o", object(`{apiVersion: example.dev/v1, kind: Gadget, metadata: {name: g}, spec: {doors: [{floor: 1, side: left, colour: red}, {floor: 1, side: right, colour: red}]}}`))
		}
		w.create("a", `patchType: strategic, patch: {g: {o: {spec: {doors: [{floor: 1, side: right, colour: blue}]}}}}`)
		w.patched("a")
		w.rendered()
	}
	doors := func(w *world) string {
		obj := w.get(deploy.Ref{Kind: widgets.GroupVersion().WithKind("Gadget"), Namespace: "shop", Name: "g"})
		return string(marshal(w.t, obj.Object["spec"].(map[string]any)["doors"]))
	}
	crds := deploy.RefOf(object(gadgets)).Kind
	t.Run("patches mistake 13: lists merge by all keys that the definition names", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, gadgets, others)
		render(w)
		assert.JSONEq(t, `[{"floor": 1, "side": "left", "colour": "red"}, {"floor": 1, "side": "right", "colour": "blue"}]`, doors(w))
		before := w.view.listed(crds)
		w.rendered()
		assert.Equal(t, before, w.view.listed(crds), "definitions aren't read with every reconcile")
		w.clock.advance(time.Hour)
		w.rendered()
		assert.Equal(t, before+1, w.view.listed(crds), "but now and then")
	})
	t.Run("patches mistake 13: one list of definitions serves all kinds", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, gadgets, others)
		w.control.more = func(s *reconcile.Session) {
			s.Add("g").Add("o", object(`{apiVersion: example.dev/v1, kind: Gadget, metadata: {name: g}}`))
			s.Add("h").Add("o", object(`{apiVersion: a.dev/v1, kind: Gadget, metadata: {name: g}}`))
		}
		w.create("a", `patchType: strategic, patch: {g: {o: {spec: {doors: [{floor: 1, side: right}]}}}, h: {o: {spec: {x: 1}}}}`)
		w.patched("a")
		before := w.view.listed(crds)
		w.rendered()
		assert.Equal(t, before+1, w.view.listed(crds))
	})
	t.Run("patches mistake 13: without the right to read definitions lists are replaced", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, gadgets)
		w.view.fail(crds, &deploy.ForbiddenError{Verb: "list", Err: errors.New("no")})
		render(w)
		assert.JSONEq(t, `[{"floor": 1, "side": "right", "colour": "blue"}]`, doors(w))
		assert.Contains(t, w.logs.String(), "CustomResourceDefinitions can't be read: patches of custom resources replace lists as a whole")
	})
	t.Run("patches mistake 13: a definition that can't be read now fails the component", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, gadgets)
		w.view.fail(crds, &deploy.UnavailableError{Err: errors.New("gone for lunch")})
		w.create("a", `patchType: strategic, patch: {g: {o: {spec: {doors: []}}}}`)
		w.patched("a")
		w.control.more = func(s *reconcile.Session) {
			s.Add("g").Add("o", object(`{apiVersion: example.dev/v1, kind: Gadget, metadata: {name: g}, spec: {}}`))
		}
		_, _, err := w.run(w.target, "w")
		require.ErrorContains(t, err, "component g: object o: patch a: schema of Gadget: ")
	})
}
