package operator_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var events = schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"}

// events are those about gadgets, ascending.
func (w *world) events() (texts []string) {
	w.t.Helper()
	all, err := w.api.View().List(w.t.Context(), events, w.Namespace, nil)
	require.NoError(w.t, err)
	for _, e := range all {
		regarding, _ := e.Object["regarding"].(map[string]any)
		if regarding["kind"] != "Gadget" {
			continue
		}
		var parts []string
		for _, part := range []any{e.Object["type"], e.Object["reason"], regarding["name"], e.Object["note"], e.Object["reportingController"]} {
			text, _ := part.(string)
			parts = append(parts, text)
		}
		texts = append(texts, strings.Join(parts, " "))
	}
	slices.Sort(texts)
	return texts
}

func TestEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	rights := append(leading(t), rightsIn(t, "## Events\n")...)
	p := w.process(w.replica("telling", rights...), "--events.level", "normal", "--log.level", "debug")
	w.eventually("it leads", p.says(leads))
	w.resource(gadgets, "one")
	created := []string{
		"Normal Created one component store: created ConfigMap one gadget-operator", "Normal Ready one all components are ready: 1 gadget-operator",
	}
	w.eventually("a creation is told", func() bool { return slices.Equal(created, w.events()) })
	w.change(w.ref(configMaps, "one"), `{"data":{"mode":"new"}}`)
	changed := slices.Insert(slices.Clone(created), 0, "Normal Changed one component store: changed ConfigMap one gadget-operator")
	w.eventually("a repair is told", func() bool { return slices.Equal(changed, w.events()) })
	mark := w.Mark(t)
	w.change(w.ref(gadgets, "one"), `{"metadata":{"annotations":{"operkit.dev/reconcile-at":"now"}}}`)
	w.eventually("it was reconciled once more", func() bool { return strings.Count(p.log.String(), "triggers=changed,forced") == 1 })
	p.send(t, syscall.SIGTERM)
	state, _ := p.end(t)
	assert.True(t, state.Success())
	assert.Equal(t, changed, w.events(), "a resource that is as it should be has none")
	for _, call := range w.CallsSince(t, mark, p.user) {
		assert.NotEqual(t, "events", call.Resource)
	}
}

func TestEventsWithoutTheRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	p := w.process(w.replica("silent", leading(t)...), "--events.level", "normal")
	w.eventually("it leads", p.says(leads))
	for _, name := range []string{"one", "two", "three"} {
		w.resource(gadgets, name)
		w.eventually("it works all the same", func() bool { return w.mode(name) == "old" })
	}
	w.eventually("it says which right is missing", p.says("grant create and patch of events in the group events.k8s.io"))
	p.send(t, syscall.SIGTERM)
	state, _ := p.end(t)
	assert.True(t, state.Success())
	assert.Len(t, p.log.lines("an event can't be written"), 1)
	assert.Empty(t, w.events())
}

// By default only failures are told.
func TestWarningEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	// It may not write ConfigMaps.
	user := w.User(t, "bound", envtest.InNamespace(slices.Concat([]rbacv1.PolicyRule{own}, patchRights(t), leading(t), rightsIn(t, "## Events\n"))...),
		envtest.InNamespace(rbacv1.PolicyRule{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{""}, Resources: []string{"configmaps"}}))
	p := w.process(user)
	w.eventually("it leads", p.says(leads))
	w.resource(gadgets, "one")
	w.eventually("a failure is told", func() bool { return len(w.events()) == 1 })
	assert.Contains(t, w.events()[0], "Warning ClusterError one rights are missing: add to the Role in the namespace "+w.Namespace+
		": rules: [{apiGroups: [''], resources: [configmaps], verbs: [create, patch]}]: component store: ")
	assert.Contains(t, w.events()[0], "configmaps")
}
